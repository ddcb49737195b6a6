"""`gen.with_timeout`: in time, too late, and what happens after it is too late."""

import datetime
import gc
import threading
from concurrent import futures

from tests.legacy.golden.stage import program
from tests.legacy.golden.waited_for import done_future, failed_future, turns_until_done


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
def with_timeout_of_what_is_done_takes_no_turn_whatever_the_deadline(stage):
    good, bad = done_future(stage, 42), failed_future(stage, ValueError("done"))
    for deadline in (milliseconds(20), milliseconds(0), 0, milliseconds(-20)):
        stage.note(stage.gen.with_timeout(deadline, good))
        stage.note(stage.gen.with_timeout(deadline, bad))
    stage.wait(0.06)
    stage.note("nothing more")


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
def with_timeout_failures_of_both_are_logged_once_each(stage):
    inner = stage.gen.Future()
    outer = stage.gen.with_timeout(milliseconds(20), inner)
    outer.add_done_callback(stage.stop)
    stage.wait()
    inner.set_exception(ValueError("late"))
    stage.turn(4)
    stage.note("both have failed")
    del outer, inner
    gc.collect()
    stage.note("both were thrown away")


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
def with_timeout_of_none_is_done_at_once(stage):
    for nothing in (None, stage.gen.moment):
        try:
            stage.note(stage.gen.with_timeout(milliseconds(20), nothing))
        except Exception as exc:
            stage.note("raised", type(exc))


@program
def with_timeout_refuses_what_cannot_be_yielded_to_its_caller(stage):
    for bad in (42, (stage.gen.Future(),), [42], lambda: None):
        stage.attempt(stage.gen.with_timeout, milliseconds(20), bad)
    stage.wait(0.06)


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


@program
def with_timeout_of_a_thread_tells_which_thread_it_is_done_on(stage):
    pool = futures.ThreadPoolExecutor(1)
    may_end = threading.Event()

    def done(future):
        here = threading.current_thread() is threading.main_thread()
        stage.note("done", future, "on the thread of the loop", here)

    outer = stage.gen.with_timeout(milliseconds(5000), pool.submit(may_end.wait))
    outer.add_done_callback(done)
    may_end.set()
    pool.shutdown()
    stage.note("the thread has ended")
    stage.turn(4)
