"""Loops over the names of a module that skip what a conversion adds.

Rule: what is added are modules and functions of known names.  A condition must exclude them
before anything else looks at them.

Pure.  Used by `gencoro.porting.program.listed_names`.
"""

import ast
from collections.abc import Callable, Iterable

from gencoro.porting.program import Module, Program
from gencoro.porting.program.library_names import library_name
from gencoro.porting.program.origins import is_name

__all__ = ["is_filtered"]

# What a conversion to async def adds to a module.
_ADDED = (
    "_awaitable",
    "_starts_at_once",
    "asyncio",
    "functools",
    "gen",
    "inspect",
    "types",
)

# Builtin classes of which neither modules nor functions are.
_CLASSES = frozenset({"bool", "bytes", "dict", "float", "int", "list", "set", "str"})
_CLASSES |= {"tuple", "type"}

# Functions whose results have the same items.
_KEPT = frozenset({"frozenset", "iter", "list", "sorted", "tuple"})

_Excludes = Callable[[ast.expr], bool]


def is_filtered(program: Program, module: Module, node: ast.expr) -> bool:
    """Return whether a loop over the names of a module, or their values, skips what is added.

    Args:
        node: Such as ``vars(module)``, ``dir(module)`` or ``inspect.getmembers(module)``.
    """
    if isinstance(node, ast.Call) and len(node.args) == 2:
        wanted = node.args[1]
        return _is_class_test(program, module, wanted)
    has_pairs = isinstance(node, ast.Call) and not isinstance(node.func, ast.Name)
    has_names = not has_pairs
    child: ast.AST = node
    parent = module.parents[node]
    while True:
        match parent:
            case ast.Attribute(attr="items" | "keys" | "values" as kind):
                has_pairs, has_names = kind == "items", kind == "keys"
                child = module.parents[parent]
                if not isinstance(child, ast.Call) or child.args:
                    return False
            case ast.Call(func=ast.Name(id=name), args=[first], keywords=[]) if (
                first is child and name in _KEPT
            ):
                child = parent
            case _:
                break
        parent = module.parents[child]
    target = getattr(parent, "target", None)
    if not isinstance(target, ast.expr) or getattr(parent, "iter", None) is not child:
        return False
    names = _targets(target, has_pairs, has_names)
    if names is None:
        return False
    excludes = _excluding(program, module, *names)
    if isinstance(parent, ast.comprehension):
        return bool(parent.ifs) and excludes(parent.ifs[0])
    return isinstance(parent, ast.For) and _is_loop_filtered(module, parent, excludes)


def _targets(
    target: ast.expr, has_pairs: bool, has_names: bool
) -> tuple[str, str] | None:
    """Return the variables for the name and for its value; empty if there is none."""
    match target:
        case ast.Tuple(elts=[ast.Name(id=name), ast.Name(id=value)]) if has_pairs:
            return name, value
        case ast.Name(id=name) if not has_pairs:
            return (name, "") if has_names else ("", name)
    return None


def _excluding(program: Program, module: Module, name: str, value: str) -> _Excludes:
    """Return a predicate that tells whether a condition excludes everything that is added."""

    def excludes(test: ast.expr) -> bool:
        match test:
            case ast.BoolOp(op=ast.And(), values=[first, *_]):
                return excludes(first)
            case ast.Call(func=ast.Name(id="isinstance"), args=[of, kind]):
                return is_name(of, value) and _is_other_class(module, kind)
            case ast.Call(func=ast.Attribute() | ast.Name() as func, args=[of]) if (
                is_name(of, value)
            ):
                return _is_class_test(program, module, func)
            case ast.Call(
                func=ast.Attribute(value=of, attr="endswith" | "startswith" as way),
                args=[ast.Constant(value=str(part))],
            ):
                is_met = any(getattr(added, way)(part) for added in _ADDED)
                return is_name(of, name) and not is_met
            case ast.Call(func=ast.Attribute(value=of, attr="isupper"), args=[]):
                return is_name(of, name)
            case ast.Compare(
                left=of, ops=[ast.Eq()], comparators=[ast.Constant(value=v)]
            ):
                return is_name(of, name) and v not in _ADDED
        return False

    return excludes


def _is_loop_filtered(module: Module, loop: ast.For, excludes: _Excludes) -> bool:
    """Return whether the body of a loop is under a condition, and its variables are not used."""
    bound = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    inside = set(ast.walk(loop))
    around = module.enclosing(loop)
    if isinstance(around, (ast.ClassDef, ast.Module)) or loop.orelse:
        return False
    if any(
        isinstance(node, ast.Name) and node.id in bound and node not in inside
        for node in ast.walk(around)
    ):
        return False
    match loop.body:
        case [ast.If(test=test, orelse=[])]:
            return excludes(test)
        case [
            ast.If(
                test=ast.UnaryOp(op=ast.Not(), operand=test),
                body=[ast.Continue()],
                orelse=[],
            ),
            *_,
        ]:
            return excludes(test)
    return False


def _is_class_test(program: Program, module: Module, node: ast.expr) -> bool:
    """Return whether a function tells whether something is a class."""
    match node:
        case ast.Lambda(args=ast.arguments(args=[argument]), body=body):
            excludes = _excluding(program, module, "", argument.arg)
            return excludes(body)
    return library_name(program, module, node) == "inspect.isclass"


def _is_other_class(module: Module, kind: ast.expr) -> bool:
    """Return whether neither modules nor functions are of a class."""
    parts: Iterable[ast.expr] = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return all(_is_one_class(module, part) for part in parts)


def _is_one_class(module: Module, kind: ast.expr) -> bool:
    if isinstance(kind, ast.Name) and module.scope_at(kind)._scope_of(kind.id) is None:
        return kind.id in _CLASSES
    things = module.things(kind)
    return bool(things) and all(
        isinstance(thing.node, ast.ClassDef)
        and not thing.node.keywords
        # Any other base may be that of modules or functions.
        and all(ast.unparse(base) == "object" for base in thing.node.bases)
        for thing in things
    )
