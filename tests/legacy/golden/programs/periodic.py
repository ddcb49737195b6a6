"""`PeriodicCallback`: its schedule, its loop, its errors, starting and stopping."""

import datetime

from tests.legacy.golden.noting import note_refusal
from tests.legacy.golden.stage import program


@program
def periodic_callback_stops_itself(stage):
    def tick():
        ticks.append(None)
        stage.note("tick", periodic.is_running())
        if len(ticks) == 3:
            periodic.stop()
            stage.note("stopped", periodic.is_running())
            stage.loop.call_later(0.06, stage.stop)

    ticks = []
    periodic = stage.ioloop.PeriodicCallback(tick, 20)
    stage.note("created", periodic.is_running())
    periodic.start()
    stage.note("started", periodic.is_running())
    stage.wait()


@program
def periodic_callback_takes_a_loop_as_third_argument(stage):
    def tick():
        stage.note("tick", stage.ioloop.IOLoop.current() is other)
        other.stop()

    def start(*args, **kwargs):
        periodic = stage.ioloop.PeriodicCallback(tick, 20, *args, **kwargs)
        periodic.start()
        limit = other.call_later(5, other.stop)
        other.start()
        other.remove_timeout(limit)
        periodic.stop()

    other = stage.ioloop.IOLoop(make_current=False)
    note_refusal(stage, start, other)
    note_refusal(stage, start, io_loop=other)
    other.close()


@program
def periodic_callback_refuses_times_that_are_not_positive(stage):
    for ms in (0, -1, -0.5, None, "20", datetime.timedelta(seconds=0)):
        stage.note(type(ms))
        note_refusal(stage, stage.ioloop.PeriodicCallback, stage.noting("tick"), ms)


@program
def failing_periodic_coroutine_is_logged_and_goes_on(stage):
    @stage.gen.coroutine
    def tick():
        begun.append(None)
        number = len(begun)
        yield stage.gen.moment
        if number == 2:
            stage.loop.call_later(0, stage.stop)
            periodic.stop()
        raise ValueError(f"tick {number}")

    begun = []
    periodic = stage.ioloop.PeriodicCallback(tick, 20)
    periodic.start()
    stage.wait()
    stage.turn(3)
