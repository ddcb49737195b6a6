"""The subjects whose references a report looks for: broken URLs, redirects and mixed content.

Pure.  Each subject has a number, in this order: the broken URLs, the redirects that end
elsewhere, and what browsers refuse to load, as it is found.
"""

from collections.abc import Sequence
from typing import NamedTuple

from crawler_app.report.findings import Broken, Moved
from crawler_app.report.scratch import Links, Met, Scratch, number_of
from crawler_app.results.redirects import Redirects
from crawler_app.urls import dedup_key

__all__ = ["Target", "Targets"]

# Of what browsers refuse to load; further URLs are not listed.
MAX_MIXED = 10_000

NOT_MET = Met(0, 0, 0)


class Target(NamedTuple):
    """What a reference leads to.

    Attributes:
        subject: The number of the subject.
        through: The redirect that leads to it; empty for the URL itself.
    """

    subject: int
    through: str = ""


class Targets:
    """The subjects, and the URLs that lead to them.

    Attributes:
        target_by_number: The targets, by the `number_of` their URLs.
        end_by_number: Where redirects end; both as such numbers.

    >>> from crawler_app.reasons import reason_of_status
    >>> gone = Broken("http://a/gone", 404, reason_of_status(404))
    >>> targets = Targets([gone], Redirects({"http://a/old": "http://a/gone"}))
    >>> targets.target_by_number[number_of("http://a/old")]
    Target(subject=0, through='http://a/old')
    """

    def __init__(self, broken: Sequence[Broken], redirects: Redirects) -> None:
        self._broken = broken
        self._redirects: list[str] = []
        self._mixed: dict[str, int] = {}
        self.target_by_number: dict[int, Target] = {}
        self.end_by_number: dict[int, int] = {}
        subject_by_key: dict[str, int] = {}
        for subject, each in enumerate(broken):
            key = dedup_key(each.url)
            subject_by_key[key] = subject
            self.target_by_number[number_of(key)] = Target(subject)
        for key, end_key in redirects.end_by_key.items():
            number = number_of(key)
            self.end_by_number[number] = number_of(end_key)
            if number not in self.target_by_number:
                through = redirects.url_by_key[key]
                self.target_by_number[number] = self._target_of(
                    through, subject_by_key.get(end_key)
                )

    def _target_of(self, redirect: str, broken: int | None) -> Target:
        if broken is not None:
            return Target(broken, redirect)
        self._redirects.append(redirect)
        return Target(len(self._broken) + len(self._redirects) - 1)

    def mixed_content(self, url: str) -> int | None:
        """Return the number of a URL that browsers do not load; None if there are too many."""
        known = self._mixed.get(url)
        if known is None and len(self._mixed) < MAX_MIXED:
            known = len(self._broken) + len(self._redirects) + len(self._mixed)
            self._mixed[url] = known
        return known

    def add_links(self, scratch: Scratch) -> tuple[list[Moved], list[Moved]]:
        """Add their links to the broken URLs; return the redirects and the mixed content.

        Both are those that pages refer to, those that most visitors meet first.
        """
        met_by_subject = scratch.met()
        for subject, each in enumerate(self._broken):
            met = met_by_subject.get(subject, NOT_MET)
            each.pages, each.reach = met.pages, met.reach
            each.links = Links(scratch, subject, met.links)
        found: list[list[Moved]] = []
        first = len(self._broken)
        for urls in (self._redirects, self._mixed):
            rows = ((url, met_by_subject.get(n)) for n, url in enumerate(urls, first))
            found.append(
                [
                    Moved(url, Links(scratch, n, met.links), met.pages, met.reach)
                    for n, (url, met) in enumerate(rows, first)
                    if met is not None
                ]
            )
            found[-1].sort(key=lambda each: -each.reach)
            first += len(urls)
        redirects, mixed = found
        return redirects, mixed
