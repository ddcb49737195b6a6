"""What to fix first: ranks problems by the number of visitors they affect.

Pure.  Visitors come to a page by its links, so a page weighs 1, and 1 more for each other page
that links to it.  The *reach* of a fault is the sum over the pages that have it; the share of
visits that it affects is that sum divided by the sum over all pages.  A style sheet counts as all
pages that load it.  This is the first step of PageRank (Page et al., 1999), which a site owner can
check by counting.

Broken URLs come first, then malformed references, mixed content, permanent redirects, and
problems of page quality.
"""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from crawler_app.base.text.formatting import cut, number
from crawler_app.show.report.report_data import (
    Broken,
    Malformed,
    Moved,
    ProblemKind,
    Report,
)
from crawler_app.show.report.tables.page_sections import SECTION_BY_KIND

__all__ = ["MAX_PRIORITIES", "PERMANENT", "Priority", "priorities_of"]

# Longer lists are not read.
MAX_PRIORITIES = 3

# A line, so that the problem beside a malformed reference stays visible.
REFERENCE_CHARS = 80

# RFC 9110, 15.4.2 and 15.4.9: links ought to be changed to the target.
PERMANENT = (301, 308)

# The other kinds are intended on many sites, or matter little.
WORDS_BY_KIND = {
    ProblemKind.SOFT_404: ("host", "answers with a page for a URL that does not exist"),
    ProblemKind.NOINDEX: ("linked page", "asks search engines not to list it"),
    ProblemKind.NO_TITLE: ("page", "without a title"),
    ProblemKind.SAME_TITLE: ("title", "shared by several pages"),
    ProblemKind.NO_HEADING: ("page", "without a main heading"),
    ProblemKind.NO_DESCRIPTION: ("page", "without a description"),
    ProblemKind.NO_ALT: ("image", "without an alternative text"),
    ProblemKind.NO_SIZE: ("image", "without a size"),
    ProblemKind.ORPHAN: ("page", "that no other page links to"),
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
        _malformed(report),
        _mixed_content(report),
        _moved(report),
        _problems(report),
    )
    return list(itertools.islice(found, MAX_PRIORITIES))


def _broken(report: Report) -> Iterator[Priority]:
    for at, each in enumerate(report.broken, 1):
        where = _where(report, each)
        if each.is_seed:
            where = "The crawl began with it" if not where else where
        yield Priority(each.url, "", where, "broken", at)


def _malformed(report: Report) -> Iterator[Priority]:
    for each in report.malformed:
        reference = (
            f"“{cut(each.reference, REFERENCE_CHARS)}”: " if each.reference else ""
        )
        words = f"{reference}{each.problem}"
        yield Priority("", words, _where(report, each), "malformed")


def _mixed_content(report: Report) -> Iterator[Priority]:
    for each in report.mixed_content:
        words = "loaded over http, which browsers block"
        yield Priority(each.url, words, _where(report, each), "mixed-content")


def _moved(report: Report) -> Iterator[Priority]:
    for each in report.moved:
        if each.status in PERMANENT:
            words = "moved permanently, but still linked"
            yield Priority(each.url, words, _where(report, each), "moved")


def _problems(report: Report) -> Iterator[Priority]:
    for kind, (noun, words) in WORDS_BY_KIND.items():
        if count := report.problem_counts.get(kind):
            section = SECTION_BY_KIND[kind]
            yield Priority("", f"{number(count, noun)} {words}", "", section)


def _where(report: Report, each: Broken | Malformed | Moved) -> str:
    """Return the number of pages, and the share of visits that it affects."""
    if not each.pages:
        return ""
    pages = f"on {number(each.pages, 'page')}"
    if not report.weight or not report.has_archive:
        return pages
    percent = min(100.0, 100 * each.reach / report.weight)
    share = "less than 1%" if percent < 1 else f"about {percent:.0f}%"
    return f"{pages}, affects {share} of visits"
