"""What else a coroutine may yield: nothing, natives, threads, naps."""

from concurrent import futures

from tests.legacy.golden.stage import program
from tests.legacy.golden.waited_for import done_future


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
def maybe_future_wraps_all_that_is_no_future(stage):
    maybe_future = stage.gen.maybe_future
    for future in (stage.gen.Future(), futures.Future(), done_future(stage, 42)):
        stage.note("the same", maybe_future(future) is future)
    pending = stage.gen.Future()
    for value in (42, None, ValueError("a value"), [pending], {"a": pending}):
        stage.note(maybe_future(value), isinstance(maybe_future(value), type(pending)))
