"""Debug mode: reports slow steps, dropped Futures and coroutines that can never resume.

It is on for each coroutine that is called while its loop is in debug mode (``python -X
dev``, ``loop.set_debug(True)``), and for all coroutines with ``GENCORO_DEBUG=1`` in the
environment, which costs much less.  It logs to ``tornado.application``:

- a step that blocks the loop for longer than its ``slow_callback_duration``,
- a coroutine whose Future was dropped by its caller, because of a forgotten ``yield``,
- a coroutine that can never resume, because what it waits for no longer exists,
- a test that is a coroutine, called by a TestCase that does not wait for it.

From Python 3.14 on it also registers waits with asyncio's call graph.

Used by `gencoro.coroutines`; without debug mode it costs one check per call.
"""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from types import FrameType
from typing import Any, TypeAlias, TypeVar, cast

from gencoro.frames import frames_of, is_ours, line_of, name_of
from gencoro.futures import CoroutineFuture, Future, app_log
from gencoro.runner import Runner
from gencoro.yieldables import MultiFuture, _null_future

__all__ = ["DEBUGS_ALL", "FIRST_STEP", "WatchedRunner", "note_call"]

T = TypeVar("T")

DEBUGS_ALL = not sys.flags.ignore_environment and os.environ.get(
    "GENCORO_DEBUG", ""
) not in ("", "0")

# Seconds, for loops that have no slow_callback_duration.  Precedent: asyncio's own.
SLOW_STEP_S = 0.1

# The first yielded value of a generator that has not started: done, with the result None,
# which starts the generator.
FIRST_STEP = _null_future

# References to the Future of a suspended coroutine that its caller has dropped: the one of
# its Runner, and the argument of `sys.getrefcount`.
OWN_REFERENCES = 2

# The modules of unittest that call tests, setUp and so on; and modules with decorators for
# tests, which return what the test returns.
TEST_CASES = {"unittest.case", "unittest.async_case"}
# The function of the latter that waits for what a test returns, from Python 3.14 on.
WAITING = {"_callMaybeAsync"} if sys.version_info >= (3, 14) else set()
PASSING_ON = {"contextlib", "unittest.mock"}

# Functions of asyncio's call graph, from Python 3.14 on.  They ignore objects that are not
# Futures, such as None and `moment`.
Tell: TypeAlias = Callable[[Any, Any], None] | None
_awaited_by: Tell = getattr(asyncio, "future_add_to_awaited_by", None)
_no_longer_awaited_by: Tell = getattr(asyncio, "future_discard_from_awaited_by", None)


def note_call(future: CoroutineFuture[Any], func: object) -> None:
    """Store the line of the call in a coroutine's Future.

    Must be called by the wrapper itself.  gencoro's own frames are skipped.

    Args:
        func: The coroutine function, whose name a report needs.
    """
    frame = sys._getframe(1).f_back
    while frame and is_ours(frame):
        frame = frame.f_back
    if frame:
        future.called_at = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    else:  # called from C: a thread, or the interpreter at exit
        future.called_at = "an unknown place"
    if future._source_traceback:  # type: ignore[attr-defined]
        # Its last entry is the frame of our wrapper.
        del future._source_traceback[-1]  # type: ignore[attr-defined]
    while frame and _module_of(frame) in PASSING_ON:
        frame = frame.f_back
    if (
        frame
        and _module_of(frame) in TEST_CASES
        and frame.f_code.co_name not in WAITING
    ):
        app_log.warning(
            "unittest called %s(), a coroutine, and does not wait for it: none of its "
            "errors fails the test; decorate it with gencoro.testing.gen_test",
            name_of(func),
        )


def _module_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


class _Clock(threading.local):
    """Adds up the time of nested steps: a called coroutine starts inside a step."""

    inner_s = 0.0


_clock = _Clock()


class WatchedRunner(Runner[T]):
    """A Runner in debug mode, which also runs the first step of its generator.

    Attributes:
        suspended_at: When the last step ended, in seconds on the loop's clock.
    """

    __slots__ = ("_awaited", "_is_reported", "_name", "_place", "suspended_at")

    # What the generator waits for since the last step; `future` may hold an error by now.
    _awaited: Future[Any] | None

    def run(self, _done: Any = None) -> None:
        """Run a step as every Runner does, and check it."""
        del _done
        if self.future is None or not self.future.done():
            return
        if not hasattr(self, "_name"):
            self._begin()
        else:
            # Before counting references: the call graph has one to our Future.
            _tell_call_graph(_no_longer_awaited_by, self._awaited, self.result_future)
            if self._is_dropped():
                self._report_dropped()
        started_at = time.perf_counter()
        outer_s, _clock.inner_s = _clock.inner_s, 0.0
        try:
            super().run()
        finally:
            took_s = time.perf_counter() - started_at
            own_s = took_s - _clock.inner_s
            _clock.inner_s = outer_s + took_s
            self._note_step(own_s)
            self._awaited = self.future
            _tell_call_graph(_awaited_by, self._awaited, self.result_future)

    __call__ = run

    def _begin(self) -> None:
        # Not in an __init__, whose frame would hold the generator during its first step.
        call = cast("CoroutineFuture[T]", self.result_future).called_at
        self._name = f"{name_of(self.gen)}(), called at {call},"
        self._place = _place_of(self.gen)
        self._is_reported = False

    def _note_step(self, own_s: float) -> None:
        before, self._place = self._place, _place_of(self.gen)
        self.suspended_at = self.loop.time()
        if own_s >= getattr(self.loop, "slow_callback_duration", SLOW_STEP_S):
            app_log.warning(
                "%s kept the loop for %.3f s in one step, from %s to %s",
                self._name,
                own_s,
                before,
                self._place,
            )

    def _is_dropped(self) -> bool:
        """Return True if our Future has no other references and no callbacks."""
        future = self.result_future
        if self._is_reported or future is None or future._callbacks:
            return False
        del future
        return sys.getrefcount(self.result_future) == OWN_REFERENCES

    def _report_dropped(self) -> None:
        self._is_reported = True
        app_log.warning(
            "%s runs on its own: its Future was dropped while it was suspended at %s, so "
            "its result or error is lost; yield the call, keep its Future, or start it "
            "with IOLoop.spawn_callback",
            self._name,
            self._place,
        )

    def __del__(self) -> None:
        # Coroutines suspended in a closed loop were abandoned with it.
        if not (self.finished or self.loop.is_closed() or sys.is_finalizing()):
            app_log.warning(
                "%s was garbage-collected while it was suspended at %s: what it waited for "
                "no longer existed, so it could never resume",
                self._name,
                self._place,
            )


def _tell_call_graph(tell: Tell, awaited: Any, waiter: Any) -> None:
    """Register with asyncio what a coroutine waits for, through lists and dicts."""
    waits = [(awaited, waiter)]
    while waits and tell is not None:
        awaited, waiter = waits.pop()
        tell(awaited, waiter)
        if isinstance(awaited, MultiFuture):
            waits += [(child, awaited) for child in awaited.children]


def _place_of(gen: "Generator[Any, Any, Any]") -> str:
    """Return the line where a generator is suspended, through ``yield from``."""
    place = "its end"
    for frame in frames_of(gen):
        place = f"{frame.f_code.co_filename}:{line_of(frame)}"
    return place
