"""Coroutines that are begun, or resumed, within stack contexts."""

from tests.legacy.golden.named_contexts import NamedContexts
from tests.legacy.golden.stage import program


@program
def coroutine_is_resumed_within_the_contexts_it_began_in(stage):
    @stage.gen.coroutine
    def work():
        stage.note("begins", names.on())
        for future in futures:
            stage.note("got", (yield future), names.on())
        yield stage.gen.moment
        stage.note("ends", names.on())

    names = NamedContexts(stage)
    futures = [stage.concurrent.Future() for _ in range(3)]
    futures[0].set_result("at once")
    with names.handler("h"), names.context("a"):
        work()
        stage.note("suspended", names.on())
    for future in futures[1:]:
        future.set_result("later")
        stage.note("outside", names.on())
        stage.turn(2)
    stage.turn()


@program
def child_coroutines_keep_the_contexts_of_their_calls(stage):
    @stage.gen.coroutine
    def child(name):
        yield stage.gen.moment
        stage.note(name, names.on())
        raise stage.gen.Return(name)

    @stage.gen.coroutine
    def parent():
        with names.context("b"):
            within = child("within")
        result = yield [within, child("without")]
        stage.note("parent", result, names.on())

    names = NamedContexts(stage)
    with names.context("a"):
        parent()
    for turn in range(4):
        stage.note("turn", turn)
        stage.turn()


@program
def context_deactivated_while_a_coroutine_waits_is_not_entered_again(stage):
    @stage.gen.coroutine
    def work():
        yield stage.gen.moment
        stage.note("before", names.on())
        yield waited_for
        stage.note("after", names.on())
        deactivate_other()
        stage.note("still", names.on())
        yield stage.gen.moment
        stage.note("last", names.on())

    names = NamedContexts(stage)
    waited_for = stage.concurrent.Future()
    with names.context("a") as deactivate, names.context("b") as deactivate_other:
        work()
    stage.turn()
    deactivate()
    waited_for.set_result(None)
    stage.turn(4)


@program
def sleep_has_the_contexts_of_its_call(stage):
    @stage.gen.coroutine
    def main():
        with names.context("a"):
            sleeping = stage.gen.sleep(0.02)
        yield sleeping
        stage.note("slept", names.on())

    names = NamedContexts(stage)
    stage.run(main)


@program
def native_coroutine_has_the_contexts_of_the_yield(stage):
    async def native():
        stage.note("native begins", names.on())
        await waited_for
        stage.note("native goes on", names.on())
        stage.loop.add_callback(names.noting("added by native"))
        return 42

    @stage.gen.coroutine
    def work():
        with names.context("b"):
            coroutine = native()
        stage.note("got", (yield coroutine), names.on())

    names = NamedContexts(stage)
    waited_for = stage.concurrent.Future()
    with names.handler("h", consumes=True), names.context("a"):
        work()
    stage.turn()
    waited_for.set_result(None)
    stage.turn(6)


@program
def native_coroutine_as_a_callback_has_no_contexts(stage):
    async def native():
        stage.note("native begins", names.on())
        await waited_for
        stage.note("native goes on", names.on())
        raise ValueError("first")

    names = NamedContexts(stage)
    waited_for = stage.concurrent.Future()
    with names.handler("h", consumes=True), names.context("a"):
        stage.loop.add_callback(native)
    stage.turn(2)
    waited_for.set_result(None)
    stage.turn(5)


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
