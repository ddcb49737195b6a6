"""``callback=`` of a coroutine of the program becomes ``add_future``."""

import ast
from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.legacy import called_coroutines, legacy_refusal, without_arguments
from gencoro.porting.program import Module, Program

__all__ = ["CALLBACK_ARGUMENTS"]

CODE = "GC106"

_LOOP = "tornado.ioloop.IOLoop"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the calls whose callback is given to the loop."""
    for module in program.modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call):
                keywords = [k for k in node.keywords if k.arg == "callback"]
                if keywords and called_coroutines(program, module, node.func):
                    yield _of_call(module, node, keywords[0].value)


def _of_call(module: Module, call: ast.Call, callback: ast.expr) -> Fix | Refusal:
    is_statement = isinstance(module.parents.get(call), ast.Expr)
    loop = _loop_in(module)
    if not is_statement or not _is_bound_once(module, callback):
        return legacy_refusal(module, call, "callback-value", ast.unparse(callback))
    if not loop:
        return legacy_refusal(module, call, "name-taken", "IOLoop")
    function = ast.unparse(callback)

    def change(node: Any) -> Any:
        called = without_arguments(node, "callback").with_changes(lpar=[], rpar=[])
        then = cst.parse_expression(f"lambda future: {function}(future.result())")
        return cst.Call(
            func=cst.parse_expression(f"{loop}.current().add_future"),
            args=[cst.Arg(called), cst.Arg(then)],
        )

    imports = () if loop != "IOLoop" or _imports_loop(module) else (_IMPORT,)
    return Fix(CODE, module, call.lineno, (Change(call, change),), None, imports)


_IMPORT = "from tornado.ioloop import IOLoop"


def _is_bound_once(module: Module, node: ast.expr) -> bool:
    """Return whether a callback is a function or a method that is never replaced."""
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
        things = module.things(node)
        return len(things) == 1 and isinstance(things[0].node, ast.FunctionDef)
    if not isinstance(node, ast.Name) or node.id == "future":
        return False
    scope = module.scope_at(node)._scope_of(node.id)
    if scope is None:
        return node.id == "print"
    bindings = scope._bindings[node.id]
    return len(bindings) == 1 and isinstance(bindings[0], ast.FunctionDef)


def _loop_in(module: Module) -> str:
    """Return how a module can refer to IOLoop; empty if the name is taken."""
    bindings = module.top._bindings
    for name, values in bindings.items():
        if values and all(value == _LOOP for value in values):
            return name
        if values and all(value == "tornado.ioloop" for value in values):
            return f"{name}.IOLoop"
    return "" if "IOLoop" in bindings else "IOLoop"


def _imports_loop(module: Module) -> bool:
    return "IOLoop" in module.top._bindings


CALLBACK_ARGUMENTS = Fixer(
    CODE,
    "callback= of a coroutine of the program becomes add_future",
    "The decorator does the same with it: the callback gets the result in a later turn of "
    "the loop, and an error goes to the context of the caller or to the log.",
    (
        Example(
            "A callback that is a function",
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
            "A callback that may be another one later",
            """\
from tornado import gen

@gen.coroutine
def double(number):
    yield gen.sleep(0.01)
    return 2 * number

double(21, callback=lambda number: print(number))
""",
            """\
from tornado import gen

@gen.coroutine
def double(number):
    yield gen.sleep(0.01)
    return 2 * number

double(21, callback=lambda number: print(number))
""",
            refused="GC958",
        ),
    ),
    find,
)
