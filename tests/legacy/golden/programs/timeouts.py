"""Timers of the loop: deadlines of all kinds, order, removal, errors."""

import datetime
import decimal
import fractions
import time
import weakref

from tests.legacy.golden.noting import note_refusal
from tests.legacy.golden.stage import program


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
def deadlines_that_are_over_are_called_in_which_order(stage):
    now = stage.loop.time()
    stage.loop.call_at(now - 1, stage.noting("a second ago"))
    stage.loop.call_at(now - 3, stage.noting("three seconds ago"))
    stage.loop.call_at(now - 2, stage.noting("two seconds ago"))
    stage.turn()


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
