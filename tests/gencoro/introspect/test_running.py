"""What runs now, where a signal's tests do not come: loops that are not asyncio's own."""

import sys

from gencoro.introspect.running import describe_steps, thread_name


def test_without_a_loop_the_outermost_coroutine_begins_the_step():
    told = []

    def inner():
        told.extend(describe_steps(sys._getframe()))

    def step():
        inner()
        yield

    list(step())

    assert len(told) == 1
    head, outermost, innermost = told[0].splitlines()
    assert head == "MainThread runs:"
    assert outermost.startswith("step() at ")
    assert innermost.startswith("-> inner() at ")


def test_thread_that_python_has_not_started_has_its_number_as_its_name():
    assert thread_name(-1) == "thread -1"
