"""The argument ``callback=`` of a call that returns a Future, as Tornado had it until 5.

Rule: a function that declares the name gets it, as in Tornado 6; for any other the
caller means "call this with the result".
"""

import inspect
from collections.abc import Callable
from typing import Any

from gencoro.beside_tornado import add_future
from gencoro.deprecated import warn_legacy
from gencoro.futures import Future

__all__ = ["is_for_caller", "pass_result_to"]

BY_NAME = (
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


def is_for_caller(function: Callable[..., Any], kwargs: dict[str, Any]) -> bool:
    """Return whether a call's ``callback=`` is not the function's own argument.

    >>> is_for_caller(lambda url, callback=None: None, {"callback": print})
    False
    >>> is_for_caller(lambda url, **options: None, {"callback": print})
    True
    """
    if "callback" not in kwargs:
        return False
    try:
        parameter = inspect.signature(function).parameters.get("callback")
    except (TypeError, ValueError):  # of some builtins nothing is known
        return True
    return parameter is None or parameter.kind not in BY_NAME


def pass_result_to(
    callback: Callable[[Any], object] | None, future: "Future[Any]"
) -> None:
    """Call back with a Future's result, in a later turn and in the caller's context.

    If the Future fails, the callback is not called, and the error goes where the errors
    of callbacks go: to the caller's stack context, else to the log.

    Args:
        callback: None does nothing.
    """
    warn_legacy(
        "the argument callback=",
        "yield what the call returns, or give it to IOLoop.add_future",
    )
    if callback is not None:
        add_future(future, lambda done: callback(done.result()))
