"""``callback=`` of a coroutine of the program becomes ``add_future``."""

import ast
from collections.abc import Iterator

from gencoro.porting.callbacks.future_callbacks import given_to_loop
from gencoro.porting.callbacks.legacy import called_coroutines, without_callback
from gencoro.porting.fixer import Example, Fix, Fixer, Refusal
from gencoro.porting.program import Module, Program

__all__ = ["CALLBACK_ARGUMENTS"]

CODE = "GC106"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the calls whose callback is given to the loop."""
    for module in program.modules.values():
        for node in module.nodes:
            if isinstance(node, ast.Call):
                keywords = [k for k in node.keywords if k.arg == "callback"]
                if keywords and called_coroutines(program, module, node.func):
                    yield _of_call(program, module, node, keywords[0].value)


def _of_call(
    program: Program, module: Module, call: ast.Call, callback: ast.expr
) -> Fix | Refusal:
    given = given_to_loop(program, module, call, callback, without_callback)
    if isinstance(given, Refusal):
        return given
    return Fix(CODE, module, call.lineno, (given,))


CALLBACK_ARGUMENTS = Fixer(
    CODE,
    "callback= of a coroutine of the program becomes add_future",
    "The decorator does the same with it: the callback gets the result in a later turn of "
    "the loop, and an error goes to the context of the caller or to the log.",
    (
        Example(
            "Callbacks that are a function and a lambda",
            """\
from tornado import gen
from tornado.ioloop import IOLoop

@gen.coroutine
def double(number):
    yield gen.sleep(0.01)
    return 2 * number

def show(number):
    print(number)

double(21, callback=show)
double(2, callback=lambda number: print(number, "is double"))
""",
            """\
from tornado import gen
from tornado.ioloop import IOLoop

@gen.coroutine
def double(number):
    yield gen.sleep(0.01)
    return 2 * number

def show(number):
    print(number)

IOLoop.current().add_future(double(21), lambda future: show(future.result()))
IOLoop.current().add_future(double(2), lambda future: print(future.result(), "is double"))
""",
        ),
        Example(
            "A coroutine that declares the argument",
            """\
from tornado import gen

@gen.coroutine
def double(number, callback=None):
    yield gen.sleep(0.01)
    callback(2 * number)

double(21, callback=print)
""",
        ),
        Example(
            "A callback that may be None",
            """\
from tornado import gen

@gen.coroutine
def double(number):
    yield gen.sleep(0.01)
    return 2 * number

def show_double(number, callback=None):
    double(number, callback=callback)
""",
            refused="GC958",
        ),
    ),
    find,
)
