"""Errors of coroutines: which way they go, what they carry, and what is cleaned up."""

import gc
import sys

from tests.legacy.golden.stage import program
from tests.legacy.golden.waited_for import done_future, turns_until_done


@program
def coroutine_failure_that_nobody_looks_at_is_logged(stage):
    @stage.gen.coroutine
    def fail(when):
        yield when
        raise ValueError("unseen")

    fail(done_future(stage))
    gc.collect()
    stage.note("the ready one was thrown away")
    fail(None)
    stage.turn(4)
    gc.collect()
    stage.note("the late one was thrown away")
    seen = fail(done_future(stage))
    stage.note("looked at", seen)
    del seen
    gc.collect()


@program
def coroutine_errors_have_no_context_that_they_did_not_arise_in(stage):
    @stage.gen.coroutine
    def fail(text, wait_for):
        yield wait_for
        raise ValueError(text)

    @stage.gen.coroutine
    def work(wait_for):
        for text in ("first", "second"):
            try:
                yield fail(text, wait_for)
            except ValueError as exc:
                stage.note(exc, "context", exc.__context__, sys.exc_info()[1])
            stage.note("over", sys.exc_info()[1])
        try:
            yield fail("cause", wait_for)
        except ValueError:
            raise KeyError("arose there")

    for wait_for in (done_future(stage), None):
        future = work(wait_for)
        turns_until_done(stage, future)
        stage.note(future, "context", future.exception().__context__)


@program
def coroutine_lets_ctrl_c_out_before_and_after_the_first_wait(stage):
    @stage.gen.coroutine
    def work(wait_for):
        yield from wait_for
        raise KeyboardInterrupt

    def interrupt(function, *args):
        try:
            stage.note("not interrupted", function(*args))
        except KeyboardInterrupt:
            stage.note("interrupted")

    interrupt(work, [])
    interrupt(work, [done_future(stage)])
    pending = stage.gen.Future()
    future = work([pending])
    pending.set_result(None)
    interrupt(turns_until_done, stage, future)
    stage.note("left", future)
    try:
        stage.turn(2)
        stage.note("the loop goes on", future)
    except RuntimeError as exc:
        stage.note("the loop cannot go on", type(exc))


@program
def coroutine_that_nothing_can_resume_is_closed_when_it_is_dropped(stage):
    @stage.gen.coroutine
    def work():
        try:
            yield stage.gen.Future()
        except GeneratorExit:
            stage.note("closed")
            raise
        finally:
            stage.note("finally")

    held = work()
    gc.collect()
    stage.note("held", held)
    del held
    gc.collect()
    stage.note("dropped")


@program
def coroutine_resumed_in_a_handler_sees_the_error_that_is_handled_there(stage):
    callbacks = []

    @stage.gen.coroutine
    def main():
        callbacks.append((yield stage.gen.Callback("key")))
        yield stage.gen.Wait("key")
        stage.note("resumed with", sys.exc_info()[1])
        try:
            raise KeyError("inner")
        except KeyError as exc:
            stage.note("context", exc.__context__)
        stage.note("after it", sys.exc_info()[1])

    future = main()
    stage.turn()
    try:
        raise ValueError("outer")
    except ValueError:
        callbacks[0]()
        stage.note("called", sys.exc_info()[1], future)
