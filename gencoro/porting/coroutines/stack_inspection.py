"""Finds coroutines that inspect their caller: ``stacklevel=2``, ``sys._getframe(1)``.

Rule: gencoro calls the body of a coroutine; that of an ``async def`` is called by what
awaits it.  A stack that is only printed, for people, does not count.

Pure.  Used by `gencoro.porting.coroutines.problems`.
"""

import ast
import functools

from gencoro.porting.coroutines.users import uses_that_run
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.origins import original_names
from gencoro.porting.program.references import Use

__all__ = ["asks_for_caller"]

# How far up the stack functions that give all of it are assumed to look, if no constant says
# so.  Most of what `traceback` extracts is printed.
_LEVEL_BY_FUNCTION = {
    "extract_stack": 1,
    "getouterframes": 2,
    "stack": 2,
    "walk_stack": 1,
}
_UNKNOWN = 2

# The frames of functions of json above that of what they get as a ``default`` or a hook.
_FRAMES_OF_JSON = {"dump": 2, "dumps": 2, "load": 3, "loads": 2}


def asks_for_caller(function: Function, program: Program) -> ast.AST | None:
    """Return where a function asks for the frame of its caller; None if it does not."""
    own = next(
        (node for node in function.own if _level(function.module, node) > 0), None
    )
    return own or (function.node if function in _levels(program) else None)


@functools.lru_cache(maxsize=1)
def _levels(program: Program) -> dict[Function, int]:
    """Return how far up the stack functions look, themselves or by what they call."""
    levels = {
        f: max((_level(f.module, n) for n in f.own), default=0)
        for f in program.functions
    }
    levels = {function: level for function, level in levels.items() if level > 0}
    found = list(levels)
    for used in found:  # it grows
        level = levels[used] - 1
        for use in uses_that_run(used, program, True) if level > 0 else ():
            user = use.module.function_at(use.node)
            if user is not None and level > max(levels.get(user, 0), _frames(use)):
                levels[user] = level
                found.append(user)
    return levels


def _frames(use: Use) -> int:
    """Return how many frames there certainly are between a use of a function and its call."""
    node = use.module.parents[use.node]
    call = use.module.parents[node] if isinstance(node, ast.keyword) else node
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="json"), attr=name)):
            is_passed = use.node is not call.func
            return _FRAMES_OF_JSON.get(name, 0) if is_passed and _is_json(use) else 0
    return 0


def _is_json(use: Use) -> bool:
    """Return whether the name ``json`` is that of the standard library where a use is."""
    imported = [
        alias
        for node in use.module.nodes
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
        if "json" in (alias.name, alias.asname)
        if not (isinstance(node, ast.Import) and alias.asname is None)
    ]
    scope = use.module.scope_at(use.node)._scope_of("json")
    bindings = scope._bindings["json"] if scope is use.module.top else ()
    return len(bindings) == 1 and not imported


def _level(module: Module, node: ast.AST) -> int:
    """Return how far up the stack an expression looks; 0 for its own function."""
    match node:
        case ast.Call() as call:
            for keyword in call.keywords:
                if keyword.arg == "stacklevel":
                    return _value(keyword.value) - 1
            names = _names_of(module, call.func)
            if "_getframe" in names:
                return _value(call.args[0]) if call.args else 0
            if "warn" in names and len(call.args) > 2:
                return _value(call.args[2]) - 1
            return max(_LEVEL_BY_FUNCTION.get(name, 0) for name in names or {""})
        case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=int(n))):
            return abs(n) if _level(module, call) else 0
        case ast.Attribute(value=ast.Call() as frame, attr="f_back"):
            return _level(module, frame) + 1
        case ast.Attribute(value=ast.Attribute(attr="f_back") as frame, attr="f_back"):
            return _level(module, frame) + 1
        case ast.Attribute(attr="f_back"):
            return _UNKNOWN  # perhaps in a loop
    return 0


def _names_of(module: Module, func: ast.expr) -> frozenset[str]:
    """Return the last names that a function may have, if it can be one of those above."""
    names = original_names(module, func)
    if isinstance(func, ast.Attribute):
        owners = original_names(module, func.value)
        if not owners & {"inspect", "warnings"}:
            return names - {"stack", "warn"}  # loggers have a `warn`, too
    return names


def _value(node: ast.expr) -> int:
    """Return a number, or what is assumed if it is computed."""
    value = node.value if isinstance(node, ast.Constant) else _UNKNOWN
    return int(value) if isinstance(value, int) else _UNKNOWN
