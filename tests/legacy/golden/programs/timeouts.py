"""Timers of the loop: deadlines of all kinds, order, removal, errors."""

import datetime
import fractions
import time

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
