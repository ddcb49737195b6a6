"""gencoro.yieldables.multi: lists and dicts of yieldables."""

import asyncio

import pytest

from gencoro import gen
from gencoro.yieldables import multi
from tests.helpers.gencoro.outcomes import Failure, after, done, fail_after, failed


@pytest.mark.parametrize(
    ("make", "values"),
    [
        (
            lambda: [after(3, "a"), after(1, "b"), done("c"), None],
            ["a", "b", "c", None],
        ),
        (lambda: {"slow": after(3, 1), (1, 2): after(1, 2)}, {"slow": 1, (1, 2): 2}),
        (lambda: [{"a": [done(1), after(1, 2)]}, []], [{"a": [1, 2]}, []]),
        (lambda: [after(1, 42)] * 2, [42, 42]),
        (lambda: multi(after(1, n) for n in range(3)), [0, 1, 2]),
    ],
    ids=["list", "dict", "nested", "same Future twice", "generator"],
)
def test_values_have_the_shape_and_order_of_the_children(run, make, values):
    @gen.coroutine
    def main():
        return (yield make())

    assert run(main) == values


@pytest.mark.parametrize("empty", [[], {}])
def test_empty_children_are_done_at_once(run, empty):
    async def main():
        return [multi(empty).result()]

    assert run(main) == [empty]


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


def test_quiet_exceptions_are_not_logged(run, caplog):
    async def main():
        await multi([failed(1), failed(2)], quiet_exceptions=Failure)

    with pytest.raises(Failure):
        run(main)

    assert caplog.records == []


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
