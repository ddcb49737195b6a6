"""Finds what runs a function without its name: special methods, and calls of values.

Rule: a call of a parameter, a variable, an item or an attribute that is assigned may run
whatever the program passes on.

Pure.  Used by `gencoro.porting.coroutines.scheduling` and
`gencoro.porting.coroutines.handled_errors`.
"""

import ast
import functools
from collections.abc import Callable, Iterable, Iterator

from gencoro.porting.coroutines.candidates import candidates_of
from gencoro.porting.coroutines.users import direct_users
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.call_graph import reachable
from gencoro.porting.program.library_names import library_name
from gencoro.porting.program.references import references_of

__all__ = ["every_user_of"]

# What `+=` and the like call.
_IN_PLACE: dict[type[ast.operator], str] = {
    ast.Add: "__iadd__",
    ast.BitAnd: "__iand__",
    ast.BitOr: "__ior__",
    ast.Sub: "__isub__",
}

_DEFINITIONS = (ast.AsyncFunctionDef, ast.ClassDef, ast.FunctionDef)


def every_user_of(
    functions: list[Function],
    program: Program,
    is_passed_on: Callable[[Module, ast.AST], bool],
    are_probable: bool = False,
) -> frozenset[Function]:
    """Return functions, and those whose bodies may run them, also without their names.

    What waits for a coroutine is not among these: the loop resumes it.

    Args:
        is_passed_on: Whether a node passes on what does the same as the functions.
        are_probable: Leave out the uses that are as likely to be of another function.
    """
    found = _users_of(functions, program, are_probable)
    is_passed = any(
        is_passed_on(module, node)
        for module in program.modules.values()
        for node in module.nodes
    ) or any(
        use.is_resolved and not use.module.is_called(use.node)
        for function in found
        for use in references_of(program).of(function)
    )
    if is_passed:
        calling = [f for f in program.functions if _calls_value(f, program)]
        found = _users_of([*found, *calling], program, are_probable)
    return frozenset(found)


def _users_of(
    functions: list[Function], program: Program, are_probable: bool
) -> list[Function]:
    coroutines = {candidate.function for candidate in candidates_of(program)}

    def following(used: Function) -> Iterator[Function]:
        if used in coroutines or isinstance(used.node, ast.AsyncFunctionDef):
            return
        yield from direct_users(used, program, are_probable)
        yield from _special_users(used, program)
        yield from _users_of_decorated(used, program)

    return list(reachable(functions, following))


def _users_of_decorated(function: Function, program: Program) -> Iterator[Function]:
    """Yield the functions that call one whose decorator probably calls it."""
    references, name = references_of(program), function.node.name
    is_only = len(program.functions_by_name[name]) == 1
    is_only = is_only and not references.is_common(name)
    for use in references.of(function) if function.node.decorator_list else ():
        user = use.module.function_at(use.node)
        if user is not None and (use.is_resolved or is_only):
            yield user


def _calls_value(function: Function, program: Program) -> bool:
    """Return whether a body calls something that is passed to it, or is kept somewhere."""
    module = function.module
    return any(
        isinstance(node, ast.Call) and _is_value(module, node.func, program)
        for node in function.own
    )


def _is_value(module: Module, func: ast.expr, program: Program) -> bool:
    match func:
        case ast.Name(id=name):
            scope = module.scope_at(func)._scope_of(name)
            bindings = scope._bindings[name] if scope is not None else []
            return not all(map(_is_definition, bindings))
        case ast.Attribute(attr=name):
            return name in references_of(program).stored
    return isinstance(func, (ast.BoolOp, ast.Call, ast.IfExp, ast.Subscript))


def _is_definition(binding: object) -> bool:
    """Return whether a name is bound by an import, or is a function or a class."""
    is_imported = isinstance(binding, str) or hasattr(binding, "file")
    return is_imported or isinstance(binding, _DEFINITIONS)


def _special_users(used: Function, program: Program) -> Iterable[Function]:
    """Return the functions with statements that may run a special method or a property."""
    name = used.node.name
    is_changed = any(
        isinstance(d, ast.Attribute) and d.attr in ("deleter", "setter")
        for d in used.node.decorator_list
    )
    is_special = name.startswith("__") and name.endswith("__")
    return _running(program).get(name, ()) if is_changed or is_special else ()


@functools.lru_cache(maxsize=1)
def _running(program: Program) -> dict[str, dict[Function, None]]:
    """Return the functions that may run special methods, and change attributes, by name."""
    found: dict[str, dict[Function, None]] = {}
    for function in program.functions:
        for node in function.own:
            for name in _run_by(function.module, node, program):
                found.setdefault(name, {})[function] = None
    return found


def _run_by(module: Module, node: ast.AST, program: Program) -> tuple[str, ...]:
    match node:
        case ast.Attribute(attr=attr, ctx=ast.Store() | ast.Del()):
            return (attr,)
        case ast.With(items=items):
            is_own = any(_may_be_own(module, i.context_expr, program) for i in items)
            return ("__enter__", "__exit__") if is_own else ()
        case ast.Subscript(ctx=ast.Load()):
            return ("__getitem__",)
        case ast.Subscript():
            return ("__delitem__", "__setitem__")
        case ast.AugAssign(op=op):
            return (_IN_PLACE.get(type(op), ""),)
    return ()


def _may_be_own(module: Module, context: ast.expr, program: Program) -> bool:
    """Return whether a context manager may be an object of a class of the program."""
    maker = context.func if isinstance(context, ast.Call) else context
    is_known = bool(module.names(maker)) or bool(library_name(program, module, maker))
    return not is_known
