"""gencoro.yieldables: convert_yielded, multi, moment, maybe_future."""

import asyncio
import concurrent.futures
import gc

import pytest
import tornado.gen

from gencoro import gen
from gencoro.yieldables import convert_yielded, held_tasks, maybe_future, moment
from tests.helpers.gencoro.outcomes import Failure, after, done, fail_after, failed

# convert_yielded


def test_future_is_converted_to_itself(run):
    async def main():
        future = done(1)
        return convert_yielded(future) is future

    assert run(main)


@pytest.mark.parametrize("value", [None, moment, tornado.gen.moment])
def test_moments_are_all_the_same(value):
    assert convert_yielded(value) is moment


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


@pytest.mark.parametrize("registry", [gen, tornado.gen], ids=["gencoro", "tornado"])
def test_registered_type_can_be_yielded(run, registry):
    class Delayed:
        pass

    @registry.convert_yielded.register(Delayed)
    def convert(_delayed):
        return after(1, 42)

    @gen.coroutine
    def main():
        alone = yield Delayed()
        in_a_list = yield [Delayed()]
        return alone, in_a_list

    assert run(main) == (42, [42])


def test_converter_of_tornado_may_return_an_executors_future(run):
    class Job:
        pass

    @tornado.gen.convert_yielded.register(Job)
    def convert(_job):
        return gen_job(42)

    def gen_job(value):
        job = concurrent.futures.Future()
        job.set_result(value)
        return job

    @gen.coroutine
    def main():
        return (yield Job())

    assert run(main) == 42


# moment, maybe_future


def test_moment_can_be_awaited(run):
    async def main():
        turns = []
        asyncio.get_running_loop().call_soon(turns.append, "other")
        await moment
        return turns

    assert run(main) == ["other"]


def test_moment_shows_its_name():
    assert repr(moment) == "<gencoro.gen.moment>"


def test_maybe_future_wraps_a_value_and_keeps_a_future(run):
    async def main():
        future = done(1)
        return maybe_future(future) is future, maybe_future([2]).result()

    assert run(main) == (True, [2])


# multi


def test_children_are_started_side_by_side(run):
    @gen.coroutine
    def main():
        yield [after(5, 1), after(5, 2)]
        return asyncio.get_running_loop().time()

    assert run(main) == 5


def test_first_error_in_list_order_is_raised_and_the_others_logged(run, caplog):
    @gen.coroutine
    def main():
        yield [fail_after(3, "slow"), fail_after(1, "quick"), after(9, "ok")]

    with pytest.raises(Failure, match="slow"):
        run(main)

    [record] = caplog.records
    assert record.message == "Multiple exceptions in yield list"
    assert record.exc_info[1].args == ("quick",)


def test_error_waits_for_all_the_other_children(run):
    @gen.coroutine
    def main():
        try:
            yield [fail_after(1), after(7, "ok")]
        except Failure:
            return asyncio.get_running_loop().time()

    assert run(main) == 7


def test_cancelled_child_is_an_error_that_is_not_logged(run, caplog):
    @gen.coroutine
    def main():
        cancelled = asyncio.get_running_loop().create_future()
        cancelled.cancel()
        try:
            yield [failed("first"), cancelled]
        except Failure as error:
            return error.args

    assert run(main) == ("first",)
    assert caplog.records == []
