"""What is running now: the step of a coroutine in each thread that runs a loop.

Such a coroutine waits for nobody, and holds up all others until it yields.
"""

import inspect
import sys
import threading
from collections.abc import Iterator
from types import FrameType

from gencoro.frames import is_ours
from gencoro.introspect.drawing import draw
from gencoro.introspect.graph import Node
from gencoro.introspect.wait_graph import call_in

__all__ = ["describe_steps", "thread_name"]

# What asyncio's loops written in Python run in, and what they run each callback with.
RUN_FOREVER = ("asyncio.base_events", "run_forever")
RUN_HANDLE = ("asyncio.events", "_run")

COROUTINE = (
    inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)


def describe_steps(frame: FrameType) -> Iterator[str]:
    """Tell what this thread is running, and each other one that runs a loop.

    Args:
        frame: Where this thread stands.

    >>> list(describe_steps(sys._getframe()))
    ['MainThread runs no coroutine: <module>() at <doctest gencoro.introspect.running.describe_steps[0]>:1']
    """
    own = threading.get_ident()
    yield f"{thread_name(own)} {_describe(_stack_of(frame))}"
    for thread, innermost in sys._current_frames().items():
        stack = _stack_of(innermost)
        if thread != own and _last_call(stack, *RUN_FOREVER) is not None:
            yield f"{thread_name(thread)} {_describe(stack)}"


def thread_name(thread: int) -> str:
    """Return the name of a thread that is known by its number.

    >>> thread_name(threading.get_ident())
    'MainThread'
    """
    # enumerate() would wait for a lock, which a signal's handler must not.
    known = threading._active.get(thread)  # type: ignore[attr-defined]
    return f"thread {thread}" if known is None else str(known.name)


def _stack_of(innermost: FrameType | None) -> list[FrameType]:
    """Return a frame and those that called it, the outermost first."""
    stack = []
    while innermost is not None:
        stack.append(innermost)
        innermost = innermost.f_back
    return stack[::-1]


def _describe(stack: list[FrameType]) -> str:
    step = [frame for frame in _step_in(stack) if not is_ours(frame)]
    if not step:
        return f"runs no coroutine: {call_in(stack[-1])}"
    return "runs:\n" + draw([Node([call_in(frame) for frame in step])])


def _step_in(stack: list[FrameType]) -> list[FrameType]:
    """Return the frames of what a loop has called, or of the outermost coroutine."""
    loop = _last_call(stack, *RUN_FOREVER)
    if loop is not None:
        called = _last_call(stack, *RUN_HANDLE)
        return [] if called is None or called < loop else stack[called + 1 :]
    # There may be a loop that is not written in Python.
    for place, frame in enumerate(stack):
        if frame.f_code.co_flags & COROUTINE:
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
