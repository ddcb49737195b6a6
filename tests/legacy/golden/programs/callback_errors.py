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
def leaked_callback_of_a_coroutine_that_is_waited_for(stage):
    @stage.gen.coroutine
    def main():
        try:
            yield stage.gen.coroutine(leaking(stage))()
        except stage.gen.LeakedCallbackError as exc:
            stage.note("caught", exc)

    stage.run(main)


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
