"""One check of a site, as sightings: what is broken, whatever the number of references to it."""

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urldefrag

from crawler_app.base.errors import CrawlerError
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

__all__ = ["Look", "LookAt", "Sighting", "look_at", "sightings_of"]

# Pages of which the references are remembered.
MAX_PAGES = 20
MAX_CHARS = 2000

# Failures of a start URL that the network of this machine may have caused.
MAYBE_OFFLINE = (Reason.DNS, Reason.NETWORK, Reason.TIMEOUT)


@dataclass(frozen=True)
class Sighting:
    """Something that is broken.

    Attributes:
        kind: A kind of finding.
        target: What is broken.
        detail: What else tells it apart, such as the fragment.
        words: What is wrong.
        place: Of the first reference.
        places: The number of references.
        host: The origin of an external target that has not answered; empty for others.
        host_pages: The number of pages with references to that host.
        keys: Those of the findings, on different pages.
    """

    kind: str
    target: str
    detail: str
    words: str
    place: str
    places: int
    host: str
    host_pages: int
    keys: list[list[str]]


@dataclass(frozen=True, slots=True)
class Look:
    """The result of a check.

    Attributes:
        is_fixed: Returns whether a finding that is not among the sightings is gone.
        has_answer: Whether the site has answered at all, or is known to be down.
        caveat: Why the check is incomplete; empty if it is not.
        urls: The URLs that were checked.
    """

    sightings: list[Sighting]
    is_fixed: Callable[[Key], bool]
    has_answer: bool = True
    caveat: str = ""
    urls: int = 0


# Checks a site, by its options.
LookAt = Callable[[Mapping[str, Any]], "gen.Future[Look]"]


@gen.coroutine
def look_at(site: Mapping[str, Any]) -> Generator[Any, Any, Look]:
    """Check a site.

    Args:
        site: The options of the crawl and of the check.

    Raises:
        ConfigError: they contradict each other.
    """
    given = dict(site)
    targets = given.pop("seeds")
    values, options = split_values(given)
    with with_archive(values, options.kinds) as archived:
        check = Check(targets, archived, options, Output(lambda text: None))
        yield check.run()
    if check.coverage is None:
        raise CrawlerError("the check has not ended")
    wanted = [each for each in check.findings if each.kind in options.kinds]
    reasons = {each.reason for each in check.findings}  # a wall is not among them
    is_maybe_offline = bool(reasons) and reasons <= {*MAYBE_OFFLINE}
    summary = check.summary
    return Look(
        sightings_of(wanted, check.folders.key_of),
        check.coverage.is_fixed,
        not (summary.is_empty and is_maybe_offline),
        one_line("; ".join(summary.incomplete), MAX_CHARS),
        summary.urls,
    )


def sightings_of(
    findings: Iterable[Finding], key_of: Callable[[Finding], Key]
) -> list[Sighting]:
    """Return the findings by what is broken."""
    found: dict[tuple[str, str, str], list[Finding]] = {}
    pages: dict[str, set[str]] = {}
    for finding in findings:
        found.setdefault(_id_of(finding, key_of(finding)), []).append(finding)
        pages.setdefault(_silent_host(finding), set()).add(finding.page)
    return [
        Sighting(
            *id,
            one_line(problem_of(each[0]), MAX_CHARS),
            one_line(each[0].place, MAX_CHARS),
            len(each),
            host := _silent_host(each[0]),
            len(pages[host]),
            [*{one.page: [*key_of(one)] for one in each[:MAX_PAGES]}.values()],
        )
        for id, each in found.items()
    ]


def _silent_host(finding: Finding) -> str:
    is_silent = finding.kind is FindingKind.EXTERNAL and finding.status is None
    return f"{origin_of(finding.target)}/" if is_silent else ""


def _id_of(finding: Finding, key: Key) -> tuple[str, str, str]:
    """Return what identifies the fault; a URL that fails in another way is the same one."""
    kind, _, href, target, reason = key
    detail = reason
    if finding.kind in (FindingKind.BROKEN, FindingKind.EXTERNAL):
        detail = ""
    elif finding.kind is FindingKind.FRAGMENT:
        detail = urldefrag(href)[1]
    return kind, target or href, detail
