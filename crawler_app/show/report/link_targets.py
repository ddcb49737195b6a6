"""The URLs whose links a report lists: broken, moved, mixed content, malformed, fragments.

Pure.  Each is a *subject* with a number, in this order: the broken URLs, the redirects to URLs that
work, and the faults found only when the pages are read: mixed content, malformed references, and places that
do not exist.
"""

from collections.abc import Sequence
from typing import NamedTuple

from crawler_app.base.urls import dedup_key
from crawler_app.run.results.redirects import Redirects
from crawler_app.show.findings.kinds import FindingKind
from crawler_app.show.report.report_data import Broken, FaultyTarget, Report
from crawler_app.show.report.temp_tables import LinkCounts, Links, TempTables, number_of

__all__ = ["LinkTarget", "LinkTargets"]

# Further faults are not listed.
MAX_FAULTS = 10_000

NO_LINKS = LinkCounts(0, 0, 0)


class LinkTarget(NamedTuple):
    """What a reference leads to.

    Attributes:
        subject: The number of the subject.
        through: The redirect that leads to it; empty for the URL itself.
    """

    subject: int
    through: str = ""


class LinkTargets:
    """The subjects, and the URLs that lead to them.

    Attributes:
        target_by_number: The targets, by the `number_of` their URLs.
        end_by_number: Where redirects end; both as such numbers.
        path_from: `Redirects.path_from`.
        malformed: The subjects that malformed references lead to.

    >>> from crawler_app.base.reasons import reason_of_status
    >>> gone = Broken("http://a/gone", 404, reason_of_status(404))
    >>> targets = LinkTargets([gone], Redirects({"http://a/old": "http://a/gone"}))
    >>> targets.target_by_number[number_of("http://a/old")]
    LinkTarget(subject=0, through='http://a/old')
    """

    def __init__(self, broken: Sequence[Broken], redirects: Redirects) -> None:
        self._broken = broken
        self.path_from = redirects.path_from
        self.malformed: set[int] = set()
        self._redirects: list[str] = []
        # By the arguments of `fault`.
        self._faults: dict[tuple[FindingKind, str, str], int] = {}
        self.target_by_number: dict[int, LinkTarget] = {}
        self.end_by_number: dict[int, int] = {}
        subject_by_key: dict[str, int] = {}
        for subject, each in enumerate(broken):
            key = dedup_key(each.url)
            subject_by_key[key] = subject
            self.target_by_number[number_of(key)] = LinkTarget(subject)
        for key, end_key in redirects.end_by_key.items():
            number = number_of(key)
            self.end_by_number[number] = number_of(end_key)
            if number not in self.target_by_number:
                through = redirects.url_by_key[key]
                self.target_by_number[number] = self._target_of(
                    through, subject_by_key.get(end_key)
                )

    def _target_of(self, redirect: str, broken: int | None) -> LinkTarget:
        if broken is not None:
            return LinkTarget(broken, redirect)
        self._redirects.append(redirect)
        return LinkTarget(len(self._broken) + len(self._redirects) - 1)

    def fault(self, kind: FindingKind, reference: str, problem: str = "") -> int | None:
        """Return the number of a fault; None if there are too many.

        Args:
            reference: The URL of mixed content, or a reference as written.
            problem: What is wrong with the reference; empty for mixed content.
        """
        fault = (kind, reference, problem)
        known = self._faults.get(fault)
        if known is None and len(self._faults) < MAX_FAULTS:
            known = len(self._broken) + len(self._redirects) + len(self._faults)
            self._faults[fault] = known
        return known

    def add_links(self, tables: TempTables, report: Report) -> None:
        """Add their links to the broken URLs, and the other subjects with theirs to a report.

        A URL to which only malformed references lead is not a broken one, too.  Each list begins
        with the largest reach, and does not depend on the order in which pages were fetched.
        """
        counts_by_subject = tables.link_counts()
        subjects: list[Broken | FaultyTarget] = [*self._broken]
        subjects += [FaultyTarget(FindingKind.REDIRECT, u) for u in self._redirects]
        subjects += [FaultyTarget(*fault) for fault in self._faults]
        listed = {
            FindingKind.REDIRECT: report.moved,
            FindingKind.MIXED: report.mixed_content,
            FindingKind.MALFORMED: report.malformed,
            FindingKind.FRAGMENT: report.fragments,
        }
        for subject, each in enumerate(subjects):
            counts = counts_by_subject.get(subject, NO_LINKS)
            each.pages, each.reach = counts.pages, counts.reach
            each.links = Links(tables, subject, counts.links)
            if isinstance(each, FaultyTarget) and counts.links:
                listed[each.kind].append(each)
        broken = (
            each
            for subject, each in enumerate(self._broken)
            if each.links or each.is_seed or subject not in self.malformed
        )
        report.broken = sorted(broken, key=_order)
        for found in listed.values():
            found.sort(key=_order)


def _order(subject: Broken | FaultyTarget) -> tuple[int, int, str]:
    return -subject.reach, -len(subject.links), subject.url
