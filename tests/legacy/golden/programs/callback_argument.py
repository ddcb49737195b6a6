"""`callback=` on the call of a coroutine: who calls it, when, where, and with what."""

from tests.legacy.golden.stage import program


def turn_by_turn(stage, turns):
    for turn in range(1, turns + 1):
        stage.turn()
        stage.note("turned", turn)


def handling(stage, name, told=None):
    """Return a context that notes the errors that reach it and consumes them."""

    def handle(typ, value, tb):
        stage.note(name, "handled", told(value) if told else value)
        return True

    return stage.stack_context.ExceptionStackContext(handle)


@program
def callback_argument_is_called_after_the_last_step(stage):
    pending = stage.gen.Future()

    @stage.gen.coroutine
    def work():
        stage.note("given", (yield pending))

    future = work(callback=stage.noting("called back"))
    future.add_done_callback(stage.noting("done"))
    turn_by_turn(stage, 1)
    pending.set_result(42)
    stage.note("set")
    turn_by_turn(stage, 4)


@program
def callback_argument_that_fails_does_so_in_the_contexts_of_the_call(stage):
    @stage.gen.coroutine
    def work():
        with handling(stage, "the coroutine's"):
            return 42

    def fail(result):
        raise KeyError("of the callback")

    with handling(stage, "the caller's outer"):
        with handling(stage, "the caller's inner"):
            future = work(callback=fail)
        stage.turn(4)
    stage.note(future)
