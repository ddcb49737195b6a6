"""``gen.engine`` with a callback becomes ``gen.coroutine`` with a result."""

from collections.abc import Iterator

from gencoro.porting.callback_functions import (
    CALLBACK,
    calls_of,
    is_task,
    returns_value,
    takes_callback,
)
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.legacy import (
    as_coroutine,
    legacy_refusal,
    task_call,
)
from gencoro.porting.program import Function, Program
from gencoro.porting.started import may_start_callbacks
from gencoro.porting.tails import fix_of_function, tails_of

__all__ = ["ENGINES"]

CODE = "GC104"

_ENGINE = "tornado.gen.engine"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the changes of engines, and of the calls of each."""
    for function in program.functions:
        decorators = [names for _, names in function.decorators()]
        if decorators == [{_ENGINE}]:
            yield from _of_engine(program, function)


def _of_engine(program: Program, function: Function) -> Iterator[Fix | Refusal]:
    module, node = function.module, function.node
    tails = tails_of(program, function, CALLBACK) if takes_callback(function) else None
    apart_from = {tail.call for tail in tails or () if tail.call is not None}
    started = may_start_callbacks(program, function, apart_from)
    tasks = calls_of(program, function, is_task)
    coroutine = as_coroutine(function, 0)
    if tails is None or returns_value(function):
        yield legacy_refusal(module, node, "callback-use", "", function)
    elif started:
        yield legacy_refusal(module, node, "callbacks", started, function)
    elif isinstance(tasks, str):
        yield legacy_refusal(module, node, "used-otherwise", tasks, function)
    elif coroutine is None:
        yield legacy_refusal(module, node, "name-taken", "gen", function)
    else:
        yield fix_of_function(CODE, function, coroutine, tails)
        for user, call in tasks:
            yield Fix(CODE, user, call.lineno, (Change(call, task_call),), function)


ENGINES = Fixer(
    CODE,
    "gen.engine with a callback becomes gen.coroutine with a result",
    "Together with every gen.Task of the engine.  Only if each path through the engine "
    "ends with one call of its callback, with at most one argument, or with a fetch, a timer "
    "or a coroutine that gets the callback: after that an engine can go on, and a coroutine "
    "cannot.",
    (
        Example(
            "An engine and its Task",
            """\
from tornado import gen

@gen.engine
def double(number, callback):
    yield gen.sleep(0.01)
    if number:
        callback(2 * number)
    else:
        callback(None)

@gen.coroutine
def main():
    return (yield gen.Task(double, 21))
""",
            """\
from tornado import gen

@gen.coroutine
def double(number):
    yield gen.sleep(0.01)
    if number:
        return 2 * number
    else:
        return None

@gen.coroutine
def main():
    return (yield double(21))
""",
        ),
        Example(
            "An engine that goes on after its callback",
            """\
from tornado import gen

@gen.engine
def double(number, callback):
    callback(2 * number)
    yield gen.sleep(0.01)

@gen.coroutine
def main():
    return (yield gen.Task(double, 21))
""",
            """\
from tornado import gen

@gen.engine
def double(number, callback):
    callback(2 * number)
    yield gen.sleep(0.01)

@gen.coroutine
def main():
    return (yield gen.Task(double, 21))
""",
            refused="GC955, GC957",
        ),
        Example(
            "An engine that is called with a callback",
            """\
from tornado import gen

@gen.engine
def double(number, callback):
    yield gen.sleep(0.01)
    callback(2 * number)

double(21, callback=print)
""",
            """\
from tornado import gen

@gen.engine
def double(number, callback):
    yield gen.sleep(0.01)
    callback(2 * number)

double(21, callback=print)
""",
            refused="GC956",
        ),
    ),
    find,
)
