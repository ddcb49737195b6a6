"""A function called only by ``gen.Task`` becomes a coroutine that returns its callback value."""

from collections.abc import Iterator

from gencoro.porting.callbacks.callback_functions import (
    CALLBACK,
    calls_of,
    is_task,
    takes_callback,
)
from gencoro.porting.callbacks.callback_starts import may_start_callbacks
from gencoro.porting.callbacks.legacy import (
    is_method_of_tornado,
    made_coroutine,
    task_call,
)
from gencoro.porting.callbacks.tail_calls import fix_of_function, tails_of
from gencoro.porting.coroutines.context_variables import sets_context
from gencoro.porting.fixer import Change, Example, Fix, Fixer
from gencoro.porting.program import Function, Program
from gencoro.porting.program.inheritance import has_unknown_base, overrides_tornado

__all__ = ["FUNCTIONS_OF_TASKS"]

CODE = "GC116"


def find(program: Program) -> Iterator[Fix]:
    """Yield the functions that become coroutines, and their Tasks.

    What stays is refused as a Task, where it is called.
    """
    for function in program.functions:
        if _is_plain(program, function):
            yield from _of_function(program, function)


def _is_plain(program: Program, function: Function) -> bool:
    if not function.is_bare or not takes_callback(function):
        return False
    is_hook = has_unknown_base(function) or overrides_tornado(function, program)
    is_shared = function.owner is not None and is_method_of_tornado(function.node.name)
    # The caller sees what a function sets, and not what a coroutine does.
    return not is_hook and not is_shared and not sets_context(function, program)


def _of_function(program: Program, function: Function) -> Iterator[Fix]:
    tails = tails_of(program, function, CALLBACK)
    tasks = calls_of(program, function, is_task)
    coroutine = made_coroutine(function)
    if tails is None or isinstance(tasks, str) or coroutine is None:
        return
    apart_from = {tail.call for tail in tails if tail.call is not None}
    if not may_start_callbacks(program, function, apart_from):
        yield fix_of_function(CODE, function, coroutine, tails)
        for user, call in tasks:
            yield Fix(CODE, user, call.lineno, (Change(call, task_call),), function)


FUNCTIONS_OF_TASKS = Fixer(
    CODE,
    "A function that only Tasks call becomes a coroutine",
    "Together with each of its Tasks, which gets the errors of the function and of the "
    "callbacks that it starts.  Only if each path through the function ends with its "
    "callback, or gives it to the loop, a fetch or a coroutine.",
    (
        Example(
            "Functions that give their callbacks to the loop, and one that has the value",
            """\
import time
from tornado import gen
from tornado.ioloop import IOLoop

def double(number, callback):
    IOLoop.current().add_callback(callback, 2 * number)

def parse(text, callback):
    IOLoop.current().add_timeout(time.time() + 0.01, lambda: callback(int(text)))

def half(number, callback=None):
    if callback:
        callback(number / 2)

@gen.coroutine
def main():
    number = yield gen.Task(double, 21)
    return [number, (yield gen.Task(parse, "1")), (yield gen.Task(half, 3))]
""",
            """\
import time
from tornado import gen
from tornado.ioloop import IOLoop

@gen.coroutine
def double(number):
    result = 2 * number
    yield gen.moment
    return result

@gen.coroutine
def parse(text):
    yield gen.sleep(0.01)
    return int(text)

@gen.coroutine
def half(number):
    return number / 2

@gen.coroutine
def main():
    number = yield double(21)
    return [number, (yield parse("1")), (yield half(3))]
""",
        ),
        Example(
            "A function that is called with a callback",
            """\
from tornado import gen

def double(number, callback):
    callback(2 * number)

@gen.coroutine
def main():
    double(1, print)
    return (yield gen.Task(double, 21))
""",
            refused="GC957",
        ),
        Example(
            "A function that keeps its callback",
            """\
from tornado import gen

WAITING = []

def wait(callback):
    WAITING.append(callback)

@gen.coroutine
def main():
    return (yield gen.Task(wait))
""",
            refused="GC957",
        ),
    ),
    find,
)
