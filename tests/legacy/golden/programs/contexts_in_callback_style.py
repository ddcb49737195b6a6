"""Engines, Tasks, YieldPoints and callbacks of coroutines within stack contexts."""

from tests.legacy.golden.named_contexts import NamedContexts
from tests.legacy.golden.stage import program


@program
def tasks_function_runs_within_a_handler_of_its_own(stage):
    def begin(callback):
        stage.note("function", names.on())
        stage.loop.add_callback(finish, callback)

    def finish(callback):
        stage.note("callback", names.on())
        callback(42)
        raise ValueError("too late")

    @stage.gen.coroutine
    def work():
        task = stage.gen.Task(begin)
        stage.note("called", names.on())
        stage.note("got", (yield task), names.on())

    names = NamedContexts(stage)
    with names.handler("h", consumes=True), names.context("a"):
        work()
    stage.turn(4)


@program
def yield_points_put_a_handler_around_the_coroutine_to_its_end(stage):
    @stage.gen.coroutine
    def work():
        stage.note("begins", names.on())
        callback = yield stage.gen.Callback("k")
        stage.note("has a callback", names.on())
        stage.loop.add_callback(callback, 42)
        stage.note("got", (yield stage.gen.Wait("k")), names.on())
        yield stage.gen.moment
        stage.note("resumed", names.on())
        stage.loop.add_callback(later)

    def later():
        stage.note("later", names.on())

    names = NamedContexts(stage)
    with names.handler("h"), names.context("a"):
        work()
        stage.note("suspended", names.on())
    for turn in range(4):
        stage.note("turn", turn)
        stage.turn()


@program
def errors_of_callbacks_are_thrown_into_a_coroutine_with_yield_points(stage):
    def fail():
        raise ValueError("first")

    @stage.gen.engine
    def work():
        yield stage.gen.Callback("k")
        stage.loop.add_callback(fail)
        try:
            yield stage.gen.Wait("k")
        except ValueError as exc:
            stage.note("caught", exc, names.on())
        stage.loop.add_callback(fail)

    names = NamedContexts(stage)
    with names.handler("h", consumes=True), names.context("a"):
        work()
    for turn in range(4):
        stage.note("turn", turn)
        stage.turn()
