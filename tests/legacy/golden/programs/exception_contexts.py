"""`stack_context.ExceptionStackContext`: which handler gets which error."""

import traceback

from tests.legacy.golden.named_contexts import NamedContexts
from tests.legacy.golden.stage import program


def fail():
    raise ValueError("first")


def raise_another():
    raise LookupError("second")


@program
def handler_gets_type_value_and_traceback(stage):
    def handle(typ, value, tb):
        last = traceback.extract_tb(tb)[-1]
        stage.note(typ, value, type(value) is typ, "in", last[2], len(raised))
        return True

    raised = []
    with stage.stack_context.ExceptionStackContext(handle):
        failing = stage.stack_context.wrap(fail)
        stage.note("nothing handled yet")
        fail()
    raised.append(None)
    stage.attempt(failing)


@program
def handler_that_raises_replaces_the_error_for_outer_handlers(stage):
    def failing_block():
        with names.handler("h1"), names.context("a"), names.handler("h2"), raising:
            failing.append(stage.stack_context.wrap(fail))
            fail()

    failing = []
    names = NamedContexts(stage)
    raising = names.handler("h3", consumes=True, then=raise_another)
    stage.attempt(failing_block)
    stage.note("again")
    stage.attempt(failing[0])
    stage.note("outside", names.on())


@program
def deactivated_handler_is_asked_by_its_block_only(stage):
    names = NamedContexts(stage)
    with names.handler("h1", consumes=True):
        with names.handler("h2", consumes=True) as deactivate, names.handler("h3"):
            failing = stage.stack_context.wrap(fail)
            stage.note("returned", deactivate())
            fail()
        stage.note("call")
    stage.attempt(failing)


@program
def handler_runs_within_its_own_context(stage):
    def then():
        stage.note("in the handler", names.on())
        if not retried:
            retried.append(None)
            stage.loop.add_callback(fail)

    retried = []
    names = NamedContexts(stage)
    with names.handler("h1", consumes=True, then=then), names.handler("h2"):
        stage.loop.add_callback(fail)
    stage.turn(2)
    with names.handler("h3", consumes=True, then=names.noting("in the handler")):
        fail()
    stage.note("outside", names.on())
