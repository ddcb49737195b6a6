"""Runs a program on one `gen` and records its observable behavior.

A program is the source text of functions; `main` is called on a virtual loop.  It sees
the names of `_names`: `gen` is the module under test, the rest is the same for all.
"""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import datetime
import gc
import logging
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import tornado.ioloop
from tornado.platform.asyncio import AsyncIOLoop

from gencoro.errors import DeadlockError
from gencoro.virtual_clock import VirtualClock, VirtualLoop
from tests.helpers.gencoro.outcomes import Failure

__all__ = ["UNIT_S", "Play", "alone", "app_log", "play"]

# Seconds that binary fractions hold exactly, however they are added.
UNIT_S = 1 / 64

app_log = logging.getLogger("tornado.application")


def told(value: Any) -> str:
    """Return a description of a value that must be the same on both sides."""
    if isinstance(value, asyncio.Future):
        if not value.done():
            return "pending"
        return (
            "cancelled"
            if value.cancelled()
            else told(value.exception() or value.result())
        )
    if isinstance(value, BaseException):
        # The texts of BadYieldError differ: ours name the cure.
        args = () if type(value).__name__ == "BadYieldError" else value.args
        before = None if value.__suppress_context__ else value.__context__
        return f"{type(value).__name__}{args!r} after {type(before).__name__}"
    if isinstance(value, list):
        return f"[{', '.join(map(told, value))}]"
    return repr(value)


class _VirtualIOLoop(AsyncIOLoop):
    """Tornado's loop; its clock is that of the virtual loop below."""

    def time(self) -> float:
        return self.asyncio_loop.time()


class Play(logging.Handler):
    """One run of a program: its events, in order."""

    def __init__(self, gen: ModuleType, loop: VirtualLoop) -> None:
        super().__init__()
        self.gen = gen
        self.loop = loop
        self.loop.set_exception_handler(self.on_loop_error)
        self.events: list[Any] = []
        self.unseen: list[BaseException] = []
        self.held: list[asyncio.Future[Any]] = []
        self.variable = contextvars.ContextVar("variable", default=0)

    # What is written down.

    told = staticmethod(told)

    def trace(self, label: Any, *values: Any) -> None:
        self.events.append((self.loop.time(), label, *map(self.told, values)))

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if record.msg.endswith("after timeout") and isinstance(error, TimeoutError):
            return  # Tornado logs that something was too late for its own limit too.
        self.trace("log", record.name, record.msg, error)

    def on_loop_error(self, _loop: Any, context: dict[str, Any]) -> None:
        if "never retrieved" in context["message"]:
            # When this is noticed is a matter of the garbage collection.  So it is told at the
            # end: another coroutine may fail with the same error, and give it a __context__.
            self.unseen.append(context["exception"])
        elif "exception" in context:
            self.trace("loop error", context["exception"])

    # What programs call.

    def ready(self, value: Any) -> "asyncio.Future[Any]":
        future = self.loop.create_future()
        future.set_result(value)
        return future

    def failed(self, value: Any) -> "asyncio.Future[Any]":
        future = self.loop.create_future()
        future.set_exception(Failure(value))
        return future

    def later(self, units: int, value: Any) -> "asyncio.Future[Any]":
        future = self.loop.create_future()
        self.after(
            units, lambda: self.gen.future_set_result_unless_cancelled(future, value)
        )
        return future

    def late_failure(self, units: int, value: Any) -> "asyncio.Future[Any]":
        future = self.loop.create_future()
        self.after(units, lambda: future.done() or future.set_exception(Failure(value)))
        return future

    def after(self, units: int, callback: Any) -> None:
        self.loop.call_later(units * UNIT_S, callback)

    def sleep(self, units: int) -> "asyncio.Future[None]":
        return self.gen.sleep(units * UNIT_S)

    def timeout(self, units: int, yieldable: Any) -> "asyncio.Future[Any]":
        delta = datetime.timedelta(seconds=units * UNIT_S)
        future: asyncio.Future[Any] = self.gen.with_timeout(delta, yieldable)
        # Or a coroutine of ours that alone waits for it is resumed a turn earlier than others.
        future.add_done_callback(lambda _: None)
        return future

    def cancelling(self, units: int, future: Any) -> "asyncio.Future[Any]":
        self.after(units, future.cancel)
        return future

    def chained(self, source: Any) -> "asyncio.Future[Any]":
        target = self.loop.create_future()
        self.gen.chain_future(source, target)
        return target

    def job(self, value: Any) -> "concurrent.futures.Future[Any]":
        future = concurrent.futures.Future()
        future.set_result(value)
        return future

    def keep(self, future: Any) -> Any:
        self.held.append(future)
        return future

    def kept(self, place: int) -> Any:
        # Not the very Future: it may be that of the coroutine that asks for it.
        return self.chained(self.held[place % len(self.held)]) if self.held else None

    def noting(self, label: int, *, error: bool = False) -> Any:
        def note(*done: Any) -> None:
            self.trace(label, self.variable.get(), *done)
            if error:
                raise Failure(label)

        return note

    def names(self) -> dict[str, Any]:
        offered = "trace ready failed later late_failure after sleep timeout"
        offered += " cancelling chained job keep kept noting variable gen"
        return {
            **{name: getattr(self, name) for name in offered.split()},
            "asyncio": asyncio,
            "Failure": Failure,
            "IOLoop": tornado.ioloop.IOLoop,
            "sys": sys,
        }

    def run(self, program: str) -> list[Any]:
        names = self.names()
        exec(compile(program, "<program>", "exec"), names)  # noqa: S102
        io_loop = _VirtualIOLoop(asyncio_loop=self.loop)
        app_log.addHandler(self)
        try:
            self.loop.call_soon(self.begin, names["main"])
            self.loop.run_forever()
        except DeadlockError:
            pass  # Not an event: a timer that was not taken back makes it later.
        finally:
            app_log.removeHandler(self)
            io_loop.close()
        del names
        return self.all_events()

    def all_events(self) -> list[Any]:
        """Return the events, then the unretrieved errors."""
        events, self.events = self.events, []
        # They come to light when the last reference is gone; some hold others, by their frames.
        self.held.clear()
        unretrieved: list[str] = []
        gc.collect()
        while self.unseen:
            unretrieved += map(self.told, self.unseen)
            self.unseen.clear()
            gc.collect()
        return [*events, sorted(unretrieved)]

    def begin(self, main: Any) -> None:
        future = main()
        self.trace("begun", future)
        future.add_done_callback(lambda done: self.trace("main", done))


def play(program: str, gen: ModuleType) -> list[Any]:
    """Return the events of a program, then the unretrieved errors."""
    with alone():
        return Play(gen, VirtualClock().new_event_loop()).run(program)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Keep what programs do to the whole process from the tests, and the other way."""
    propagate, app_log.propagate = app_log.propagate, False
    # A body that is collected while it waits may fail in its `finally`.
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    # A collection takes 0.1 ms if it passes over all that was there before us.
    gc.freeze()
    try:
        with warnings.catch_warnings():
            # A native coroutine in a list after something bad is never awaited.
            warnings.simplefilter("ignore", RuntimeWarning)
            yield
    finally:
        sys.unraisablehook = hook
        app_log.propagate = propagate
        gc.unfreeze()
