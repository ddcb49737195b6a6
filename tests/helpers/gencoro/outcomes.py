"""Futures for the coroutines of the tests: results and failures, at once or later."""

import asyncio
from typing import Any

from gencoro import gen

__all__ = ["Failure", "after", "done", "fail_after", "failed", "now", "pending"]


class Failure(Exception):
    """What the tests raise."""


def now() -> float:
    return asyncio.get_running_loop().time()


def pending() -> "asyncio.Future[Any]":
    return asyncio.get_running_loop().create_future()


def done(value: Any) -> "asyncio.Future[Any]":
    future = pending()
    future.set_result(value)
    return future


def failed(*args: Any) -> "asyncio.Future[Any]":
    future = pending()
    future.set_exception(Failure(*args))
    return future


@gen.coroutine
def after(duration: float, value: Any) -> Any:
    yield gen.sleep(duration)
    return value


@gen.coroutine
def fail_after(duration: float, *args: Any) -> Any:
    yield gen.sleep(duration)
    raise Failure(*args)
