"""gencoro.waiting: sleep, with_timeout and WaitIterator, in virtual time."""

import asyncio
import time
from datetime import timedelta

import pytest

from gencoro import gen
from gencoro.errors import GencoroError
from tests.helpers.gencoro.outcomes import Failure, after, fail_after, now

# sleep


@pytest.mark.parametrize("duration", [0, 0.5, 3600])
def test_sleep_lasts_as_long_as_it_says(run, duration):
    @gen.coroutine
    def main():
        result = yield gen.sleep(duration)
        return result, now()

    assert run(main) == (None, duration)


def test_sleep_of_nothing_takes_a_turn(run):
    async def main():
        return gen.sleep(0).done()

    assert run(main) is False


def test_cancelled_sleep_takes_its_timer_back(run):
    async def main():
        loop = asyncio.get_running_loop()
        future = gen.sleep(60)
        [timer] = loop._scheduled
        future.cancel()
        return timer.cancelled(), future.cancelled()

    assert run(main) == (True, True)


# with_timeout


def test_result_in_time_is_handed_on_and_the_timer_taken_back(run):
    async def main():
        result = await gen.with_timeout(timedelta(seconds=60), after(1, 42))
        await asyncio.sleep(0)
        timers = asyncio.get_running_loop()._scheduled
        return result, [timer for timer in timers if not timer.cancelled()]

    assert run(main) == (42, [])


def test_time_out_is_the_builtin_timeout_error(run):
    async def main():
        try:
            await gen.with_timeout(timedelta(seconds=2), after(60, 42))
        except TimeoutError as error:
            return str(error), now()

    assert run(main) == ("Timeout", 2)


@pytest.mark.parametrize("message", ["too slow", lambda: "too slow"])
def test_text_of_the_time_out_can_be_given(run, message):
    async def main():
        late = after(60, 42)
        await gen.with_timeout(timedelta(seconds=1), late, message=message)

    with pytest.raises(TimeoutError, match="^too slow$"):
        run(main)


def test_message_function_is_not_called_in_time(run):
    async def main():
        in_time = gen.with_timeout(
            timedelta(seconds=9), after(1, 42), message=pytest.fail
        )
        return await in_time

    assert run(main) == 42


def test_error_after_the_time_out_is_logged(run, caplog):
    async def main():
        with pytest.raises(TimeoutError):
            await gen.with_timeout(timedelta(seconds=1), fail_after(2, "late"))
        await asyncio.sleep(5)

    run(main)

    [record] = caplog.records
    assert record.message.startswith("Exception in Future <CoroutineFuture of f")
    assert record.exc_info[1].args == ("late",)


def _cancelled_after(duration, future):
    asyncio.get_running_loop().call_later(duration, future.cancel)
    return future


@pytest.mark.parametrize(
    ("make", "quiet"),
    [
        (lambda: fail_after(2), Failure),
        (lambda: _cancelled_after(2, gen.sleep(60)), ()),
        (lambda: [_cancelled_after(2, gen.sleep(60))], ()),
    ],
    ids=["quiet error", "cancellation", "cancellation in a list"],
)
def test_quiet_end_after_the_time_out_is_not_logged(run, caplog, make, quiet):
    async def main():
        with pytest.raises(TimeoutError):
            await gen.with_timeout(timedelta(seconds=1), make(), quiet)
        await asyncio.sleep(5)

    run(main)

    assert caplog.records == []


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


def test_future_of_another_loop_is_refused_by_with_timeout(run):
    other = asyncio.new_event_loop()

    async def main():
        with pytest.raises(gen.BadYieldError, match="another event loop"):
            gen.with_timeout(timedelta(seconds=1), other.create_future())

    run(main)
    other.close()


# WaitIterator


def test_results_come_as_they_are_done(run):
    @gen.coroutine
    def main():
        seen = []
        iterator = gen.WaitIterator(after(3, "slow"), after(1, "quick"))
        while not iterator.done():
            result = yield iterator.next()
            seen.append((iterator.current_index, result, now()))
        return seen, iterator.current_index, iterator.current_future

    assert run(main) == ([(1, "quick", 1), (0, "slow", 3)], None, None)


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


def test_next_without_anything_left_is_refused(run):
    async def main():
        gen.WaitIterator().next()

    with pytest.raises(GencoroError, match="no results left"):
        run(main)


def test_both_kinds_of_arguments_are_refused(run):
    async def main():
        gen.WaitIterator(gen.sleep(0), named=gen.sleep(0))

    with pytest.raises(ValueError, match="not both"):
        run(main)
