"""What a table of a report is made of, and how much of it is shown.

Pure.  `crawler_app.report.sections` makes the tables; the page and the text show them, and
neither knows what they are about.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from crawler_app.report.findings import Report
from crawler_app.urls import origin_of
from crawler_app.words import shown_url

__all__ = ["ALL_IN_JSON", "Cell", "Limits", "Shown", "Table", "home_of", "shown"]

# What is said where a list is cut.
ALL_IN_JSON = "“gencrawl report DIR --format json” lists all"


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
    """

    name: str
    href: str = ""


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


def home_of(report: Report) -> str:
    """Return the origin that is not told with each URL."""
    return origin_of(report.seeds[0])


def shown(url: str, home: str, limits: Limits) -> Shown:
    """Return a URL as it is shown.

    >>> shown("http://a.test/x", "http://a.test", Limits())
    Shown(name='/x', href='http://a.test/x')
    >>> shown("javascript:alert(1)", "http://a.test", Limits()).href
    ''
    """
    is_link = url.startswith(("http://", "https://")) and len(url) <= limits.href_chars
    return Shown(shown_url(url, home, limits.url_chars), url if is_link else "")
