"""Timers of the loop: deadlines of all kinds, order, removal, errors."""

import datetime
import decimal
import fractions
import time
import weakref

from tests.legacy.golden.noting import note_refusal
from tests.legacy.golden.stage import program


def fail(text):
    raise ValueError(text)


@program
def deadlines_of_all_kinds(stage):
    def due(*args, **kwargs):
        stage.note("due", args, kwargs)
        stage.stop()

    def soon():
        return stage.loop.time() + 0.02

    for add, deadline in (
        (stage.loop.call_at, soon()),
        (stage.loop.call_later, 0.02),
        (stage.loop.add_timeout, soon()),
        (stage.loop.add_timeout, datetime.timedelta(milliseconds=20)),
        (stage.loop.add_timeout, fractions.Fraction(soon())),
        (stage.loop.add_timeout, int(time.time()) - 1),
    ):
        add(deadline, due, 1, key="value")
        stage.note(add.__name__, type(deadline))
        stage.wait()
    stage.loop.call_later(float("inf"), due)
    stage.turn()


@program
def deadlines_of_the_wrong_kind_are_refused(stage):
    later = datetime.datetime.now() + datetime.timedelta(seconds=1)
    for deadline in ("1", None, 1j, later, decimal.Decimal(1)):
        stage.note(type(deadline))
        note_refusal(stage, stage.loop.add_timeout, deadline, stage.noting("called"))
    for number in ("1", None, datetime.timedelta(seconds=1)):
        stage.note(type(number))
        note_refusal(stage, stage.loop.call_at, number, stage.noting("called"))
        note_refusal(stage, stage.loop.call_later, number, stage.noting("called"))
    stage.turn(2)


@program
def deadline_that_is_over_is_called_in_the_next_turn(stage):
    stage.loop.call_at(0, stage.noting("epoch"))
    stage.turn()
    stage.note("turn over")
    stage.loop.add_timeout(datetime.timedelta(seconds=-1), stage.noting("second ago"))
    stage.turn()
    stage.note("turn over")
    stage.loop.call_later(-5, stage.noting("before now"))
    stage.turn()
    stage.note("turn over")
    stage.turn()


@program
def deadlines_that_are_over_are_called_in_which_order(stage):
    now = stage.loop.time()
    stage.loop.call_at(now - 1, stage.noting("a second ago"))
    stage.loop.call_at(now - 3, stage.noting("three seconds ago"))
    stage.loop.call_at(now - 2, stage.noting("two seconds ago"))
    stage.turn()


@program
def equal_deadlines_are_called_in_the_order_of_adding(stage):
    past = stage.loop.time() - 1
    for number in range(10):
        stage.loop.call_at(past, stage.noting("equal"), number)
    stage.turn()
    for number in range(10):
        stage.loop.call_later(0, stage.noting("zero"), number)
    stage.wait(0.02)


@program
def timers_wait_for_the_loop_to_run(stage):
    stage.loop.call_later(0.02, stage.noting("timer"))
    time.sleep(0.04)
    stage.note("overdue")
    stage.turn()


@program
def timer_added_by_a_timer_waits_for_a_later_turn(stage):
    def first():
        stage.note("first")
        stage.loop.call_at(0, second)

    def second():
        stage.note("second")

    stage.loop.call_at(0, first)
    for number in range(3):
        stage.turn()
        stage.note("turn over", number)


@program
def removed_timer_is_not_called(stage):
    first = stage.loop.call_later(0.02, stage.noting("first"))
    second = stage.loop.call_later(0.02, stage.noting("second"))
    third = stage.loop.add_timeout(stage.loop.time(), stage.noting("third"))
    stage.note("removed", stage.loop.remove_timeout(first))
    stage.loop.remove_timeout(third)
    stage.wait(0.04)
    for timer in (first, second, third):
        stage.note("removed afterwards", stage.loop.remove_timeout(timer))
    stage.loop.call_later(0.02, stage.noting("the next"))
    stage.wait(0.04)


@program
def timer_removes_itself_and_one_that_is_due_too(stage):
    def first():
        stage.note("first")
        for timer in timers:
            stage.loop.remove_timeout(timer)

    timers = [stage.loop.call_at(0, first)]
    timers.append(stage.loop.call_at(0, stage.noting("second")))
    stage.loop.call_at(0, stage.noting("third"))
    stage.turn(3)


@program
def many_removed_timers_take_none_with_them(stage):
    timers = []
    for number in range(2000):
        timer = stage.loop.call_later(0.02, stage.noting("called"), number)
        if number % 500:
            timers.append(timer)
    for timer in timers:
        stage.loop.remove_timeout(timer)
    stage.loop.call_later(0.06, stage.noting("the last"))
    stage.wait(0.1)


@program
def removed_timer_lets_go_of_its_callback(stage):
    callback = stage.noting("called")
    ref = weakref.ref(callback)
    timer = stage.loop.call_later(60, callback, callback)
    del callback
    stage.note("held", ref() is not None)
    stage.loop.remove_timeout(timer)
    stage.note("let go", ref() is None)


@program
def failing_timer_is_logged_and_the_others_run(stage):
    @stage.gen.coroutine
    def fail_later():
        yield stage.gen.moment
        fail("coroutine")

    stage.loop.call_at(0, fail, "timer")
    stage.loop.call_at(0, stage.noting("beside it"))
    stage.turn()
    stage.loop.call_later(0, fail_later)
    stage.wait(0.02)
    stage.loop.call_later(0.02, stage.noting("later"))
    stage.wait(0.04)
