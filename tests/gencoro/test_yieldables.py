"""gencoro.yieldables: convert_yielded and moment; lists are in `test_differential`."""

import asyncio
import concurrent.futures
import gc

import pytest
import tornado.gen

from gencoro import gen
from gencoro.yieldables import convert_yielded, held_tasks, moment
from tests.helpers.gencoro.outcomes import after

# convert_yielded


def test_native_coroutine_is_held_until_it_is_done(run):
    async def wait(future):
        return await future

    async def main():
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        done = []
        convert_yielded(wait(future)).add_done_callback(done.append)
        await asyncio.sleep(0)
        gc.collect()
        held = len(held_tasks(loop))
        future.set_result(42)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return held, [task.result() for task in done], len(held_tasks(loop))

    assert run(main) == (1, [42], 0)


def test_awaitable_object_is_waited_for(run):
    class Awaitable:
        def __await__(self):
            yield from asyncio.sleep(0).__await__()
            return 42

    @gen.coroutine
    def main():
        return (yield Awaitable())

    assert run(main) == 42


def _done_job(value):
    job = concurrent.futures.Future()
    job.set_result(value)
    return job


@pytest.mark.parametrize("registry", [gen, tornado.gen], ids=["gencoro", "tornado"])
@pytest.mark.parametrize("converted", [lambda: after(1, 42), lambda: _done_job(42)])
def test_registered_type_can_be_yielded(run, registry, converted):
    class Delayed:
        pass

    @registry.convert_yielded.register(Delayed)
    def convert(_delayed):
        return converted()

    @gen.coroutine
    def main():
        alone = yield Delayed()
        in_a_list = yield [Delayed()]
        return alone, in_a_list

    assert run(main) == (42, [42])


# moment


def test_moment_can_be_awaited(run):
    async def main():
        turns = []
        asyncio.get_running_loop().call_soon(turns.append, "other")
        await moment
        return turns

    assert run(main) == ["other"]


def test_moment_shows_its_name():
    assert repr(moment) == "<gencoro.gen.moment>"
