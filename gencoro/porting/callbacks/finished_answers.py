"""Whether a function of a request handler certainly finishes the response.

Rule: each path counts.  A method does so if every class that the handler may inherit from
has the same one.

Pure.  Used by `gencoro.porting.callbacks.answering_callbacks`,
`gencoro.porting.callbacks.request_handlers` and
`gencoro.porting.fixers.to_coroutine.asynchronous`.
"""

import ast
from collections.abc import Callable

from gencoro.compat.doctor.rows import TODAY
from gencoro.porting.callbacks.control_flow import passes_on_each_path
from gencoro.porting.program import Function, Program
from gencoro.porting.program.families import relatives_of
from gencoro.porting.program.inheritance import has_unknown_base
from gencoro.porting.program.references import references_of

__all__ = ["FINISHERS", "finisher_of", "finishes_on_each_path", "own_method"]

# Methods of a handler that finish the answer.
FINISHERS = frozenset({"finish", "redirect", "render", "send_error"})

# How many methods may call each other on the way to the end of an answer.
_DEPTH = 5


def finishes_on_each_path(program: Program, function: Function, depth: int = 0) -> bool:
    """Return whether each path through a function of a handler finishes the response."""
    return passes_on_each_path(function, finisher_of(program, function, depth))


def finisher_of(
    program: Program, function: Function, depth: int = 0
) -> Callable[[ast.stmt], bool]:
    """Return a predicate that tells whether a statement finishes the response.

    A method of the program does so if no other class that the handler may inherit from has
    one of that name, and each path through it finishes the response.

    Args:
        function: The function that has the statement.
    """

    def finishes(statement: ast.stmt) -> bool:
        match statement:
            case (
                ast.Expr(value=ast.Call(func=func))
                | ast.Return(value=ast.Call(func=func))
            ):
                pass
            case _:
                return False
        match func:
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return name in FINISHERS or is_own_finisher(name)
        return False

    def is_own_finisher(name: str) -> bool:
        method = own_method(program, function, name)
        if method is None or depth == _DEPTH or not method.is_bare:
            return False
        return finishes_on_each_path(program, method, depth + 1)

    return finishes


def own_method(program: Program, function: Function, name: str) -> Function | None:
    """Return what ``self.name`` certainly is; None if a subclass may have another."""
    if references_of(program).is_replaced(name):
        return None
    if TODAY.has(f"tornado.websocket.WebSocketHandler.{name}"):
        return None
    owner = _owner_of(function)
    named = [f for f in program.functions_by_name.get(name, ()) if f.owner is not None]
    if owner is None:
        return named[0] if len(named) == 1 else None
    classes = relatives_of(program, owner)
    match [f for f in named if f.owner in classes or has_unknown_base(f)]:
        case [method] if method.owner in classes:
            return method
    return None


def _owner_of(function: Function) -> ast.ClassDef | None:
    """Return the class of a method, also for a function inside one."""
    module = function.module
    node: ast.AST | None = function.node
    while node is not None:
        found = module.function_by_node.get(node)
        if found is not None and found.owner is not None:
            return found.owner
        node = module.parents.get(node)
    return None
