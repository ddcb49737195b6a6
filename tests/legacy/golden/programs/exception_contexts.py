"""`stack_context.ExceptionStackContext`: which handler gets which error."""

from tests.legacy.golden.named_contexts import NamedContexts
from tests.legacy.golden.stage import program


def fail():
    raise ValueError("first")


def raise_another():
    raise LookupError("second")


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
