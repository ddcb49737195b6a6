"""gencoro's coroutines as asyncio and Tornado's gen see them: Futures like any other."""

import asyncio
from datetime import timedelta

import pytest
import tornado.gen

from gencoro import gen


def test_wait_for_cancels_the_coroutine(run):
    steps = []

    @gen.coroutine
    def body():
        try:
            yield gen.sleep(60)
        finally:
            steps.append("finally")

    async def main():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(body(), 1)

    run(main)

    assert steps == ["finally"]


def test_asyncio_timeout_cancels_the_coroutine(run):
    @gen.coroutine
    def body():
        yield gen.sleep(60)

    async def main():
        future = body()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await future
        return future.cancelled()

    assert run(main)


def test_shield_lets_the_coroutine_run_on(run):
    @gen.coroutine
    def body():
        yield gen.sleep(2)
        return 42

    async def main():
        future = body()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(future), 1)
        return await future

    assert run(main) == 42


def test_gather_waits_for_coroutines_of_both_packages(run):
    def body(x):
        yield x.moment if x is gen else None
        return x.__name__

    async def main():
        ours, theirs = gen.coroutine(body), tornado.gen.coroutine(body)
        return await asyncio.gather(ours(gen), theirs(tornado.gen))

    assert run(main) == ["gencoro.gen", "tornado.gen"]


def test_moments_of_both_packages_can_be_yielded_in_both(loop):
    @gen.coroutine
    def ours():
        yield tornado.gen.moment
        return (yield theirs())

    @tornado.gen.coroutine
    def theirs():
        yield gen.moment
        yield tornado.gen.with_timeout(timedelta(seconds=5), gen.sleep(0.001))
        return 42

    assert loop.run_sync(ours) == 42
