"""Cancelling the Future of a coroutine does what `asyncio.Task.cancel` does."""

import asyncio
import datetime
import gc

import pytest
import tornado.gen

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


def test_cancelled_twice_at_once_it_is_told_once(run):
    caught = []

    @gen.coroutine
    def body():
        try:
            yield gen.sleep(60)
        except asyncio.CancelledError as error:
            caught.append(error.args)
        yield gen.sleep(1)
        return "done"

    async def main():
        future = body()
        asked = future.cancel("first"), future.cancel("second")
        return asked, await future

    assert run(main) == ((True, True), "done")
    assert caught == [("first",)]


def test_cancelled_without_a_message_the_error_has_none(run):
    @gen.coroutine
    def body():
        try:
            yield gen.sleep(60)
        except asyncio.CancelledError as error:
            return error.args

    async def main():
        future = body()
        future.cancel()
        return await future

    assert run(main) == ()


def test_cancelled_by_itself_it_still_takes_what_is_done_already(run):
    steps = []
    holder = []

    @gen.coroutine
    def body():
        yield gen.moment
        holder[0].cancel()
        steps.append((yield gen.maybe_future(1)))
        steps.append((yield [gen.maybe_future(2), None]))
        yield gen.sleep(60)

    async def main():
        holder.append(body())
        await asyncio.wait(holder)
        return holder[0].cancelled()

    assert run(main)
    assert steps == [1, [2, None]]


def test_error_that_a_cancel_has_overtaken_counts_as_seen(run):
    unseen = []

    @gen.coroutine
    def body(waited_for):
        yield waited_for

    async def main():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: unseen.append(context))
        waited_for = _pending()
        future = body(waited_for)
        waited_for.set_exception(Failure("overtaken"))
        future.cancel()
        await asyncio.wait([future])
        return future.cancelled()

    assert run(main)
    gc.collect()
    assert unseen == []


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


def test_cancelling_raises_in_what_was_called_by_yield_from(run):
    steps = []

    def helper():
        try:
            yield gen.sleep(60)
        finally:
            yield gen.sleep(1)
            steps.append("helper")

    @gen.coroutine
    def body():
        try:
            yield from helper()
        finally:
            steps.append("body")

    async def main():
        future = body()
        future.cancel("enough")
        with pytest.raises(asyncio.CancelledError, match="enough"):
            await future
        return asyncio.get_running_loop().time()

    assert run(main) == 1
    assert steps == ["helper", "body"]


def test_cancelling_one_who_waits_cancels_what_others_wait_for_too(run):
    @gen.coroutine
    def waits_for(future):
        return (yield from future)

    async def main():
        worker = gen.coroutine(lambda: (yield gen.sleep(60)))()
        waiting = [waits_for(worker), waits_for(worker)]
        waiting[0].cancel()
        await asyncio.wait(waiting)
        return [future.cancelled() for future in (worker, *waiting)]

    assert run(main) == [True, True, True]


def test_cancelling_an_ended_coroutine_does_nothing(run):
    async def main():
        at_once = gen.coroutine(lambda: 42)()
        later = gen.coroutine(lambda: (yield gen.moment))()
        await later
        return at_once.cancel(), later.cancel(), await at_once

    assert run(main) == (False, False, 42)


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
