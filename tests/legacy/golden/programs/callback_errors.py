"""Callbacks that nobody waits for, and errors in the contexts of those who wait."""

from tests.legacy.golden.noting import handler
from tests.legacy.golden.stage import program


def leaking(stage):
    """Return the body of a coroutine or engine that forgets a callback."""

    def work():
        yield stage.gen.Callback("key")
        stage.note("ending")

    return work


@program
def leaked_callback_of_a_coroutine_tells_its_context(stage):
    with handler(stage, "context", consumes=True):
        future = stage.gen.coroutine(leaking(stage))()
    stage.turn(3)
    stage.note(future)
    stage.note("with no context")
    future = stage.gen.coroutine(leaking(stage))()
    stage.turn(3)
    stage.note(future)
    stage.note("contexts", stage.stack_context._state.contexts)


@program
def leaked_callback_of_a_coroutine_that_is_waited_for(stage):
    @stage.gen.coroutine
    def main():
        try:
            yield stage.gen.coroutine(leaking(stage))()
        except stage.gen.LeakedCallbackError as exc:
            stage.note("caught", exc)

    stage.run(main)


@program
def leaked_callback_found_when_another_callback_resumes(stage):
    callbacks = []

    @stage.gen.engine
    def work():
        yield stage.gen.Callback("forgotten")
        callbacks.append((yield stage.gen.Callback("key")))
        stage.note((yield stage.gen.Wait("key")))

    with handler(stage, "caller", consumes=False):
        work()
    stage.turn(2)
    with handler(stage, "resumer", consumes=False):
        stage.attempt(callbacks[0], 42)


@program
def leaked_callback_after_an_error_of_the_body(stage):
    def work(error):
        yield stage.gen.Callback("key")
        try:
            raise ValueError("caught by the body")
        except ValueError as exc:
            stage.note("caught", exc)
        if error:
            raise error

    for error in (KeyError("not caught"), None):
        with handler(stage, "context", consumes=True):
            future = stage.gen.coroutine(work)(error)
        stage.turn(3)
        stage.note(future)


@program
def callback_forgotten_for_an_error_answers_the_future_waited_for_next(stage):
    """The Wait that an error ended is still the one that is asked."""
    callbacks = []
    answer = stage.concurrent.Future()

    def fail():
        raise ValueError("failed")

    @stage.gen.coroutine
    def main():
        callbacks.append((yield stage.gen.Callback("key")))
        stage.loop.add_callback(fail)
        try:
            yield stage.gen.Wait("key")
        except ValueError as exc:
            stage.note("caught", exc)
        stage.note("the future gave", (yield answer))

    future = main()
    stage.turn(4)
    callbacks[0]("a late value")
    stage.turn(2)
    stage.note(future, answer)
