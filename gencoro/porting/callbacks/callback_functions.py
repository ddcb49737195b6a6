"""Functions whose last parameter is a callback, and their uses.

Rule: a function has no other uses than those that are known.

Pure.  Used by `gencoro.porting.callbacks` and the fixers for ``--to coroutine``.
"""

import ast
from collections.abc import Callable
from typing import Any, TypeAlias

from gencoro.porting.callbacks.legacy import is_certain_call
from gencoro.porting.coroutines.return_classes import RETURN, is_return_class
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.inheritance import has_unknown_heir
from gencoro.porting.program.receivers import is_collection
from gencoro.porting.program.references import References, references_of
from gencoro.porting.source.nodes import ended_like

__all__ = [
    "CALLBACK",
    "Call",
    "calls_of",
    "is_task",
    "returns_value",
    "takes_callback",
    "takes_only",
    "without_parameter",
]

Call: TypeAlias = tuple[Module, ast.Call]

CALLBACK = "callback"

_TASK = "tornado.gen.Task"


def takes_callback(function: Function) -> bool:
    """Return whether the last parameter is the callback."""
    args = function.node.args
    if args.vararg or args.kwarg or args.kwonlyargs or not args.args:
        return False
    return args.args[-1].arg == CALLBACK


def takes_only(args: ast.arguments, count: int) -> bool:
    """Return whether there are ``count`` plain parameters without defaults, and no others."""
    others = (args.posonlyargs, args.kwonlyargs, args.vararg, args.kwarg, args.defaults)
    return len(args.args) == count and not any(others)


def returns_value(function: Function) -> bool:
    """Return whether a function returns a value somewhere, or raises one."""
    return any(
        node.value is not None
        if isinstance(node, ast.Return)
        else isinstance(node, ast.Raise) and _raises_value(function.module, node)
        for node in function.own
    )


def _raises_value(module: Module, node: ast.Raise) -> bool:
    match node.exc:
        case ast.Call(func=raised, args=[], keywords=[]) if RETURN in module.names(
            raised
        ):
            return False
        case ast.Call(func=raised):
            return is_return_class(module, raised)
    return False


def without_parameter(node: Any) -> Any:
    """Return a function, as a node of LibCST, without its last parameter."""
    params = node.params
    kept = list(params.params[:-1])
    if kept:
        kept[-1] = ended_like(kept[-1], params.params[-1])
    return node.with_changes(params=params.with_changes(params=kept))


def calls_of(
    program: Program,
    function: Function,
    is_known: Callable[[Module, ast.Call, ast.expr], bool],
) -> list[Call] | str:
    """Return the calls that use a function, if it has no other use; else that use.

    Args:
        is_known: Whether a call uses the function, an expression in it, in a known way.
    """
    references: References = references_of(program)
    name = function.node.name
    if references.is_named(function) or name in references.stored:
        return f"{name!r}"
    if function.owner is not None and has_unknown_heir(function, program):
        return f"a base class of {function.owner.name}"
    if len(program.functions_by_name[name]) > 1:
        return f"there are several functions {name}"
    found = []
    for use in references.of(function):
        receiver = getattr(use.node, "value", use.node)
        if not use.is_resolved and is_collection(program, use.module, receiver):
            continue
        call = use.module.parents.get(use.node)
        is_call = isinstance(call, ast.Call) and is_known(use.module, call, use.node)
        if not isinstance(call, ast.Call) or not is_call:
            return ast.unparse(call or use.node)
        is_certain = is_certain_call(program, use.module, use.node)
        if not is_certain and is_task(use.module, call, use.node):
            continue  # it stays a Task, whatever it runs
        found.append((use.module, call))
    return found or "no use was found"


def is_task(module: Module, call: ast.Call, function: ast.expr) -> bool:
    """Return whether a call is a Task of a function, which passes no callback.

    If nothing gets the Task, its error is logged in another way than that of a coroutine.
    """
    if isinstance(module.parents[call], ast.Expr):
        return False
    if call.args[:1] != [function] or module.names(call.func) != {_TASK}:
        return False
    words = [keyword.arg for keyword in call.keywords]
    has_stars = any(isinstance(argument, ast.Starred) for argument in call.args)
    return not has_stars and None not in words and CALLBACK not in words
