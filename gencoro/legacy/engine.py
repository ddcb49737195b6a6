"""`gen.engine`: callback-style coroutines, whose calls return None."""

import asyncio
import functools
from collections.abc import Callable
from typing import Any

from gencoro import futures
from gencoro.coroutines import returning
from gencoro.errors import ReturnValueIgnoredError
from gencoro.frames import name_of
from gencoro.legacy.futures import LegacyFuture
from gencoro.legacy.stack_context import wrap

__all__ = ["engine"]


def engine(func: Callable[..., Any]) -> Callable[..., None]:
    """Turn a generator function into a coroutine that passes its result to a callback.

    A call returns None.  The function usually takes an argument ``callback`` and calls it
    itself.  Since the caller does not wait, an error goes to the stack context of the
    call, as does the `ReturnValueIgnoredError` for a function that returns a value.

    >>> @engine
    ... def add(a, b, callback):
    ...     yield []
    ...     callback(a + b)
    >>> import asyncio
    >>> async def main():
    ...     add(40, 2, callback=print)
    >>> asyncio.run(main())
    42
    """
    begin = returning(_new_future, func, takes_callback=False)

    def end(future: LegacyFuture[Any]) -> None:
        if future.cancelled():  # its loop was closed: this is not an error
            return
        value = future.result()
        if value is not None:
            raise ReturnValueIgnoredError(
                f"{name_of(func)} is decorated with @gen.engine and returned {value!r}, "
                "which would be lost; pass it to a callback, or use @gen.coroutine"
            )

    @functools.wraps(begin)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        begin(*args, **kwargs).add_done_callback(wrap(end))

    return wrapper


def _new_future(**of_loop: Any) -> LegacyFuture[Any]:
    """Return a LegacyFuture, which would need no loop, where there is one for it.

    Raises:
        RuntimeError: the loop is that of another thread, and was not given.
    """
    is_at_rest = not of_loop and asyncio._get_running_loop() is None
    if is_at_rest and futures.loop_of_program() is not None:
        raise RuntimeError("the loop runs on another thread")
    return LegacyFuture(**of_loop)
