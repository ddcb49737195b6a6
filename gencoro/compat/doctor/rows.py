"""Finds the rows of the table for a name in a source.

Rule: a name of a class also applies to its subclasses in Tornado.  Used by
`gencoro.compat.doctor.scan` and `gencoro.compat.doctor.arguments`.
"""

import functools
import sys

from gencoro.compat.doctor.known import ALL
from gencoro.compat.doctor.today import Today

__all__ = ["ROWS", "TODAY", "Rows"]

# The likeliest modules of a method of an unknown object, in this order.
_LIKELY = ("tornado.iostream.", "tornado.httpclient.", "tornado.web.", "tornado.")


class Rows:
    """Looks up rows of the table for names of a Tornado.

    Args:
        today: The installed Tornado.

    >>> rows = Rows(Today())
    >>> rows.find("tornado.web.StaticFileHandler.flush")
    'tornado.web.RequestHandler.flush'
    >>> rows.is_gone("tornado.gen.engine"), rows.is_gone("tornado.gen.coroutine")
    (True, False)
    """

    def __init__(self, today: Today) -> None:
        self._today = today

    def find(self, name: str) -> str | None:
        """Return the name of the row for a name; None if there is none."""
        if name in ALL:
            return name
        owner, _, own_name = name.rpartition(".")
        for base in self._today.owners(owner):
            if f"{base}.{own_name}" in ALL:
                return f"{base}.{own_name}"
        return None

    def is_gone(self, name: str) -> bool:
        """Return True if a name has a row, and Tornado or Python has it no longer."""
        row = self.find(name)
        if row is None or row.startswith("tornado."):
            return row is not None and not self._today.has(row)
        last = tuple(int(part) for part in ALL[row].last.split("."))
        return last < sys.version_info[:2]

    def gone_methods(self, base: str) -> dict[str, str]:
        """Return the rows of a class's removed members, by their name in the class."""
        return {
            own_name: f"{owner}.{own_name}"
            for owner in reversed(self._today.owners(base))
            for own_name in self._by_owner.get(owner, ())
            if self.is_gone(f"{owner}.{own_name}")
        }

    def about_call(self, name: str) -> list[str]:
        """Return the rows about the arguments of a function or a class."""
        found = self._today.find(name)
        rows = [self.find(n) for n in (name, found[0] if found else name)]
        makers = [
            f"{owner}{maker}"
            for owner in self._today.owners(name)
            for maker in ("", ".__init__", ".initialize", ".__new__")
        ]
        return [row for row in (*rows, *makers) if row is not None and row in ALL]

    def of_method(self, name: str) -> list[str]:
        """Return the rows of a method of any class, likeliest first."""
        return self._by_method.get(name, [])

    @functools.cached_property
    def _by_owner(self) -> dict[str, list[str]]:
        by_owner: dict[str, list[str]] = {}
        for name in ALL:
            owner, _, own_name = name.rpartition(".")
            by_owner.setdefault(owner, []).append(own_name)
        return by_owner

    @functools.cached_property
    def _by_method(self) -> dict[str, list[str]]:
        by_method: dict[str, list[str]] = {}
        for likely in _LIKELY:
            for name in ALL:
                owner, _, own_name = name.rpartition(".")
                rows = by_method.setdefault(own_name, [])
                if name.startswith(likely) and self._today.owners(owner):
                    rows += [name] if name not in rows else []
        return by_method


# The installed Tornado, of which each module is read once.
TODAY = Today()
ROWS = Rows(TODAY)
