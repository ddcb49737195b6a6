"""Reads the stacks and the Tasks of a process that executes no Python code.

By the module of Python 3.14 and newer that ``python -m asyncio pstree`` uses: it reads the
memory of the process.  It knows no coroutines of gencoro, and nothing but Tasks that wait for
one another.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from gencoro.introspect.graph import Call, Node
from gencoro.introspect.remote.process import OWN_PYTHON, Process
from gencoro.introspect.running import Step
from gencoro.introspect.snapshot import Snapshot
from gencoro.introspect.wait_graph import short_path

try:
    import _remote_debugging  # type: ignore[import-not-found]
except ImportError:  # before Python 3.14, or a system without it
    _remote_debugging = None

__all__ = ["unwound"]

T = TypeVar("T")


# Where a loop runs, and where it runs a callback: the function, and the end of its file.
LOOP = ("BaseEventLoop.run_forever", "/asyncio/base_events.py")
HANDLE = ("Handle._run", "/asyncio/events.py")


def unwound(process: Process, until: float) -> Snapshot | None:
    """Return what can be read of a process from outside; None if nothing can.

    Args:
        until: When to stop trying again, on the clock of `time.monotonic`.  A process that
            changes while it is read often cannot be read.
    """
    if _remote_debugging is None or process.python not in (None, OWN_PYTHON):
        return None
    steps = _read(
        process, until, "get_stack_trace", lambda found: list(_steps(process, found))
    )
    if steps is None:
        return None
    # Fails in a process without asyncio.
    loops = _read(
        process, until, "get_all_awaited_by", lambda found: list(_loops(found))
    )
    told = {
        "pid": process.own_pid,
        "time": time.strftime("%Y-%m-%d %H:%M:%S"),
        "python": process.python,
        "gencoro": None,
    }
    return Snapshot(told, steps, loops or [])


def _read(
    process: Process, until: float, method: str, convert: Callable[[Any], T]
) -> T | None:
    while time.monotonic() < until:
        with contextlib.suppress(OSError, RuntimeError, ValueError, MemoryError):
            unwinder = _remote_debugging.RemoteUnwinder(process.pid, all_threads=True)
            return convert(getattr(unwinder, method)())
    return None


def _steps(process: Process, found: list[Any]) -> Iterator[Step]:
    # Since Python 3.15 the threads of each interpreter are together.
    threads = [one for item in found for one in getattr(item, "threads", [item])]
    for thread in sorted(threads, key=lambda one: int(one.thread_id)):
        stack = [_call(frame) for frame in reversed(thread.frame_info)]
        if stack:
            is_main = thread.thread_id == process.pid
            name = "MainThread" if is_main else f"thread {thread.thread_id}"
            yield Step(name, _called_by_loop(stack), stack[-1])


def _called_by_loop(stack: list[Call]) -> list[Call]:
    """Return the frames called by the loop; the whole stack if it has none."""
    for place in reversed(range(len(stack))):
        if _is(stack[place], HANDLE):
            return stack[place + 1 :]
        if _is(stack[place], LOOP):
            return []
    return stack


def _is(call: Call, wanted: tuple[str, str]) -> bool:
    return call.function == wanted[0] and call.file.endswith(wanted[1])


def _loops(found: list[Any]) -> Iterator[tuple[str, list[Node]]]:
    tasks = {task.task_id: task for thread in found for task in thread.awaited_by}
    nodes = {number: _node(task) for number, task in tasks.items()}
    for number, task in tasks.items():
        for waiter in task.awaited_by:
            if waiter.task_name in nodes:
                nodes[waiter.task_name].children.append(("", nodes[number]))
    for thread in found:
        if thread.awaited_by:
            its = [nodes[task.task_id] for task in thread.awaited_by]
            yield f"Tasks of thread {thread.thread_id}", its


def _node(task: Any) -> Node:
    frames = [frame for one in task.coroutine_stack for frame in one.call_stack]
    heads = [_call(frame) for frame in reversed(frames)] or [Call("a coroutine")]
    return Node(heads, detail=str(task.task_name), kind="Task")


def _call(frame: Any) -> Call:
    # Since Python 3.15 the line is part of the location, which may be None.
    line = getattr(getattr(frame, "location", frame), "lineno", 0)
    name = str(frame.funcname).rpartition("<locals>.")[2]
    path = str(frame.filename)
    return Call(name, path, int(line), short_path(path))
