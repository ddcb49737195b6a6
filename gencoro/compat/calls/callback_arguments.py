"""The ``callback=`` argument of Tornado's own functions, by name or by position.

Rule: a callable in the former position of the callback is the callback; anything else
there means what it means today.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any

from gencoro.callback_argument import pass_result_to
from gencoro.compat.calls.io_loop_arguments import most_by_position
from gencoro.yieldables import as_future

__all__ = ["take_callback", "taking_callback"]


def take_callback(
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    place: int,
    most: int = sys.maxsize,
) -> tuple[Callable[..., Any] | None, tuple[Any, ...]]:
    """Remove the callback from the arguments of a call.

    Args:
        args: The positional arguments.
        kwargs: The keyword arguments; the callback is removed from this dict.
        place: The former position of the callback, from 0; ``self`` counts.
        most: How many arguments the function takes today.  If there are more, a None in
            the callback's position is the callback.

    Returns the callback or None, and the positional arguments without it.

    Raises:
        TypeError: there are two callbacks.

    >>> take_callback(("stream", 7, print), {}, place=2)
    (<built-in function print>, ('stream', 7))
    >>> take_callback(("stream", 7, True), {}, place=2)
    (None, ('stream', 7, True))
    """
    if "callback" in kwargs:
        if len(args) > place and callable(args[place]):
            raise TypeError("callback was passed twice, by position and by name")
        return kwargs.pop("callback"), args
    if len(args) > place and (
        callable(args[place])
        or (args[place] is None and len(args) + len(kwargs) > most)
    ):
        return args[place], args[:place] + args[place + 1 :]
    return None, args


def taking_callback(place: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds a callback argument to a function.

    The function returns something yieldable.  Its result is passed to the callback in a
    later turn, inside the caller's stack contexts; its error goes to these contexts.
    """

    def decorate(original: Callable[..., Any]) -> Callable[..., Any]:
        most = most_by_position(original)

        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            callback, args = take_callback(args, kwargs, place, most)
            result = original(*args, **kwargs)
            if callback is None:
                return result
            future = as_future(result)
            pass_result_to(callback, future)
            return future

        return wrapper

    return decorate
