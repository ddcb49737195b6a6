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
def null_future_and_moment_among_the_futures(stage):
    for name in ("_null_future", "moment"):
        thing = getattr(stage.gen, name)
        stage.note(name, stage.gen.is_future(thing), thing.done(), thing.result())


@program
def argument_adapter_makes_one_argument_of_any(stage):
    adapted = stage.gen._argument_adapter(stage.noting("called"))
    adapted()
    adapted(1)
    adapted(None)
    adapted([1, 2])
    adapted(1, 2)
    adapted(a=1)
    adapted(1, a=2)
    stage.note("returned", adapted(1))
    failing = stage.gen._argument_adapter(lambda argument: [][argument])
    stage.attempt(failing, 0)


@program
def arguments_are_a_pair_with_names(stage):
    arguments = stage.gen.Arguments((1, 2), {"a": 3})
    args, kwargs = arguments
    stage.note(arguments, arguments.args is args, arguments.kwargs is kwargs)
    stage.note(arguments._fields, arguments == ((1, 2), {"a": 3}))
    stage.note("a tuple", isinstance(arguments, tuple))
    stage.note(stage.gen.Arguments(args=(), kwargs={}))
    stage.note(stage.gen.Task(lambda callback: callback(1, a=2)))


@program
def value_from_stopiteration_of_all_that_ends_a_generator(stage):
    value_of = stage.gen._value_from_stopiteration
    stage.note(value_of(StopIteration()), value_of(StopIteration(42)))
    stage.note(value_of(stage.gen.Return()), value_of(stage.gen.Return([1])))
    stage.note(value_of(Exception("the first", "the second")), value_of(Exception()))


@program
def return_carries_its_value(stage):
    returned = stage.gen.Return({"a": 1})
    stage.note(returned.value, returned.args, stage.gen.Return().args)
    stage.note(stage.gen.Return(value=42).value, issubclass(type(returned), Exception))
    stage.note("StopIteration", isinstance(returned, StopIteration))


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
def contains_yieldpoint_looks_at_the_items_of_lists_and_dicts(stage):
    gen = stage.gen
    contains, wait = gen._contains_yieldpoint, gen.Wait("key")

    class Own(gen.YieldPoint):
        pass

    stage.note(contains([wait]), contains({"a": wait}), contains([None, Own()]))
    stage.note(contains([]), contains([gen.Future()]), contains({wait: None}))
    stage.note("within", contains([[wait]]), contains({"a": {"b": wait}}))
    stage.note("no list", contains((wait,)), contains(wait), contains(None))


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
