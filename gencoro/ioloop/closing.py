"""What a loop has left when it is closed: it is ended in order, and in bounded time.

First the coroutines, whose ``finally`` may need all the rest; then asynchronous
generators; then the threads of the default executor.  Whatever refuses to end is named in
a log record, and left alone.
"""

import asyncio
import gc
import time
from collections.abc import Coroutine, Iterable, Iterator
from typing import Any

from gencoro.futures import Future, app_log
from gencoro.runner import Runner, runner_of

__all__ = ["finish_leftovers"]


def finish_leftovers(
    loop: asyncio.AbstractEventLoop,
    tasks: "Iterable[Future[Any]]",
    within_s: float,
) -> None:
    """End what a loop has left that is neither running nor closed.

    Args:
        loop: The loop; it runs meanwhile, whoever tells it to stop.
        tasks: Native coroutines that are to end with ours.
        within_s: Longest wait for each of the three kinds, in seconds.
    """
    # All are cancelled before the loop runs: it would resume those whose turn has come.
    leftovers = _cancelled([*tasks, *_suspended(loop)])
    if leftovers:
        _run(loop, _finish_coroutines(loop, leftovers, within_s))
        # The frames of their errors hold this one: let it hold none of them.
        leftovers.clear()
    # Running the loop for nothing would call what others have left in it.
    if getattr(loop, "_asyncgens", True):
        _run(loop, _finish_in_time(loop.shutdown_asyncgens(), within_s))
    _finish_threads(loop, within_s)


def _cancelled(futures: "list[Future[Any]]") -> "list[Future[Any]]":
    for future in futures:
        # Who has made a Runner by hand may have given it any Future.
        (runner_of(future) or future).cancel()
    return futures


def _suspended(loop: asyncio.AbstractEventLoop) -> "Iterator[Future[Any]]":
    for thing in gc.get_objects():
        # Not isinstance(), which asks the object, and so may run code of a proxy.  One
        # that another thread is just making has no loop.
        if issubclass(type(thing), Runner) and getattr(thing, "loop", None) is loop:
            future = thing.result_future
            if future is not None and not future.done():
                yield future


def _run(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a native coroutine to its end, though others stop the loop."""
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
        # What they have started while they cleaned up.
        leftovers = _cancelled(list(_suspended(loop)))


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
            "%r was to end because its loop is closed, and has not within %s seconds",
            future,
            within_s,
        )


def _finish_threads(loop: asyncio.AbstractEventLoop, within_s: float) -> None:
    # loop.shutdown_default_executor() has a time limit from Python 3.12 on only, and
    # starts a thread, which an interpreter that exits does not do any more.  A loop that
    # keeps its executor to itself, as uvloop does, closes it in its own way.
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
