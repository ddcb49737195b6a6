"""Finds coroutines that may see an exception their caller is handling, or exit the program.

Rule: after its first wait, the body of a coroutine is resumed by the loop, where no error is
being handled, and which SystemExit ends.  An ``async def`` that is awaited is resumed by its
caller, perhaps in an ``except`` clause.

Pure.  Used by other modules of `gencoro.porting.coroutines`.
"""

import ast
import functools

from gencoro.porting.coroutines.hidden_calls import every_user_of
from gencoro.porting.coroutines.users import is_undecorated, users_of
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.kept_functions import uses_of_kept
from gencoro.porting.program.origins import last_name, original_names
from gencoro.porting.program.references import Use, references_of

__all__ = ["asks_for_error", "exits", "handles_exits", "may_see_error"]

_ASKING = frozenset({"exc_info", "format_exc", "print_exc"})
_EXITS = frozenset({"KeyboardInterrupt", "SystemExit", "exit", "quit"})

_CATCHING = frozenset({"BaseException", "KeyboardInterrupt", "SystemExit"})

# Methods that exit if the command line is wrong, or asks for help.
_PARSERS = frozenset({"parse_args", "parse_command_line", "parse_known_args"})


def may_see_error(use: Use, program: Program) -> bool:
    """Return whether a caller may be handling an error that the program asks for."""
    if not _asks_for_errors(program):
        return False
    uses = [use]
    seen = set()
    for each in uses:  # it grows
        if _is_handled(each.module, each.node, in_finally=True):
            return True
        user = each.module.function_at(each.node)
        if user is not None and user not in seen and _is_resumed_by_caller(user):
            seen.add(user)
            uses += references_of(program).of(user)
    return False


def asks_for_error(program: Program, module: Module, statement: ast.AST) -> bool:
    """Return whether a statement looks at the error that passes through it, or may."""
    names = _asking_names(program)
    handlers = [n for n in ast.walk(statement) if isinstance(n, ast.ExceptHandler)]
    handled = {node for handler in handlers for node in ast.walk(handler)}
    return any(
        node not in handled
        and (_is_asking(module, node) or original_names(module, node) & names)
        for node in ast.walk(statement)
    )


def exits(function: Function, program: Program) -> bool:
    """Return whether a function raises what ends the loop."""
    return function in _exiting(program)


def handles_exits(function: Function, program: Program) -> bool:
    """Return whether a body may catch the exit of another one that it waits for."""
    return bool(_exiting(program)) and any(
        isinstance(node, ast.ExceptHandler) and _catches_exits(node.type)
        for node in function.own
    )


def _catches_exits(caught: ast.expr | None) -> bool:
    parts = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(part is None or ast.unparse(part) in _CATCHING for part in parts)


def _is_resumed_by_caller(function: Function) -> bool:
    is_helper = function.is_generator and is_undecorated(function)
    return is_helper or isinstance(function.node, ast.AsyncFunctionDef)


@functools.lru_cache(maxsize=1)
def _asks_for_errors(program: Program) -> bool:
    modules = program.modules.values()
    return any(_asks(module, node) for module in modules for node in module.nodes)


@functools.lru_cache(maxsize=1)
def _asking_names(program: Program) -> frozenset[str]:
    """Return the names of what asks for the error of its caller, or keeps such a function."""
    asking = [f for f in program.functions if any(_asks(f.module, n) for n in f.own)]
    found = users_of(asking, program, True)
    kept = [use.node for f in found for use in uses_of_kept(program, f, True)]
    return frozenset([*(f.node.name for f in found), *map(last_name, kept)])


@functools.lru_cache(maxsize=1)
def _exiting(program: Program) -> frozenset[Function]:
    found = [f for f in program.functions if any(_exits(f.module, n) for n in f.own)]
    return every_user_of(found, program, _passes_on_exit)


def _passes_on_exit(module: Module, node: ast.AST) -> bool:
    """Return whether a node is ``sys.exit`` as a value, or a lambda that exits."""
    match node:
        case ast.Attribute(value=owner, attr="exit", ctx=ast.Load()):
            return _is_sys(module, owner) and not module.is_called(node)
        case ast.Lambda(body=body):
            return any(_exits(module, n) for n in ast.walk(body))
    return False


def _asks(module: Module, node: ast.AST) -> bool:
    """Return whether a node may be given the error of a caller."""
    if isinstance(node, ast.Attribute) and node.attr == "__context__":
        return True  # that of any error may be the caller's
    return _is_asking(module, node) and not _is_handled(module, node)


def _is_asking(module: Module, node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr="__context__"):
            return True
        case ast.Attribute() | ast.Name():
            return bool(original_names(module, node) & _ASKING)
        case ast.Call(func=ast.Attribute(value=owner, attr="exception"), args=args):
            # That of a logger, or of sys; that of a Future has no arguments.
            return bool(args) or _is_sys(module, owner)
        case ast.keyword(arg="exc_info", value=value):
            return not (isinstance(value, ast.Constant) and not value.value)
        case ast.Raise(exc=None):
            return True
    return False


def _is_handled(module: Module, node: ast.AST, in_finally: bool = False) -> bool:
    """Return whether a node is in an ``except`` clause of its function.

    Args:
        in_finally: Whether a ``finally`` clause counts as well.
    """
    while not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        parent = module.parents[node]
        if isinstance(node, ast.ExceptHandler):
            return True
        last = parent.finalbody if isinstance(parent, (ast.Try, ast.TryStar)) else []
        if in_finally and node in last:
            return True
        node = parent
    return False


def _exits(module: Module, node: ast.AST) -> bool:
    match node:
        case ast.Call(func=callee) | ast.Raise(exc=ast.expr() as callee):
            ending = _EXITS | _PARSERS
            if isinstance(callee, ast.Attribute) and not _is_sys(module, callee.value):
                ending -= {"exit", "quit"}  # methods of the program
            is_class = any(
                isinstance(thing.node, ast.ClassDef)
                and any(ast.unparse(base) in _EXITS for base in thing.node.bases)
                for thing in module.things(callee)
            )
            return is_class or bool(original_names(module, callee) & ending)
    return False


def _is_sys(module: Module, node: ast.expr) -> bool:
    return "sys" in original_names(module, node)
