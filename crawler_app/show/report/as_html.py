"""The report as one self-contained HTML page: no network, no other files.

Rule: the template escapes all text from the site, and the page can run or load nothing
but its own content: its Content-Security-Policy says so.  The page is never larger than
MAX_BYTES: lists are shortened until it fits.
"""

import base64
import bisect
import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tornado.template import Loader, Template

from crawler_app.base.text.formatting import cut, sentence, shown_url, size, time_of_day
from crawler_app.show.report.priorities import Priority, priorities_of
from crawler_app.show.report.report_data import Report
from crawler_app.show.report.tables import Limits, Table, home_of
from crawler_app.show.report.tables.broken_links import (
    BrokenList,
    badge_of,
    broken_list,
)
from crawler_app.show.report.tables.sections import advice_for, tables_of
from crawler_app.show.report.treemap import Treemap, treemap
from crawler_app.show.report.verdict import caveats, explanation, headline, mood

__all__ = ["MAX_BYTES", "render_html"]

# Two thousand broken URLs with their pages fit, and it can still be sent by mail.
MAX_BYTES = 1_000_000

# Pages for each broken URL that are tried, until the page is small enough; then less of
# everything else.
LINKING_PAGES = (5000, 1000, 300, 100, 30, 15, 8, 4, 2, 1)
LIMITS = (
    *(Limits(items=5000, linking_pages=most) for most in LINKING_PAGES),
    Limits(items=2000, linking_pages=1, rows=20, url_chars=90, href_chars=300),
    Limits(items=1000, linking_pages=1, rows=20, url_chars=90, href_chars=300),
    Limits(items=400, linking_pages=2, rows=15, url_chars=80, href_chars=300),
    Limits(items=150, linking_pages=2, rows=10, url_chars=80, href_chars=300),
    Limits(items=30, linking_pages=2, rows=5, url_chars=60, href_chars=0),
)

# The smallest size of a broken URL on the page, and of a page that links to it.
MIN_ITEM_BYTES = 150
MIN_LINKING_PAGE_BYTES = 90

# Number of broken URLs from which on the page has a filter.
MIN_FILTERED = 8

# Two lines on a large screen; the explanation may quote an error of the server.
EXPLANATION_CHARS = 300

DIRECTORY = Path(__file__).parent


def render_html(report: Report) -> str:
    """Return the page, of at most MAX_BYTES in UTF-8."""
    boxes = None if report.is_empty else treemap(report.shape)

    @functools.cache
    def rendered(limits: Limits) -> bytes:
        page = _PageValues(report, limits, boxes)
        made: bytes = _template().generate(page=page, zip=zip)
        return made

    def fits(limits: Limits) -> bool:
        least_bytes = _least_bytes(report, limits)
        return least_bytes <= MAX_BYTES and len(rendered(limits)) <= MAX_BYTES

    if fits(LIMITS[0]):
        return rendered(LIMITS[0]).decode()
    # Each allows less than the one before.
    at = bisect.bisect_left(LIMITS[:-1], True, 1, key=fits)
    return rendered(LIMITS[at]).decode()


def _least_bytes(report: Report, limits: Limits) -> int:
    """Return a lower bound of the page's size, so that none is made that cannot fit."""
    items = report.broken[: limits.items]
    linking_pages = sum(min(each.pages, limits.linking_pages) for each in items)
    return len(items) * MIN_ITEM_BYTES + linking_pages * MIN_LINKING_PAGE_BYTES


@functools.cache
def _template() -> Template:
    return Loader(str(DIRECTORY)).load("page.html")


@functools.cache
def _read(name: str) -> str:
    return (DIRECTORY / name).read_text(encoding="utf-8")


class _PageValues:
    """The values of the template."""

    def __init__(self, report: Report, limits: Limits, boxes: Treemap | None) -> None:
        self.site = cut(report.site, 100)
        self.headline = headline(report)
        self.explanation = sentence(cut(explanation(report), EXPLANATION_CHARS))
        self.caveats = caveats(report)
        self.is_empty = report.is_empty
        self.mood = mood(report)
        self.first = [
            _PriorityRow.of(each, report, limits) for each in priorities_of(report)
        ]
        self.broken: BrokenList = broken_list(report, limits)
        self.tables: list[Table] = list(tables_of(report, limits))
        self.tiles = list(_tiles(report))
        self.treemap = boxes
        self.is_long = len(self.broken.items) >= MIN_FILTERED
        self.home = home_of(report)
        self.style = _read("page.css")
        self.advice = advice_for(self.broken, self.tables)
        self.has_advice = {each.anchor for each in self.advice}
        self.script = _read("page.js")
        self.policy = _policy(self.script)
        self.sections = list(self._sections())
        self.when = ""
        if report.summary.last_at is not None:
            self.when = f"As of {time_of_day(report.summary.last_at)}"
        self.footer = f"Made by gencrawl on {time_of_day(report.made_at)}."

    def _sections(self) -> Iterator[tuple[str, str, str]]:
        if self.treemap:
            yield "shape", "Shape", ""
        yield "broken", "Broken links", f"{self.broken.count:,}"
        for table in self.tables:
            yield table.anchor, table.title, table.count
        if self.advice:
            yield "do", "What to do", ""


class _PriorityRow(NamedTuple):
    """A problem to fix first, for display."""

    name: str
    target: str
    badge: str
    words: str

    @classmethod
    def of(cls, first: Priority, report: Report, limits: Limits) -> "_PriorityRow":
        name = shown_url(first.url, home_of(report), limits.url_chars)
        target = f"broken-{first.at}" if first.at else first.section
        if first.at > limits.items:
            target = first.section
        badge = badge_of(report.broken[first.at - 1]) if first.at else ""
        words = ", ".join(filter(None, (first.url and first.words, first.where)))
        return cls(name or first.words, target, badge, sentence(words))


def _tiles(report: Report) -> Iterator[tuple[str, str, str]]:
    """Return the tiles: a name, a number, and what it counts."""
    summary = report.summary
    if not report.is_empty:
        yield from _amounts(report)
    if summary.failed:
        words = f"{summary.broken:,} broken, {summary.not_checked:,} not checked"
        yield "Failed", f"{summary.failed:,}", words
    yield "Skipped", f"{summary.skipped:,}", "found, not fetched"
    if summary.left:
        yield "Left", f"{summary.left:,}", "still to be fetched"


def _amounts(report: Report) -> Iterator[tuple[str, str, str]]:
    summary = report.summary
    yield "Pages", f"{summary.pages:,}", "HTML"
    yield "Files", f"{summary.files:,}", "non-HTML"
    if summary.external:
        yield "External", f"{summary.external:,}", "exist, not crawled"
    if assets := summary.external_assets:
        yield "Assets of other hosts", f"{assets:,}", "fetched for pages, not crawled"
    yield "Redirects", f"{len(summary.redirects):,}", "followed"
    yield "Size", size(summary.size_bytes), "in total"
    hosts = [host for host in summary.hosts if host.timed]
    timed = sum(host.timed for host in hosts)
    if timed:
        mean_ms = sum(host.took_us for host in hosts) / timed / 1000
        yield "Speed", f"{mean_ms:,.0f} ms", "per fetch, on average"


def _policy(script: str) -> str:
    """Return the Content-Security-Policy, which allows only the page's own script."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
