"""Ends what is left on a loop before it is closed, in order and in bounded time.

First coroutines and Tasks, whose ``finally`` may need everything else; then asynchronous
generators; then the threads of the default executor.  What does not end in time is logged.

`finish_leftovers` does so for an `IOLoop`.  `asyncio.run` and all others that close a loop end
its Tasks and its asynchronous generators: so the coroutines of a loop pose as one of these.
"""

import asyncio
import gc
import sys
import time
from collections.abc import Coroutine, Iterable, Iterator
from typing import Any

from gencoro.cancelling import end_all
from gencoro.futures import Future, app_log

__all__ = ["CLEAN_UP_S", "Closable", "end_with", "finish_leftovers"]

# How long a coroutine that was cancelled, by a timeout or because its loop is being closed,
# may take to clean up: enough to say goodbye to a server.
CLEAN_UP_S = 5.0


class Closable:
    """What has to end before its loop is closed: a Runner."""

    __slots__ = ()

    loop: asyncio.AbstractEventLoop

    def ending(self) -> "Future[Any] | None":
        """Return a Future that is done when it has ended; None if it has."""
        raise NotImplementedError


class _Coroutines:
    """The coroutines of a loop, which end with its asynchronous generators."""

    async def aclose(self) -> None:
        loop = asyncio.get_running_loop()
        leftovers = list(_suspended(loop))
        # Tasks that run by now close the loop, or are for the program to end.
        others = asyncio.all_tasks(loop)
        end_all(leftovers)
        await _finish_coroutines(loop, leftovers, others)


def end_with(loop: asyncio.AbstractEventLoop) -> None:
    """Have the coroutines of a running loop end when its asynchronous generators do.

    Marks it with the attribute ``_gencoro_coroutines``.
    """
    begin = sys.get_asyncgen_hooks().firstiter
    is_over = getattr(loop, "_asyncgens_shutdown_called", False)
    if begin is None or is_over or asyncio._get_running_loop() is not loop:
        return
    coroutines = _Coroutines()
    # The loop itself refers to it weakly.  Not by vars(), which would give the loop a real
    # dict and slow down each access to its attributes: by a tenth in all.
    loop._gencoro_coroutines = coroutines  # type: ignore[attr-defined]
    begin(coroutines)  # type: ignore[arg-type]


def finish_leftovers(loop: asyncio.AbstractEventLoop) -> None:
    """End what is left on a loop that is neither running nor closed.

    This waits at most `CLEAN_UP_S` for each of the three kinds, even if `stop` is called, and
    as long again for what was started while a coroutine did not end in time.
    """
    # Cancel all before the loop runs, which would resume those that are ready.
    leftovers = [*asyncio.all_tasks(loop), *_suspended(loop)]
    end_all(leftovers)
    if leftovers:
        _run(loop, _finish_coroutines(loop, leftovers, set()))
        # The frames of their errors refer to this one: break the cycle.
        leftovers.clear()
    if hasattr(loop, "_gencoro_coroutines"):
        del loop._gencoro_coroutines
    # Running the loop without need would run callbacks left by other code.
    if getattr(loop, "_asyncgens", True):
        _run(loop, _finish_in_time(loop.shutdown_asyncgens()))
    _finish_threads(loop)


def _suspended(loop: asyncio.AbstractEventLoop) -> "Iterator[Future[Any]]":
    classes = [Closable]
    for cls in classes:
        classes += cls.__subclasses__()
    # Every object refers to its class: this takes a fifth of the time of a search of
    # gc.get_objects().
    for thing in gc.get_referrers(*classes):
        # Not isinstance(), which may run code of a proxy object.  A Runner that another
        # thread is just creating has no loop.
        if issubclass(type(thing), Closable) and getattr(thing, "loop", None) is loop:
            future = thing.ending()
            if future is not None:
                yield future


def _run(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a native coroutine to its end even if the loop is stopped."""
    task = loop.create_task(coroutine)
    task.add_done_callback(lambda _: loop.stop())
    while not task.done():
        loop.run_forever()
    task.result()


async def _finish_coroutines(
    loop: asyncio.AbstractEventLoop,
    leftovers: "list[Future[Any]]",
    spared: "set[Any]",
) -> None:
    """Wait for what was cancelled, and end what it starts meanwhile, except the spared Tasks."""
    spared.add(asyncio.current_task())
    deadlines = [loop.time() + CLEAN_UP_S, loop.time() + 2 * CLEAN_UP_S]
    while leftovers and deadlines:
        await asyncio.wait(leftovers, timeout=max(0.0, deadlines[0] - loop.time()))
        refusing = [future for future in leftovers if not future.done()]
        if refusing:
            _tell(refusing)
            spared.update(refusing)
            del deadlines[0]
        started = [*asyncio.all_tasks(loop), *_suspended(loop)]
        leftovers = [future for future in started if future not in spared]
        end_all(leftovers)


async def _finish_in_time(closing: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(closing)
    await asyncio.wait([task], timeout=CLEAN_UP_S)
    if not task.done():
        _tell([task])
        task.cancel()
        await asyncio.wait([task], timeout=CLEAN_UP_S)


def _tell(refusing: "Iterable[Future[Any]]") -> None:
    for future in refusing:
        app_log.warning(
            "%r did not end within %s seconds, although its loop is being closed",
            future,
            CLEAN_UP_S,
        )


def _finish_threads(loop: asyncio.AbstractEventLoop) -> None:
    # loop.shutdown_default_executor() has a timeout from Python 3.12 on only, and starts a
    # thread, which is impossible while the interpreter exits.  A loop that hides its
    # executor, such as uvloop's, closes it by itself.
    executor = getattr(loop, "_default_executor", None)
    if executor is None:
        return
    executor.shutdown(wait=False, cancel_futures=True)
    deadline = time.monotonic() + CLEAN_UP_S
    for thread in list(getattr(executor, "_threads", ())):
        thread.join(max(0.0, deadline - time.monotonic()))
        if thread.is_alive():
            app_log.warning(
                "%r still runs a job of the loop's default executor, %s seconds after "
                "the loop was closed",
                thread.name,
                CLEAN_UP_S,
            )
