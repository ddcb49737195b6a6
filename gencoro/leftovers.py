"""What a loop has left when it is closed: it is ended in order, and in bounded time.

First the coroutines, whose ``finally`` may need all the rest; then asynchronous
generators; then the threads of the default executor.  Whatever refuses to end is named in
a log record, and left alone.
"""

import asyncio
import gc
import time
from collections.abc import Iterable, Iterator
from typing import Any

from gencoro.futures import Future, app_log
from gencoro.runner import Runner

__all__ = ["finish_leftovers"]


def finish_leftovers(
    loop: asyncio.AbstractEventLoop,
    tasks: "Iterable[Future[Any]]",
    within_s: float,
) -> None:
    """End what a loop has left that is neither running nor closed.

    Args:
        tasks: Native coroutines that are to end with ours.
        within_s: Longest wait for the coroutines, and again for the threads, in seconds.
    """
    _finish_coroutines(loop, [*tasks, *_suspended(loop)], within_s)
    # Running the loop for nothing would call what others have left in it.
    if getattr(loop, "_asyncgens", True):
        loop.run_until_complete(loop.shutdown_asyncgens())
    _finish_threads(loop, within_s)


def _suspended(loop: asyncio.AbstractEventLoop) -> "Iterator[Future[Any]]":
    for thing in gc.get_objects():
        # Not isinstance(), which asks the object, and so may run code of a proxy.
        if (
            issubclass(type(thing), Runner)
            and thing.loop is loop
            and not thing.finished
        ):
            yield thing.result_future


def _finish_coroutines(
    loop: asyncio.AbstractEventLoop, leftovers: "list[Future[Any]]", within_s: float
) -> None:
    # Before the loop runs again: it would go on with them.
    for future in leftovers:
        future.cancel()
    if leftovers:
        loop.run_until_complete(_wait_for(leftovers, within_s))
        # The frames of their errors hold this one: let it hold none of them.
        leftovers.clear()
        del future


async def _wait_for(leftovers: "list[Future[Any]]", within_s: float) -> None:
    _, refusing = await asyncio.wait(leftovers, timeout=within_s)
    for future in refusing:
        app_log.warning(
            "%r was cancelled because its loop is closed, and has not ended within "
            "%s seconds",
            future,
            within_s,
        )


def _finish_threads(loop: asyncio.AbstractEventLoop, within_s: float) -> None:
    # loop.shutdown_default_executor() has a time limit from Python 3.12 on only, and
    # starts a thread, which an interpreter that exits does not do any more.
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
