"""`return_future`: errors at once and later, and the stack contexts they go through."""

import gc

from tests.legacy.golden.named_contexts import NamedContexts
from tests.legacy.golden.stage import program


def fail():
    raise ValueError("lost")


@program
def return_future_raises_an_error_at_once_to_the_caller(stage):
    @stage.concurrent.return_future
    def work(callback):
        raise ValueError("at once")

    before = stage.stack_context._state.contexts
    stage.attempt(work)
    stage.attempt(work, callback=stage.noting("not called"))
    stage.note("as before", stage.stack_context._state.contexts is before)
    gc.collect()
    stage.turn()


@program
def return_future_error_at_once_does_not_pass_the_callers_handler_twice(stage):
    @stage.concurrent.return_future
    def work(callback):
        raise ValueError("at once")

    names = NamedContexts(stage)
    with names.handler("caller", consumes=True):
        stage.attempt(work)
        work()
    stage.turn()


@program
def return_future_puts_an_error_that_comes_later_into_the_future(stage):
    @stage.concurrent.return_future
    def work(callback):
        stage.loop.add_callback(fail)

    @stage.gen.coroutine
    def use():
        try:
            yield work()
        except ValueError as exc:
            stage.note("caught", exc)

    names = NamedContexts(stage)
    with names.handler("caller"):
        future = work()
    stage.turn()
    stage.note(future)
    use()
    stage.turn(4)


@program
def return_future_failure_that_nobody_looks_at_is_logged(stage):
    @stage.concurrent.return_future
    def work(callback):
        stage.loop.add_callback(fail)

    future = work()
    stage.turn()
    del future
    gc.collect()
    stage.note("dropped")


@program
def return_future_error_handled_inside_the_function_stays_out_of_the_future(stage):
    names = NamedContexts(stage)
    callbacks = []

    @stage.concurrent.return_future
    def work(callback):
        callbacks.append(callback)
        with names.handler("inner", consumes=True):
            stage.loop.add_callback(fail)

    future = work()
    stage.turn()
    stage.note(future)
    callbacks[0]("anyhow")
    stage.note(future)


@program
def return_future_error_in_a_null_context_stays_out_of_the_future(stage):
    @stage.concurrent.return_future
    def work(callback):
        with stage.stack_context.NullContext():
            stage.loop.add_callback(fail)

    future = work()
    stage.turn()
    stage.note(future)


@program
def return_future_error_at_once_after_the_call_back(stage):
    @stage.concurrent.return_future
    def work(callback):
        callback(1)
        raise ValueError("too late")

    try:
        work()
    except Exception as exc:
        stage.note("raised", type(exc))


@program
def return_future_error_later_after_the_call_back(stage):
    names = NamedContexts(stage)

    def call_back_and_fail(callback):
        callback(1)
        raise ValueError("too late")

    @stage.concurrent.return_future
    def work(callback):
        stage.loop.add_callback(call_back_and_fail, callback)

    def note_type(typ, value, tb):
        stage.note("caller handles", typ)
        return True

    with names.named("caller", stage.stack_context.ExceptionStackContext(note_type)):
        future = work()
    stage.turn(2)
    stage.attempt(future.result)
    stage.note("exception", future.exception())


@program
def return_future_that_fails_twice_later(stage):
    def fail_with(number):
        raise ValueError(number)

    def note_type(typ, value, tb):
        stage.note("caller handles", typ)
        return True

    @stage.concurrent.return_future
    def work(callback):
        stage.loop.add_callback(fail_with, 1)
        stage.loop.add_callback(fail_with, 2)

    with stage.stack_context.ExceptionStackContext(note_type):
        future = work()
    stage.turn(2)
    stage.note(future)


@program
def return_future_of_a_function_that_returns_something_fails(stage):
    @stage.concurrent.return_future
    def work(callback):
        stage.loop.add_callback(callback, 1)
        return 0

    for callback in (None, stage.noting("not called")):
        try:
            work(callback=callback)
        except Exception as exc:
            stage.note("raised", exc)
            is_ours = isinstance(exc, stage.concurrent.ReturnValueIgnoredError)
            stage.note("the class of concurrent", is_ours)


@program
def return_future_calls_the_caller_back_in_the_contexts_of_the_caller(stage):
    names = NamedContexts(stage)

    @stage.concurrent.return_future
    def work(callback):
        stage.note("function in", names.on())
        with names.context("function"):
            stage.loop.add_callback(callback, 42)

    with names.context("caller"):
        before = stage.stack_context._state.contexts
        future = work(callback=names.noting("caller called back in"))
        stage.note("as before", stage.stack_context._state.contexts is before)
    future.add_done_callback(names.noting("done in"))
    stage.turn(2)
    stage.note("after", names.on())


@program
def return_future_failure_is_raised_where_the_caller_gave_his_callback(stage):
    @stage.concurrent.return_future
    def work(callback):
        stage.loop.add_callback(fail)

    names = NamedContexts(stage)
    with names.handler("caller", consumes=True):
        work(callback=stage.noting("not called"))
    stage.turn(2)
    stage.note("without a handler")
    work(callback=stage.noting("not called"))
    stage.turn(3)


@program
def return_future_error_in_the_callers_callback_goes_to_the_caller(stage):
    @stage.concurrent.return_future
    def work(callback):
        stage.loop.add_callback(callback, 42)

    def fail_on(value):
        raise KeyError(value)

    names = NamedContexts(stage)
    with names.handler("caller", consumes=True):
        future = work(callback=fail_on)
    stage.turn(2)
    stage.note(future)
    future = work(callback=fail_on)
    stage.turn(2)
    stage.note(future)


@program
def return_future_error_in_the_callers_callback_called_at_once(stage):
    @stage.concurrent.return_future
    def work(callback):
        callback(42)

    def fail_on(value):
        raise KeyError(value)

    names = NamedContexts(stage)
    with names.handler("caller", consumes=True):
        stage.attempt(work, callback=fail_on)
    stage.attempt(work, callback=fail_on)
    stage.turn(2)
