"""A Runner of forty lines, and ``@coroutine``, on asyncio's loop and Futures: for stage 7.

`gencoro.runner` is the real one.  This one does the same with random programs, and differs
where a coroutine is cancelled, interrupted, debugged, or used wrongly.
"""

import asyncio
import contextvars
import functools
import inspect
import logging
from collections.abc import Callable, Generator
from typing import Any

__all__ = ["BadYieldError", "Return", "Runner", "convert", "coroutine", "run_sync"]

logger = logging.getLogger("tornado.application")


class Return(Exception):
    """Raised to end a coroutine with a value."""

    def __init__(self, value: Any = None) -> None:
        super().__init__(value)
        self.value = value


class BadYieldError(Exception):
    """What was yielded cannot be waited for."""


class Runner:
    """Runs a generator from ``yield`` to ``yield``, and puts its outcome into a Future."""

    def __init__(self, generator: Generator[Any, Any, Any], result: Any) -> None:
        self.generator, self.result = generator, result
        self.context = contextvars.copy_context()
        self.future: Any = new_future(value=None)  # sending None starts a generator
        self.context.run(self.run)

    def run(self, _done: Any = None) -> None:
        """Resume the generator, until it has to wait or has ended."""
        try:
            while self.handle_yield(self.resume()):
                pass
        except (StopIteration, Return) as stop:
            if not self.result.done():
                self.result.set_result(stop.value)
        except asyncio.CancelledError:
            self.result.cancel()
        except Exception as error:
            if not self.result.done():
                self.result.set_exception(error)

    def resume(self) -> Any:
        """Give the generator what it has waited for; return what it yields next."""
        error = None
        try:
            value = self.future.result()
        except BaseException as failure:
            error = failure
        # Not in the `except` clause: it would become the context of every later error.
        if error is not None:
            return self.generator.throw(error)
        return self.generator.send(value)

    def handle_yield(self, yielded: Any) -> bool:
        """Wait for what was yielded; return True if there is nothing to wait for."""
        try:
            self.future = convert(yielded)
        except Exception as error:  # the generator gets it, at its `yield`
            self.future = new_future(error=error)
        if self.future.done() and yielded is not None:
            return True
        self.future.add_done_callback(self.run, context=self.context)
        return False


def new_future(value: Any = None, error: Exception | None = None) -> Any:
    """Return a Future that is done."""
    future = asyncio.get_running_loop().create_future()
    future.set_exception(error) if error else future.set_result(value)
    return future


def coroutine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have calls start the function, to its first ``yield``, and return a Future."""

    @functools.wraps(function)
    def start(*args: Any, **kwargs: Any) -> Any:
        result = asyncio.get_running_loop().create_future()
        Runner(body_of(function, args, kwargs), result)
        return result

    return start


def body_of(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Be the generator that a function returns; or, if it returns a value, end with it."""
    value = function(*args, **kwargs)
    return (yield from value) if inspect.isgenerator(value) else value


def convert(yielded: Any) -> Any:
    """Return a Future for anything that a coroutine may yield."""
    if yielded is None:
        return new_future()
    if asyncio.isfuture(yielded):
        return yielded
    if isinstance(yielded, list):
        return wait_for_all([convert(child) for child in yielded])
    if isinstance(yielded, dict):
        futures = [convert(child) for child in yielded.values()]
        return wait_for_all(futures, keys=list(yielded))
    if inspect.isawaitable(yielded):
        return asyncio.ensure_future(yielded)
    raise BadYieldError(f"{yielded!r} cannot be waited for")


def wait_for_all(futures: list[Any], keys: list[Any] | None = None) -> Any:
    """Return a Future for the list or dict of all results."""
    all_done = asyncio.get_running_loop().create_future()
    left = futures.copy()

    def wait_for_next(_done: Any = None) -> None:
        # One after the other: what they stand for is running already.
        while left and left[-1].done():
            left.pop()
        if left:
            left[-1].add_done_callback(wait_for_next)
        else:
            collect(all_done, futures, keys)

    wait_for_next()
    return all_done


def collect(all_done: Any, futures: list[Any], keys: list[Any] | None) -> None:
    """Take the results, or the first error; the other errors are logged."""
    values = []
    for future in futures:
        try:
            values.append(future.result())
        except (Exception, asyncio.CancelledError) as error:
            if not all_done.done():
                all_done.set_exception(error)
            elif not isinstance(error, asyncio.CancelledError):
                logger.error("Multiple exceptions in yield list", exc_info=error)
    if not all_done.done():
        all_done.set_result(values if keys is None else dict(zip(keys, values)))


def run_sync(function: Callable[[], Any]) -> Any:
    """Run a loop until the Future that the function returns is done."""

    async def main() -> Any:
        return await function()

    return asyncio.run(main())
