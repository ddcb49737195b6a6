"""gencoro.waiting.WaitIterator: results as they come, in virtual time."""

from datetime import timedelta

import pytest

from gencoro import gen
from gencoro.errors import GencoroError
from tests.helpers.gencoro.outcomes import Failure, after, fail_after, now


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


def test_named_futures_tell_their_names(run):
    async def main():
        futures = {"slow": after(3, 1), "quick": after(1, 2)}
        iterator, seen = gen.WaitIterator(**futures), []
        async for result in iterator:
            right = iterator.current_future is futures[iterator.current_index]
            seen.append((iterator.current_index, result, right))
        return seen

    assert run(main) == [("quick", 2, True), ("slow", 1, True)]


def test_async_for_ends_at_an_error(run):
    async def main():
        async for _ in gen.WaitIterator(fail_after(1), after(2, 1)):
            pass

    with pytest.raises(Failure):
        run(main)


def test_future_given_twice_is_returned_twice(run):
    async def main():
        future = after(1, 42)
        iterator = gen.WaitIterator(future, future)
        return [(await item, iterator.current_index) for item in _items(iterator)]

    assert run(main) == [(42, 0), (42, 1)]


def _items(iterator):
    while not iterator.done():
        yield iterator.next()


def test_result_that_was_given_up_comes_again(run):
    @gen.coroutine
    def main():
        iterator = gen.WaitIterator(after(3, 42))
        try:
            yield gen.with_timeout(timedelta(seconds=1), iterator.next())
        except TimeoutError:
            return (yield iterator.next())

    assert run(main) == 42


def test_both_kinds_of_arguments_are_refused(run):
    async def main():
        gen.WaitIterator(gen.sleep(0), named=gen.sleep(0))

    with pytest.raises(ValueError, match="not both"):
        run(main)


def test_next_without_anything_left_is_refused(run):
    async def main():
        gen.WaitIterator().next()

    with pytest.raises(GencoroError, match="no results left"):
        run(main)
