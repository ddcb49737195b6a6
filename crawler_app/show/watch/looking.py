"""One check of a site, as sightings: what is broken, whatever the number of references to it."""

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urldefrag

from crawler_app.base.reasons import Reason
from crawler_app.base.text.escaping import one_line
from crawler_app.base.urls import origin_of
from crawler_app.show.check.checking import Check
from crawler_app.show.check.output import Output
from crawler_app.show.check.preparing import split_values, with_archive
from crawler_app.show.findings.comparison import Key
from crawler_app.show.findings.finding import Finding
from crawler_app.show.findings.grouping import problem_of
from crawler_app.show.findings.kinds import FindingKind
from gencoro import gen

__all__ = ["UNCHECKED", "Look", "LookAt", "Sighting", "look_at", "sightings_of"]

# Pages of which the references are remembered.
MAX_PAGES = 20
MAX_CHARS = 2000

# Failures of a start URL that the network of this machine may have caused.
MAYBE_OFFLINE = (Reason.DNS, Reason.NETWORK, Reason.TIMEOUT)

# The kind of the finding that a site was not checked.
UNCHECKED = "unchecked"


@dataclass(frozen=True)
class Sighting:
    """Something that is broken.

    Attributes:
        kind: A kind of finding, or `UNCHECKED`.
        target: What is broken; empty for the site as a whole.
        detail: What else tells it apart, such as the fragment.
        words: What is wrong.
        place: Of the first reference.
        places: The number of references.
        cause: What others may share, which are then told in one line: an external host that does
            not answer, or the reference as written, which pages in several folders may have.
        pages: Some of those that have the references.
    """

    kind: str
    target: str
    detail: str
    words: str
    place: str
    places: int
    cause: str
    pages: list[str]

    @property
    def id(self) -> tuple[str, str, str]:
        """What is the same in the next check."""
        return self.kind, self.target, self.detail


@dataclass(frozen=True, slots=True)
class Look:
    """The result of a check.

    Attributes:
        is_fixed: Returns whether a finding that is not among the sightings is gone.
        has_answer: Whether the site has answered at all, or is known to be down.
        caveat: That it is incomplete, and why; empty if it is not.
        urls: The URLs that were checked.
    """

    sightings: list[Sighting]
    is_fixed: Callable[[Key], bool]
    has_answer: bool = True
    caveat: str = ""
    urls: int = 0

    @classmethod
    def void(cls, why: str) -> "Look":
        """Return the result of a check that has found out nothing."""
        words = f"not checked: {why}"
        seen = Sighting(UNCHECKED, "", "", words, "", 0, "", [])
        return cls([seen], lambda key: False, caveat=words)

    @property
    def is_void(self) -> bool:
        """Whether it has found out nothing."""
        return any(seen.kind == UNCHECKED for seen in self.sightings)


# Checks a site, by its options.
LookAt = Callable[[Mapping[str, Any]], "gen.Future[Look]"]


@gen.coroutine
def look_at(site: Mapping[str, Any]) -> Generator[Any, Any, Look]:
    """Check a site.

    Args:
        site: The options of the crawl and of the check.

    Raises:
        CrawlerError: they contradict each other, or the login fails.
    """
    given = dict(site)
    targets = given.pop("seeds")
    values, options = split_values(given)
    with with_archive(values, options.kinds) as archived:
        check = Check(targets, archived, options, Output(lambda text: None))
        yield check.run()
    assert check.coverage is not None
    wanted = [each for each in check.findings if each.kind in options.kinds]
    reasons = {each.reason for each in check.findings}  # a wall is not among them
    is_maybe_offline = bool(reasons) and reasons <= {*MAYBE_OFFLINE}
    summary = check.summary
    why = one_line("; ".join(summary.incomplete), MAX_CHARS)
    has_answer = not (summary.is_empty and is_maybe_offline)
    if has_answer and not (summary.urls or wanted):
        return Look.void(why)  # the site shows only a wall
    return Look(
        sightings_of(wanted, check.folders.key_of),
        check.coverage.is_fixed,
        has_answer,
        f"incomplete: {why}" if why else "",
        summary.urls,
    )


def sightings_of(
    findings: Iterable[Finding], key_of: Callable[[Finding], Key]
) -> list[Sighting]:
    """Return the findings by what is broken."""
    found: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        found.setdefault(_id_of(finding, key_of(finding)), []).append(finding)
    return [
        Sighting(
            *id,
            one_line(problem_of(each[0]), MAX_CHARS),
            one_line(each[0].place, MAX_CHARS),
            len(each),
            one_line(_cause_of(each[0]), MAX_CHARS),
            [*{key_of(one)[1]: None for one in each[:MAX_PAGES]}],
        )
        for id, each in found.items()
    ]


def _cause_of(finding: Finding) -> str:
    is_silent = finding.kind is FindingKind.EXTERNAL and finding.status is None
    return f"{origin_of(finding.target)}/" if is_silent else finding.href


def _id_of(finding: Finding, key: Key) -> tuple[str, str, str]:
    """Return what identifies the fault; a URL that fails in another way is the same one."""
    kind, _, href, target, reason = key
    detail = reason
    if finding.kind in (FindingKind.BROKEN, FindingKind.EXTERNAL):
        detail = ""
    elif finding.kind is FindingKind.FRAGMENT:
        detail = urldefrag(href)[1]
    return kind, target or href, detail
