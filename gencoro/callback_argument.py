"""The ``callback=`` argument of calls that return a Future, as in Tornado until 5.

Rule: a function that declares the parameter gets it, as in Tornado 6; otherwise it means
"call this with the result".
"""

import inspect
from collections.abc import Callable
from typing import Any

from gencoro.deprecated import warn_legacy
from gencoro.futures import Future
from gencoro.tornado_interop import add_future

__all__ = ["is_for_caller", "pass_result_to"]

BY_NAME = (
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


def is_for_caller(function: Callable[..., Any], kwargs: dict[str, Any]) -> bool:
    """Return True if ``callback=`` is not a parameter of the function itself.

    >>> is_for_caller(lambda url, callback=None: None, {"callback": print})
    False
    >>> is_for_caller(lambda url, **options: None, {"callback": print})
    True
    """
    if "callback" not in kwargs:
        return False
    try:
        parameter = inspect.signature(function).parameters.get("callback")
    except (TypeError, ValueError):  # some builtins have no signature
        return True
    return parameter is None or parameter.kind not in BY_NAME


def pass_result_to(
    callback: Callable[[Any], object] | None, future: "Future[Any]"
) -> None:
    """Call back with a Future's result, in a later turn and in the caller's context.

    If the Future fails, the callback is not called, and the error is handled like an error
    of a callback: by the caller's stack context, or else by the log.

    Args:
        callback: None has no effect.
    """
    warn_legacy(
        "the argument callback=",
        "yield what the call returns, or pass it to IOLoop.add_future",
    )
    if callback is not None:
        add_future(future, lambda done: callback(done.result()))
