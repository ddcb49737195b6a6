"""A use of a legacy name, and what can be said about it.

Pure.  Used by `gencoro.compat.doctor.scan` and `gencoro.compat.doctor.visitor`.
"""

from typing import NamedTuple

from gencoro.compat.doctor.differences import NOTES
from gencoro.compat.doctor.known import ADVICE, ALL
from gencoro.compat.names import Row

__all__ = ["Use", "use_of"]

# The rows of methods that have none of their own.
_OWNERS = {
    "tornado.concurrent.Future.cancel": "tornado.concurrent.Future",
    "tornado.concurrent.Future.exc_info": "tornado.concurrent.Future",
    "tornado.concurrent.Future.set_exc_info": "tornado.concurrent.Future",
}


class Use(NamedTuple):
    """One place where legacy Tornado is used.

    Attributes:
        line: The line, from 1 on.
        name: The dotted name; of a method, with the class that had it.
        argument: The legacy argument, if the name itself is not legacy.
        row: Its row of the table; None if gencoro.compat does not know the name.
    """

    line: int
    name: str
    argument: str
    row: Row | None

    @property
    def is_served(self) -> bool:
        """Whether it works with gencoro.compat."""
        return self.row is not None and self.name not in ADVICE

    @property
    def note(self) -> str:
        """What differs from Tornado 4.5 although it is served; empty if nothing does."""
        return NOTES.get((self.name, self.argument), "")


def use_of(name: str, line: int, argument: str = "") -> Use:
    """Return the use of a name, with its row.

    >>> use_of("tornado.gen.engine", 7).row.last
    '5.1'
    """
    # A method without a row came with its class.
    return Use(line, name, argument, ALL.get(name) or ALL.get(_OWNERS.get(name, "")))
