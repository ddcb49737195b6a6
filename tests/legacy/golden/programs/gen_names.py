"""Names of `gen` that others import although most of them are private."""

from tests.legacy.golden.stage import program
from tests.legacy.golden.waited_for import done_future, turns_until_done


@program
def null_future_is_done_and_takes_no_turn(stage):
    null_future = stage.gen._null_future
    stage.note(null_future.done(), null_future.result())
    stage.note("moment", null_future is stage.gen.moment)

    @stage.gen.coroutine
    def work():
        stage.note("given", (yield null_future))
        stage.note("given", (yield [null_future, null_future]))

    stage.note(work())


@program
def value_from_stopiteration_of_all_that_ends_a_generator(stage):
    value_of = stage.gen._value_from_stopiteration
    stage.note(value_of(StopIteration()), value_of(StopIteration(42)))
    stage.note(value_of(stage.gen.Return()), value_of(stage.gen.Return([1])))
    stage.note(value_of(Exception("the first", "the second")), value_of(Exception()))


@program
def wrap_awaitable_makes_futures(stage):
    class Awaitable:
        def __await__(self):
            stage.note("begun")
            return (yield from done_future(stage, 42).__await__())

    async def native():
        stage.note("begun")
        return 43

    for awaitable in (Awaitable(), native()):
        future = stage.gen._wrap_awaitable(awaitable)
        stage.note("made", stage.gen.is_future(future), future)
        turns_until_done(stage, future)
        stage.note(future)


@program
def gen_has_the_names_of_its_neighbors(stage):
    gen, concurrent = stage.gen, stage.concurrent
    stage.note(gen.Future is concurrent.Future, gen.is_future is concurrent.is_future)
    stage.note(gen.chain_future is concurrent.chain_future)
    stage.note(gen.IOLoop is stage.ioloop.IOLoop)
    stage.note(gen.app_log.name.split(".")[-1])
    traceback_future = getattr(gen, "TracebackFuture", None)
    stage.note(traceback_future is not None, traceback_future is gen.Future)
    stage.note(traceback_future is getattr(concurrent, "TracebackFuture", None))


@program
def gen_errors_are_plain_exceptions(stage):
    for name in (
        "KeyReuseError",
        "UnknownKeyError",
        "LeakedCallbackError",
        "BadYieldError",
        "ReturnValueIgnoredError",
        "TimeoutError",
        "Return",
    ):
        error = getattr(stage.gen, name)
        stage.note(error, error.__bases__ == (Exception,), error("a").args)


@program
def gen_errors_have_namesakes_elsewhere(stage):
    gen = stage.gen
    stage.note(gen.TimeoutError is stage.ioloop.TimeoutError)
    stage.note("builtin", gen.TimeoutError is TimeoutError)
    same = gen.ReturnValueIgnoredError is stage.concurrent.ReturnValueIgnoredError
    stage.note("ReturnValueIgnoredError", same)
