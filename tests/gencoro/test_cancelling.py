"""Cancelling the Future of a coroutine does what `asyncio.Task.cancel` does."""

import asyncio
import logging

import pytest

from gencoro import gen


class Failure(Exception):
    pass


def _pending():
    return asyncio.get_running_loop().create_future()


def test_cancelling_raises_at_the_innermost_yield_and_runs_every_finally(run):
    steps = []

    @gen.coroutine
    def inner():
        try:
            yield gen.sleep(60)
        except asyncio.CancelledError as error:
            steps.append(("inner", error.args))
            raise
        finally:
            steps.append("inner finally")

    @gen.coroutine
    def outer():
        try:
            yield inner()
        finally:
            steps.append("outer finally")

    async def main():
        future = outer()
        asked = future.cancel("enough")
        await asyncio.wait([future])
        return asked, future.cancelled(), asyncio.get_running_loop().time()

    assert run(main) == (True, True, 0)
    assert steps == [("inner", ("enough",)), "inner finally", "outer finally"]


def test_cancelling_takes_effect_in_a_later_turn_only(run):
    async def main():
        future = gen.coroutine(lambda: (yield gen.sleep(60)))()
        future.cancel()
        return future.done()

    assert run(main) is False


def test_body_may_refuse_to_be_cancelled(run):
    @gen.coroutine
    def stubborn():
        try:
            yield gen.sleep(60)
        except asyncio.CancelledError:
            yield gen.sleep(1)
            return "finished all the same"

    async def main():
        future = stubborn()
        future.cancel()
        return await future

    assert run(main) == "finished all the same"


def test_body_that_is_cancelled_may_fail_with_its_own_error(run):
    @gen.coroutine
    def failing():
        try:
            yield gen.sleep(60)
        finally:
            raise Failure("in the clean-up")

    async def main():
        future = failing()
        future.cancel()
        with pytest.raises(Failure, match="in the clean-up"):
            await future

    run(main)


def test_clean_up_may_wait_and_then_end_cancelled(run):
    @gen.coroutine
    def tidy():
        try:
            yield gen.sleep(60)
        finally:
            yield gen.sleep(3)

    async def main():
        future = tidy()
        future.cancel()
        await asyncio.wait([future])
        return future.cancelled(), asyncio.get_running_loop().time()

    assert run(main) == (True, 3)


def test_cancelled_while_it_runs_it_is_cancelled_at_the_next_yield(run):
    @gen.coroutine
    def body():
        yield gen.moment
        asked = holder[0].cancel("by itself")
        try:
            yield gen.sleep(60)
        except asyncio.CancelledError as error:
            return asked, error.args, asyncio.get_running_loop().time()

    holder = []

    async def main():
        holder.append(body())
        return await holder[0]

    assert run(main) == (True, ("by itself",), 0)


def test_cancelled_while_it_runs_its_last_step_it_ends_cancelled(run):
    holder = []

    @gen.coroutine
    def body():
        yield gen.moment
        holder[0].cancel()
        return 42

    async def main():
        holder.append(body())
        await asyncio.wait(holder)
        return holder[0].cancelled()

    assert run(main)


@pytest.mark.parametrize("yielded", ["moment", "done"])
def test_cancelled_while_nothing_can_be_cancelled_it_still_is(run, yielded):
    @gen.coroutine
    def body():
        waited_for = _pending()
        asyncio.get_running_loop().call_soon(waited_for.set_result, 1)
        asyncio.get_running_loop().call_soon(lambda: holder[0].cancel())
        yield gen.moment if yielded == "moment" else waited_for
        return "was not cancelled"

    holder = []

    async def main():
        holder.append(body())
        if yielded == "moment":
            holder[0].cancel()
        await asyncio.wait(holder)
        return holder[0].cancelled()

    assert run(main)


def test_cancelled_twice_it_is_cancelled_twice(run):
    caught = []

    @gen.coroutine
    def body():
        for _ in range(2):
            try:
                yield gen.sleep(60)
            except asyncio.CancelledError as error:
                caught.append(error.args)
        return "done"

    async def main():
        future = body()
        future.cancel("first")
        await asyncio.sleep(0.1)
        future.cancel("second")
        return await future

    assert run(main) == "done"
    assert caught == [("first",), ("second",)]


def test_cancelling_an_ended_coroutine_does_nothing(run):
    async def main():
        at_once = gen.coroutine(lambda: 42)()
        later = gen.coroutine(lambda: (yield gen.moment))()
        await later
        return at_once.cancel(), later.cancel(), await at_once

    assert run(main) == (False, False, 42)


def test_cancelling_through_lists_and_dicts_cancels_every_child(run):
    ended = []

    @gen.coroutine
    def child(name):
        try:
            yield gen.sleep(60)
        finally:
            ended.append(name)

    @gen.coroutine
    def parent():
        done = gen.maybe_future(1)
        try:
            yield [child("a"), {"b": child("b"), "done": done}, gen.moment, child("c")]
        finally:
            ended.append("parent")

    async def main():
        future = parent()
        assert future.cancel("enough")
        with pytest.raises(asyncio.CancelledError, match="enough"):
            await future
        return future.cancelled()

    assert run(main)
    assert ended == ["a", "b", "c", "parent"]


def test_list_is_cancelled_though_its_children_refuse(run, caplog):
    @gen.coroutine
    def stubborn(outcome):
        try:
            yield gen.sleep(60)
        except asyncio.CancelledError:
            yield gen.sleep(1)
        if outcome is None:
            raise ValueError("in cleaning up")
        return outcome

    async def main():
        future = gen.multi([stubborn(1), stubborn(None)])
        await asyncio.sleep(0)
        assert future.cancel()
        with pytest.raises(asyncio.CancelledError):
            await future
        return future.cancelled(), asyncio.get_running_loop().time()

    with caplog.at_level(logging.ERROR):
        assert run(main) == (True, 1.0)
    assert "in cleaning up" in caplog.text


def test_cancelling_a_list_that_is_done_does_nothing(run):
    async def main():
        empty, full = gen.multi([]), gen.multi([gen.moment])
        return empty.cancel(), full.cancel(), await empty, await full

    assert run(main) == (False, False, [], [None])


def test_body_that_raises_cancelled_error_ends_cancelled(run):
    @gen.coroutine
    def at_once():
        raise asyncio.CancelledError("a")
        yield

    @gen.coroutine
    def later():
        yield gen.moment
        raise asyncio.CancelledError("b")

    async def main():
        futures = [at_once(), later()]
        await asyncio.wait(futures)
        return [future.cancelled() for future in futures]

    assert run(main) == [True, True]


def test_native_coroutine_that_is_yielded_is_cancelled_too(run):
    steps = []

    async def native():
        try:
            await asyncio.sleep(60)
        finally:
            steps.append("native finally")

    async def main():
        future = gen.coroutine(lambda: (yield native()))()
        await asyncio.sleep(0)
        future.cancel()
        await asyncio.wait([future])

    run(main)

    assert steps == ["native finally"]


def test_chain_deeper_than_the_stack_is_cancelled(run):
    depth = 20_000
    ended = []

    @gen.coroutine
    def link(inner):
        try:
            yield inner
        finally:
            ended.append(1)

    async def main():
        chain = gen.sleep(60)
        for _ in range(depth):
            chain = link(chain)
        chain.cancel()
        await asyncio.wait([chain])
        return chain.cancelled()

    assert run(main)
    assert len(ended) == depth


def test_coroutines_that_wait_for_each_other_can_be_cancelled(run):
    ended = []
    futures = {}

    @gen.coroutine
    def waits_for(name, other):
        yield gen.moment
        try:
            yield futures[other]
        finally:
            ended.append(name)

    async def main():
        futures["a"] = waits_for("a", "b")
        futures["b"] = waits_for("b", "a")
        outer = gen.coroutine(lambda: (yield futures["a"]))()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        outer.cancel()
        await asyncio.wait([outer, *futures.values()])
        return [future.cancelled() for future in (outer, *futures.values())]

    assert run(main) == [True, True, True]
    assert sorted(ended) == ["a", "b"]
