"""What else a coroutine may yield: nothing, natives, threads, naps."""

from concurrent import futures

from tests.legacy.golden.stage import program
from tests.legacy.golden.waited_for import done_future


@program
def moment_is_awaited_by_native_coroutines(stage):
    async def work():
        await stage.gen.moment
        return "awaited"

    @stage.gen.coroutine
    def call():
        try:
            stage.note((yield work()))
        except TypeError as exc:
            stage.note("caught", type(exc))

    stage.run(call)


@program
def bad_yield_is_thrown_in_and_may_be_caught(stage):
    @stage.gen.coroutine
    def work():
        for bad in (42, "text", b"bytes", object(), len, work, stage.gen.Future):
            try:
                yield bad
            except stage.gen.BadYieldError as exc:
                stage.note("caught", exc)
            yield done_future(stage)
        return "went on"

    stage.note(work())


@program
def awaitable_objects_are_waited_for(stage):
    class Awaitable:
        def __init__(self, error=None):
            self.error = error

        def __await__(self):
            waited = yield from stage.gen.sleep(0.02).__await__()
            if self.error:
                raise self.error
            return "awaited", waited

    @stage.gen.coroutine
    def work():
        stage.note("given", (yield Awaitable()), (yield [Awaitable()]))
        try:
            yield Awaitable(ValueError("inside"))
        except ValueError as exc:
            stage.note("caught", exc)

    stage.run(work)


@program
def awaitable_that_yields_no_future_is_told_so(stage):
    class Awaitable:
        def __await__(self):
            try:
                yield 42
            except Exception as exc:
                stage.note("thrown in", type(exc))
            return "went on"

    @stage.gen.coroutine
    def work():
        stage.note("given", (yield Awaitable()))

    stage.run(work)


@program
def sleeps_end_in_the_order_of_their_lengths(stage):
    @stage.gen.coroutine
    def nap(seconds):
        stage.note("slept", seconds, (yield stage.gen.sleep(seconds)))

    @stage.gen.coroutine
    def work():
        yield [nap(0.08), nap(0.04), nap(0), nap(0.04)]

    asleep = stage.gen.sleep(0)
    stage.note("not at once", asleep, stage.gen.is_future(asleep))
    stage.run(work)
    stage.note(asleep)


@program
def maybe_future_wraps_all_that_is_no_future(stage):
    maybe_future = stage.gen.maybe_future
    for future in (stage.gen.Future(), futures.Future(), done_future(stage, 42)):
        stage.note("the same", maybe_future(future) is future)
    pending = stage.gen.Future()
    for value in (42, None, ValueError("a value"), [pending], {"a": pending}):
        stage.note(maybe_future(value), isinstance(maybe_future(value), type(pending)))
