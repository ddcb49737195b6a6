"""The building blocks of a report's tables, and the limits of their length.

Pure.  `site_sections`, `page_sections` and `crawl_sections` build the tables, `broken_links` the
list of broken links, and `sections` puts them in order, with advice; the HTML and Markdown renderers show them without knowing their subject.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import shown_url
from crawler_app.base.urls import origin_of
from crawler_app.show.report.report_data import Report

__all__ = [
    "LINES",
    "Cell",
    "DisplayUrl",
    "Limits",
    "Table",
    "TableMaker",
    "all_in_csv",
    "command",
    "home_of",
    "more_in_json",
    "shown",
]

# Maximum number of URLs in one cell.
LINES = 4


@dataclass(slots=True, frozen=True)
class Limits:
    """The maximum amount that is shown.

    Attributes:
        items: Broken URLs.
        linking_pages: Pages with links to each of them.
        rows: Rows of any other table.
        url_chars: Characters of a URL as shown.
        href_chars: Characters of a link's URL; a longer URL is shown as text.
    """

    items: int = 200
    linking_pages: int = 15
    rows: int = 25
    url_chars: int = 100
    href_chars: int = 1000


@dataclass(slots=True, frozen=True)
class DisplayUrl:
    """A URL for display.

    Attributes:
        href: Target of the link; empty if it is too long, or not http or https.
        note: A remark; may be empty.
    """

    name: str
    href: str = ""
    note: str = ""


@dataclass(slots=True, frozen=True)
class Cell:
    """One cell of a table.

    Attributes:
        bar: Length of a bar before the text, in percent; None for no bar.
        badge: Color of the text's badge: "ok", "moved" or "bad"; empty for no badge.
        lines: URLs below the text.
        value: What the column is sorted by, if that is not the text.
    """

    text: str = ""
    href: str = ""
    bar: float | None = None
    badge: str = ""
    lines: Sequence[DisplayUrl] = ()
    value: float | None = None


@dataclass(slots=True)
class Table:
    """One section with a table.

    Attributes:
        anchor: Its fragment in the URL of the page.
        count: Number shown in the navigation; may be empty.
        numbers: The heads of the columns with numbers.
        more: A sentence that says how many rows are left out.
        is_half: Whether half the width of a large screen is enough.
    """

    anchor: str
    title: str
    heads: list[str]
    rows: list[list[Cell]]
    words: str = ""
    count: str = ""
    numbers: tuple[str, ...] = ()
    more: str = ""
    is_half: bool = False


@dataclass(slots=True)
class TableMaker:
    """Makes the tables and cells of one report, within its limits."""

    report: Report
    limits: Limits
    home: str = field(init=False)

    def __post_init__(self) -> None:
        self.home = home_of(self.report)

    def link(self, url: str) -> Cell:
        """Return a cell with a URL."""
        link = shown(url, self.home, self.limits)
        return Cell(link.name, link.href)

    def lines(self, urls: Sequence[str], most: int = LINES) -> list[DisplayUrl]:
        """Return the first of several URLs, for display."""
        return [shown(url, self.home, self.limits) for url in urls[:most]]

    def chain(self, urls: Sequence[str]) -> list[DisplayUrl]:
        """Return the URLs of a chain; of a long one, the beginning and the end."""
        if len(urls) <= 2 * LINES:
            return self.lines(urls, len(urls))
        left_out = DisplayUrl(f"and {len(urls) - 2 * LINES + 1:,} more")
        return [*self.lines(urls), left_out, *self.lines(urls[-LINES + 1 :])]

    def table(
        self,
        anchor: str,
        title: str,
        heads: list[str],
        rows: list[list[Cell]],
        total: int = 0,
        *,
        is_half: bool = False,
    ) -> Table:
        """Return a table.

        Args:
            total: Number of rows without limits; 0 to show no number.
        """
        more = ""
        if total > len(rows):
            more = f"And {total - len(rows):,} more.  {more_in_json(self.report)}."
        count = f"{total:,}" if total else ""
        return Table(
            anchor, title, heads, rows, count=count, more=more, is_half=is_half
        )


def command(report: Report, name: str, *options: str) -> str:
    """Return a command for the directory of the crawl, in quotation marks."""
    words = ["gencrawl", name, str(report.path), *options]
    return f"“{printable(shlex.join(words))}”"


def all_in_csv(report: Report) -> str:
    """Return a sentence about how to see all links to what is broken or moved."""
    return f"{command(report, 'report', '--format', 'csv')} lists all"


def more_in_json(report: Report) -> str:
    """Return a sentence about how to see longer lists."""
    return f"{command(report, 'report', '--format', 'json')} lists more"


def home_of(report: Report) -> str:
    """Return the origin that is left out of displayed URLs."""
    return origin_of(report.seeds[0])


def shown(url: str, home: str, limits: Limits) -> DisplayUrl:
    """Return a URL for display.

    >>> shown("http://a.test/x", "http://a.test", Limits()).name
    '/x'
    >>> shown("javascript:alert(1)", "http://a.test", Limits()).href
    ''
    """
    is_link = url.startswith(("http://", "https://")) and len(url) <= limits.href_chars
    return DisplayUrl(shown_url(url, home, limits.url_chars), url if is_link else "")
