"""gencoro.yieldables.multi: lists and dicts of yieldables."""

import asyncio

import pytest

from gencoro import gen
from gencoro.errors import BadYieldError
from gencoro.yieldables import multi


class Failure(Exception):
    pass


def _done(value):
    future = asyncio.get_running_loop().create_future()
    future.set_result(value)
    return future


def _failed(*args):
    future = asyncio.get_running_loop().create_future()
    future.set_exception(Failure(*args))
    return future


@gen.coroutine
def _after(duration, value):
    yield gen.sleep(duration)
    return value


@gen.coroutine
def _fail_after(duration, *args):
    yield gen.sleep(duration)
    raise Failure(*args)


def test_list_keeps_its_order_whoever_comes_first(run):
    @gen.coroutine
    def main():
        return (yield [_after(3, "a"), _after(1, "b"), _done("c"), None])

    assert run(main) == ["a", "b", "c", None]


def test_dict_keeps_its_keys(run):
    @gen.coroutine
    def main():
        return (yield {"slow": _after(3, 1), (1, 2): _after(1, 2)})

    assert run(main) == {"slow": 1, (1, 2): 2}


def test_nested_lists_and_dicts_keep_their_shape(run):
    @gen.coroutine
    def main():
        return (yield [{"a": [_done(1), _after(1, 2)]}, []])

    assert run(main) == [{"a": [1, 2]}, []]


@pytest.mark.parametrize("empty", [[], {}])
def test_empty_children_are_done_at_once(run, empty):
    async def main():
        return [multi(empty).result()]

    assert run(main) == [empty]


def test_children_are_started_side_by_side(run):
    @gen.coroutine
    def main():
        yield [_after(5, 1), _after(5, 2)]
        return asyncio.get_running_loop().time()

    assert run(main) == 5


def test_same_future_may_be_given_twice(run):
    @gen.coroutine
    def main():
        future = _after(1, 42)
        return (yield [future, future])

    assert run(main) == [42, 42]


def test_generator_of_children_is_taken(run):
    async def main():
        return await multi(_after(1, n) for n in range(3))

    assert run(main) == [0, 1, 2]


def test_first_error_in_list_order_is_raised_and_the_others_logged(run, caplog):
    @gen.coroutine
    def main():
        yield [_fail_after(3, "slow"), _fail_after(1, "quick"), _after(9, "ok")]

    with pytest.raises(Failure, match="slow"):
        run(main)

    [record] = caplog.records
    assert record.message == "Multiple exceptions in yield list"
    assert record.exc_info[1].args == ("quick",)


def test_error_waits_for_all_the_other_children(run):
    @gen.coroutine
    def main():
        try:
            yield [_fail_after(1), _after(7, "ok")]
        except Failure:
            return asyncio.get_running_loop().time()

    assert run(main) == 7


def test_quiet_exceptions_are_not_logged(run, caplog):
    async def main():
        await multi([_failed(1), _failed(2)], quiet_exceptions=Failure)

    with pytest.raises(Failure):
        run(main)

    assert caplog.records == []


def test_cancelled_child_is_an_error_that_is_not_logged(run, caplog):
    @gen.coroutine
    def main():
        cancelled = asyncio.get_running_loop().create_future()
        cancelled.cancel()
        try:
            yield [_failed("first"), cancelled]
        except Failure as error:
            return error.args

    assert run(main) == ("first",)
    assert caplog.records == []


def test_cancelling_the_whole_cancels_the_children(run):
    async def main():
        child = _after(2, 42)
        whole = multi([child])
        whole.cancel()
        await asyncio.wait([whole])
        return child.cancelled(), whole.cancelled()

    assert run(main) == (True, True)


def test_multi_names_the_place_of_a_mistake(run):
    async def main():
        multi({"good": _done(1), "bad": [_done(2), 42]})

    with pytest.raises(BadYieldError, match=r"^at \['bad'\]: at \[1\]: yielded 42"):
        run(main)
