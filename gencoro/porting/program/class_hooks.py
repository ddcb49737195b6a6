"""Finds classes that a metaclass, decorator or base class may modify or inspect.

Rule: a metaclass, a decorator or a base class that cannot be read may do so.

Pure.  Used by `gencoro.porting.program` and `gencoro.porting.coroutines.return_classes`.
"""

import ast
import functools

from gencoro.compat.doctor.parsing import DEFS
from gencoro.porting.program import Module
from gencoro.porting.program.origins import last_name

__all__ = ["has_class_hook"]

# What a function does not need that leaves the methods of a class alone.
_MEANS = frozenset(
    {"__dict__", "delattr", "dir", "getattr", "getmembers", "setattr", "type", "vars"}
)

# By their last names.
_HARMLESS_DECORATORS = frozenset(
    {
        "dataclass",
        "expectedFailure",
        "final",
        "runtime_checkable",
        "skip",
        "skipIf",
        "skipUnless",
        "stream_request_body",
        "total_ordering",
        "unique",
        "usefixtures",
    }
)
# Methods that get those of subclasses, or of each object when it is asked for them.
_HOOKS = frozenset({"__getattribute__", "__init_subclass__"})

_HARMLESS_METACLASSES = frozenset({"ABCMeta", "EnumMeta", "type"})
_HARMLESS_CALLS = frozenset({"namedtuple", "NamedTuple"})


def has_class_hook(module: Module, node: ast.ClassDef) -> bool:
    """Return whether something else may get the methods of a class, or replace them."""
    if any(_changes_methods(module, d) for d in node.decorator_list):
        return True
    if any(
        _last_name(k.value) not in _HARMLESS_METACLASSES for k in _metaclasses(node)
    ):
        return True
    for base in node.bases:
        if isinstance(base, ast.Call) and _last_name(base) not in _HARMLESS_CALLS:
            return True
    return any(isinstance(s, DEFS) and s.name in _HOOKS for s in node.body)


def _metaclasses(node: ast.ClassDef) -> list[ast.keyword]:
    return [k for k in node.keywords if k.arg == "metaclass"]


def _changes_methods(module: Module, decorator: ast.expr) -> bool:
    if _last_name(decorator) in _HARMLESS_DECORATORS:
        return False
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    things = module.things(called)
    nodes = [t.node for t in things if t.node is not None]
    if len(nodes) < len(things) or not nodes:
        return True
    return any(_has_means(node) for node in nodes)


@functools.lru_cache(maxsize=256)
def _has_means(definition: ast.AST) -> bool:
    """Return whether a function or class uses what finds or replaces methods."""
    return any(
        (isinstance(node, ast.Name) and node.id in _MEANS)
        or (isinstance(node, ast.Attribute) and node.attr in _MEANS)
        or (isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
        or isinstance(node, ast.ClassDef)
        for node in ast.walk(definition)
    )


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return last_name(node)
