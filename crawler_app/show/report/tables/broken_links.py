"""The broken links of a report, as shown to people.

Pure.  The HTML page and the Markdown text show the same.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from crawler_app.base.reasons import meaning_of, traits_of
from crawler_app.base.text.formatting import cut, number, sentence
from crawler_app.show.report.report_data import Broken, Report, ReportedLink
from crawler_app.show.report.tables import (
    DisplayUrl,
    Limits,
    all_in_csv,
    home_of,
    shown,
)

__all__ = ["BrokenItem", "BrokenList", "LinkingPage", "badge_of", "broken_list"]

# Pages that are visible without a click.
VISIBLE_LINKING_PAGES = 3

# Enough to find the link on its page, and to recognize the error.
TEXT_CHARS = 80
ERROR_CHARS = 160


@dataclass(slots=True, frozen=True)
class LinkingPage(DisplayUrl):
    """A page with links to a broken URL, and the text of the first."""

    text: str = ""


@dataclass(slots=True)
class BrokenItem:
    """One broken URL.

    Attributes:
        badge: The problem, in one word or number.
        kind: "bad", or "dead" without an answer.
        words: The problem in words, and the number of links.
        linking_pages: The first pages with links to it.
        others: Further pages.
        more: A sentence that says how many pages are left out.
    """

    name: str
    href: str
    badge: str
    kind: str
    words: str
    linking_pages: list[LinkingPage] = field(default_factory=list)
    others: list[LinkingPage] = field(default_factory=list)
    more: str = ""

    @property
    def others_title(self) -> str:
        return f"{number(len(self.others), 'more page')}"


@dataclass(slots=True)
class BrokenList:
    """The list, with a sentence about what it leaves out, and how to see that.

    Attributes:
        unsearched: What a filter does not search, in words; empty if it searches all.
    """

    count: int
    items: list[BrokenItem]
    more: str = ""
    unsearched: str = ""


def broken_list(report: Report, limits: Limits) -> BrokenList:
    """Return the broken URLs, those that affect most visitors first."""
    home = home_of(report)
    items = [_item(each, home, limits) for each in report.broken[: limits.items]]
    left_out = ""
    if several := len(report.broken) - len(items):
        urls = number(several, "more broken URL is", "more broken URLs are")
        left_out = f"{urls} not listed here.  "
    if any(item.more for item in items):
        left_out += "Long lists of pages are shortened.  "
    more = f"{left_out}{all_in_csv(report)}." if left_out else ""
    return BrokenList(len(report.broken), items, more, left_out.rstrip())


def _item(broken: Broken, home: str, limits: Limits) -> BrokenItem:
    url = shown(broken.url, home, limits)
    pages = broken.pages
    seen = list(_linking_pages(broken.links, home, limits))
    item = BrokenItem(
        url.name,
        url.href,
        badge_of(broken),
        "bad" if broken.status is not None else "dead",
        _words(broken, pages),
        seen[:VISIBLE_LINKING_PAGES],
        seen[VISIBLE_LINKING_PAGES:],
    )
    if pages > len(seen):
        item.more = f"And {number(pages - len(seen), 'more page')}."
    return item


def badge_of(broken: Broken) -> str:
    """Return the problem in a word or a number."""
    return traits_of(broken.reason).badge or broken.reason.replace("_", " ")


def _words(broken: Broken, pages: int) -> str:
    meaning = meaning_of(broken.reason).removeprefix(f"{broken.status} ")
    detail = f" ({cut(broken.error, ERROR_CHARS)})" if broken.error else ""
    sentences = [f"{sentence(meaning)}{detail}."]
    if broken.links:
        links = number(len(broken.links), "link")
        sentences.append(f"{links} on {number(pages, 'page')}.")
    if broken.is_seed:
        sentences.append("The crawl began with this URL.")
    if broken.was_broken is not None:
        sentences.append("Still broken." if broken.was_broken else "Newly broken.")
    return " ".join(sentences)


def _linking_pages(
    links: Iterable[ReportedLink], home: str, limits: Limits
) -> Iterator[LinkingPage]:
    by_page = itertools.groupby(links, key=lambda link: link.page)
    for page, group in itertools.islice(by_page, limits.linking_pages):
        first, *others = group
        notes = []
        if first.line:
            notes.append(f"line {first.line:,}")
        if first.through:
            notes.append(f"via {shown(first.through, home, limits).name}")
        if others:
            notes.append(f"and {number(len(others), 'more link')}")
        url, text = shown(page, home, limits), cut(first.text or "", TEXT_CHARS)
        yield LinkingPage(url.name, url.href, ", ".join(notes), text)
