"""What may take the place of a coroutine, or look it up: patches, computed names, namespaces.

Rule: nothing here stops a conversion; each place is listed, so that a person looks at it.

Pure.  Used by `gencoro.porting.decisions`.
"""

import ast
from collections.abc import Collection, Iterator
from typing import NamedTuple

from gencoro.compat.doctor.program import Module, Program

__all__ = ["ListedPlace", "called_names", "lookups", "replacements", "texts_of"]

# Functions that get a name as a text.
_BY_NAME = frozenset(
    [
        "attrgetter",
        "delattr",
        "getattr",
        "hasattr",
        "methodcaller",
        "object",
        "patch",
        "setattr",
    ]
)

# What gives, or runs, anything that a module or an object has.
_NAMESPACES = frozenset({"eval", "exec", "globals", "getmembers", "vars"})


class ListedPlace(NamedTuple):
    """A place that is listed.

    Attributes:
        reason: A key of `LISTED`.
    """

    reason: str
    module: Module
    node: ast.AST
    text: str


def called_names(nodes: Collection[ast.AST]) -> Iterator[str]:
    """Yield the names of what is called in expressions."""
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Call):
                func = part.func
                yield (
                    func.attr
                    if isinstance(func, ast.Attribute)
                    else getattr(func, "id", "")
                )


def replacements(program: Program, names: Collection[str]) -> Iterator[ListedPlace]:
    """Yield the places that give something else one of these names, or name it in a text."""
    for module in program.modules.values():
        for node in module.nodes:
            match node:
                case ast.Attribute(ctx=ast.Store(), attr=name) if name in names:
                    if not _is_made_callable(program, module, node):
                        yield ListedPlace("replaced", module, node, ast.unparse(node))
                case ast.Call(func=func) if _last_name(func) in _BY_NAME:
                    for text in _texts_of(node):
                        if text.rpartition(".")[2] in names:
                            yield ListedPlace("named-in-text", module, node, repr(text))


def lookups(program: Program) -> Iterator[ListedPlace]:
    """Yield the calls that may use a coroutine without naming it."""
    for module in program.modules.values():
        for node in module.nodes:
            match node:
                case ast.Call(func=ast.Name(id="getattr"), args=[_, name, *_]):
                    is_computed = not isinstance(name, ast.Constant)
                    if is_computed and _is_called(module, node):
                        yield ListedPlace(
                            "computed-name", module, node, ast.unparse(node)
                        )
                case ast.Call(func=func) if _last_name(func) in _NAMESPACES:
                    if isinstance(func, ast.Name) or _last_name(func) == "getmembers":
                        yield ListedPlace(
                            "computed-name", module, node, ast.unparse(node)
                        )


def _is_made_callable(program: Program, module: Module, node: ast.Attribute) -> bool:
    """Return whether an attribute gets a function of the program, or a constant."""
    parent = module.parents[node]
    value = parent.value if isinstance(parent, ast.Assign) else None
    if value is None:
        return False
    is_constant = isinstance(value, ast.Constant)
    return is_constant or bool(program.functions_of(module, value))


def texts_of(module: Module) -> frozenset[str]:
    """Return the texts in a module, some of which may be names."""
    texts = (node.value for node in module.nodes if isinstance(node, ast.Constant))
    return frozenset(text for text in texts if isinstance(text, str))


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _texts_of(call: ast.Call) -> Iterator[str]:
    for argument in call.args[:2]:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield argument.value


def _is_called(module: Module, node: ast.Call) -> bool:
    """Return whether a value is called, and not waited for at once."""
    parent = module.parents[node]
    if isinstance(parent, ast.Assign) and not isinstance(parent.targets[0], ast.Name):
        return True  # kept in a table, or in an object
    match parent:
        case ast.Call() if parent.func is node:
            return not isinstance(module.parents[parent], (ast.Yield, ast.Await))
        case ast.Assign(targets=[ast.Name(id=name)]):
            around = module.enclosing(parent)
            return any(
                isinstance(part, ast.Call) and _last_name(part.func) == name
                for part in ast.walk(around)
            )
    return isinstance(parent, ast.Call)
