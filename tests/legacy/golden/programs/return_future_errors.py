"""`return_future`: errors at once and later, and the stack contexts they go through."""

from tests.legacy.golden.named_contexts import NamedContexts
from tests.legacy.golden.stage import program


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
