"""What `cancel` does to coroutines, lists and time limits, and what closing the loop does."""

import datetime

from tests.legacy.golden.noting import note_whether_refused
from tests.legacy.golden.own_future import make_future
from tests.legacy.golden.stage import program, told

# More than a list needs to tell its coroutine that it is done, on any version.
TURNS = 8


def coroutine_that_notes(stage, name):
    """Return a coroutine that waits for what it is given, and notes what it gets."""

    @stage.gen.coroutine
    def work(yielded):
        try:
            result = yield yielded
        except BaseException as exc:
            stage.note(name, "caught", type(exc))
        else:
            stage.note(name, "got", result)
        raise stage.gen.Return(name)

    return work


def cancel(stage, future):
    """Cancel a Future, and note at once what has become of it."""
    stage.note("cancel", future.cancel(), future.cancelled(), future.done())


def set_result(stage, future):
    """Set the result as its owner would, and note whether that was refused."""
    stage.note("before", future)
    note_whether_refused(stage, future.set_result, 42)


@program
def cancelled_coroutine_leaves_the_future_alone_that_it_waits_for(stage):
    pending = stage.concurrent.Future()
    future = coroutine_that_notes(stage, "the coroutine")(pending)
    cancel(stage, future)
    cancel(stage, future)
    stage.turn(TURNS)
    set_result(stage, pending)
    stage.turn(TURNS)
    stage.note(future)
    cancel(stage, future)


@program
def cancelled_coroutine_fails_later(stage):
    @stage.gen.coroutine
    def work():
        yield pending
        raise ValueError("late")

    pending = stage.concurrent.Future()
    future = work()
    cancel(stage, future)
    stage.turn(TURNS)
    if not pending.done():
        pending.set_result(None)
    stage.turn(TURNS)
    stage.note("the error", "late" in told(future))
    if not future.cancelled():
        stage.note(future.exception())


@program
def cancelled_coroutine_goes_on_through_further_waits_and_children(stage):
    @stage.gen.coroutine
    def parent():
        for number in range(2):
            stage.note((yield child(futures[number])))

    child = coroutine_that_notes(stage, "a child")
    futures = [stage.concurrent.Future() for _ in range(2)]
    future = parent()
    cancel(stage, future)
    for pending in futures:
        stage.turn(TURNS)
        set_result(stage, pending)
    stage.turn(TURNS)
    stage.note(future)


@program
def coroutine_waits_for_one_that_is_cancelled(stage):
    inner_pending = stage.concurrent.Future()
    inner = coroutine_that_notes(stage, "inner")(inner_pending)
    outer = coroutine_that_notes(stage, "outer")(inner)
    cancel(stage, inner)
    stage.turn(TURNS)
    set_result(stage, inner_pending)
    stage.turn(TURNS)
    stage.note("outer is done", outer.done(), "cancelled", outer.cancelled())


@program
def coroutine_that_waits_for_a_list_is_cancelled(stage):
    pending = [stage.concurrent.Future() for _ in range(2)]
    child = coroutine_that_notes(stage, "a child")(pending[0])
    future = coroutine_that_notes(stage, "the parent")([child, pending[1]])
    cancel(stage, future)
    stage.turn(TURNS)
    for one in pending:
        set_result(stage, one)
    stage.turn(TURNS)
    stage.note(child, future)


@program
def list_and_time_limit_are_cancelled(stage):
    for wrap in (
        lambda inner: stage.gen.multi([inner]),
        lambda inner: stage.gen.with_timeout(datetime.timedelta(seconds=60), inner),
    ):
        pending = stage.concurrent.Future()
        inner = coroutine_that_notes(stage, "inner")(pending)
        group = wrap(inner)
        cancel(stage, group)
        stage.turn(TURNS)
        set_result(stage, pending)
        stage.turn(TURNS)
        stage.note(inner, group)


@program
def coroutine_cancels_itself(stage):
    @stage.gen.coroutine
    def work():
        yield stage.gen.moment
        cancel(stage, futures[0])
        yield stage.gen.moment
        stage.note("it goes on")
        raise stage.gen.Return(42)

    futures = []
    futures.append(work())
    stage.turn(TURNS)
    stage.note(futures[0])


@program
def closed_loop_leaves_the_futures_alone_that_coroutines_wait_for(stage):
    @stage.gen.coroutine
    def work(yielded):
        yield yielded

    pending = [make_future(stage) for _ in range(4)]
    loop = stage.ioloop.IOLoop(make_current=False)

    def begin():
        futures.append(work(pending[0]))
        futures.append(work([pending[1], work(pending[2])]))
        futures.append(work(pending[3]))
        futures[-1].cancel()

    futures = []
    loop.run_sync(begin)
    loop.close()
    for future in pending:
        set_result(stage, future)
