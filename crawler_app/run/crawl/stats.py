"""Named counters of one run."""

import collections
from collections.abc import Iterator

__all__ = ["Stats"]


class Stats:
    """Counters that start at 0, named ``group/reason``.

    The frontier knows the outcome of every URL; these count what this process did.

    >>> stats = Stats()
    >>> stats.add("skipped/out_of_scope")
    >>> for size in (1_000, 24):
    ...     stats.add("bytes", size)
    >>> stats["skipped/out_of_scope"], stats["fetched"]
    (1, 0)
    >>> list(stats)
    [('bytes', 1024), ('skipped/out_of_scope', 1)]
    """

    def __init__(self) -> None:
        self._count_by_name: collections.Counter[str] = collections.Counter()

    def add(self, name: str, count: int = 1) -> None:
        """Increase a counter."""
        self._count_by_name[name] += count

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(sorted(self._count_by_name.items()))

    def __getitem__(self, name: str) -> int:
        return self._count_by_name[name]
