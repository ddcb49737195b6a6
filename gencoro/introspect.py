"""Where a suspended coroutine stands, read from what is there already.

Nothing is registered while coroutines run: a Future knows its Runner or is a Task,
these know their generator and what it waits for, and so on down.
"""

import asyncio
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from gencoro.futures import Future
from gencoro.yieldables import MultiFuture

__all__ = ["traceback_of"]


def traceback_of(future: "Future[Any]") -> TracebackType | None:
    """Return the traceback that an error would have which struck a coroutine now.

    It leads from the coroutine's own ``yield`` through those that it waits for, native
    ones included, to the innermost one that can be told: of a list, through its first
    unfinished child; what is behind a Future that is no coroutine's stays hidden.  None
    if no coroutine is suspended.
    """
    traceback = None
    for frame in reversed(list(_suspended_frames(future))):
        traceback = TracebackType(
            traceback,
            frame,
            frame.f_lasti,
            frame.f_lineno or frame.f_code.co_firstlineno,
        )
    return traceback


def _suspended_frames(future: "Future[Any] | None") -> Iterator[FrameType]:
    seen = set()
    while future is not None and future not in seen:
        seen.add(future)
        runner = getattr(future, "_runner", None)
        if runner is not None:
            inside, future = runner.gen, runner.future
        elif isinstance(future, asyncio.Task):
            inside, future = future.get_coro(), future._fut_waiter  # type: ignore[attr-defined]
        elif isinstance(future, MultiFuture):
            inside, future = None, next(iter(future.unfinished), None)
        else:
            return
        while inside is not None:
            frame = _attribute(inside, "gi_frame", "cr_frame", "ag_frame")
            if frame is not None:
                yield frame
            inside = _attribute(inside, "gi_yieldfrom", "cr_await", "ag_await")


def _attribute(inside: Any, *names: str) -> Any:
    for name in names:
        if hasattr(inside, name):
            return getattr(inside, name)
    return None
