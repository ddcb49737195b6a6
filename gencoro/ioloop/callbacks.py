"""How an IOLoop runs callbacks: inside stack contexts, and with error handling.

Rule: an error in a callback goes to the stack contexts in which it was scheduled, if any,
and then to `handle_callback_exception`; it never leaves the loop.
"""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import functools
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from tornado.platform.asyncio import AsyncIOLoop

from gencoro import context_hook
from gencoro.deprecated import warn_legacy
from gencoro.errors import BadYieldError
from gencoro.frames import name_of
from gencoro.futures import (
    AnyFuture,
    Future,
    app_log,
    future_add_done_callback,
    is_future,
    storable,
)
from gencoro.yieldables import Moment, as_future

__all__ = ["CallbackLoop", "note_plain_generator"]

T = TypeVar("T")


class _ErrorLog:
    """What a loop does with the error of a callback, unless a program says otherwise."""

    def handle_callback_exception(self, callback: Callable[..., object] | None) -> None:
        """Log the error that a callback has raised.

        The error is available through `sys.exc_info`.  Programs may override this method,
        in a subclass or on one loop; with `gencoro.compat`, on Tornado's class too.
        """
        app_log.error("Exception in callback %r", callback, exc_info=True)


# `_ErrorLog` is behind Tornado's class, so that what a program sets on that counts.
class CallbackLoop(AsyncIOLoop, _ErrorLog):
    """Tornado's loop, with stack contexts and `handle_callback_exception`."""

    # Whether `stop` was called since the last run.
    _is_stopped = False

    def _run_callback(self, callback: Callable[[], Any]) -> None:
        hook = context_hook.hook
        try:
            result = callback() if hook is None else hook.run(callback)
            if result is not None:
                self._wait_for(result)
        except asyncio.CancelledError:  # not an error
            pass
        except Exception:  # raised by the callback; it must not end the loop
            self._without_contexts(self.handle_callback_exception, callback)
        finally:
            del callback  # Rule 3 of `gencoro.runner`.

    def _wait_for(self, result: Any) -> None:
        """Log the error of a coroutine that was scheduled as a callback."""
        try:
            future = as_future(result)
        except BadYieldError:  # a function may return anything
            note_plain_generator(result)
            return
        if not isinstance(future, Moment):
            self._without_contexts(self.add_future, future, self._discard_future_result)

    def add_callback(
        self, callback: Callable[..., object], *args: Any, **kwargs: Any
    ) -> None:
        """Call back in the next turn; may be called on any thread."""
        bound = functools.partial(callback, *args, **kwargs)
        if asyncio._get_running_loop() is self.asyncio_loop:
            self.asyncio_loop.call_soon(self._run_callback, bound)
            return
        hook = context_hook.hook
        # A closed loop runs no callbacks; a thread that finishes late can ignore that.
        with contextlib.suppress(RuntimeError):
            if hook is None:
                self.asyncio_loop.call_soon_threadsafe(self._run_callback, bound)
            else:
                hook.without_carried(
                    self.asyncio_loop.call_soon_threadsafe, self._run_callback, bound
                )

    def start(self) -> None:
        """Run the loop until `stop`.

        If it was stopped and then closed, this returns at once, as until Tornado 4.
        """
        try:
            if not (self._is_stopped and self.asyncio_loop.is_closed()):
                super().start()
        finally:
            self._is_stopped = False

    def stop(self) -> None:
        """Stop the loop after this turn, also from a signal handler or another thread."""
        self._is_stopped = True
        super().stop()
        # Wake it up.
        with contextlib.suppress(RuntimeError):  # it is closed
            self.asyncio_loop.call_soon_threadsafe(bool)

    def add_future(
        self, future: AnyFuture[Any], callback: Callable[[Any], object]
    ) -> None:
        """Call back with a Future when it is done, always in a later turn.

        Raises:
            TypeError: future is not a Future.
        """
        context = contextvars.copy_context()
        if isinstance(future, Future) or asyncio.isfuture(future):
            future.add_done_callback(
                lambda done: self._run_callback(functools.partial(callback, done)),
                context=context,
            )
        elif is_future(future):
            # It may call back on another thread, so the current context is passed on
            # explicitly.
            future_add_done_callback(
                future,
                lambda done: self._call_soon_threadsafe(
                    functools.partial(callback, done), context
                ),
            )
        else:
            raise TypeError(
                f"add_future({future!r}): not a Future; convert it with "
                "gen.convert_yielded"
            )

    def _call_soon_threadsafe(
        self, callback: Callable[[], Any], context: contextvars.Context
    ) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self.asyncio_loop.call_soon_threadsafe(
                self._run_callback, callback, context=context
            )

    def run_in_executor(
        self,
        executor: concurrent.futures.Executor | None,
        func: Callable[..., T],
        *args: Any,
    ) -> "Future[T]":
        """Run a function on a thread (or process) of an executor."""
        return super().run_in_executor(executor, _call, func, *args)

    def spawn_callback(
        self, callback: Callable[..., object], *args: Any, **kwargs: Any
    ) -> None:
        """Like ``add_callback``, outside of all stack contexts."""
        self._without_contexts(self.add_callback, callback, *args, **kwargs)

    def add_callback_from_signal(
        self, callback: Callable[..., object], *args: Any, **kwargs: Any
    ) -> None:
        """Call back in the next turn; may be called by a signal handler."""
        warn_legacy(
            "add_callback_from_signal",
            "call asyncio.get_running_loop().add_signal_handler(signum, callback) in place "
            "of signal.signal",
        )
        with contextlib.suppress(RuntimeError):  # it is closed
            self._without_contexts(
                self.asyncio_loop.call_soon_threadsafe,
                self._run_callback,
                functools.partial(callback, *args, **kwargs),
            )

    def add_handler(self, fd: Any, handler: Callable[..., Any], events: int) -> None:
        """Call ``handler(fd, events)`` whenever a file is ready."""
        hook = context_hook.hook
        if hook is not None and not _is_of_stream(handler):
            handler = hook.wrap(handler)
        self._without_contexts(super().add_handler, fd, handler, events)

    def update_handler(self, fd: Any, events: int) -> None:
        """Change the events to wait for.

        Raises:
            ValueError: the file has no handler.
        """
        if self.split_fd(fd)[0] not in self.handlers:
            raise ValueError(
                f"update_handler({fd!r}): no handler is registered; call add_handler "
                "first"
            )
        self._without_contexts(super().update_handler, fd, events)

    def _handle_events(self, fd: int, events: int) -> None:
        try:
            super()._handle_events(fd, events)
        except Exception:  # raised by the handler; it must not end the loop
            _file, handler = self.handlers.get(fd, (None, None))
            self.handle_callback_exception(handler)

    def _without_contexts(
        self, function: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> None:
        hook = context_hook.hook
        if hook is None:
            function(*args, **kwargs)
        else:
            hook.without(function, *args, **kwargs)


def note_plain_generator(result: Any) -> None:
    """Log that a callback is a generator function without decorator, once for each."""
    if isinstance(result, types.GeneratorType):
        code, cure = result.gi_code, "decorate it with @gen.coroutine"
    elif isinstance(result, types.AsyncGeneratorType):
        code, cure = result.ag_code, "write `async for` in a callback that calls it"
    else:
        return
    if code not in _noted_codes and code.co_name != "<genexpr>":
        _noted_codes.add(code)
        app_log.error(
            "The callback %s() is a generator function, of which a call runs nothing; %s",
            name_of(result),
            cure,
        )


_noted_codes: "weakref.WeakSet[types.CodeType]" = weakref.WeakSet()


def _call(func: Callable[..., T], *args: Any) -> T:
    # As `of_other_thread` says, asyncio's Future might wait forever.
    try:
        return func(*args)
    except StopIteration as exc:
        raise storable(exc) from exc


def _is_of_stream(handler: Callable[..., Any]) -> bool:
    """Return True if a handler is a stream's, which serves all users of the stream."""
    # A loop does not need Tornado's streams; a program that has none does not load them.
    iostream = sys.modules.get("tornado.iostream")
    if iostream is None:
        return False
    return isinstance(getattr(handler, "__self__", None), iostream.BaseIOStream)
