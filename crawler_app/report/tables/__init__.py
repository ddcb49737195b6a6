"""What a table of a report is made of, and how much of it is shown.

Pure.  `crawler_app.report.tables.site` and `crawler_app.report.tables.crawl` make the
tables; the page and the text show them, and neither knows what they are about.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from crawler_app.report.findings import Report
from crawler_app.text.escaping import printable
from crawler_app.text.formatting import shown_url
from crawler_app.urls import origin_of

__all__ = [
    "LINES",
    "Cell",
    "Limits",
    "Maker",
    "Shown",
    "Table",
    "all_in_json",
    "command",
    "home_of",
    "shown",
]

# URLs in one cell.
LINES = 4


@dataclass(slots=True, frozen=True)
class Limits:
    """How much is shown.

    Attributes:
        items: Broken URLs.
        holders: Pages of each of them.
        rows: Of any other table.
        url_chars: Of a URL as it is read.
        href_chars: Of a URL that is a link; longer ones are none.
    """

    items: int = 200
    holders: int = 15
    rows: int = 25
    url_chars: int = 100
    href_chars: int = 1000


@dataclass(slots=True, frozen=True)
class Shown:
    """A URL as it is shown.

    Attributes:
        href: Where it leads; empty if it is too long, or not a page of the web.
        note: What is to be said of it; empty for nothing.
    """

    name: str
    href: str = ""
    note: str = ""


@dataclass(slots=True, frozen=True)
class Cell:
    """One cell.

    Attributes:
        bar: The length of a bar before the text, in percent; None for none.
        badge: How the text is marked: "ok", "moved" or "bad"; empty for not at all.
        lines: URLs below the text.
    """

    text: str = ""
    href: str = ""
    bar: float | None = None
    badge: str = ""
    lines: Sequence[Shown] = ()


@dataclass(slots=True)
class Table:
    """One section with a table.

    Attributes:
        anchor: Its name in a URL.
        count: How much there is, for the list of sections; empty if that says nothing.
        numbers: Which of the heads are those of numbers.
        more: What was left out.
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
class Maker:
    """Makes tables and their cells, all for one report and within one set of limits."""

    report: Report
    limits: Limits
    home: str = field(init=False)

    def __post_init__(self) -> None:
        self.home = home_of(self.report)

    def link(self, url: str) -> Cell:
        """Return a cell with nothing but a URL."""
        link = shown(url, self.home, self.limits)
        return Cell(link.name, link.href)

    def lines(self, urls: Sequence[str], most: int = LINES) -> list[Shown]:
        """Show the first URLs of several."""
        return [shown(url, self.home, self.limits) for url in urls[:most]]

    def way(self, urls: Sequence[str]) -> list[Shown]:
        """Show the URLs of a way, of a long one the beginning and the end."""
        if len(urls) <= 2 * LINES:
            return self.lines(urls, len(urls))
        left_out = Shown(f"and {len(urls) - 2 * LINES + 1:,} more")
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
            total: How many rows there would be; 0 if their number says nothing.
        """
        more = ""
        if total > len(rows):
            more = f"And {total - len(rows):,} more.  {all_in_json(self.report)}."
        count = f"{total:,}" if total else ""
        return Table(
            anchor, title, heads, rows, count=count, more=more, is_half=is_half
        )


def command(report: Report, name: str, *options: str) -> str:
    """Return a command for the directory of the crawl, as it is typed, in quotes."""
    words = ["gencrawl", name, str(report.path), *options]
    return f"“{printable(shlex.join(words))}”"


def all_in_json(report: Report) -> str:
    """Say, where a list is cut, how to see all of it."""
    return f"{command(report, 'report', '--format', 'json')} lists all"


def home_of(report: Report) -> str:
    """Return the origin that is not told with each URL."""
    return origin_of(report.seeds[0])


def shown(url: str, home: str, limits: Limits) -> Shown:
    """Return a URL as it is shown.

    >>> shown("http://a.test/x", "http://a.test", Limits()).name
    '/x'
    >>> shown("javascript:alert(1)", "http://a.test", Limits()).href
    ''
    """
    is_link = url.startswith(("http://", "https://")) and len(url) <= limits.href_chars
    return Shown(shown_url(url, home, limits.url_chars), url if is_link else "")
