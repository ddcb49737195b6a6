"""What type checkers see.  They check this file in .ci/run; here its statements run."""

import asyncio
import concurrent.futures
import datetime
from collections.abc import Generator
from typing import Any, assert_type

from gencoro import gen, queues
from gencoro.concurrent import dummy_executor, run_on_executor
from gencoro.ioloop import IOLoop
from gencoro.testing import gen_test, new_io_loop, run_test

SOON = datetime.timedelta(seconds=60)


@gen.coroutine
def length(text: str) -> Generator[Any, Any, int]:
    yield gen.moment
    return len(text)


@gen.coroutine
def without_yield() -> bytes:
    return b""


async def native() -> str:
    return ""


def job() -> concurrent.futures.Future[float]:
    return dummy_executor.submit(float, 1)


class Executing:
    executor = dummy_executor

    @run_on_executor
    def first(self, number: int) -> str:
        return str(number)

    @run_on_executor(executor="executor")
    def second(self) -> int:
        return 2


@gen.coroutine
def by_yield_from() -> Generator[Any, Any, None]:
    assert_type((yield from length("a")), int)
    assert_type((yield from gen.convert_yielded(native())), str)
    assert_type((yield from gen.multi([native()])), list[str])
    assert_type((yield from queues.Queue[int]().put(1)), None)


class Delay(float):
    """What a program lets coroutines yield."""


@gen.convert_yielded.register(Delay)
def wait_for_delay(delay: Delay) -> "gen.Future[None]":
    return gen.sleep(delay)


@gen_test
def test_waiting_for_one() -> Generator[Any, Any, None]:
    async def main() -> None:
        assert_type(await length("a"), int)
        assert_type(await without_yield(), bytes)
        assert_type(await gen.sleep(0), None)
        assert_type(await gen.maybe_future(length("a")), int)
        assert_type(await gen.maybe_future("text"), str)
        assert_type(await gen.with_timeout(SOON, length("a")), int)
        assert_type(await gen.with_timeout(SOON, native()), str)
        assert_type(await gen.with_timeout(SOON, job()), float)
        assert_type(await gen.with_timeout(SOON, None), None)
        assert_type(await gen.convert_yielded(length("a")), int)
        assert_type(await gen.convert_yielded(native()), str)
        assert_type(await gen.convert_yielded([native()]), list[str])
        assert_type(await gen.convert_yielded({1: native()}), dict[int, str])
        assert_type(await Executing().first(1), str)
        assert_type(await Executing().second(), int)

    yield main()
    yield by_yield_from()
    yield Delay(0)


@gen_test(timeout=60)
async def test_waiting_for_many() -> None:
    lengths = [length("a"), length("b")]
    by_name = {"a": length("a")}

    assert_type(await gen.multi(lengths), list[int])
    assert_type(await gen.multi([native(), native()]), list[str])
    assert_type(await gen.multi([job()]), list[float])
    assert_type(await gen.multi([None, lengths]), list[Any])
    assert_type(await gen.multi(by_name), dict[str, int])
    assert_type(await gen.multi({1: native()}), dict[int, str])
    assert_type(await gen.multi({1: job()}), dict[int, float])
    assert_type(await gen.multi({1: None}), dict[int, Any])
    assert_type(await gen.with_timeout(SOON, gen.multi(lengths)), list[int])
    assert_type(await gen.with_timeout(SOON, [native(), None]), list[Any])
    assert_type(await gen.with_timeout(SOON, [native()]), list[str])
    assert_type(await gen.with_timeout(SOON, lengths), list[int])
    assert_type(await gen.with_timeout(SOON, {"a": native()}), dict[str, str])


def test_running() -> None:
    with new_io_loop(asyncio.new_event_loop()) as io_loop:
        assert_type(IOLoop.current(), IOLoop)
        assert_type(io_loop.run_sync(native), str)
        assert_type(io_loop.run_sync(lambda: length("a"), timeout=60), int)
        assert_type(io_loop.run_sync(lambda: job()), float)
        assert_type(io_loop.run_sync(lambda: [native()]), Any)
        assert_type(run_test(io_loop, native), str)


@gen_test
def returns_length(text: str) -> Generator[Any, Any, int]:
    found: int = yield length(text)
    return found


@gen_test(timeout=60)
async def returns_natively(*, text: str) -> str:
    return text


@gen_test
@gen.coroutine
def returns_decorated() -> Generator[Any, Any, bytes]:
    yield
    return b""


class Case:
    @gen_test
    def returns_number(self, number: int) -> Generator[Any, Any, int]:
        yield
        return number

    @gen_test(timeout=60)
    def returns_text(self) -> str:
        return "text"


def test_tests_keep_their_types() -> None:
    assert_type(returns_length("text"), int)
    assert_type(returns_natively(text="text"), str)
    assert_type(returns_decorated(), bytes)
    assert_type(Case().returns_number(1), int)
    assert_type(Case().returns_text(), str)
