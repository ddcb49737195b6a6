"""The callbacks of a stream: when they run, and how their errors affect it.

Rule: the loop runs them one after the other, inside the stack contexts of their caller
only.  The close callback is last: another callback may start a call with a callback of
its own, which reads data that arrived before the close.
"""

import contextlib
import contextvars
from collections.abc import Callable, Iterator
from typing import Any

from tornado.log import app_log

from gencoro import context_hook
from gencoro.compat.calls.io_loop_arguments import on_loop
from gencoro.legacy.stack_context import wrap

__all__ = ["StreamCallback", "busy", "call_close_callback", "has_called_back"]


class StreamCallback:
    """A callback of a stream.

    Args:
        stream: It is closed if the callback fails and no stack context consumes the error.
        function: Called inside the current stack contexts.

    Attributes:
        function: The same function, not bound to the contexts.
    """

    def __init__(self, stream: Any, function: Callable[..., Any]) -> None:
        self.function = function
        self._stream = stream
        self._bound = wrap(function)
        # The stack contexts apply to the function only, and not to `_call`.
        if context_hook.hook is None:
            self._context = contextvars.copy_context()
        else:
            self._context = context_hook.hook.without(contextvars.copy_context)

    def schedule(self, *args: Any) -> None:
        """Schedule it for the next turn of the loop."""
        _count(self._stream, +1)
        self._context.run(self._stream.io_loop.add_callback, self._call, *args)

    def _call(self, *args: Any) -> Any:
        stream = self._stream
        _count(stream, -1)
        try:
            return self._bound(*args)
        except Exception:  # an error of the callback that no context has consumed
            app_log.error("Uncaught exception, closing connection.", exc_info=True)
            stream.close(exc_info=True)
            raise
        finally:
            call_close_callback(stream)


def has_called_back(stream: Any) -> bool:
    """Return True if a callback was ever passed to a method of this stream."""
    return "_pending_callbacks" in vars(stream)


def call_close_callback(stream: Any) -> None:
    """Schedule the close callback if the stream is closed and no callback is pending."""
    callback = stream._close_callback
    if callback is None or not stream.closed():
        return
    if not vars(stream).get("_pending_callbacks"):
        stream._close_callback = None
        StreamCallback(stream, callback).schedule()


@contextlib.contextmanager
def busy(stream: Any) -> Iterator[None]:
    """Run a ``with`` block on the stream's loop, and the close callback only after it."""
    _count(stream, +1)
    try:
        with on_loop(stream.io_loop):
            yield
    finally:
        _count(stream, -1)
        call_close_callback(stream)


def _count(stream: Any, more: int) -> None:
    # The name of this attribute until Tornado 5.
    stream._pending_callbacks = vars(stream).get("_pending_callbacks", 0) + more
