"""Shows which coroutines are suspended, where, and what they wait for.

Nothing is registered while coroutines run: everything is found when it is asked for.

Rule: inspection has no side effects.  No coroutine is resumed, no error is marked as
retrieved, nothing is garbage-collected, and no user code runs, not even a ``repr``.

The functions and classes of ``__all__`` are public; the modules of this package are not.

Inside::

    survey        finds all Runners and Futures in one pass over the process's objects
    wait_graph    turns them into nodes: which waits for which
    graph         roots, shared nodes and similar nodes
    drawing       the graph as a tree in plain ASCII
    thread_steps  what each thread with a loop is running right now
    snapshot      both at one moment, as values that another process can read
    on_signal     a signal handler that does not disturb the program
    mailbox       how another process asks that handler, and gets the answer
    remote        examines another process: ``python -m gencoro pstree PID``
"""

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, Protocol, TextIO, TypeAlias

from gencoro.frames import frames_in, frames_of, line_of, name_of
from gencoro.futures import Future, ToldFuture
from gencoro.introspect.graph import Node
from gencoro.introspect.on_signal import Answer
from gencoro.introspect.snapshot import title_of, trees
from gencoro.introspect.survey import Survey
from gencoro.introspect.wait_graph import WaitGraph
from gencoro.runner import runner_of
from gencoro.yieldables import MultiFuture

__all__ = [
    "HasAsyncioLoop",
    "SuspendedCoroutine",
    "format_tree",
    "install_signal",
    "suspended",
    "traceback_of",
    "wait_chain",
]


class HasAsyncioLoop(Protocol):
    """A loop of Tornado, which wraps an asyncio loop.

    Attributes:
        asyncio_loop: The loop that it wraps.
    """

    asyncio_loop: asyncio.AbstractEventLoop


Loop: TypeAlias = asyncio.AbstractEventLoop | HasAsyncioLoop


@dataclass(frozen=True, slots=True)
class SuspendedCoroutine:
    """A suspended coroutine, as returned by `suspended`.

    Attributes:
        filename: The file of the current ``yield``: its own, or that of the innermost
            generator reached through ``yield from``.
        line: The line of that ``yield``.
        function: The qualified name of the coroutine function.
        waits_for: A description of what it waits for.
        suspended_at: When it was suspended, on its loop's clock; None unless in debug
            mode.
    """

    filename: str
    line: int
    function: str
    waits_for: str
    suspended_at: float | None


def suspended(loop: Loop | None = None) -> list[SuspendedCoroutine]:
    """Return the suspended coroutines of one loop or all loops, sorted by file and line.

    These are coroutines of ``@gen.coroutine``; `asyncio.all_tasks` returns the native ones.
    A running coroutine is not suspended.  An unreachable one is included until it is
    garbage-collected.

    >>> from gencoro import gen
    >>> @gen.coroutine
    ... def nap(future):
    ...     yield future
    >>> async def main():
    ...     future = asyncio.Future()
    ...     napping = nap(future)
    ...     for one in suspended(asyncio.get_running_loop()):
    ...         print(one.function, one.line, one.waits_for)
    ...     future.set_result(None)
    ...     await napping
    >>> asyncio.run(main())
    nap 3 a Future
    """
    survey = Survey()
    graph = WaitGraph(survey)
    found = []
    for future, runner in survey.runners.items():
        frames = list(frames_in(runner))
        waits_for = graph.node_of(future).children
        if frames and waits_for and _is_on(loop, future):
            found.append(
                SuspendedCoroutine(
                    filename=frames[-1].f_code.co_filename,
                    line=line_of(frames[-1]),
                    function=name_of(runner.gen),
                    waits_for=waits_for[0][1].description(),
                    suspended_at=getattr(runner, "suspended_at", None),
                )
            )
    return sorted(found, key=lambda one: (one.filename, one.line, one.function))


def format_tree(loop: Loop | None = None) -> str:
    """Return a tree of what each coroutine of one loop or all loops waits for, as text.

    The roots are the coroutines and Tasks that nothing waits for, sorted by name.  Below
    each is what it waits for.  A list, a dict or `asyncio.gather` has a branch for each
    child that is not done.  A node with several waiters has a number and is shown once, so
    coroutines that wait for each other do not make the tree endless.  Of more than three
    similar branches only the first is shown; the tree has at most a thousand lines.

    What will complete a plain Future is unknown, unless a function of gencoro, asyncio or
    Tornado, such as `with_timeout`, connected it to another Future.

    >>> from gencoro import gen
    >>> @gen.coroutine
    ... def nap(name):
    ...     yield gen.sleep(0)
    >>> @gen.coroutine
    ... def both():
    ...     yield {"one": nap("one"), "two": nap("two")}
    >>> async def main():
    ...     napping = both()
    ...     print(format_tree(asyncio.get_running_loop()))
    ...     await napping
    >>> asyncio.run(main())  # doctest: +ELLIPSIS
    both() at ...:3: dict, 0 of 2 done
    |-- ['one'] nap() at ...:3: sleep, 0.0 s left
    '-- ['two'] nap() at ...:3: sleep, 0.0 s left
    main() at ...:3 (Task-...): running
    """
    nodes_by_loop: dict[asyncio.AbstractEventLoop, list[Node]] = {}
    for future, node in WaitGraph(Survey()).tops():
        if _is_on(loop, future):
            nodes_by_loop.setdefault(future.get_loop(), []).append(node)
    return trees((title_of(one), nodes) for one, nodes in nodes_by_loop.items())


def install_signal(
    signum: int | None = None, file: TextIO | None = None
) -> Callable[[], None]:
    """Install a signal handler that dumps what the process is running and waiting for.

    It writes the current line of each loop's thread, and `format_tree` of all loops.  On
    Linux, ``python -m gencoro pstree PID`` can ask it too, and then prints the answer
    itself; for that, the process has one more open file, in memory.  The handler works
    while a loop waits for events and in the middle of a long step, but not during a
    call into C that ignores signals.

    Args:
        signum: The signal; ``SIGUSR1`` by default.
        file: Where to write, bypassing its buffer; ``sys.stderr`` by default.

    Returns a function that restores the previous handler.

    Raises:
        RuntimeError: this is not the main thread, or the system has no ``SIGUSR1``.

    >>> uninstall = install_signal()  # and then, from a shell: kill -USR1 <process>
    >>> uninstall()
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError(
            f"install_signal() was called on {threading.current_thread().name}; Python "
            "handles signals on its main thread only, so call it there"
        )
    if signum is None:
        signum = getattr(signal, "SIGUSR1", None)
    if signum is None:
        raise RuntimeError(
            f"install_signal() found no SIGUSR1: {sys.platform} does not have it; give "
            "the signal to be used, such as signal.SIGBREAK"
        )
    return Answer(signum, file).uninstall


def _is_on(loop: Loop | None, future: "Future[Any]") -> bool:
    return loop is None or future.get_loop() is getattr(loop, "asyncio_loop", loop)


def traceback_of(future: "Future[Any]") -> TracebackType | None:
    """Return the traceback that an error would have if it were raised in a coroutine now.

    It leads from the coroutine's own ``yield`` through the coroutines that it waits for,
    native ones included, to the innermost known one; through the first unfinished child
    of a list; and not beyond a plain Future.  None if the coroutine is not suspended.
    """
    traceback = None
    frames = [frame for one in wait_chain(future) for frame in _own_frames(one)]
    for frame in reversed(frames):
        traceback = TracebackType(traceback, frame, frame.f_lasti, line_of(frame))
    return traceback


def wait_chain(future: "Future[Any] | None") -> "Iterator[Future[Any]]":
    """Yield a Future, then the one its coroutine waits for, and so on.

    A list leads on through its first unfinished child.

    >>> from gencoro import gen
    >>> @gen.coroutine
    ... def wait_for(future):
    ...     yield future
    >>> async def main():
    ...     future = asyncio.Future()
    ...     outer = wait_for([wait_for(future)])
    ...     print(*(type(one).__name__ for one in wait_chain(outer)))
    ...     future.set_result(None)
    ...     await outer
    >>> asyncio.run(main())
    CoroutineFuture MultiFuture CoroutineFuture Future
    """
    seen = set()
    while asyncio.isfuture(future) and future not in seen:
        future = getattr(future, "stands_for", None) or future  # legacy, of compat
        yield future
        seen.add(future)
        runner = runner_of(future)
        if runner is not None:
            future = runner.future
        elif isinstance(future, MultiFuture):
            future = next((one for one in future.children if not one.done()), None)
        elif isinstance(future, ToldFuture) and future.awaited:
            future = next((one for one in future.awaited if not one.done()), None)
        else:
            future = getattr(future, "_fut_waiter", None)  # if it is a Task


def _own_frames(future: "Future[Any]") -> Iterator[FrameType]:
    runner = runner_of(future)
    if runner is not None:
        return frames_in(runner)
    return frames_of(getattr(future, "_coro", None))
