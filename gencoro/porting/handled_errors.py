"""Which coroutines ask for the error that is being handled, or exit the program.

Rule: after its first wait, the body of a coroutine is resumed by the loop, where no error is
being handled, and which SystemExit ends.  An ``async def`` that is awaited is resumed by its
caller, perhaps in an ``except`` clause.

Pure.  Used by `gencoro.porting.decisions`.
"""

import ast
import functools

from gencoro.porting.contexts import users_of
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.references import Use

__all__ = ["asks_for_error", "exits"]

_ASKING = frozenset({"exc_info", "format_exc", "print_exc"})
_EXITS = frozenset({"KeyboardInterrupt", "SystemExit", "exit", "quit", "sys.exit"})


def asks_for_error(function: Function, program: Program) -> bool:
    """Return whether a function asks for the error that a caller may be handling."""
    return function in _asking(program)


def exits(function: Function, program: Program) -> bool:
    """Return whether a function raises what ends the loop."""
    return function in _exiting(program)


@functools.lru_cache(maxsize=1)
def _asking(program: Program) -> frozenset[Function]:
    found = [f for f in program.functions if any(_asks(f.module, n) for n in f.own)]
    return frozenset(users_of(found, program, _is_outside_handlers))


@functools.lru_cache(maxsize=1)
def _exiting(program: Program) -> frozenset[Function]:
    found = [f for f in program.functions if any(_exits(n) for n in f.own)]
    return frozenset(users_of(found, program))


def _is_outside_handlers(use: Use) -> bool:
    return not _is_handled(use.module, use.node)


def _asks(module: Module, node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr="__context__"):
            return True  # an error that is handled here has that of the caller, too
        case ast.Attribute(attr=name) | ast.Name(id=name) if name in _ASKING:
            is_asking = True
        case ast.Call(func=ast.Attribute(value=owner, attr="exception"), args=args):
            # That of a logger, or of sys; that of a Future has no arguments.
            is_asking = bool(args) or ast.unparse(owner) == "sys"
        case ast.keyword(arg="exc_info", value=value):
            is_asking = not (isinstance(value, ast.Constant) and not value.value)
        case ast.Raise(exc=None):
            is_asking = True
        case _:
            return False
    return is_asking and not _is_handled(module, node)


def _is_handled(module: Module, node: ast.AST) -> bool:
    """Return whether a node is in an ``except`` clause: it gets the error of that one."""
    up: ast.AST | None = node
    while up is not None and not isinstance(
        up, (ast.FunctionDef, ast.AsyncFunctionDef)
    ):
        if isinstance(up, ast.ExceptHandler):
            return True
        up = module.parents.get(up)
    return False


def _exits(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=callee) | ast.Raise(exc=ast.expr() as callee):
            return ast.unparse(callee) in _EXITS
    return False
