"""Parses ``Refresh`` headers and ``<meta http-equiv=refresh>``.

Pure.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from crawler_app.base.urls import MAX_URL_CHARS, join_or_nothing, reference_in_header
from crawler_app.web.documents.charset import as_sent

__all__ = ["Refresh", "first_due", "followed_refresh", "parse_refresh", "refresh_among"]

# White space is that of HTML.  A fraction of the time is ignored.  What follows the time must
# be separated from it.
_REFRESH = re.compile(
    r"""[\t\n\f\r ]*+ (?=\.?[0-9]) ([0-9]*+) [0-9.]*+
    (?:[\t\n\f\r ]++ [;,]? | [;,]) [\t\n\f\r ]*+
    (?:url [\t\n\f\r ]*+ = [\t\n\f\r ]*+)?
    (?: " ([^"]*) | ' ([^']*) | (.*) )""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)

# Of the time; a longer one means "never".
MAX_DIGITS = 9


class Refresh(NamedTuple):
    """Where a page takes its visitors.

    Attributes:
        reference: As written; never empty.
        after_s: The delay in seconds.
    """

    reference: str
    after_s: int


def parse_refresh(value: str) -> Refresh | None:
    """Return where a refresh leads; None if it is invalid or only reloads the page.

    Source: WHATWG HTML, "shared declarative refresh steps"; a test compares it with Chromium.

    >>> parse_refresh("0; url='/en/'"), parse_refresh("5,/en/"), parse_refresh("300")
    (Refresh(reference='/en/', after_s=0), Refresh(reference='/en/', after_s=5), None)
    """
    found = _REFRESH.match(value)
    if found is None:
        return None
    digits, *references = found.groups()
    reference = next(filter(None, references), "").strip("\t\n\f\r ")
    return Refresh(reference, int(digits[:MAX_DIGITS] or 0)) if reference else None


def first_due(refreshes: Iterable[Refresh]) -> Refresh | None:
    """Return the one that a browser follows, of those in document order; None for none.

    Precedent: Chromium, in which one with the same delay replaces an earlier one.  In the
    standard, the first wins.

    >>> first_due([Refresh("a", 5), Refresh("b", 0), Refresh("c", 0)])
    Refresh(reference='c', after_s=0)
    """
    latest_first = reversed(list(refreshes))
    return min(latest_first, key=lambda refresh: refresh.after_s, default=None)


def refresh_among(values: Iterable[str], charset: str) -> Refresh | None:
    """Return the refresh of a page, from the values of its ``<meta>`` elements."""
    found = first_due(filter(None, map(parse_refresh, values)))
    if found is None or len(found.reference) > MAX_URL_CHARS:
        return None
    return found._replace(reference=as_sent([found.reference], charset)[0])


def followed_refresh(
    url: str, header: str | None, in_page: Refresh | None, base: str
) -> Refresh | None:
    """Return the refresh that a browser follows, with the URL of its target.

    Args:
        header: The value of the header ``Refresh``; None if there is none.
        base: The URL that the links of the page are relative to.

    >>> followed_refresh("http://a.test/b", None, Refresh("c", 5), "http://a.test/d/")
    Refresh(reference='http://a.test/d/c', after_s=5)
    """
    found = []
    in_header = parse_refresh(header or "")
    if in_header is not None:
        found.append((in_header, url, reference_in_header(in_header.reference)))
    if in_page is not None:
        found.append((in_page, base, in_page.reference))
    targets = [
        refresh._replace(reference=join_or_nothing(relative_to, reference))
        for refresh, relative_to, reference in found
    ]
    return first_due(target for target in targets if target.reference)
