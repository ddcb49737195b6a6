"""`StackContextInconsistentError`: a `yield` where the contexts are not as they were."""

from tests.legacy.golden.named_contexts import NamedContexts
from tests.legacy.golden.stage import program


@program
def yield_within_a_handler_is_handled_there(stage):
    @stage.gen.coroutine
    def work(is_late):
        if is_late:
            yield stage.gen.moment
        with names.handler("h", consumes=True):
            yield stage.gen.moment
            stage.note("not reached")
        stage.note("went on", names.on())
        result = yield stage.gen.maybe_future(42)
        raise stage.gen.Return(result)

    names = NamedContexts(stage)
    first, late = work(False), work(True)
    stage.note(first, late)
    for _ in range(3):
        stage.turn()
        stage.note(first, late)


@program
def inconsistency_caught_at_the_first_step_comes_again_at_the_next_yield(stage):
    @stage.gen.coroutine
    def work(yields_again):
        try:
            with names.context("a"):
                yield stage.gen.moment
        except stage.stack_context.StackContextInconsistentError as exc:
            stage.note("caught", exc, names.on())
        if yields_again:
            yield stage.gen.moment
            stage.note("not reached")
        raise stage.gen.Return(42)

    names = NamedContexts(stage)
    for yields_again in (False, True):
        stage.note(work(yields_again), names.on())


@program
def inconsistency_caught_at_a_later_step_gives_the_wrong_result(stage):
    @stage.gen.coroutine
    def work():
        yield stage.gen.moment
        try:
            with names.context("a"):
                yield first
        except stage.stack_context.StackContextInconsistentError as exc:
            stage.note("caught", exc)
        stage.note("got", (yield second))

    names = NamedContexts(stage)
    first, second = stage.concurrent.Future(), stage.concurrent.Future()
    future = work()
    stage.turn()
    second.set_result("of the second")
    stage.turn()
    stage.note(future)
    first.set_result("of the first")
    stage.turn(2)
    stage.note(future)


@program
def block_without_yield_may_start_what_is_yielded_after_it(stage):
    @stage.gen.coroutine
    def inner():
        yield stage.gen.moment
        stage.note("inner", names.on())
        raise stage.gen.Return(42)

    @stage.gen.coroutine
    def work():
        for name in ("a", "b"):
            with names.context(name):
                future = inner()
            stage.note("got", (yield future), names.on())

    names = NamedContexts(stage)
    stage.run(work)


@program
def context_that_is_never_left_is_noticed_at_a_yield_only(stage):
    @stage.gen.coroutine
    def work(yields):
        names.context("a").__enter__()
        if yields:
            yield stage.gen.moment

    names = NamedContexts(stage)
    before = stage.stack_context._state.contexts
    for yields in (False, True):
        stage.note(work(yields), names.on())
        stage.stack_context._state.contexts = before
