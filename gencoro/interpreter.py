"""Settings of the interpreter that are changed for a while."""

import contextlib
import gc
import sys
from collections.abc import Iterator

__all__ = ["recursion_limit", "without_garbage_collection"]


@contextlib.contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Collect garbage only where it is asked for: no finalizer runs because of new objects."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextlib.contextmanager
def recursion_limit(least: int) -> Iterator[None]:
    """Raise the recursion limit to at least this, for deeply nested sources."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(least, before))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
