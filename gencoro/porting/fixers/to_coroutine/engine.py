"""``gen.engine`` becomes ``gen.coroutine``, and its callback value the result."""

import ast
from collections.abc import Iterator

from gencoro.porting.callbacks.callback_functions import (
    CALLBACK,
    calls_of,
    is_task,
    takes_callback,
)
from gencoro.porting.callbacks.callback_starts import may_start_callbacks
from gencoro.porting.callbacks.legacy import (
    as_coroutine,
    function_refusal,
    task_call,
)
from gencoro.porting.callbacks.lone_engines import fixes_of_lone_engine
from gencoro.porting.callbacks.tail_calls import fix_of_function, tails_of
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.program import Function, Program

__all__ = ["ENGINES"]

CODE = "GC104"

_ASYNCHRONOUS = "tornado.web.asynchronous"
_ENGINE = "tornado.gen.engine"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the changes of engines, and of the calls of each."""
    for function in program.functions:
        decorators = list(function.decorators())
        names = [found for _, found in decorators]
        if {_ENGINE} not in names or {_ASYNCHRONOUS} in names:
            continue
        if len(names) > 1 and not _is_method_of_class(function):
            others = [d for d, found in decorators if found != {_ENGINE}]
            name = ast.unparse(others[0] if others else decorators[0][0])
            yield function_refusal(function, "used-otherwise", f"@{name}")
        elif _has_callback(function):
            yield from _of_engine(program, function)
        else:
            yield from fixes_of_lone_engine(CODE, program, function)


def _is_method_of_class(function: Function) -> bool:
    """Return whether the other decorator is ``classmethod`` or ``staticmethod``."""
    match function.node.decorator_list:
        case [ast.Name(id="classmethod" | "staticmethod"), _]:
            return function.owner is not None
    return False


def _has_callback(function: Function) -> bool:
    names = {parameter.arg for parameter in function.parameters}
    return CALLBACK in names or bool(function.node.args.kwarg)


def _of_engine(program: Program, function: Function) -> Iterator[Fix | Refusal]:
    tails = tails_of(program, function, CALLBACK) if takes_callback(function) else None
    apart_from = {tail.call for tail in tails or () if tail.call is not None}
    started = may_start_callbacks(program, function, apart_from)
    tasks = calls_of(program, function, is_task)
    coroutine = as_coroutine(function, len(function.node.decorator_list) - 1)
    if tails is None:
        yield function_refusal(function, "callback-use")
    elif started:
        yield function_refusal(function, "callbacks", started)
    elif isinstance(tasks, str):
        yield function_refusal(function, "used-otherwise", tasks)
    elif coroutine is None:
        yield function_refusal(function, "name-taken", "gen")
    else:
        yield fix_of_function(CODE, function, coroutine, tails)
        for user, call in tasks:
            yield Fix(CODE, user, call.lineno, (Change(call, task_call),), function)


ENGINES = Fixer(
    CODE,
    "gen.engine becomes gen.coroutine, and returns what its callback got",
    "Together with every gen.Task of the engine.  Only if each path through the engine "
    "ends with one call of its callback, with at most one argument, or with a fetch, a timer "
    "or a coroutine that gets the callback: after that an engine can go on, and a coroutine "
    "cannot.  An engine without a callback becomes a coroutine if only the loop starts it, in "
    "no stack context, which logs the errors of both, or if its calls are statements.",
    (
        Example(
            "Engines that belong to a class, and a callback in a return statement",
            """\
from tornado import gen

class User(object):
    @classmethod
    @gen.engine
    def find(cls, name, callback):
        yield gen.sleep(0.01)
        if not name:
            return callback(None)
        callback(cls())

@gen.coroutine
def main():
    user = yield gen.Task(User.find, "ann")
""",
            """\
from tornado import gen

class User(object):
    @classmethod
    @gen.coroutine
    def find(cls, name):
        yield gen.sleep(0.01)
        if not name:
            return None
        return cls()

@gen.coroutine
def main():
    user = yield User.find("ann")
""",
        ),
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
            "An engine that the loop starts",
            """\
from tornado import gen
from tornado.ioloop import IOLoop

@gen.engine
def begin():
    yield gen.sleep(0.01)
    print("begun")

IOLoop.current().add_callback(begin)
""",
            """\
from tornado import gen
from tornado.ioloop import IOLoop

@gen.coroutine
def begin():
    yield gen.sleep(0.01)
    print("begun")

IOLoop.current().add_callback(begin)
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
            refused="GC956",
        ),
        Example(
            "An engine that is called and not waited for",
            """\
from tornado import gen
from tornado.ioloop import IOLoop

@gen.engine
def main():
    yield gen.sleep(0.01)
    IOLoop.current().stop()

main()
IOLoop.current().start()
""",
            """\
from tornado import gen
from tornado.ioloop import IOLoop

@gen.coroutine
def main():
    yield gen.sleep(0.01)
    IOLoop.current().stop()

def _in_background(future):
    \"""Raise the error of a coroutine that has failed; let the loop log a later one.\"""
    if future.done():
        future.result()
    else:
        IOLoop.current().add_future(future, lambda future: future.result())

_in_background(main())
IOLoop.current().start()
""",
        ),
        Example(
            "An engine whose errors its caller gets",
            """\
from tornado import gen
from tornado.ioloop import PeriodicCallback

@gen.engine
def refresh():
    yield gen.sleep(0.01)

PeriodicCallback(refresh, 1000).start()
""",
            refused="GC972",
        ),
    ),
    find,
)
