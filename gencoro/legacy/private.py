"""Private names of `tornado.gen` that packages import."""

from collections.abc import Awaitable
from typing import Any

from gencoro.futures import Future
from gencoro.yieldables import as_future

__all__ = ["_value_from_stopiteration", "_wrap_awaitable"]


def _value_from_stopiteration(e: Any) -> Any:
    """Return the value of a StopIteration, or of a `Return`.

    >>> _value_from_stopiteration(StopIteration(42))
    42
    """
    try:
        return e.value
    except AttributeError:
        return e.args[0] if getattr(e, "args", None) else None


def _wrap_awaitable(x: Awaitable[Any]) -> "Future[Any]":
    """Start an awaitable and return its Future."""
    return as_future(x)
