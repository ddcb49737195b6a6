"""A ``StackContext`` around code that starts no callback becomes its context manager."""

import ast
from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.porting.callbacks.legacy import calls
from gencoro.porting.fixer import Change, Example, Fix, Fixer
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.inheritance import is_exception
from gencoro.porting.program.references import references_of

__all__ = ["CONTEXTS"]

CODE = "GC115"

_CONTEXT = "tornado.stack_context.StackContext"

# Functions that start nothing, whatever they get.
_BUILTINS = frozenset({"bool", "float", "int", "len", "print", "repr", "str", "type"})

# Methods of a logger.
_LOGS = frozenset({"critical", "debug", "error", "exception", "info", "log", "warning"})

_MANAGERS = ("contextlib.contextmanager", "contextmanager")


def find(program: Program) -> Iterator[Fix]:
    """Yield the ``with`` statements that need no stack context."""
    for module, call in calls(program, _CONTEXT):
        statement = module.parents[module.parents[call]]
        is_alone = isinstance(statement, ast.With) and len(statement.items) == 1
        if not is_alone or not isinstance(statement, ast.With) or call.keywords:
            continue
        is_plain = len(call.args) == 1 and statement.items[0].optional_vars is None
        if not is_plain or not _is_manager(program, module, call.args[0]):
            continue
        if _starts_nothing(program, module, statement.body, frozenset()):
            yield Fix(CODE, module, call.lineno, (Change(call, _manager),))


def _is_manager(program: Program, module: Module, factory: ast.expr) -> bool:
    """Return whether a function makes a context manager that passes errors on."""
    if isinstance(factory, ast.Lambda):
        body = factory.body
        return isinstance(body, ast.Call) and _is_manager(program, module, body.func)
    functions = program.functions_of(module, factory)
    is_sure = len(functions) == 1 and module.scope_at(factory).is_sure(factory)
    return is_sure and _passes_errors_on(functions[0])


def _passes_errors_on(function: Function) -> bool:
    decorators = [ast.unparse(d) for d in function.node.decorator_list]
    if len(decorators) != 1 or decorators[0] not in _MANAGERS:
        return False
    if len(function.yields) != 1:
        return False
    for node in function.around(function.yields[0]):
        if isinstance(node, ast.With) or (isinstance(node, ast.Try) and node.handlers):
            return False
        if isinstance(node, ast.Try) and _leaves(node.finalbody):
            return False
    return True


def _leaves(block: list[ast.stmt]) -> bool:
    """Return whether a ``finally`` may end what raised an error."""
    return any(isinstance(n, ast.Return) for s in block for n in ast.walk(s))


def _starts_nothing(
    program: Program, module: Module, block: list[ast.stmt], seen: frozenset[ast.AST]
) -> bool:
    """Return whether statements certainly start no callback and no coroutine."""
    nodes = [node for statement in block for node in ast.walk(statement)]
    if any(
        isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await, ast.With)) for n in nodes
    ):
        return False
    return all(
        _is_quiet(program, module, node, seen)
        for node in nodes
        if isinstance(node, ast.Call)
    )


def _is_quiet(
    program: Program, module: Module, call: ast.Call, seen: frozenset[ast.AST]
) -> bool:
    match call.func:
        case ast.Name(id=name) if module.scope_at(call)._scope_of(name) is None:
            return name in _BUILTINS or is_exception(call.func)
        case ast.Attribute(value=ast.Name(), attr=name) if name in _LOGS:
            return not program.functions_by_name.get(name)
    functions = program.functions_of(module, call.func)
    if len(functions) != 1 or references_of(program).is_replaced(
        functions[0].node.name
    ):
        return False
    [function] = functions
    is_only = len(program.functions_by_name[function.node.name]) == 1
    is_plain = not function.is_generator and not function.node.decorator_list
    if not is_only or not is_plain or isinstance(function.node, ast.AsyncFunctionDef):
        return False
    if function.node in seen:
        return True
    return _starts_nothing(
        program, function.module, function.node.body, seen | {function.node}
    )


def _manager(node: Any) -> Any:
    factory = node.args[0].value
    if isinstance(factory, cst.Lambda):
        return factory.body
    return cst.Call(factory)


CONTEXTS = Fixer(
    CODE,
    "a StackContext around what starts nothing becomes its context manager",
    "A stack context is for callbacks and coroutines that are started inside it.  Around "
    "what only computes and logs, it does what the context manager does by itself, if that "
    "passes errors on.",
    (
        Example(
            "A context for the log",
            """\
import contextlib
import logging
from tornado.stack_context import StackContext

@contextlib.contextmanager
def timed(name):
    logging.info("%s begins", name)
    try:
        yield
    finally:
        logging.info("%s ends", name)

def double(number):
    return 2 * number

def work(number):
    with StackContext(lambda: timed("work")):
        print(double(number))
""",
            """\
import contextlib
import logging

@contextlib.contextmanager
def timed(name):
    logging.info("%s begins", name)
    try:
        yield
    finally:
        logging.info("%s ends", name)

def double(number):
    return 2 * number

def work(number):
    with timed("work"):
        print(double(number))
""",
        ),
        Example(
            "A context that catches errors, and one around a callback",
            """\
import contextlib
import logging
from tornado.ioloop import IOLoop
from tornado.stack_context import StackContext

@contextlib.contextmanager
def logged():
    try:
        yield
    except Exception:
        logging.exception("failed")

@contextlib.contextmanager
def noted():
    yield

def work(callback):
    with StackContext(logged):
        print(1)
    with StackContext(noted):
        IOLoop.current().add_callback(callback)
""",
            refused="GC965",
        ),
    ),
    find,
)
