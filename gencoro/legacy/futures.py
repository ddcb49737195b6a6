"""The Future of Tornado 4, which calls back inside ``set_result`` and needs no loop.

For modern code it behaves as an `asyncio.Future`: callbacks added together with a
context, as asyncio's tasks and the Runner do, run in a later turn of the loop, and so
do those of asyncio itself.
"""

import asyncio
import contextvars
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar

from gencoro.futures import (
    ASYNCIO_FUTURES,
    OUR_FUTURES,
    CoroutineFuture,
    app_log,
    current_loop,
    storable,
)
from gencoro.runner import INTERRUPTS

__all__ = ["LegacyFuture"]

T = TypeVar("T")

# A callback, and the context for a call in a later turn; None for a call at once.
_Waiting: TypeAlias = tuple[Callable[[Any], object], contextvars.Context | None]

ExcInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None]


# Packages whose callbacks rely on being called in a later turn, as with asyncio.
MODERN = {"asyncio", "tornado", "uvloop"}


class _NoLoop:
    """The loop that asyncio's base class of a `LegacyFuture` gets.

    It is hardly used: a LegacyFuture stores its callbacks and its loop itself.
    """

    def get_debug(self) -> bool:
        loop = asyncio._get_running_loop()
        return loop is not None and loop.get_debug()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Log an error that was never retrieved, to the logger that Tornado 4 used."""
        exc = context.get("exception")
        app_log.error(
            "Future %r exception was never retrieved: %r",
            context.get("future"),
            exc,
            exc_info=exc,
        )


_NO_LOOP: Any = _NoLoop()


# Whether asyncio's Future is the one in C.
_IN_C = issubclass(CoroutineFuture, ASYNCIO_FUTURES[0])


class _WithoutBase:
    """Keeps asyncio's Future from storing its loop and callbacks, if that is in Python.

    The one in C ignores what its subclasses have under these names.
    """

    _bound_to: asyncio.AbstractEventLoop | None = None

    # None if asyncio's Future stores the callbacks, and the loop.
    _waiting: list[_Waiting] | None = None

    @property
    def _loop(self) -> Any:
        # For introspection, which must not bind it.
        if _IN_C and self._waiting is None:
            return super()._loop  # type: ignore[misc]
        return self._bound_to

    @_loop.setter
    def _loop(self, loop: Any) -> None:
        self._bound_to = loop

    @property
    def _callbacks(self) -> Any:
        if self._waiting is None:
            return super()._callbacks if _IN_C else self._stored  # type: ignore[misc]
        # In the form that asyncio's repr expects.
        nothing = contextvars.Context()
        return [(fn, context or nothing) for fn, context in self._waiting] or None

    @_callbacks.setter
    def _callbacks(self, callbacks: Any) -> None:
        self._stored = callbacks

    def _Future__schedule_callbacks(self) -> None:
        if self._waiting is None:
            super()._Future__schedule_callbacks()  # type: ignore[misc]

    if not _IN_C:

        def __del__(self) -> None:
            # It logs an error that was never retrieved.  Other objects that are freed
            # together with this one may still use it.
            loop = self._bound_to
            if self._waiting is not None:
                self._bound_to = _NO_LOOP
            super().__del__()  # type: ignore[misc]
            self._bound_to = loop


class LegacyFuture(_WithoutBase, CoroutineFuture[T]):
    """A Future that runs its callbacks inside `set_result`, in order, and needs no loop.

    It can be created without a loop, for example while a module is imported.  It belongs
    to the loop that runs when it is first waited for, until that is closed.  A done Future
    can be used on any loop.

    >>> future = LegacyFuture()
    >>> future.add_done_callback(lambda done: print("called back with", done.result()))
    >>> future.set_result(42)
    called back with 42
    """

    is_cancelled_alone = True

    def __init__(self, *, loop: asyncio.AbstractEventLoop | None = None) -> None:
        super().__init__(loop=_NO_LOOP)
        if self._source_traceback:  # type: ignore[attr-defined]
            del self._source_traceback[-1]  # type: ignore[attr-defined]  # this line
        self._bound_to = loop
        self._waiting = []

    @classmethod
    def with_asyncios_timing(
        cls, *, loop: asyncio.AbstractEventLoop | None = None
    ) -> Self:
        """Return a Future that calls back in a later turn of its loop, as asyncio's do.

        Raises:
            RuntimeError: there is no current loop, and none was given.
        """
        future = cls.__new__(cls)
        CoroutineFuture.__init__(future, loop=loop)
        if future._source_traceback:  # type: ignore[attr-defined]
            del future._source_traceback[-1]  # type: ignore[attr-defined]  # this line
        return future

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Return its loop; if it has none, it is bound to the running loop."""
        if self._waiting is None:
            return super().get_loop()
        running = asyncio._get_running_loop()
        if running is not None:
            if self.done():
                return running
            if self._bound_to is None or self._bound_to.is_closed():
                self._bound_to = running
        return self._bound_to or current_loop()

    def running(self) -> bool:
        """Return True if the Future is not done."""
        return not self.done()

    def result(self, timeout: float | None = None) -> T:
        """Return the result or raise the error; never waits, and ignores the timeout."""
        del timeout
        try:
            return super().result()
        finally:
            del self  # The error's traceback holds this frame.

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Return the error, or None; never waits, and ignores the timeout."""
        del timeout
        return super().exception()

    def exc_info(self) -> ExcInfo | None:
        """Return the error as a ``sys.exc_info()`` tuple; None if there is no error."""
        error = None if not self.done() or self.cancelled() else self.exception()
        return None if error is None else (type(error), error, error.__traceback__)

    def set_exc_info(self, exc_info: ExcInfo) -> None:
        """Set the error of a ``sys.exc_info()`` tuple.

        Raises:
            ValueError: the tuple holds no exception.
        """
        if exc_info[1] is None:
            raise ValueError("set_exc_info needs an exception; exc_info holds none")
        self.set_exception(exc_info[1].with_traceback(exc_info[2]))

    def set_result(self, result: T) -> None:
        """Set the result and run the callbacks."""
        super().set_result(result)
        if self._waiting:
            self._call_back(self._waiting)

    def set_exception(self, exception: type[BaseException] | BaseException) -> None:
        """Set the error and run the callbacks."""
        if isinstance(exception, BaseException):
            exception = storable(exception)
        super().set_exception(exception)
        if self._waiting:
            self._call_back(self._waiting)

    def cancel(self, msg: Any = None) -> bool:
        """Cancel the Future and run the callbacks; its coroutine, if any, goes on.

        As in Tornado 5, the outcome of the coroutine is dropped.
        """
        accepted = super(CoroutineFuture, self).cancel(msg)
        if self._waiting and accepted:
            self._call_back(self._waiting)
        return accepted

    def add_done_callback(
        self,
        fn: Callable[[Any], object],
        /,
        *,
        context: contextvars.Context | None = None,
    ) -> None:
        """Call a function when the Future is done: at once if it is done already.

        With a context, call it in a later turn of the loop, as asyncio does.  Callbacks of
        asyncio and Tornado themselves, such as those of `asyncio.gather`, rely on that.
        """
        if self._waiting is None:
            super().add_done_callback(fn, context=context)
            return
        module = getattr(fn, "__module__", None) or ""
        if context is None and module.partition(".")[0] in MODERN:
            context = contextvars.copy_context()
        if not self.done():
            self._waiting.append((fn, context))
            if context is not None:
                self.get_loop()  # bind it: it is waited for on this loop
        elif context is None:
            fn(self)
        else:
            self._call_soon(fn, context, self.get_loop())

    def remove_done_callback(self, fn: Callable[[Any], object], /) -> int:
        """Remove a callback; return how many times it was registered."""
        if self._waiting is None:
            return super().remove_done_callback(fn)
        kept = [waiting for waiting in self._waiting if waiting[0] != fn]
        removed = len(self._waiting) - len(kept)
        self._waiting[:] = kept
        return removed

    def _call_back(self, waiting: list[_Waiting]) -> None:
        self._waiting = []
        interrupt: BaseException | None = None
        for fn, context in waiting:
            try:
                if context is None:
                    fn(self)
                else:
                    self._call_soon(fn, context, self._bound_to or self.get_loop())
            except INTERRUPTS as exc:  # raised after the other callbacks have run
                interrupt = exc
            except BaseException:  # the callback's error must not reach our caller
                app_log.exception("Exception in callback %r for %r", fn, self)
        try:
            if interrupt is not None:
                raise interrupt
        finally:
            del interrupt

    def _call_soon(
        self,
        fn: Callable[[Any], object],
        context: contextvars.Context,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        if loop.is_closed():  # it cannot run callbacks any more
            return
        if asyncio._get_running_loop() is loop:
            loop.call_soon(fn, self, context=context)
        else:  # set on another thread, which Tornado 4 allowed
            loop.call_soon_threadsafe(fn, self, context=context)


OUR_FUTURES.add(LegacyFuture)
