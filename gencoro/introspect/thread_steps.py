"""Describes what each thread with a loop is running right now.

A running coroutine blocks all others on its loop until it yields.
"""

import inspect
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NamedTuple

from gencoro.frames import frames_of, is_ours, is_running
from gencoro.introspect.drawing import draw, printable
from gencoro.introspect.graph import Call, Node
from gencoro.introspect.wait_graph import call_in
from gencoro.runner import STEP

__all__ = ["RUN_FOREVER", "RUN_HANDLE", "Step", "steps", "thread_name"]

# The functions of asyncio in which a loop runs, and in which it runs each callback.
RUN_FOREVER = ("asyncio.base_events", "run_forever")
RUN_HANDLE = ("asyncio.events", "_run")

COROUTINE = (
    inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)


class Step(NamedTuple):
    """What a thread is running.

    Attributes:
        thread: The thread's name.
        calls: The functions called by the loop, outermost first; empty if there are none.
        at: The innermost function of all.

    >>> at = Call("EpollSelector.select", "selectors.py", 452, "selectors.py")
    >>> print(Step("MainThread", [], at))
    MainThread runs no coroutine: EpollSelector.select() at selectors.py:452
    """

    thread: str
    calls: list[Call]
    at: Call

    def __str__(self) -> str:
        name = printable(self.thread)
        if self.calls:
            return f"{name} runs:\n{draw([Node(self.calls)])}"
        return f"{name} runs no coroutine: {printable(str(self.at))}"


def steps(frame: FrameType) -> Iterator[Step]:
    """Yield what this thread and each other thread with a loop is running.

    Args:
        frame: The current frame of this thread.

    >>> print(next(steps(sys._getframe())))
    MainThread runs no coroutine: <module>() at <doctest gencoro.introspect.thread_steps.steps[0]>:1
    """
    own = threading.get_ident()
    yield _step(own, _stack_of(frame))
    for thread, innermost in sys._current_frames().items():
        stack = _stack_of(innermost)
        if thread != own and _last_call(stack, *RUN_FOREVER) is not None:
            yield _step(thread, stack)


def thread_name(thread: int) -> str:
    """Return the name of a thread, given its identifier.

    >>> thread_name(threading.get_ident())
    'MainThread'
    """
    # threading.enumerate() takes a lock, which the interrupted code may hold: a signal handler
    # would wait for it forever.
    known = threading._active.get(thread)  # type: ignore[attr-defined]
    return f"thread {thread}" if known is None else str(known.name)


def _stack_of(innermost: FrameType | None) -> list[FrameType]:
    """Return a frame and its callers, outermost first."""
    stack = []
    while innermost is not None:
        stack.append(innermost)
        innermost = innermost.f_back
    return stack[::-1]


def _step(thread: int, stack: list[FrameType]) -> Step:
    calls = [call_in(frame) for part in _step_in(stack) for frame in _frames_at(part)]
    return Step(thread_name(thread), calls, call_in(stack[-1]))


def _frames_at(frame: FrameType) -> Iterator[FrameType]:
    """Yield the frames of the user's code that a frame on the stack stands for.

    Between two steps on done Futures, a Runner runs and its generator is suspended.
    """
    if not is_ours(frame):
        yield frame
    elif frame.f_code is STEP:
        # A frame refers to the object of its method only by this local variable.
        generator = frame.f_locals["self"].gen
        if not is_running(generator):
            yield from frames_of(generator)


def _step_in(stack: list[FrameType]) -> list[FrameType]:
    """Return the frames called by the loop, or those of the outermost coroutine."""
    loop = _last_call(stack, *RUN_FOREVER)
    if loop is not None:
        called = _last_call(stack, *RUN_HANDLE)
        return [] if called is None or called < loop else stack[called + 1 :]
    # The loop may not be written in Python.
    for place, frame in enumerate(stack):
        if frame.f_code.co_flags & COROUTINE or frame.f_code is STEP:
            return stack[place:]
    return []


def _last_call(stack: list[FrameType], module: str, function: str) -> int | None:
    for place in reversed(range(len(stack))):
        frame = stack[place]
        if frame.f_code.co_name == function and _module(frame) == module:
            return place
    return None


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
