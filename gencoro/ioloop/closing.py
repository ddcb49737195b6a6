"""Ends what is left on a loop before it is closed, in order and in bounded time.

First coroutines, whose ``finally`` may need everything else; then asynchronous generators;
then the threads of the default executor.  What does not end in time is logged.
"""

import asyncio
import gc
import time
from collections.abc import Coroutine, Iterable, Iterator
from typing import Any

from gencoro.cancelling import end_all
from gencoro.futures import Future, app_log
from gencoro.runner import Runner

__all__ = ["finish_leftovers"]


def finish_leftovers(
    loop: asyncio.AbstractEventLoop,
    tasks: "Iterable[Future[Any]]",
    within_s: float,
) -> None:
    """End what is left on a loop that is neither running nor closed.

    Args:
        loop: The loop; it keeps running meanwhile even if `stop` is called.
        tasks: Native coroutines to end together with ours.
        within_s: Maximum wait for each of the three kinds, in seconds.
    """
    # Cancel all before the loop runs, which would resume those that are ready.
    leftovers = [*tasks, *_suspended(loop)]
    end_all(leftovers)
    if leftovers:
        _run(loop, _finish_coroutines(loop, leftovers, within_s))
        # The frames of their errors refer to this one: break the cycle.
        leftovers.clear()
    # Running the loop without need would run callbacks left by other code.
    if getattr(loop, "_asyncgens", True):
        _run(loop, _finish_in_time(loop.shutdown_asyncgens(), within_s))
    _finish_threads(loop, within_s)


def _suspended(loop: asyncio.AbstractEventLoop) -> "Iterator[Future[Any]]":
    for thing in gc.get_objects():
        # Not isinstance(), which may run code of a proxy object.  A Runner that another
        # thread is just creating has no loop.
        if issubclass(type(thing), Runner) and getattr(thing, "loop", None) is loop:
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
    loop: asyncio.AbstractEventLoop, leftovers: "list[Future[Any]]", within_s: float
) -> None:
    deadline = loop.time() + within_s
    while leftovers:
        await asyncio.wait(leftovers, timeout=max(0.0, deadline - loop.time()))
        refusing = [future for future in leftovers if not future.done()]
        if refusing:
            _tell(refusing, within_s)
            return
        # Coroutines started while cleaning up.
        leftovers = list(_suspended(loop))
        end_all(leftovers)


async def _finish_in_time(closing: Coroutine[Any, Any, None], within_s: float) -> None:
    task = asyncio.ensure_future(closing)
    await asyncio.wait([task], timeout=within_s)
    if not task.done():
        _tell([task], within_s)
        task.cancel()
        await asyncio.wait([task], timeout=within_s)


def _tell(refusing: "Iterable[Future[Any]]", within_s: float) -> None:
    for future in refusing:
        app_log.warning(
            "%r did not end within %s seconds, although its loop is being closed",
            future,
            within_s,
        )


def _finish_threads(loop: asyncio.AbstractEventLoop, within_s: float) -> None:
    # loop.shutdown_default_executor() has a timeout from Python 3.12 on only, and starts a
    # thread, which is impossible while the interpreter exits.  A loop that hides its
    # executor, such as uvloop's, closes it by itself.
    executor = getattr(loop, "_default_executor", None)
    if executor is None:
        return
    executor.shutdown(wait=False, cancel_futures=True)
    deadline = time.monotonic() + within_s
    for thread in list(getattr(executor, "_threads", ())):
        thread.join(max(0.0, deadline - time.monotonic()))
        if thread.is_alive():
            app_log.warning(
                "%r still runs a job of the loop's default executor, %s seconds after "
                "the loop was closed",
                thread.name,
                within_s,
            )
