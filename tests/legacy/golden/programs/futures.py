"""4.5's own Future: when, where and in which order its callbacks run."""

import threading

from tests.legacy.golden.named_contexts import NamedContexts
from tests.legacy.golden.own_future import make_future
from tests.legacy.golden.stage import program


@program
def future_callbacks_run_inside_set_result_in_their_order(stage):
    future = make_future(stage)
    future.add_done_callback(stage.noting("first"))
    future.add_done_callback(stage.noting("second"))
    stage.note("setting", future)
    future.set_result(1)
    stage.note("set")
    stage.turn()
    stage.note("a turn later")


@program
def future_callback_added_to_a_done_one_runs_at_once(stage):
    future = make_future(stage)
    future.set_result(1)
    future.add_done_callback(stage.noting("called back"))
    stage.note("added")
    stage.turn()
    stage.note("a turn later")


@program
def future_callback_added_by_a_callback_runs_inside_it(stage):
    def first(future):
        stage.note("first begins")
        future.add_done_callback(stage.noting("added by the first"))
        stage.note("first ends")

    future = make_future(stage)
    future.add_done_callback(first)
    future.add_done_callback(stage.noting("second"))
    future.set_result(1)
    stage.note("set")
    stage.turn(2)


@program
def future_callback_that_fails_is_logged_and_the_others_run(stage):
    def fail(future):
        raise ValueError("in a callback")

    future = make_future(stage)
    future.add_done_callback(stage.noting("first"))
    future.add_done_callback(fail)
    future.add_done_callback(stage.noting("last"))
    stage.attempt(future.set_result, 1)
    stage.note(future)
    stage.turn()


@program
def future_callback_that_fails_on_a_done_one_raises_to_who_adds_it(stage):
    def fail(future):
        raise ValueError("in a callback")

    future = make_future(stage)
    future.set_result(1)
    stage.attempt(future.add_done_callback, fail)
    stage.turn()


@program
def future_callback_that_raises_what_is_no_exception(stage):
    class Halt(BaseException):
        pass

    def attempt(error):
        def fail(future):
            raise error

        future = make_future(stage)
        future.add_done_callback(fail)
        future.add_done_callback(stage.noting("second"))
        try:
            future.set_result(1)
            stage.note("set", future)
            stage.turn()
        except (Halt, KeyboardInterrupt) as exc:
            stage.note("came out", exc, future)

    attempt(Halt())
    stage.turn()
    attempt(KeyboardInterrupt())


@program
def future_callback_runs_in_the_stack_context_of_who_sets_it(stage):
    names = NamedContexts(stage)
    future = make_future(stage)
    with names.context("adder"):
        future.add_done_callback(names.noting("called back in"))
    with names.context("setter"):
        before = stage.stack_context._state.contexts
        future.set_result(1)
        stage.note("as before", stage.stack_context._state.contexts is before)
    stage.turn()


@program
def future_works_where_no_loop_is(stage):
    def work(where):
        try:
            future = make_future(stage)
        except RuntimeError:
            stage.note("needs a loop in", where)
            return
        future.add_done_callback(stage.noting("called back in", where))
        future.set_result(1)
        stage.note("set", future)

    stage.loop.clear_current()
    work("the main thread")
    thread = threading.Thread(target=work, args=("another thread",))
    thread.start()
    thread.join()
