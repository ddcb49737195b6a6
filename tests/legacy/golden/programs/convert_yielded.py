"""`gen.convert_yielded`: what it makes of things, and the types that others register."""

from concurrent import futures

from tests.legacy.golden.stage import program
from tests.legacy.golden.waited_for import done_future, turns_until_done


class Later:
    """Something that only a registered function makes a Future of."""

    def __init__(self, future):
        self.future = future


@program
def convert_yielded_makes_futures_or_refuses(stage):
    convert_yielded = stage.gen.convert_yielded

    async def native():
        return 42

    future, of_executor = stage.gen.Future(), futures.Future()
    stage.note("None", convert_yielded(None) is stage.gen.moment)
    stage.note("moment", convert_yielded(stage.gen.moment) is stage.gen.moment)
    stage.note("future", convert_yielded(future) is future)
    stage.note("executor's", convert_yielded(of_executor) is of_executor)
    stage.note(convert_yielded([done_future(stage, 1)]), convert_yielded({}))
    of_native = convert_yielded(native())
    turns_until_done(stage, of_native)
    stage.note("native", of_native)
    for bad in (42, (future,), {future}, lambda: future):
        stage.attempt(convert_yielded, bad)


@program
def convert_yielded_takes_registered_types_wherever_something_is_yielded(stage):
    class Kind(Later):
        pass

    class Special(Kind):
        pass

    @stage.gen.convert_yielded.register(Kind)
    def convert(kind):
        stage.note("converted", type(kind))
        return kind.future

    @stage.gen.coroutine
    def work():
        stage.note("ready", (yield Kind(done_future(stage, 1))))
        stage.note("a subclass", (yield Special(stage.gen.sleep(0.02))))
        stage.note("list", (yield [Kind(done_future(stage, 2)), None]))
        stage.note("dict", (yield {"a": [Kind(done_future(stage, 3))]}))
        kind = Kind(stage.gen.sleep(0.02))
        deadline = stage.loop.time() + 5
        stage.note("in time", (yield stage.gen.with_timeout(deadline, kind)))

    stage.note("registered", stage.gen.convert_yielded.dispatch(Special) is convert)
    stage.run(work)


@program
def convert_yielded_prefers_registered_types_to_what_they_are_besides(stage):
    class Rows(list):
        pass

    class Awaitable:
        def __await__(self):
            stage.note("not awaited")
            return (yield from done_future(stage).__await__())

    register = stage.gen.convert_yielded.register
    register(Rows)(lambda rows: done_future(stage, ("rows", list(rows))))
    register(Awaitable)(lambda awaitable: done_future(stage, "registered"))

    @stage.gen.coroutine
    def work():
        stage.note((yield Rows([1, 2])), (yield Awaitable()))
        stage.note((yield [Rows([]), Awaitable()]))

    stage.run(work)


@program
def convert_yielded_by_a_function_that_fails(stage):
    class Kind(Later):
        pass

    @stage.gen.convert_yielded.register(Kind)
    def convert(kind):
        raise kind.future

    @stage.gen.coroutine
    def work(wait_for, error):
        yield wait_for
        try:
            yield Kind(error)
        except Exception as exc:
            stage.note("thrown in", exc)
        return "went on"

    refusal = stage.gen.BadYieldError("of its own")
    stage.attempt(work, done_future(stage), refusal)
    stage.attempt(work, done_future(stage), ValueError("of the function"))
    future = work(None, ValueError("of the function, later"))
    stage.turn(4)
    stage.note(future)
