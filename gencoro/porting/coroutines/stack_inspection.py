"""Finds coroutines that inspect their caller: ``stacklevel=2``, ``sys._getframe(1)``.

Rule: gencoro calls the body of a coroutine; that of an ``async def`` is called by what
awaits it.  A stack that is only printed, for people, does not count.

Pure.  Used by `gencoro.porting.coroutines.problems`.
"""

import ast
import functools

from gencoro.porting.coroutines.context_variables import direct_users
from gencoro.porting.program import Function, Program
from gencoro.porting.program.namespaces import called_name

__all__ = ["asks_for_caller"]

# Functions that give every frame; `stack` alone is a name imported from inspect.
_STACKS = frozenset(
    {
        "extract_stack",
        "getouterframes",
        "inspect.stack",
        "stack",
        "walk_stack",
    }
)

# The level of an expression that looks at the whole stack, or where that is computed.
_WHOLE = 1_000


def asks_for_caller(function: Function, program: Program) -> ast.AST | None:
    """Return where a function asks for the frame of its caller; None if it does not."""
    own = next((node for node in function.own if _level(node) > 0), None)
    return own or (function.node if function in _levels(program) else None)


@functools.lru_cache(maxsize=1)
def _levels(program: Program) -> dict[Function, int]:
    """Return how far up the stack functions look, themselves or by what they call."""
    levels = {f: max(map(_level, f.own), default=0) for f in program.functions}
    levels = {function: level for function, level in levels.items() if level > 0}
    found = list(levels)
    for used in found:  # it grows
        level = levels[used] - 1
        for user in direct_users(used, program, True) if level > 0 else ():
            if level > levels.get(user, 0):
                levels[user] = level
                found.append(user)
    return levels


def _level(node: ast.AST) -> int:
    """Return how far up the stack an expression looks; 0 for its own function."""
    match node:
        case ast.Call() as call:
            for keyword in call.keywords:
                if keyword.arg == "stacklevel":
                    return _value(keyword.value) - 1
            name = called_name(call)
            if name == "warn" and len(call.args) > 2:
                return _value(call.args[2]) - 1
            if name == "_getframe":
                return _value(call.args[0]) if call.args else 0
            if name == "stack":
                name = ast.unparse(call.func)
            return _WHOLE if name in _STACKS else 0
        case ast.Attribute(value=ast.Call() as frame, attr="f_back"):
            return _level(frame) + 1
        case ast.Attribute(value=ast.Attribute(attr="f_back") as frame, attr="f_back"):
            return _level(frame) + 1
        case ast.Attribute(attr="f_back"):
            return _WHOLE  # perhaps in a loop
    return 0


def _value(node: ast.expr) -> int:
    """Return a number; a high one if it is computed."""
    value = node.value if isinstance(node, ast.Constant) else _WHOLE
    return int(value) if isinstance(value, int) else _WHOLE
