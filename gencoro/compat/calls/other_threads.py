"""Calls of coroutines, streams and connections on another thread than their loop's.

Tornado 4 served such calls in practice, at the risk that two threads wrote to a socket at
a time.

Rule: the calls are passed to the loop and run there in their order.  Each returns at once,
before it takes effect; if it fails, its Future has the error, and the loop logs it.
"""

import asyncio
import functools
import threading
from collections.abc import Callable
from typing import Any

from tornado.ioloop import IOLoop
from tornado.iostream import StreamClosedError

import gencoro.ioloop
from gencoro.futures import chain_future, is_future
from gencoro.ioloop import program_loop
from gencoro.legacy.futures import LegacyFuture

__all__ = ["is_elsewhere", "loop_of_program", "on_any_thread", "pass_to_loop"]


def loop_of_program() -> asyncio.AbstractEventLoop | None:
    """Return the program's loop, on another thread that has none of its own."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main or gencoro.ioloop.IOLoop.current(instance=False) is not None:
        return None
    found = program_loop()
    return None if found is None else found.asyncio_loop


def is_elsewhere(io_loop: Any) -> bool:
    """Return True if a loop is running, but not on this thread."""
    loop = io_loop.asyncio_loop
    return asyncio._get_running_loop() is not loop and loop.is_running()


def pass_to_loop(
    io_loop: IOLoop,
    function: Callable[[], Any],
    quiet: type[Exception] = StreamClosedError,
) -> LegacyFuture[Any]:
    """Call a function on its loop; return a Future with its result.

    Args:
        io_loop: The loop.
        function: It may return a Future, whose outcome becomes that of the returned one.
        quiet: An error that is not logged: the peer has closed the connection.
    """
    outcome: LegacyFuture[Any] = LegacyFuture()
    # The thread may drop the Future, and its error with it.
    outcome.add_done_callback(lambda done: done.cancelled() or done.exception())

    def call() -> None:
        try:
            result = function()
        except Exception as exc:  # any error of the call
            outcome.set_exception(exc)
            if not isinstance(exc, quiet):
                raise
        else:
            if is_future(result):
                chain_future(result, outcome)
            else:
                outcome.set_result(result)

    io_loop.add_callback(call)
    return outcome


def on_any_thread(
    quiet: type[Exception] = StreamClosedError,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for methods of objects that have a stream.

    Args:
        quiet: As for `pass_to_loop`.
    """

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
            stream = self.stream
            if stream is None or not is_elsewhere(stream.io_loop):
                return method(self, *args, **kwargs)
            call = functools.partial(method, self, *args, **kwargs)
            return pass_to_loop(stream.io_loop, call, quiet)

        return wrapper

    return decorate
