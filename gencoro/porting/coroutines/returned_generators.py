"""Finds return values that may be generators.

Rule: if the program gives generators away, a function that is not known may return one.
A generator that a coroutine without a ``yield`` returns is run as its body; one that it
raises as its result is not.

Pure.  Used by `gencoro.porting.coroutines.problems` and by
`gencoro.porting.callbacks.tail_calls`.
"""

import ast
import builtins
import functools

from gencoro.compat.doctor.parsing import DEFS
from gencoro.porting.coroutines.users import is_undecorated
from gencoro.porting.program import Function, Program
from gencoro.porting.program.origins import last_name, original_names
from gencoro.porting.program.references import references_of

__all__ = ["may_be_generator", "may_evaluate_to_generator"]

_NO_GENERATORS = (
    ast.BinOp,
    ast.Compare,
    ast.Constant,
    ast.Dict,
    ast.DictComp,
    ast.JoinedStr,
    ast.Lambda,
    ast.List,
    ast.ListComp,
    ast.Set,
    ast.SetComp,
    ast.Tuple,
    ast.UnaryOp,
)

# Builtin functions, and methods of builtin objects.
_BUILTIN = frozenset(
    name for owner in (builtins, bytes, dict, list, set, str) for name in dir(owner)
)


def may_be_generator(function: Function, program: Program, value: ast.expr) -> bool:
    """Return whether a value that a function returns may be a generator."""
    names = _generator_names(program)
    return (
        isinstance(value, ast.GeneratorExp)
        or (isinstance(value, ast.Call) and _is_parameter(function, value.func))
        or (bool(names) and _is_parameter(function, value))
        or (_loose(program) and _is_unknown_result(function, program, value))
        or any(
            original_names(function.module, part) & names
            for part in ast.walk(value)
            if isinstance(part, (ast.Name, ast.Attribute))
        )
    )


@functools.lru_cache(maxsize=1)
def _generator_names(program: Program) -> frozenset[str]:
    return frozenset(
        f.node.name
        for f in program.functions
        if f.is_generator and isinstance(f.node, ast.FunctionDef)
        if not f.node.decorator_list
    )


@functools.lru_cache(maxsize=1)
def _loose(program: Program) -> bool:
    """Return whether generators of the program are passed on, or looked up by name.

    To a decorator, for instance; a lambda may be a generator, too.
    """
    references = references_of(program)
    return any(
        references.is_named(function)
        or not is_undecorated(function)
        or any(not use.module.is_called(use.node) for use in references.of(function))
        for function in program.functions
        if function.is_generator and not _is_consumed(function)
    ) or any(map(_yields, (n for m in program.modules.values() for n in m.nodes)))


def _is_consumed(function: Function) -> bool:
    """Return whether a known decorator makes something else of a generator."""
    return any(
        any(name.startswith("tornado.") for name in names)
        or ast.unparse(decorator).endswith("contextmanager")
        for decorator, names in function.decorators()
    )


def _yields(node: ast.AST) -> bool:
    return isinstance(node, ast.Lambda) and any(
        isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(node)
    )


def _is_unknown_result(
    function: Function,
    program: Program,
    value: ast.expr,
    seen: frozenset[str] = frozenset(),
) -> bool:
    """Return whether a value may be the result of a function that is not known."""
    parts: list[object] = []
    match value:
        case ast.Call(func=func):
            return _is_unknown(function, program, func)
        case ast.IfExp(body=first, orelse=second):
            parts = [first, second]
        case ast.BoolOp(values=values):
            parts = list(values)
        case ast.Name(id=name) if name not in seen:
            parts = list(function.scope._bindings.get(name, ()))
            seen |= {name}
    return any(
        isinstance(part, ast.expr) and _is_unknown_result(function, program, part, seen)
        for part in parts
    )


def _is_unknown(function: Function, program: Program, func: ast.expr) -> bool:
    """Return whether a function that is called may be any function."""
    if isinstance(func, ast.Attribute):
        if references_of(program).is_replaced(func.attr):
            return True
        if func.attr in _BUILTIN:
            return False
    if isinstance(func, ast.Name) and function.scope._scope_of(func.id) is None:
        return func.id not in _BUILTIN
    things = function.module.things(func, function.scope)
    nodes = [thing.node for thing in things if thing.node is not None]
    is_other = any(_yields(node) or _is_decorated(program, node) for node in nodes)
    return not things or is_other or not function.scope.is_sure(func)


def _is_decorated(program: Program, node: ast.AST) -> bool:
    """Return whether what is called may be another function: a property gives what it likes."""
    called = program.function_by_node.get(node)
    return called is not None and any(
        ast.unparse(decorator) not in ("classmethod", "staticmethod")
        and not any(name.startswith("tornado.") for name in names)
        for decorator, names in called.decorators()
    )


def _is_parameter(function: Function, node: ast.expr) -> bool:
    """Return whether a name is that of what a caller passes.

    To the function itself, or to one around it, such as a decorator.
    """
    scope = function.scope._scope_of(node.id) if isinstance(node, ast.Name) else None
    around = getattr(scope, "node", None)
    parameters = ast.walk(around.args) if isinstance(around, DEFS) else ()
    return last_name(node) in {p.arg for p in parameters if isinstance(p, ast.arg)}


def may_evaluate_to_generator(value: ast.expr | None) -> bool:
    """Return whether an expression may be a generator, whatever its names stand for."""
    return value is not None and not isinstance(value, _NO_GENERATORS)
