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
def engine_returns_none(stage):
    @stage.gen.engine
    def work(callback):
        stage.note("begun")
        yield stage.gen.Task(stage.loop.add_callback)
        callback(42)

    stage.note("returned", work(stage.noting("called back")))
    stage.turn(4)


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
def engine_that_may_and_may_not_return(stage):
    def work(value):
        yield stage.gen.moment
        raise stage.gen.Return(value)

    def work_with_plain_return(value):
        yield stage.gen.moment
        return value

    for function in (work, work_with_plain_return):
        for value in (None, 0, False):
            stage.note(function.__name__, value)
            with handler(stage, "context", consumes=True):
                stage.attempt(stage.gen.engine(function), value)
            stage.turn(3)


@program
def engine_that_fails_at_once_raises_to_its_caller(stage):
    def call(consumes):
        with handler(stage, "context", consumes):
            failing(stage)()

    stage.attempt(failing(stage))
    stage.attempt(call, True)
    # The wrapped callback tells the context, then the with statement tells it again.
    stage.attempt(call, False)
    stage.note("contexts", stage.stack_context._state.contexts)
    stage.turn(2)


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
def engine_fails_in_the_context_of_its_call_not_of_its_resumer(stage):
    answer = stage.concurrent.Future()

    @stage.gen.engine
    def work():
        value = yield answer
        raise ValueError(value)

    with handler(stage, "caller", consumes=True):
        work()
    with handler(stage, "resumer", consumes=True):
        stage.loop.add_callback(answer.set_result, "resumed")
    stage.turn(4)


@program
def engine_sees_its_callback_however_it_is_given(stage):
    @stage.gen.engine
    def work(value, callback=None):
        stage.note("has a callback:", callback is not None)
        yield stage.gen.Task(stage.loop.add_callback)
        if callback:
            callback(value)

    work(1)
    work(2, stage.noting("positional"))
    work(3, callback=stage.noting("by name"))
    stage.note("called")
    stage.turn(4)


@program
def engine_of_a_function_that_does_not_yield(stage):
    def fail(error):
        raise error

    def give(value):
        return value

    stage.attempt(stage.gen.engine(give), None)
    stage.attempt(stage.gen.engine(give), 42)
    stage.attempt(stage.gen.engine(give), stage.concurrent.Future())
    stage.attempt(stage.gen.engine(fail), ValueError("failed"))
    stage.attempt(stage.gen.engine(fail), stage.gen.Return(None))
    stage.attempt(stage.gen.engine(fail), stage.gen.Return(43))
    stage.turn(2)


@program
def engine_that_waits_for_an_engine_gets_its_error(stage):
    @stage.gen.engine
    def outer(turns):
        try:
            yield stage.gen.Task(lambda callback: failing(stage, turns)())
        except ValueError as exc:
            stage.note("outer caught", exc)
            raise KeyError("outer")

    with handler(stage, "context", consumes=True):
        for turns in (0, 2):
            stage.note("inner fails after turns:", turns)
            outer(turns)
            stage.turn(6)


@program
def engine_called_by_an_engine_before_its_first_yield_point(stage):
    @stage.gen.engine
    def outer():
        failing(stage, turns=1)()
        try:
            for _ in range(4):
                yield stage.gen.moment
            stage.note("outer ended")
        except ValueError as exc:
            stage.note("outer caught", exc)

    with handler(stage, "context", consumes=True):
        outer()
    stage.turn(7)


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


@program
def engine_tells_its_name_and_what_it_wraps(stage):
    @stage.gen.engine
    def work():
        """Work."""
        yield stage.gen.moment

    stage.note(work.__name__, work.__doc__)
    stage.note("a coroutine function:", stage.gen.is_coroutine_function(work))
    stage.note("wraps", work.__wrapped__())
    stage.note("which wraps", type(work.__wrapped__.__wrapped__()).__name__)
    stage.turn(3)
