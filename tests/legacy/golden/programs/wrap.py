"""`stack_context.wrap` and `run_with_stack_context`."""

from tests.legacy.golden.named_contexts import NamedContexts
from tests.legacy.golden.stage import program


@program
def call_wrapped_within_no_contexts_has_none(stage):
    names = NamedContexts(stage)
    wrapped = stage.stack_context.wrap(names.noting("called"))
    with names.handler("h", consumes=True), names.context("a"):
        before = stage.stack_context._state.contexts
        wrapped()
        stage.note("restored", stage.stack_context._state.contexts is before)
        later = stage.stack_context.wrap(wrapped)
    later()


@program
def wrapped_call_restores_the_state_after_errors_and_misuse(stage):
    def fail():
        raise ValueError("first")

    def leave_a_context_on():
        names.context("c").__enter__()
        stage.note("left on", names.on())

    names = NamedContexts(stage)
    calls = [stage.stack_context.wrap(x) for x in (fail, leave_a_context_on)]
    with names.context("a"):
        calls += [stage.stack_context.wrap(x) for x in (fail, leave_a_context_on)]
    with names.context("b"):
        before = stage.stack_context._state.contexts
        for call in calls:
            stage.attempt(call)
            stage.note("restored", stage.stack_context._state.contexts is before)


@program
def run_with_stack_context_calls_a_function_within_it(stage):
    def work():
        stage.note("work", names.on())
        return 42

    def fail():
        raise ValueError("first")

    names = NamedContexts(stage)
    run = stage.stack_context.run_with_stack_context
    stage.attempt(run, names.context("a"), work)
    stage.attempt(run, names.context("a", swallows=True), fail)
    stage.attempt(run, names.handler("h", consumes=True), fail)
    stage.note("outside", names.on())
