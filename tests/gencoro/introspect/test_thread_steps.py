"""What a thread is running when a signal interrupts it, and on other loops."""

import asyncio
import sys

import pytest

from gencoro import gen
from gencoro.introspect.thread_steps import steps, thread_name


def test_without_a_loop_the_outermost_coroutine_begins_the_step():
    told = []

    def inner():
        told.extend(steps(sys._getframe()))

    def step():
        inner()
        yield

    list(step())

    assert len(told) == 1
    head, outermost, innermost = str(told[0]).splitlines()
    assert head == "MainThread runs:"
    assert outermost.startswith("step() at ")
    assert innermost.startswith("-> inner() at ")


def test_thread_unknown_to_threading_is_named_by_its_number():
    assert thread_name(-1) == "thread -1"


class DoneFuture(asyncio.Future):
    """Is done, and describes what runs while a Runner asks it that."""

    told = ()

    def done(self):
        self.told = list(map(str, steps(sys._getframe(1))))
        return super().done()


@pytest.mark.parametrize(
    ("first", "calls"),
    [
        (gen.moment, ["spin()", "-> passed_on()"]),
        ([], ["main()", "-> spin()", "-> passed_on()"]),
    ],
    ids=["resumed by the loop", "started by main"],
)
def test_coroutine_between_two_done_futures_is_what_runs(first, calls):
    @gen.coroutine
    def spin(future):
        yield first
        for _ in range(3):
            yield from passed_on(future)
        return future.told

    def passed_on(future):
        yield future

    async def main():
        future = DoneFuture()
        future.set_result(None)
        return await spin(future)

    (told,) = asyncio.run(main())

    head, *lines = told.splitlines()
    assert head == "MainThread runs:"
    assert [line.partition(" at ")[0] for line in lines] == calls
