"""What to fix first: ranks problems by the number of visitors they affect.

Pure.  Visitors come to a page by its links, so a page weighs 1, and 1 more for each other page
that links to it.  The *reach* of a fault is the sum over the pages that have it; the share of
visits that it affects is that sum divided by the sum over all pages.  A style sheet counts as all
pages that load it.  This is the first step of PageRank (Page et al., 1999), which a site owner can
check by counting.

Broken URLs come first, then malformed references, mixed content, links to places that do not
exist, permanent redirects, and problems of page quality.
"""

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import cut, number
from crawler_app.show.findings.kinds import PERMANENT, FindingKind, ProblemKind
from crawler_app.show.report.report_data import (
    Broken,
    FaultyTarget,
    Problem,
    Report,
)

__all__ = ["MAX_PRIORITIES", "Priority", "priorities_of"]

# Longer lists are not read.
MAX_PRIORITIES = 3

# A line, so that the problem beside a malformed reference stays visible.
REFERENCE_CHARS = 80

# The section about each, and what is wrong where the reference itself is right.
WORDS_BY_KIND = {
    FindingKind.MALFORMED: ("malformed", ""),
    FindingKind.MIXED: ("mixed-content", "loaded over http, which browsers block"),
    FindingKind.FRAGMENT: ("fragments", ""),
    FindingKind.REDIRECT: ("moved", "moved permanently, but still linked"),
}


class Priority(NamedTuple):
    """A problem to fix first.

    Attributes:
        url: The URL with the problem; empty if it is not about a single URL.
        words: The problem in words.
        where: The number of pages, and the share of visits that it affects.
        section: The section about it.
        at: The number of a broken URL in its list; 0 for other problems.
    """

    url: str
    words: str
    where: str
    section: str
    at: int = 0


def priorities_of(report: Report) -> list[Priority]:
    """Return at most `MAX_PRIORITIES` problems, the largest reach first within each kind."""
    found = itertools.chain(
        _broken(report),
        _faulty(report, report.malformed),
        _faulty(report, report.mixed_content),
        _faulty(report, report.fragments),
        _faulty(report, (each for each in report.moved if each.status in PERMANENT)),
        _problems(report),
    )
    return list(itertools.islice(found, MAX_PRIORITIES))


def _broken(report: Report) -> Iterator[Priority]:
    for at, each in enumerate(report.broken, 1):
        where = _where(report, each)
        if each.is_seed:
            where = "The crawl began with it" if not where else where
        yield Priority(each.url, "", where, "broken", at)


def _faulty(report: Report, found: Iterable[FaultyTarget]) -> Iterator[Priority]:
    for each in found:
        where, (section, words) = _where(report, each), WORDS_BY_KIND[each.kind]
        if words:
            yield Priority(each.url, words, where, section)
        else:
            written = f"“{cut(each.url, REFERENCE_CHARS)}”: " if each.url else ""
            yield Priority("", printable(f"{written}{each.problem}"), where, section)


def _problems(report: Report) -> Iterator[Priority]:
    """Yield the errors, and then the warnings and notices; each by the visits they affect."""
    by_kind: dict[ProblemKind, list[Problem]] = {}
    for problem in report.problems:
        if problem.kind.first:
            by_kind.setdefault(problem.kind, []).append(problem)

    def rank(kind: ProblemKind) -> tuple[int, int]:
        return kind.severity.rank, -sum(each.reach for each in by_kind[kind])

    for kind in sorted(by_kind, key=rank):
        found = by_kind[kind]
        count = report.problem_counts[kind]
        if kind.noun == "page" and found[0].subject:
            count = sum(each.count for each in found)
        words = f"{number(count, kind.noun)} {kind.first}"
        where = _share(report, sum(each.reach for each in found))
        yield Priority("", words, where, kind.section)


def _where(report: Report, each: Broken | FaultyTarget) -> str:
    """Return the number of pages, and the share of visits that it affects."""
    if not each.pages:
        return ""
    share = _share(report, each.reach)
    return f"on {number(each.pages, 'page')}{share and f', {share}'}"


def _share(report: Report, reach: int) -> str:
    """Return the share of visits that a problem affects; empty if it is unknown."""
    if not (reach and report.weight and report.has_archive):
        return ""
    percent = min(100.0, 100 * reach / report.weight)
    share = "less than 1%" if percent < 1 else f"about {percent:.0f}%"
    return f"affects {share} of visits"
