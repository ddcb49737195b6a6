"""`stack_context.StackContext` and `NullContext`: when they are entered and left."""

import contextlib

from tests.legacy.golden.named_contexts import NamedContexts
from tests.legacy.golden.stage import program


class Numbered:
    """A factory of contexts that tells them apart; some of them fail."""

    def __init__(self, stage, fails_to_enter=(), fails_to_exit=()):
        self.stage = stage
        self.fails_to_enter = fails_to_enter
        self.fails_to_exit = fails_to_exit
        self.made = 0

    @contextlib.contextmanager
    def __call__(self):
        self.made += 1
        number = self.made
        self.stage.note("enter", number)
        if number in self.fails_to_enter:
            raise KeyError(number)
        yield
        self.stage.note("exit", number)
        if number in self.fails_to_exit:
            raise LookupError(number)


def fail():
    raise ValueError("first")


@program
def contexts_see_an_error_but_cannot_swallow_it(stage):
    names = NamedContexts(stage)

    def failing_block():
        with outer, inner:
            failing.append(stage.stack_context.wrap(fail))
            fail()

    failing = []
    outer, inner = names.context("a", swallows=True), names.context("b", swallows=True)
    stage.attempt(failing_block)
    stage.attempt(failing[0])
    stage.note("outside", names.on())


@program
def contextmanager_that_raises_something_else_replaces_the_error(stage):
    @contextlib.contextmanager
    def translating():
        try:
            yield
        except ValueError:
            raise LookupError("second")

    names = NamedContexts(stage)
    outer, inner = names.handler("outer", consumes=True), names.handler("inner")
    with outer, stage.stack_context.StackContext(translating), inner:
        failing = stage.stack_context.wrap(fail)
        fail()
    stage.attempt(failing)


@program
def block_is_not_run_when_its_context_cannot_be_entered(stage):
    def failing_block():
        with stage.stack_context.StackContext(Numbered(stage, fails_to_enter=[1])):
            stage.note("body")

    names = NamedContexts(stage)
    with names.context("a"):
        before = stage.stack_context._state.contexts
        stage.attempt(failing_block)
        stage.note("same state", stage.stack_context._state.contexts is before)


@program
def context_that_failed_on_entry_again_is_left_instead_of_the_first(stage):
    def enter():
        made.append(None)
        return Context(len(made))

    class Context:
        def __init__(self, number):
            self.number = number

        def __enter__(self):
            stage.note("enter", self.number)
            if self.number == 2:
                raise KeyError(2)

        def __exit__(self, typ, value, tb):
            stage.note("exit", self.number)

    made = []
    names = NamedContexts(stage)
    with names.context("a"), stage.stack_context.StackContext(enter):
        stage.attempt(stage.stack_context.wrap(stage.noting("called")))


@program
def context_that_fails_on_exit_goes_to_the_handlers_around_it(stage):
    names = NamedContexts(stage)
    failing = stage.stack_context.StackContext(Numbered(stage, fails_to_exit=[2]))
    outer, inner = [names.handler(x, consumes=True) for x in ("outer", "inner")]
    with names.context("a"), outer, names.context("b"), failing, inner:
        wrapped = stage.stack_context.wrap(lambda: 42)
    stage.attempt(wrapped)


@program
def deactivated_context_is_left_out_of_later_calls(stage):
    names = NamedContexts(stage)
    with names.context("a"), names.context("b") as deactivate, names.context("c"):
        before = stage.stack_context.wrap(names.noting("wrapped before"))
        deactivate()
        stage.note("body", names.on())
        after = stage.stack_context.wrap(names.noting("wrapped after"))
    before()
    after()
    stage.note("returned", deactivate())


@program
def state_is_the_contexts_to_enter_and_the_head_of_all(stage):
    state = stage.stack_context._state
    context = stage.stack_context.StackContext(Numbered(stage))
    handler = stage.stack_context.ExceptionStackContext(stage.noting("handled"))
    before = state.contexts
    stage.note("before", before)
    with context:
        within = state.contexts
        stage.note(len(within[0]), within[0][0] is context, within[1] is context)
        stage.note("old", context.old_contexts is before)
        with handler:
            stage.note("same to enter", state.contexts[0] is within[0])
            stage.note("head", state.contexts[1] is handler)
            stage.note("old", handler.old_contexts is within)
            with stage.stack_context.NullContext():
                stage.note("null", state.contexts)
        stage.note("as it was", state.contexts is within)
    stage.note("as it was", state.contexts is before)


@program
def context_entered_within_itself_is_inconsistent(stage):
    def enter_twice():
        with context:
            stage.note("once", names.on())
            with stage.stack_context.NullContext(), context:
                stage.note("twice", names.on())
            stage.note("once again", names.on())

    names = NamedContexts(stage)
    context = names.context("a")
    with context:
        stage.note("body", names.on())
    stage.attempt(enter_twice)
    stage.note("outside", names.on())


@program
def contexts_left_in_the_wrong_order_are_inconsistent(stage):
    names = NamedContexts(stage)
    first, second = names.context("a"), names.handler("b")
    before = stage.stack_context._state.contexts
    first.__enter__()
    second.__enter__()
    stage.attempt(first.__exit__, None, None, None)
    stage.note("state", names.on())
    stage.attempt(second.__exit__, None, None, None)
    stage.note("state", names.on())
    stage.stack_context._state.contexts = before
