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
def handler_consumes_with_any_true_value(stage):
    def fail_within(answer):
        with stage.stack_context.ExceptionStackContext(lambda *error: answer):
            failing.append(stage.stack_context.wrap(fail))
            fail()

    failing = []
    for answer in (True, "yes", [0], False, None, 0, ""):
        stage.note("handler returns", answer)
        stage.attempt(fail_within, answer)
        stage.attempt(failing.pop())


@program
def handlers_are_asked_from_the_inside_until_one_consumes(stage):
    names = NamedContexts(stage)
    with names.handler("h1"):
        with names.handler("h2", consumes=True), names.handler("h3"):
            failing = stage.stack_context.wrap(fail)
            stage.note("body", names.on())
            fail()
        stage.note("after", names.on())
    stage.attempt(failing)
    stage.note("outside", names.on())


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
def error_in_a_callback_of_a_callback_reaches_the_handlers(stage):
    def first():
        with names.handler("h2"):
            stage.loop.add_callback(second)

    def second():
        stage.note("second", names.on())
        stage.loop.add_callback(fail)
        raise_another()

    names = NamedContexts(stage)
    with names.handler("h1", consumes=True):
        stage.loop.add_callback(first)
    for turn in range(4):
        stage.note("turn", turn)
        stage.turn()


@program
def error_in_a_block_within_a_callback_is_handled_there_first(stage):
    def callback():
        with names.handler("inner"):
            fail()

    def other_callback():
        with names.handler("inner", consumes=True):
            fail()
        stage.note("went on")

    names = NamedContexts(stage)
    with names.handler("outer"):
        stage.loop.add_callback(callback)
        stage.loop.add_callback(other_callback)
    stage.turn()


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
def handler_deactivated_during_the_call_is_still_asked(stage):
    def fail_deactivated():
        deactivate()
        fail()

    names = NamedContexts(stage)
    with names.handler("h1", consumes=True), names.handler("h2") as deactivate:
        failing = stage.stack_context.wrap(fail_deactivated)
    failing()
    stage.note("again")
    failing()


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


@program
def handlers_get_errors_that_are_no_exceptions_too(stage):
    class Halt(BaseException):
        pass

    def halt():
        raise Halt("now")

    def call():
        try:
            wrapped[0]()
        except Halt as exc:
            stage.note("came out", exc)

    names = NamedContexts(stage)
    with names.handler("h1"), names.context("a"), names.handler("h2"):
        wrapped = [stage.stack_context.wrap(halt)]
    call()
    with names.handler("h3", consumes=True):
        halt()
        stage.note("not reached")
    with names.handler("h4", consumes=True):
        wrapped = [stage.stack_context.wrap(halt)]
    call()
