"""gencoro.waiting: with_timeout and WaitIterator, beyond Tornado's own tests.

Sleeps are in `test_leaks` and `test_differential`.
"""

import asyncio
import gc
import time
import weakref
from datetime import timedelta

import pytest

from gencoro import gen
from tests.helpers.gencoro.outcomes import Failure, after, fail_after, now, pending


def test_result_in_time_is_handed_on_and_the_timer_taken_back(run):
    async def main():
        result = await gen.with_timeout(timedelta(seconds=60), after(1, 42))
        await asyncio.sleep(0)
        timers = asyncio.get_running_loop()._scheduled
        return result, [timer for timer in timers if not timer.cancelled()]

    assert run(main) == (42, [])


def test_quiet_error_after_the_time_out_is_not_logged(run, caplog):
    async def main():
        with pytest.raises(TimeoutError):
            await gen.with_timeout(timedelta(seconds=1), fail_after(2), Failure)
        await asyncio.sleep(5)

    run(main)

    assert caplog.records == []


def test_errors_in_a_list_are_logged_after_the_time_out(run, caplog):
    async def main():
        with pytest.raises(TimeoutError):
            await gen.with_timeout(
                timedelta(seconds=1),
                [pending(), [fail_after(2), None], after(3, 42), {"": fail_after(0.5)}],
            )
        logged = [len(caplog.records)]
        await asyncio.sleep(5)
        return [*logged, len(caplog.records)]

    assert run(main) == [1, 2]
    assert all("after timeout" in record.getMessage() for record in caplog.records)


def test_multi_in_a_list_ends_after_the_time_out(run):
    async def main():
        kept = gen.multi([after(2, 42)])
        with pytest.raises(TimeoutError):
            await gen.with_timeout(timedelta(seconds=1), [pending(), kept])
        return await kept

    assert run(main) == [42]


def test_list_whose_last_child_ends_as_the_time_runs_out_is_silent(run, caplog):
    async def main():
        loop, child = asyncio.get_running_loop(), pending()
        loop.call_later(1, child.set_result, None)
        with pytest.raises(TimeoutError):
            await gen.with_timeout(timedelta(seconds=1), [after(2, 42), child])
        await asyncio.sleep(5)

    run(main)

    assert caplog.records == []


def test_wait_that_then_ends_by_its_own_limit_is_not_logged(run, caplog):
    async def main():
        with pytest.raises(TimeoutError):
            limited = gen.with_timeout(timedelta(seconds=2), gen.sleep(60))
            await gen.with_timeout(timedelta(seconds=1), limited)
        await asyncio.sleep(5)

    run(main)

    assert caplog.records == []


def test_coroutine_takes_a_limited_result_in_the_turn_in_which_it_is_there(run):
    turns = []

    @gen.coroutine
    def wait_for(future):
        yield future
        turns.append("resumed")

    async def main():
        future = pending()
        waiting = wait_for(gen.with_timeout(timedelta(seconds=60), future))
        future.set_result(None)
        asyncio.get_running_loop().call_soon(turns.append, "its turn ends")
        await waiting

    run(main)

    assert turns == ["resumed", "its turn ends"]


def test_number_is_a_moment_of_the_wall_clock_not_a_duration(run):
    async def main():
        with pytest.raises(TimeoutError):
            await gen.with_timeout(time.time() + 100, gen.sleep(3600))
        return now()

    assert run(main) == pytest.approx(100, abs=1)


@pytest.mark.parametrize("timeout", ["1", None, [1]])
def test_time_out_of_another_type_is_refused(run, timeout):
    async def main():
        gen.with_timeout(timeout, None)

    with pytest.raises(TypeError, match="give a datetime.timedelta"):
        run(main)


def test_message_that_fails_is_the_error(run):
    def message():
        raise ValueError("no words")

    async def main():
        with pytest.raises(ValueError, match="no words"):
            await gen.with_timeout(timedelta(seconds=1), gen.sleep(60), message=message)

    run(main)


# WaitIterator


def test_async_for_ends_at_an_error(run):
    async def main():
        async for _ in gen.WaitIterator(fail_after(1), after(2, 1)):
            pass

    with pytest.raises(Failure):
        run(main)


def test_result_that_was_given_up_comes_again(run):
    @gen.coroutine
    def main():
        iterator = gen.WaitIterator(after(3, 42))
        try:
            yield gen.with_timeout(timedelta(seconds=1), iterator.next())
        except TimeoutError:
            return (yield iterator.next())

    assert run(main) == 42


def test_results_that_were_returned_are_let_go(run):
    class Body:
        pass

    @gen.coroutine
    def load(delay_s):
        yield gen.sleep(delay_s)
        return Body()

    @gen.coroutine
    def main():
        futures = [load(delay_s) for delay_s in (1, 2, 3)]
        iterator = gen.WaitIterator(*futures)
        alive = []
        del futures
        while not iterator.done():
            alive.append(weakref.ref((yield iterator.next())))
            yield gen.moment
            # That of current_future is kept.
            assert [body() is None for body in alive[:-1]] == [True] * (len(alive) - 1)
        return len(alive)

    assert run(main) == 3


def test_closed_iterator_leaves_its_futures_and_cancels_who_waits(run):
    async def main():
        shared = asyncio.get_running_loop().create_future()
        with gen.WaitIterator(shared) as iterator:
            waiting = iterator.next()
            waiting.add_done_callback(lambda _: None)
        return waiting.cancelled(), iterator.done(), shared.done(), shared._callbacks

    assert run(main) == (True, True, False, None)


def test_unused_iterator_leaves_the_futures_of_a_loop_at_rest():
    loop = asyncio.new_event_loop()
    shared = loop.create_future()
    gen.WaitIterator(shared)

    loop.run_until_complete(asyncio.sleep(0))

    assert not shared._callbacks
    loop.close()


def test_next_result_arrives_although_only_a_callback_waits_for_it(run):
    async def main():
        arrived = []
        gen.WaitIterator(after(1, 42)).next().add_done_callback(arrived.append)
        gc.collect()
        await asyncio.sleep(2)
        return [future.result() for future in arrived]

    assert run(main) == [42]


@pytest.mark.parametrize("futures", [1, 2])
@pytest.mark.parametrize("turns", range(4))
def test_result_whose_waiter_is_cancelled_comes_again(run, turns, futures):
    @gen.coroutine
    def take(iterator, taken):
        taken.append(((yield iterator.next()), iterator.current_index))

    async def main():
        first, second = pending(), pending()
        # Where there is one Future, it is passed twice, and returned twice.
        iterator = gen.WaitIterator(first, second if futures == 2 else first)
        taken = []
        taker = take(iterator, taken)
        first.set_result(1)
        second.set_result(1)
        for _ in range(turns):
            await asyncio.sleep(0)
        taker.cancel()
        await asyncio.wait([taker])
        while not iterator.done():
            await take(iterator, taken)
        return taken

    assert run(main) == [(1, 0), (1, 1)]
