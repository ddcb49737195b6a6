"""`gen.coroutine`: when its body runs, with which variables, and what it returns."""

from tests.legacy.golden.stage import program
from tests.legacy.golden.waited_for import done_future, turns_until_done

try:
    from contextvars import ContextVar
except ImportError:  # Python 3.6
    ContextVar = None


@program
def coroutine_resumes_some_turns_after_each_future_of_a_chain_of_calls(stage):
    innermost = stage.gen.Future()

    @stage.gen.coroutine
    def work(depth):
        result = yield (work(depth - 1) if depth else innermost)
        stage.note("resumed at depth", depth)
        return result

    future = work(3)
    innermost.set_result(42)
    stage.note("set")
    stage.note("done after turns", turns_until_done(stage, future), future)


@program
def coroutine_results_by_every_way_to_return(stage):
    class Answer(stage.gen.Return):
        pass

    def bare():
        if (yield done_future(stage, 42)):
            return
        stage.note("not reached")

    def with_value():
        yield done_future(stage)
        return [1, 2]

    def with_return(answer):
        yield done_future(stage)
        raise answer

    def before_any_yield():
        raise stage.gen.Return("early")
        yield

    def in_a_helper():
        def helper():
            raise stage.gen.Return("of the helper")

        yield done_future(stage)
        helper()

    coroutine = stage.gen.coroutine
    stage.note(coroutine(bare)(), coroutine(with_value)())
    stage.note(coroutine(with_return)(stage.gen.Return()))
    stage.note(coroutine(with_return)(stage.gen.Return))
    stage.note(coroutine(with_return)(stage.gen.Return({"a": 1})))
    stage.note(coroutine(with_return)(Answer([3])))
    stage.note(coroutine(before_any_yield)(), coroutine(in_a_helper)())


@program
def coroutine_has_one_copy_of_the_context_variables(stage):
    if ContextVar is None:
        stage.note("there are none")
        return

    @stage.gen.coroutine
    def work():
        stage.note("begins with", variable.get())
        token = variable.set("the body's own")
        yield stage.gen.moment
        stage.note("goes on with", variable.get())
        yield pending
        variable.reset(token)
        stage.note("ends with", variable.get())

    variable = ContextVar("variable")
    variable.set("the caller's")
    pending = stage.gen.Future()
    future = work()
    stage.note("the caller has", variable.get())
    variable.set("another")
    stage.turn(2)
    pending.set_result(None)
    stage.turn(2)
    stage.note(future, "the caller has", variable.get())


@program
def coroutine_whose_future_is_cancelled_goes_on_to_its_end(stage):
    pending = stage.gen.Future()

    @stage.gen.coroutine
    def work():
        stage.note("given", (yield pending))
        return "end"

    future = work()
    stage.note("cancel", future.cancel(), future)
    if not pending.done():
        pending.set_result(42)
    stage.turn(4)
    stage.note(future)


@program
def coroutine_takes_what_an_undecorated_generator_yields(stage):
    def helper(a):
        stage.note("begun")
        b = yield done_future(stage, 2)
        yield stage.gen.moment
        return a + b

    @stage.gen.coroutine
    def work():
        stage.note("from", (yield from helper(1)))
        try:
            yield helper(1)
        except stage.gen.BadYieldError as exc:
            stage.note("yielded", exc)

    stage.run(work)
