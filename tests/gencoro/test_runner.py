"""gencoro.runner: interrupts, resuming, and the Runner's own methods."""

import asyncio
import contextvars
import gc
import sys

import pytest

from gencoro import gen
from gencoro.runner import Runner
from tests.helpers.gencoro.outcomes import Failure, pending

# KeyboardInterrupt and its like.


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_interrupt_in_a_body_leaves_the_loop_and_is_stored(interrupt, caplog):
    @gen.coroutine
    def body():
        yield gen.moment
        raise interrupt("now")

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    future = body()
    runner = future._runner

    with pytest.raises(interrupt):
        loop.run_until_complete(future)

    assert (runner.running, runner.finished, runner.result_future) == (
        False,
        True,
        None,
    )
    del runner
    # Not by exception(), which would mark it as seen.
    assert isinstance(future._exception, interrupt)
    del future
    gc.collect()
    assert caplog.records == []
    loop.close()
    asyncio.set_event_loop(None)


def test_interrupt_before_the_first_yield_reaches_the_caller(run):
    @gen.coroutine
    def body():
        raise KeyboardInterrupt
        yield

    async def main():
        with pytest.raises(KeyboardInterrupt):
            body()

    run(main)


# Resuming.


def test_done_futures_are_taken_in_place_without_recursion(run):
    @gen.coroutine
    def main():
        done = pending()
        done.set_result(1)
        turns, total = [], 0
        asyncio.get_running_loop().call_soon(turns.append, "turn")
        for _ in range(100_000):
            total += yield done
        return total, list(turns)

    assert run(main) == (100_000, [])


def test_error_is_thrown_into_a_suspended_coroutine_by_its_runner(run):
    variable = contextvars.ContextVar("variable", default="outside")

    @gen.coroutine
    def body():
        variable.set("inside")
        try:
            yield pending()
        except Failure as error:
            return variable.get(), error.args

    async def main():
        future = body()
        runner = future._runner
        taken = runner.handle_exception(Failure, Failure("thrown"), None)
        return taken, await future, runner.handle_exception(Failure, Failure(), None)

    assert run(main) == (True, ("inside", ("thrown",)), False)


@pytest.mark.parametrize("make", [lambda: gen.moment, lambda: gen.maybe_future(1)])
def test_runner_can_be_made_by_hand(run, make):
    def body():
        yield make()
        return 42

    async def main():
        generator, future = body(), pending()
        Runner(generator, future, next(generator))
        return await future

    assert run(main) == 42


# Native coroutines of asyncio that a yield enters.


@gen.coroutine
def _ends_at_once(queue):
    yield queue.put("item")
    return (yield queue.get())


@gen.coroutine
def _waits(queue):
    getting = queue.get()
    asyncio.get_running_loop().call_later(1, queue.put_nowait, "item")
    item = yield getting
    yield asyncio.sleep(1)
    return item


@pytest.mark.parametrize("work", [_ends_at_once, _waits])
def test_native_coroutine_of_asyncio_is_entered_without_a_task(run, work):
    async def main():
        working = work(asyncio.Queue())
        tasks = asyncio.all_tasks()
        return await working, len(tasks)

    assert run(main) == ("item", 1)


@pytest.mark.parametrize("is_caught", [True, False])
@pytest.mark.parametrize("waits_first", [True, False])
def test_error_of_a_native_coroutine_that_was_entered_is_raised_at_the_yield(
    run, waits_first, is_caught
):
    class Broken(asyncio.Queue):
        def _get(self):
            raise KeyError("broken")

    @gen.coroutine
    def body():
        queue = Broken()
        put = queue.put_nowait
        if waits_first:
            asyncio.get_running_loop().call_later(1, put, 42)
        else:
            put(42)
        try:
            yield queue.get()
        except KeyError:
            if not is_caught:
                raise
        yield asyncio.sleep(1)
        return sys.exception()

    if is_caught:
        assert run(body) is None
    else:
        with pytest.raises(KeyError) as caught:
            run(body)
        assert _our_frames(caught) == []


def _our_frames(caught):
    names = [entry.frame.f_globals.get("__name__", "") for entry in caught.traceback]
    return [name for name in names if name.startswith("gencoro")]


def test_error_of_the_body_after_a_native_coroutine_has_no_frames_of_the_runner(run):
    @gen.coroutine
    def body():
        yield asyncio.sleep(0)
        yield asyncio.sleep(1)
        raise KeyError("body")

    with pytest.raises(KeyError) as caught:
        run(body)

    assert _our_frames(caught) == []
    assert caught.traceback[-1].name == "body"


def test_coroutine_that_was_abandoned_inside_a_native_one_is_closed():
    steps = []

    @gen.coroutine
    def body(queue):
        try:
            yield queue.get()
        finally:
            steps.append("closed")

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    body(asyncio.Queue())
    asyncio.set_event_loop(None)
    loop.close()
    gc.collect()

    assert steps == ["closed"]
