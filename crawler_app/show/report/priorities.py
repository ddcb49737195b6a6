"""What to mend first: that which most visitors meet.

Pure.  Visitors come to a page by its links, so a page weighs 1, and 1 more for each other page
that links to it.  The *reach* of a fault is the sum over the pages that have it, and
its share is that of the sum over all pages.  A style sheet counts as all pages that load it.
This is the first step of PageRank (Page et al., 1999), which a site owner can check by counting.

What is broken comes first, then what is malformed, then what browsers refuse, then redirects
that are permanent, then what is missing on pages.
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

REFERENCE_CHARS = 80

# RFC 9110, 15.4.2 and 15.4.9: links ought to be changed to the target.
PERMANENT = (301, 308)

# The other kinds are right for many sites, or matter little.
WORDS_BY_KIND = {
    ProblemKind.SOFT_404: ("host", "answers with a page where there is none"),
    ProblemKind.NOINDEX: ("linked page", "asks search engines not to list it"),
    ProblemKind.NO_TITLE: ("page", "without a title"),
    ProblemKind.SAME_TITLE: ("title", "shared by several pages"),
    ProblemKind.NO_HEADING: ("page", "without a main heading"),
    ProblemKind.NO_DESCRIPTION: ("page", "without a description"),
    ProblemKind.NO_ALT: ("image", "without an alternative text"),
    ProblemKind.NO_SIZE: ("image", "without a size"),
    ProblemKind.ORPHAN: ("page", "linked from no other"),
}


class Priority(NamedTuple):
    """One of the things to mend first.

    Attributes:
        url: What it is about; empty if that is not one URL.
        words: What is to be mended, or what is wrong with the URL.
        where: On how many pages, and how many visitors meet it.
        at: The section about it; for a broken URL, its number in the list too.
    """

    url: str
    words: str
    where: str
    section: str
    at: int = 0


def priorities_of(report: Report) -> list[Priority]:
    """Return at most `MAX_PRIORITIES` things, those that most visitors meet first."""
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
        words = "loaded by http, which browsers refuse"
        yield Priority(each.url, words, _where(report, each), "mixed-content")


def _moved(report: Report) -> Iterator[Priority]:
    for each in report.moved:
        if each.status in PERMANENT:
            words = "moved for good, and still linked"
            yield Priority(each.url, words, _where(report, each), "moved")


def _problems(report: Report) -> Iterator[Priority]:
    for kind, (noun, words) in WORDS_BY_KIND.items():
        if count := report.problem_counts.get(kind):
            section = SECTION_BY_KIND[kind]
            yield Priority("", f"{number(count, noun)} {words}", "", section)


def _where(report: Report, each: Broken | Malformed | Moved) -> str:
    """Return on how many pages it is, and the share of visitors who meet it."""
    if not each.pages:
        return ""
    pages = f"on {number(each.pages, 'page')}"
    if not report.weight or not report.has_archive:
        return pages
    percent = min(100.0, 100 * each.reach / report.weight)
    share = "less than 1%" if percent < 1 else f"about {percent:.0f}%"
    return f"{pages}, affects {share} of visits"
