"""`gen.coroutine`: when its body runs, with which variables, and what it returns."""

from tests.legacy.golden.stage import program
from tests.legacy.golden.waited_for import turns_until_done

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
