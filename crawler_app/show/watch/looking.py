"""One check of a site, as sightings: what is broken, whatever the number of references to it."""

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urldefrag

from crawler_app.base.errors import CrawlerError
from crawler_app.base.reasons import Reason
from crawler_app.base.text.escaping import one_line
from crawler_app.show.check.checking import Check
from crawler_app.show.check.output import Output
from crawler_app.show.check.preparing import check_options, split_values, with_archive
from crawler_app.show.findings.comparison import Key
from crawler_app.show.findings.finding import Finding
from crawler_app.show.findings.grouping import problem_of
from crawler_app.show.findings.kinds import FindingKind
from gencoro import gen

__all__ = ["Look", "LookAt", "Sighting", "look_at", "sightings_of"]

# References of which the pages are remembered.
MAX_PAGES = 20
MAX_CHARS = 2000

# Failures of a start URL that the network of this machine may have caused.
MAYBE_OFFLINE = (Reason.DNS, Reason.NETWORK, Reason.TIMEOUT)


@dataclass(frozen=True, slots=True)
class Sighting:
    """Something that is broken.

    Attributes:
        id: What stays the same from check to check: the kind, the target, and what else
            tells it apart, such as the fragment.
        words: What is wrong.
        place: Of the first reference.
        places: The number of references.
        keys: Those of the findings, on different pages.
    """

    id: tuple[str, str, str]
    words: str
    place: str
    places: int
    keys: tuple[Key, ...]

    @property
    def is_external(self) -> bool:
        """Whether another site has to mend it."""
        return self.id[0] == FindingKind.EXTERNAL


@dataclass(frozen=True, slots=True)
class Look:
    """The result of a check.

    Attributes:
        is_fixed: Returns whether a finding that is not among the sightings is gone.
        has_answer: Whether the site has answered at all, or is known to be down.
        caveat: Why the check is incomplete; empty if it is not.
        urls: The URLs that were checked.
    """

    sightings: Mapping[tuple[str, str, str], Sighting]
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
    values, checked = split_values(given)
    options = check_options(checked)
    with with_archive(values, options.kinds) as archived:
        check = Check(targets, archived, options, Output(lambda text: None))
        yield check.run()
    if check.coverage is None:
        raise CrawlerError("the check has not ended")
    wanted = [each for each in check.findings if each.kind in options.kinds]
    summary = check.summary
    return Look(
        sightings_of(wanted, check.key_of),
        check.coverage.is_fixed,
        not summary.is_empty or not _is_maybe_offline(check.findings),
        one_line("; ".join(summary.incomplete), MAX_CHARS),
        summary.urls,
    )


def _is_maybe_offline(findings: Iterable[Finding]) -> bool:
    reasons = {each.reason for each in findings}
    return bool(reasons) and reasons <= {*MAYBE_OFFLINE}  # a wall is no finding


def sightings_of(
    findings: Iterable[Finding], key_of: Callable[[Finding], Key]
) -> dict[tuple[str, str, str], Sighting]:
    """Return the findings by what is broken."""
    found: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        found.setdefault(_id_of(finding, key_of(finding)), []).append(finding)
    return {
        id: Sighting(
            id,
            one_line(problem_of(each[0]), MAX_CHARS),
            one_line(each[0].place, MAX_CHARS),
            len(each),
            tuple({key_of(one)[1]: key_of(one) for one in each[:MAX_PAGES]}.values()),
        )
        for id, each in found.items()
    }


def _id_of(finding: Finding, key: Key) -> tuple[str, str, str]:
    """Return what identifies the fault; a URL that fails in another way is the same one."""
    kind, _, href, target, reason = key
    detail = reason
    if finding.kind in (FindingKind.BROKEN, FindingKind.EXTERNAL):
        detail = ""
    elif finding.kind is FindingKind.FRAGMENT:
        detail = urldefrag(href)[1]
    return kind, target or href, detail
