"""Runs a program that is cancelled on the way, and records its observable behavior.

That is everything it traced, the result and effect of each cancel, the number of turns of
the loop, and the outcome of each Future that it held.
"""

import asyncio
import concurrent.futures
import functools
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any, NamedTuple

from gencoro import gen
from gencoro.virtual_clock import VirtualClock, VirtualLoop
from tests.helpers.gencoro import tasks_as_gen
from tests.helpers.gencoro.outcomes import Failure
from tests.helpers.gencoro.playing import UNIT_S, Play, app_log

__all__ = ["Cancel", "CancelledPlay", "CountedLoop", "Point"]

# Since Python 3.14 asyncio.gather calls it when it is done, if a Task has called it, for the
# call graph.  No turn of the loop is counted for it: a coroutine has none.
GATHERED = getattr(asyncio.tasks, "_discard_awaited_by", object())

# More than any program needs that ends.
MAX_TURNS = 5000

Point = tuple[str, int]


class Cancel(NamedTuple):
    """A cancel from outside, of one Future.

    Attributes:
        point: ("turn", 3) is before the third turn of the loop, ("event", 3) in the step
            of the program that has traced its third event.
        target: 0 is what `main` returned; else one of the held Futures, counted round
            and round.
        message: None for a cancel without a message.
    """

    point: Point
    target: int = 0
    message: str | None = None


class CountedLoop(VirtualLoop):
    """A virtual loop that stops when nothing is left, and tells of each turn before."""

    before_turn: Callable[[], None]

    def __init__(self) -> None:
        super().__init__(VirtualClock())

    def create_future(self) -> "asyncio.Future[Any]":
        # Not with the thought that a thread may owe it: the jobs here are done by timers.
        return asyncio.Future(loop=self)

    def call_soon(self, callback: Any, *args: Any, **kwargs: Any) -> asyncio.Handle:
        if getattr(callback, "func", None) is GATHERED:
            callback(*args)
            return asyncio.Handle(callback, args, self)
        return super().call_soon(callback, *args, **kwargs)

    def _run_once(self) -> None:
        self.before_turn()
        if not self._ready and all(timer.cancelled() for timer in self._scheduled):
            self._scheduled.clear()
            self.stop()
        super()._run_once()

    def _write_to_self(self) -> None:
        """Do not wake up: there are no other threads, and it would count as a turn."""


class OrderedGroup(asyncio.TaskGroup):
    """A TaskGroup that cancels its Tasks in order: in asyncio's set, addresses decide."""

    def __init__(self) -> None:
        super().__init__()
        self._tasks = _OrderedSet()


class _OrderedSet(dict[Any, None]):
    def add(self, element: Any) -> None:
        self[element] = None

    def discard(self, element: Any) -> None:
        self.pop(element, None)


class CancelledPlay(Play):
    """One run of a program, with its cancels.

    Attributes:
        points: All that were come by, in their order.
        targets: How many Futures could have been cancelled, with that of `main`.
        futures: What programs hold, by its key, and so what can be cancelled.
        called: The keys of the calls among them.
        asked_twice: Whether a cancel met a gather in two ways, as in the table of differences.
    """

    def __init__(
        self, module: Any, loop: CountedLoop, cancels: Iterable[Cancel]
    ) -> None:
        super().__init__(module, loop)
        self.start_at = 0.0
        self.targets = 0
        self.tells_messages = True
        self.cancels: dict[Point, list[Cancel]] = {}
        for cancel in cancels:
            self.cancels.setdefault(cancel.point, []).append(cancel)
        self.points: list[Point] = []
        self.counts: Counter[str] = Counter()
        self.calls: Counter[int] = Counter()
        self.futures: dict[str, asyncio.Future[Any]] = {}
        self.called: list[str] = []
        self.main: asyncio.Future[Any] | None = None
        self.asked_twice = False

    # What is written down.

    def told(self, value: Any) -> str:
        if isinstance(value, asyncio.CancelledError) and not self.tells_messages:
            return "CancelledError"
        if asyncio.isfuture(value):
            return self._told_future(value)
        if isinstance(value, BaseExceptionGroup):
            return f"{type(value).__name__}{list(map(self.told, value.exceptions))}"
        if isinstance(value, BaseException):
            # Not what it was raised after: that of a CancelledError is in the table of
            # differences, and Python forgets it where it throws through a `yield from`.
            return f"{type(value).__name__}{value.args!r}"
        if isinstance(value, list):
            return f"[{', '.join(map(self.told, value))}]"
        return super().told(value)

    def _told_future(self, future: "asyncio.Future[Any]") -> str:
        if not future.done():
            return "pending"
        if future.cancelled():
            return "cancelled"
        # Not by exception(), after which asyncio would take the error for seen.
        error = future._exception
        return self.told(future.result() if error is None else error)

    def write(self, label: Any, *values: Any) -> None:
        moment = (self.loop.time() - self.start_at) / UNIT_S
        self.events.append((moment, label, *map(self.told, values)))

    def trace(self, label: Any, *values: Any) -> None:
        self.write(label, *values)
        self.reach("event")

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self.write("log", record.name, record.msg, error)

    # Points and cancels.

    def before_turn(self) -> None:
        if self.counts["turn"] > MAX_TURNS:
            raise RuntimeError("the program does not end")
        self.reach("turn")

    def reach(self, kind: str) -> None:
        point = (kind, self.counts[kind])
        self.counts[kind] += 1
        self.points.append(point)
        for cancel in self.cancels.get(point, ()):
            self.cancel_target(cancel)

    def cancel_target(self, cancel: Cancel) -> None:
        key = self.key_at(cancel.target) if cancel.target else "main"
        future = self.future_of(key)
        if future is not None:
            self.write("cancel", key, self.do_cancel(future, cancel.message))

    def do_cancel(self, future: "asyncio.Future[Any]", message: str | None) -> bool:
        gathers = list(_gathers_below(future))
        self.asked_twice |= len(gathers) > len(set(gathers))
        return future.cancel(*_message(message))

    def future_of(self, key: str) -> "asyncio.Future[Any] | None":
        return self.main if key == "main" else self.futures.get(key)

    def key_at(self, place: int) -> str:
        keys = list(self.futures)
        return keys[place % len(keys)] if keys else ""

    # What programs call.

    def key(self, number: int) -> str:
        self.calls[number] += 1
        return f"{number}.{self.calls[number]}"

    def hold(self, number: int, future: Any) -> Any:
        self.futures[self.key(number)] = future
        return future

    def call(self, number: int, function: Callable[[str], Any]) -> Any:
        key = self.key(number)
        self.called.append(key)
        self.futures[key] = future = function(key)
        return future

    def native(self, number: int, function: Callable[[str], Any]) -> Any:
        return function(self.key(number))

    def task(self, number: int, function: Callable[[str], Any]) -> Any:
        return self.call(number, lambda key: asyncio.create_task(function(key)))

    async def awaiting(self, future: "asyncio.Future[Any]") -> Any:
        return await future

    def cancel(self, number: int, key: str, message: str | None = None) -> None:
        future = self.future_of(key)
        if future is not None:
            self.trace(number, "cancel", self.do_cancel(future, message))

    def cancel_at(self, number: int, place: int, message: str | None = None) -> None:
        self.cancel(number, self.key_at(place), message)

    def cancel_after(self, number: int, units: int, place: int) -> None:
        self.after(units, lambda: self.cancel_at(number, place, "late"))

    def kept(self, me: str, place: int) -> Any:
        """Return the Future of a call that was made later than the one that asks.

        Calls wait for later ones only, so there are no circles.
        """
        if me == "main":
            younger = self.called
        elif me in self.called:
            younger = self.called[self.called.index(me) + 1 :]
        else:
            younger = []
        return self.futures[younger[place % len(younger)]] if younger else self.ready(0)

    def job(
        self, number: int, units: int, *, begun: bool = False, error: bool = False
    ) -> "concurrent.futures.Future[Any]":
        """Return the Future of an executor's job that takes this many units."""
        job: concurrent.futures.Future[Any] = concurrent.futures.Future()

        def end() -> None:
            if not (begun or job.set_running_or_notify_cancel()):
                self.trace(number, "job cancelled")
            elif error:
                job.set_exception(Failure(number))
            else:
                job.set_result(number)
                self.trace(number, "job done")

        if begun:
            job.set_running_or_notify_cancel()
        self.after(units, end)
        return job

    def multi(self, number: int, children: Any) -> Any:
        return self.hold(number, self.gen.multi(children))

    # Where asyncio's own ways are wanted: see the table of differences.

    def begun(self, function: Any, key: str) -> Any:
        if self.gen is gen:
            return function(key)
        return asyncio.create_task(function.__wrapped__(key))

    def gathered(self, children: list[Any]) -> Any:
        return gen.multi(children) if self.gen is gen else asyncio.gather(*children)

    def names(self) -> dict[str, Any]:
        offered = """ready failed later late_failure sleep timeout cancel cancel_at
            cancel_after call native task awaiting hold kept job multi trace
            begun gathered"""
        return {
            **{name: getattr(self, name) for name in offered.split()},
            "asyncio": asyncio,
            "coroutine": self.gen.coroutine,
            "Failure": Failure,
            "moment": gen.moment,
            "seen": functools.partial(self.trace, "seen"),
            "taken": tasks_as_gen.taken,
            "TaskGroup": OrderedGroup,
            "UNIT_S": UNIT_S,
            "WaitIterator": gen.WaitIterator,
        }

    def perform(self, code: CodeType) -> list[Any]:
        """Run the program until nothing is left of it; return what was seen."""
        self.start_at = self.loop.time()
        names = self.names()
        exec(code, names)  # noqa: S102
        app_log.addHandler(self)
        self.loop.set_exception_handler(self.on_loop_error)
        self.loop.before_turn = self.before_turn
        try:
            self.loop.call_soon(self.begin, names["main"])
            self.loop.run_forever()
        finally:
            app_log.removeHandler(self)
        del names
        self.write("turns", self.counts["turn"])
        self.main = None
        self.targets = 1 + len(self.futures)
        while self.futures:
            self.write(*self.futures.popitem())
        return self.all_events()

    def begin(self, main: Any) -> None:
        self.main = main("main")
        self.trace("begun", self.main)
        self.main.add_done_callback(lambda done: self.trace("main", done))


def _gathers_below(future: Any) -> Iterator["asyncio.Future[Any]"]:
    """Yield each gather that a Future waits for, once for each way that leads to it."""
    if isinstance(future, asyncio.tasks._GatheringFuture) and not future.done():
        yield future
    runner = getattr(future, "_runner", None)
    inner = [getattr(runner, "future", None), getattr(future, "_fut_waiter", None)]
    inner += getattr(future, "children", ())
    for each in [*inner, *getattr(future, "_children", ())]:
        if each is not None:
            yield from _gathers_below(each)


def _message(message: str | None) -> tuple[str, ...]:
    return () if message is None else (message,)
