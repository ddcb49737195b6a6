"""Virtual time for tests: an hour's sleep takes no time, and a deadlock raises an error.

Rule 1: time stands still while anything can run, and jumps to the next timer when nothing
can.  Timers that are due at the same time fire in the order in which they were created.

Rule 2: before each jump, real events get their chance.  A result from another thread
(``run_in_executor``, `asyncio.to_thread`, a yielded Future of `concurrent.futures`) is
waited for as long as it takes.  An open socket on the loop, or a busy thread that was
started after the loop was created, gets a grace period of real time.

Any asyncio program can use it.  Tornado's IOLoop on a virtual loop has virtual time too.
The public names are `VirtualClock` and `VirtualLoop`.
"""

import asyncio
import collections
import concurrent.futures.thread
import contextvars
import heapq
import itertools
import math
import selectors
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, TypeVarTuple

from gencoro import needs_tornado  # noqa: F401

# isort: split
from tornado.platform.asyncio import BaseAsyncIOLoop

from gencoro.errors import DeadlockError
from gencoro.futures import Future, of_other_thread
from gencoro.introspect import format_tree
from gencoro.waiting import wall_time

__all__ = ["VirtualClock", "VirtualLoop"]

Ts = TypeVarTuple("Ts")

# Data between two sockets of this process arrives at once, and an answer of another
# process on this machine within a few milliseconds.
GRACE_S = 0.01

# The interval at which real events are waited for when nothing else can run.  Not longer: a
# thread that ends does not wake the selector.
POLL_S = 0.05

# Floats of the size of wall-clock times have a resolution of 2**-22 s.  If the clock starts
# at a multiple of that, whole seconds and 1/64 s can be added to it exactly.
WALL_CLOCK_STARTS_PER_S = 1024

# A loop is not told which Futures another thread will complete; but all of them are created
# by these functions.  Compared by code, because `create_future` gets no argument that would
# tell its purpose.
_WRAP_FUTURE = {asyncio.wrap_future.__code__, of_other_thread.__code__}

# The function in which an idle thread of a pool waits for its next job.
_POOL_THREAD = concurrent.futures.thread._worker.__code__


class VirtualClock:
    """A clock that stands still while anything can run, and then jumps to the next timer.

    It starts at zero.  Its loops can be used one after the other.  `time.time` and
    `time.sleep` are not affected.

    Args:
        grace_s: How many seconds of real time open sockets and other threads may be
            silent before time jumps; 0.01 is enough for servers in this process.

    >>> clock = VirtualClock()
    >>> async def main():
    ...     await asyncio.sleep(3600)
    ...     return clock.time()
    >>> with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
    ...     runner.run(main())
    3600.0
    """

    def __init__(self, *, grace_s: float = GRACE_S) -> None:
        self.grace_s = grace_s
        self._now = 0.0
        steps = math.floor(time.time() * WALL_CLOCK_STARTS_PER_S)
        self._wall_start = steps / WALL_CLOCK_STARTS_PER_S

    def time(self) -> float:
        """Return the virtual seconds since the clock was created, like loop.time()."""
        return self._now

    def wall_time(self) -> float:
        """Return the virtual counterpart of `time.time`.

        ``IOLoop.time`` and the deadlines of `with_timeout` use it.
        """
        return self._wall_start + self._now

    def new_event_loop(self) -> "VirtualLoop":
        """Return a new asyncio loop that uses this clock."""
        return VirtualLoop(self)

    def advance(self, seconds: float) -> "Future[None]":
        """Return a Future that is done after that time and everything due by then.

        A plain `sleep` may end before other timers of the same time.  ``advance(0)`` waits
        until nothing can run without time moving on.

        Raises:
            RuntimeError: the running loop, if any, does not use this clock.
            ValueError: seconds is negative.

        >>> clock = VirtualClock()
        >>> async def tick(log):
        ...     while True:
        ...         await asyncio.sleep(1)
        ...         log.append(clock.time())
        >>> async def main():
        ...     log = []
        ...     ticking = asyncio.create_task(tick(log))
        ...     await clock.advance(3)
        ...     return log
        >>> with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        ...     runner.run(main())
        [1.0, 2.0, 3.0]
        """
        loop = asyncio.get_running_loop()
        if not isinstance(loop, VirtualLoop) or loop.clock is not self:
            raise RuntimeError(
                f"the running loop {loop!r} does not use this clock; create it with the "
                "clock's new_event_loop()"
            )
        if not seconds >= 0:
            raise ValueError(f"advance({seconds!r}): time cannot go back")
        return loop.settle_at(self._now + seconds)


def _time_of(io_loop: BaseAsyncIOLoop) -> float:
    """Return the time on the clock of an IOLoop, virtual if its asyncio loop's is."""
    return wall_time(io_loop.asyncio_loop)


class _Timer(asyncio.TimerHandle):
    # asyncio does not define the order of timers of the same time.
    _numbers = itertools.count()
    _scheduled: bool

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.place = (self.when(), next(self._numbers))

    def __lt__(self, other: asyncio.TimerHandle) -> bool:
        assert isinstance(other, _Timer)
        return self.place < other.place


class VirtualLoop(asyncio.SelectorEventLoop):
    """An asyncio loop on a virtual clock; `VirtualClock.new_event_loop` creates it.

    Raises `DeadlockError` where another loop would wait forever.

    Attributes:
        clock: The clock that it reads and moves on.

    >>> loop = VirtualClock().new_event_loop()
    >>> loop.run_until_complete(loop.create_future())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    gencoro.errors.DeadlockError: ...
    >>> loop.close()
    """

    # Private attributes of asyncio's loop, which its type stubs leave out.
    _check_callback: Callable[[object, str], None]
    _check_closed: Callable[[], None]
    _check_thread: Callable[[], None]
    _clock_resolution: float
    _internal_fds: int
    _process_events: Callable[[list[tuple[selectors.SelectorKey, int]]], None]
    _ready: collections.deque[asyncio.Handle]
    _scheduled: list[_Timer]
    _stopping: bool
    _timer_cancelled_count: int

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self._real_selector = selectors.DefaultSelector()
        self._owed_by_threads: set[Future[Any]] = set()
        self._threads_before = weakref.WeakSet(threading.enumerate())
        self._settling: list[tuple[float, int, Future[None]]] = []
        self._settling_numbers = itertools.count()
        self._alarms: list[_Timer] = []
        super().__init__(self._real_selector)
        self._set_resolution()
        # Tornado creates the IOLoop of a loop when it is first asked for it.  For every
        # loop in real time this is what it replaces: `time.time`.
        BaseAsyncIOLoop.time = _time_of  # type: ignore[assignment, method-assign]

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self.clock.time()

    def wall_time(self) -> float:
        """Return the virtual time on the clock of `time.time`."""
        return self.clock.wall_time()

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        """Like `asyncio.loop.call_at`, but timers of the same time keep their order."""
        timer = self._timer(when, callback, args, context)
        # As in `BaseEventLoop.call_at`, which can create only its own kind of timer.  The flag
        # makes a cancelled timer count in `_timer_cancelled_count`.
        heapq.heappush(self._scheduled, timer)
        timer._scheduled = True
        return timer

    def call_later_really(
        self, delay: float, callback: Callable[..., object], *args: Any
    ) -> asyncio.TimerHandle:
        """Call back after ``delay`` seconds of real time, for watchdogs.

        The call does not keep the loop running, and may be up to 0.05 s late.
        """
        alarm = self._timer(time.monotonic() + delay, callback, args, None)
        heapq.heappush(self._alarms, alarm)
        return alarm

    def _timer(self, when: float, callback: Any, args: Any, context: Any) -> _Timer:
        self._check_closed()
        if self.get_debug():
            self._check_thread()
            self._check_callback(callback, "call_at")
        return _Timer(when, callback, args, self, context)

    def settle_at(self, when: float) -> "Future[None]":
        """Return a Future that is done when everything due by then has run."""
        future: Future[None] = self.create_future()
        heapq.heappush(self._settling, (when, next(self._settling_numbers), future))
        return future

    def status(self) -> str:
        """Return the virtual time, and what stops it, if anything, as text.

        >>> loop = VirtualClock().new_event_loop()
        >>> loop.status()
        'virtual time is 0.0 s'
        >>> loop.close()
        """
        text = f"virtual time is {self.time()} s"
        if self._owed_by_threads:
            count = len(self._owed_by_threads)
            plural = "" if count == 1 else "s"
            text += f", and stands still: waiting for {count} result{plural} of threads"
        return text

    def create_future(self) -> "Future[Any]":
        """Like `asyncio.loop.create_future`."""
        future = super().create_future()
        if sys._getframe(1).f_code in _WRAP_FUTURE:
            self._owed_by_threads.add(future)
            future.add_done_callback(self._owed_by_threads.discard)
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Like `asyncio.loop.shutdown_default_executor`, without a timeout.

        The threads run in real time.
        """
        await super().shutdown_default_executor()

    # The only place where a loop waits: asyncio has no public hook for it.
    def _run_once(self) -> None:
        """Run what can run; jump to the next timer instead of waiting for it."""
        while not self._can_run():
            if not self._wait_for_real_events():
                self._jump()
        super()._run_once()  # type: ignore[misc]

    def _can_run(self) -> bool:
        while self._alarms and self._alarms[0].when() <= time.monotonic():
            self._ready.append(heapq.heappop(self._alarms))
        return bool(
            self._ready or self._stopping or self._next_timer_at() <= self.time()
        )

    def _wait_for_real_events(self) -> bool:
        """Wait in real time if there is a reason to; return False if time may jump."""
        if not (self._owed_by_threads or self._may_get_real_events()):
            return False
        nothing_else = math.isinf(min(self._next_timer_at(), self._next_settling_at()))
        must_wait = bool(self._owed_by_threads) or nothing_else
        events = self._real_selector.select(POLL_S if must_wait else self.clock.grace_s)
        self._process_events(events)
        return bool(events) or must_wait

    def _may_get_real_events(self) -> bool:
        # asyncio's own socket for wake-ups does not count: it is always open.
        sockets = len(self._real_selector.get_map()) - self._internal_fds
        return sockets > 0 or self._is_another_thread_at_work()

    def _is_another_thread_at_work(self) -> bool:
        if threading.active_count() == 1:
            return False
        mine = threading.current_thread()
        frames = sys._current_frames()
        for thread in threading.enumerate():
            if thread is not mine and thread not in self._threads_before:
                frame = frames.get(thread.ident or 0)
                if frame is None or frame.f_code is not _POOL_THREAD:
                    return True
        return False

    def _jump(self) -> None:
        timer_at, settling_at = self._next_timer_at(), self._next_settling_at()
        if settling_at < timer_at:
            self._set_time(settling_at)
            heapq.heappop(self._settling)[2].set_result(None)
        elif timer_at < math.inf:
            self._set_time(timer_at)
        else:
            raise DeadlockError(
                "Everything waits, and forever: there is no timer, open socket or busy "
                f"thread that could change this\n{format_tree(self)}"
            )

    def _set_time(self, moment: float) -> None:
        self.clock._now = max(self.clock._now, moment)
        self._set_resolution()

    def _set_resolution(self) -> None:
        # asyncio runs what is due before now plus this: it must be small enough not to
        # run timers early, and large enough for the sum to exceed now.
        self._clock_resolution = math.ulp(self.clock._now)

    def _next_timer_at(self) -> float:
        # Time must not stop at a cancelled timer.  Removed as `BaseEventLoop._run_once` does,
        # which compacts the heap when its own count says so.
        while self._scheduled and self._scheduled[0].cancelled():
            self._timer_cancelled_count -= 1
            heapq.heappop(self._scheduled)._scheduled = False
        return self._scheduled[0].when() if self._scheduled else math.inf

    def _next_settling_at(self) -> float:
        while self._settling and self._settling[0][2].done():
            heapq.heappop(self._settling)
        return self._settling[0][0] if self._settling else math.inf
