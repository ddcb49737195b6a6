"""Parses ``Refresh`` headers and ``<meta http-equiv=refresh>``.

Pure.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Refresh", "first_due", "parse_refresh"]

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
