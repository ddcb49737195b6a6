"""`gen.with_timeout`: in time, too late, and what happens after it is too late."""

import datetime
from concurrent import futures

from tests.legacy.golden.stage import program
from tests.legacy.golden.waited_for import done_future, turns_until_done


def milliseconds(number):
    return datetime.timedelta(milliseconds=number)


@program
def with_timeout_deadline_is_a_time_of_the_loop_or_a_length(stage):
    def outcome(deadline):
        @stage.gen.coroutine
        def work():
            yield stage.gen.with_timeout(deadline, stage.gen.sleep(0.06))
            return "in time"

        stage.run(work)

    outcome(milliseconds(5000))
    outcome(milliseconds(20))
    outcome(stage.loop.time() + 5)
    outcome(stage.loop.time() + 0.02)
    # Read as a time of the loop, which is long past.
    outcome(0.2)
    outcome(0)


@program
def with_timeout_logs_late_failures_unless_they_are_quiet(stage):
    for quiet in ({}, ValueError, LookupError, (KeyError, ValueError), Exception):
        kwargs = {"quiet_exceptions": quiet} if quiet else {}
        inner = stage.gen.Future()
        outer = stage.gen.with_timeout(milliseconds(20), inner, **kwargs)
        outer.add_done_callback(stage.stop)
        stage.wait()
        stage.note(quiet, outer)
        inner.set_exception(ValueError("late"))
        stage.turn(2)


@program
def with_timeout_takes_all_that_can_be_yielded(stage):
    def timed(yieldable):
        outer = stage.gen.with_timeout(milliseconds(5000), yieldable)
        turns_until_done(stage, outer)
        stage.note(outer)

    @stage.gen.coroutine
    def coroutine():
        yield stage.gen.moment
        return "coroutine"

    async def native():
        return "native " + await coroutine()

    timed(coroutine())
    timed(native())
    timed([coroutine(), done_future(stage, 1)])
    timed({"a": [coroutine()]})
    timed([])


@program
def with_timeout_takes_a_loop_by_name(stage):
    for loop in (stage.loop, None):
        inner = stage.gen.Future()
        try:
            outer = stage.gen.with_timeout(milliseconds(20), inner, io_loop=loop)
        except TypeError as exc:
            stage.note(type(exc))
            continue
        outer.add_done_callback(stage.stop)
        stage.wait()
        stage.note(outer)


@program
def with_timeout_of_executor_futures_in_time_and_too_late(stage):
    def timed(limit_ms):
        inner = futures.Future()
        outer = stage.gen.with_timeout(milliseconds(limit_ms), inner)
        outer.add_done_callback(stage.stop)
        return outer, inner

    def succeed(future):
        future.set_result(42)

    def fail(future):
        future.set_exception(ValueError("at last"))

    for set_outcome in (succeed, fail):
        outer, inner = timed(5000)
        stage.loop.add_callback(set_outcome, inner)
        stage.wait()
        stage.note("in time", outer)
        outer, inner = timed(20)
        stage.wait()
        stage.note("too late", outer, inner)
        set_outcome(inner)
        stage.turn(4)
