"""Cancelling, where no `asyncio.Task` is comparable.

What a coroutine and a Task have in common is in `test_cancelling_like_tasks`; circles and
shared coroutines are in `test_large_graphs`.
"""

import asyncio
import datetime
import time

import pytest
import tornado.gen

from gencoro import gen


@pytest.mark.parametrize("returned", [gen.Return, tornado.gen.Return])
def test_cancelled_while_it_raises_return_it_ends_cancelled(run, returned):
    holder = []

    @gen.coroutine
    def body():
        yield gen.moment
        holder[0].cancel()
        raise returned(42)

    async def main():
        holder.append(body())
        await asyncio.wait(holder)
        return holder[0].cancelled()

    assert run(main)


@pytest.mark.parametrize("ending", ["too late", "cancelled"])
def test_with_timeout_never_cancels_what_it_waits_for(run, ending):
    @gen.coroutine
    def goes_on():
        yield gen.sleep(60)
        return asyncio.get_running_loop().time()

    async def main():
        child = goes_on()
        future = gen.with_timeout(datetime.timedelta(seconds=1), child)
        if ending == "cancelled":
            future.cancel()
        with pytest.raises((TimeoutError, asyncio.CancelledError)):
            await future
        return await child

    assert run(main) == 60


async def _native(inner):
    await inner


@pytest.mark.parametrize(
    "wrapped",
    [lambda inner: inner, lambda inner: [inner], _native],
    ids=["yielded", "yielded in a list", "awaited"],
)
def test_chain_deeper_than_the_stack_is_cancelled(run, wrapped):
    depth = 10_000
    ended = []

    @gen.coroutine
    def link(inner):
        try:
            yield wrapped(inner)
        finally:
            ended.append(1)

    async def main():
        chain = gen.sleep(60)
        for _ in range(depth):
            chain = link(chain)
        await asyncio.sleep(0.001)
        chain.cancel()
        await asyncio.wait([chain])
        return chain.cancelled()

    assert run(main)
    assert len(ended) == depth


def test_cost_of_cancelling_a_chain_is_proportional_to_its_length(run):
    @gen.coroutine
    def link(inner):
        yield inner

    async def cpu_s(depth):
        chain = gen.Future()
        for _ in range(depth):
            chain = link(chain)
        start = time.thread_time()
        chain.cancel()
        await asyncio.wait([chain])
        return time.thread_time() - start

    async def best(depth):
        return min([await cpu_s(depth) for _ in range(3)])

    async def main():
        return await best(16_000) / await best(2_000)

    # A quadratic walk takes 64 times as long.
    assert run(main) < 16


def test_list_that_a_child_of_it_waits_for_is_cancelled(run):
    ended = []

    @gen.coroutine
    def waits_for_its_list():
        yield gen.moment
        try:
            yield whole
        finally:
            ended.append(1)

    async def main():
        nonlocal whole
        whole = gen.multi([waits_for_its_list()])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        answer = whole.cancel("enough")
        await asyncio.wait([whole])
        return answer, whole.cancelled()

    whole = None

    assert run(main) == (True, True)
    assert ended == [1]
