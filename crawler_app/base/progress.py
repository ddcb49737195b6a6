"""Progress callbacks for long-running work.

Pure.  `crawler_app.show.terminal.progress_display.Steps` is such a callback, for a terminal.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

__all__ = ["OnStep", "in_steps", "megabytes", "no_step"]

T = TypeVar("T")

# Called with what is being done, how much of it is done, and the total; None if unknown.
OnStep = Callable[[str, int, int | None], object]

# Items between two calls, so that the overhead per item is 30 ns and not 100.
ITEMS_PER_STEP = 64


def no_step(what: str, done: int, total: int | None) -> None:
    """Ignore the progress."""


def megabytes(size_bytes: int) -> int:
    """Return a size in megabytes, rounded up, so that a small file does not show as 0.

    >>> megabytes(0), megabytes(1), megabytes(2_000_000)
    (0, 1, 2)
    """
    return -(-size_bytes // 10**6)


def in_steps(
    what: str, items: Iterable[T], on_step: OnStep, total: int | None = None
) -> Iterator[T]:
    """Yield the items, and report now and then, and at the end, how many were yielded.

    >>> list(in_steps("reading pages", "ab", print, 2))
    reading pages 0 2
    reading pages 2 2
    ['a', 'b']
    """
    iterator = iter(items)
    done = 0
    for item in iterator:
        on_step(what, done, total)
        yield item
        yield from itertools.islice(iterator, ITEMS_PER_STEP - 1)
        done += ITEMS_PER_STEP
    if total is not None:
        on_step(what, total, total)
