"""`gen.engine`: callback-style coroutines, whose calls return None."""

import asyncio
import functools
from collections.abc import Callable
from typing import Any

from gencoro import loop_hook
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
    begin: Callable[..., LegacyFuture[Any]]
    begin = returning(LegacyFuture, func, takes_callback=False)

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
        future = None
        if loop_hook.hook is not None and asyncio._get_running_loop() is None:
            future = loop_hook.hook.begin(LegacyFuture, func, args, kwargs)
        (future or begin(*args, **kwargs)).add_done_callback(wrap(end))

    return wrapper
