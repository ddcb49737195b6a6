"""Finds coroutines that inspect their caller: ``stacklevel=2``, ``sys._getframe(1)``.

Rule: gencoro calls the body of a coroutine; that of an ``async def`` is called by what
awaits it.

Pure.  Used by `gencoro.porting.coroutines.problems`.
"""

import ast
import functools

from gencoro.porting.coroutines.context_variables import users_of
from gencoro.porting.program import Function, Program
from gencoro.porting.program.namespaces import called_name

__all__ = ["asks_for_caller"]

# Functions that give every frame; `stack` alone is a name imported from inspect.
_STACKS = frozenset(
    {
        "extract_stack",
        "format_stack",
        "getouterframes",
        "inspect.stack",
        "print_stack",
        "stack",
        "walk_stack",
    }
)


def asks_for_caller(function: Function, program: Program) -> ast.AST | None:
    """Return where a function asks for the frame of its caller; None if it does not."""
    own = next((node for node in function.own if _level(node) > 0), None)
    return own or (function.node if function in _users_of_asking(program) else None)


@functools.lru_cache(maxsize=1)
def _users_of_asking(program: Program) -> frozenset[Function]:
    """Return the functions whose callers are asked for by what they call."""
    asking = [f for f in program.functions if any(_level(n) > 1 for n in f.own)]
    return frozenset(users_of(asking, program, True)) - set(asking)


def _level(node: ast.AST) -> int:
    """Return how far up the stack an expression looks; 0 for its own function."""
    match node:
        case ast.Call() as call:
            for keyword in call.keywords:
                if keyword.arg == "stacklevel":
                    return _value(keyword.value) - 1
                if keyword.arg == "stack_info":
                    return _value(keyword.value) * 2
            name = called_name(call)
            if name == "warn" and len(call.args) > 2:
                return _value(call.args[2]) - 1
            if name == "_getframe":
                return _value(call.args[0]) if call.args else 0
            if name == "stack":
                name = ast.unparse(call.func)
            return 2 if name in _STACKS else 0
        case ast.Attribute(value=ast.Attribute(attr="f_back"), attr="f_back"):
            return 2
        case ast.Attribute(attr="f_back"):
            return 1
    return 0


def _value(node: ast.expr) -> int:
    """Return a number; a high one if it is computed."""
    value = node.value if isinstance(node, ast.Constant) else 2
    return int(value) if isinstance(value, int) else 2
