"""`gen.engine`: callback-style coroutines, and where their errors go."""

from tests.legacy.golden.noting import handler
from tests.legacy.golden.stage import program


def failing(stage, turns=0):
    """Return an engine that fails at once, or after some turns of the loop."""

    @stage.gen.engine
    def work():
        for _ in range(turns):
            yield stage.gen.moment
        raise ValueError("failed in the body")

    return work


@program
def engine_that_returns_a_value_fails_in_its_context(stage):
    def handle(typ, value, tb):
        stage.note("handled", value)
        return True

    @stage.gen.engine
    def work():
        yield stage.gen.Task(stage.loop.add_callback)
        raise stage.gen.Return(42)

    with stage.stack_context.ExceptionStackContext(handle):
        work()
    stage.turn(4)


@program
def engine_that_fails_later_with_no_context_is_logged(stage):
    stage.attempt(failing(stage, turns=2))
    for turn in (1, 2, 3, 4):
        stage.note("turn", turn)
        stage.turn()


@program
def engine_that_fails_later_tells_inner_contexts_first(stage):
    work = failing(stage, turns=1)
    outermost = handler(stage, "outermost", consumes=True)
    outer = handler(stage, "outer", consumes=True)
    with outermost, outer, handler(stage, "inner", consumes=False):
        work()
    stage.note("left")
    stage.turn(4)


@program
def engine_called_by_an_engine_after_its_first_yield_point(stage):
    @stage.gen.engine
    def outer():
        yield stage.gen.Callback("key")
        failing(stage, turns=1)()
        try:
            yield stage.gen.Wait("key")
            stage.note("outer ended")
        except ValueError as exc:
            stage.note("outer caught", exc)

    with handler(stage, "context", consumes=True):
        outer()
    stage.turn(7)
