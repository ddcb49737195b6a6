"""`PeriodicCallback`: its schedule, its loop, its errors, starting and stopping."""

import datetime
import functools
import sys

from tests.legacy.golden.noting import note_refusal
from tests.legacy.golden.stage import program


class HandMovedClock:
    """Stands in for the loop's clock and timers, and notes when a timer is due."""

    def __init__(self, stage):
        self.stage = stage
        self.now_ms = 0
        self.timers = []
        stage.loop.time = lambda: self.now_ms / 1000.0
        stage.loop.add_timeout = self.add_timeout
        stage.loop.remove_timeout = self.remove_timeout

    def add_timeout(self, deadline, callback):
        self.stage.note(f"due at {round(deadline * 1000, 3):g}")
        timer = functools.partial(callback)
        self.timers.append(timer)
        return timer

    def remove_timeout(self, timer):
        if timer in self.timers:
            self.timers.remove(timer)

    def call_at(self, ms):
        """Call what was to be called, at this time."""
        self.now_ms = ms
        self.stage.note("now", ms)
        for timer in self.timers:
            self.stage.loop.add_callback(timer)
        self.timers = []
        self.stage.turn(3)


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
def periodic_callback_skips_what_it_was_too_slow_for(stage):
    def tick():
        stage.note("tick")
        clock.now_ms += 250

    clock = HandMovedClock(stage)
    periodic = stage.ioloop.PeriodicCallback(tick, 100)
    periodic.start()
    clock.call_at(105)
    clock.call_at(405)


@program
def periodic_callback_is_called_before_its_time(stage):
    clock = HandMovedClock(stage)
    periodic = stage.ioloop.PeriodicCallback(stage.noting("tick"), 100)
    periodic.start()
    clock.call_at(99)
    clock.call_at(199)


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
def periodic_callback_runs_on_the_loop_of_its_making_or_its_start(stage):
    def tick():
        stage.note("tick", stage.ioloop.IOLoop.current() is stage.loop)
        periodic.stop()

    other = stage.ioloop.IOLoop(make_current=False)
    periodic = stage.ioloop.PeriodicCallback(tick, 20)
    other.make_current()
    periodic.start()
    for loop in (stage.loop, other):
        loop.call_later(0.04, loop.stop)
        loop.start()
    other.close()
    stage.loop.make_current()


@program
def periodic_callback_started_twice_ticks_twice(stage):
    clock = HandMovedClock(stage)
    periodic = stage.ioloop.PeriodicCallback(stage.noting("tick"), 100)
    periodic.start()
    periodic.start()
    clock.call_at(105)
    clock.call_at(205)
    periodic.stop()
    clock.call_at(305)


@program
def failing_periodic_callback_is_logged_and_goes_on(stage):
    def tick():
        ticks.append(None)
        if len(ticks) == 3:
            stage.stop()
        raise ValueError(f"tick {len(ticks)}")

    ticks = []
    periodic = stage.ioloop.PeriodicCallback(tick, 20)
    periodic.start()
    stage.wait()
    stage.note("running", periodic.is_running())
    periodic.stop()


@program
def errors_of_periodic_callbacks_reach_the_overridden_handler(stage):
    def tick():
        raise ValueError("no")

    def handle(callback):
        stage.note("handled", sys.exc_info()[1], callback is tick)
        stage.stop()

    stage.loop.handle_callback_exception = handle
    periodic = stage.ioloop.PeriodicCallback(tick, 20)
    periodic.start()
    stage.wait()
    periodic.stop()


@program
def periodic_callback_refuses_times_that_are_not_positive(stage):
    for ms in (0, -1, -0.5, None, "20", datetime.timedelta(seconds=0)):
        stage.note(type(ms))
        note_refusal(stage, stage.ioloop.PeriodicCallback, stage.noting("tick"), ms)


@program
def periodic_coroutine_that_takes_longer_than_its_time(stage):
    @stage.gen.coroutine
    def tick():
        begun.append(None)
        number = len(begun)
        stage.note("begun", number)
        if number == 3:
            periodic.stop()
        yield gate
        stage.note("ended", number)
        if number == 3:
            stage.stop()

    begun = []
    gate = stage.concurrent.Future()
    stage.loop.call_later(0.09, gate.set_result, None)
    periodic = stage.ioloop.PeriodicCallback(tick, 20)
    periodic.start()
    stage.wait()


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
