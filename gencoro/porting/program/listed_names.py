"""Modules that must not gain names, because the program lists or copies their names.

Rule: a conversion imports modules such as asyncio, and defines helpers.  That matters
to ``dir(module)`` and the like, and to ``import *`` where the other module has such a name.

Pure.  Used by `gencoro.porting.coroutines.problems`, `gencoro.porting.converting` and
`gencoro.porting.fixers.to_async.unused_imports`.
"""

import ast
import functools
from collections.abc import Iterator

from gencoro.porting.program import Module, Program
from gencoro.porting.program.name_filters import is_filtered
from gencoro.porting.program.namespaces import namespace_of
from gencoro.porting.program.origins import original_names
from gencoro.porting.program.scopes import canonical

__all__ = ["listed_at"]

_ADDED = frozenset({"asyncio", "functools", "gen", "inspect", "types"})

_FUNCTIONS = frozenset({"callable", "isfunction", "isroutine"})
_LISTERS = frozenset({"getmembers", "getmembers_static"})
_COPIES = frozenset({"copy", "items", "keys", "values"})
_COLLECTIONS = frozenset(
    {"dict", "filter", "frozenset", "len", "list", "map", "set", "sorted", "tuple"}
)


def listed_at(module: Module, program: Program, ignores_filtered: bool = True) -> str:
    """Return where a program lists or copies the names of a module; empty if nowhere.

    Args:
        ignores_filtered: Whether loops that skip what ``--to async`` adds do not count.
    """
    return _places(program, ignores_filtered).get(module.top.file, "")


@functools.lru_cache(maxsize=2)
def _places(program: Program, ignores_filtered: bool) -> dict[str, str]:
    """Return the places by the files of the modules."""
    found: dict[str, str] = {}
    stars = {
        module.top.file: {getattr(star, "file", "") for star in module.top._stars}
        for module in program.modules.values()
    }
    chosen = {
        module.top.file
        for module in program.modules.values()
        if "__all__" in module.top._bindings
    }
    for module in program.modules.values():
        if any(_is_otherwise(module, name) for name in _ADDED):
            for file in _copied(module.top.file, stars, chosen):
                found[file] = f"import * in {module.path}"
        for node in module.nodes:
            for file in _listed(program, module, node, ignores_filtered):
                found[file] = f"{module.path}:{getattr(node, 'lineno', 1)}"
    return found


def _is_otherwise(module: Module, name: str) -> bool:
    """Return whether a module binds a name to something else than a conversion does."""
    return any(
        not isinstance(binding, str) or canonical(binding) not in (name, "tornado.gen")
        for binding in module.top._bindings.get(name, ())
    )


def _copied(file: str, stars: dict[str, set[str]], chosen: set[str]) -> set[str]:
    """Return the files of which ``import *`` gives every name to a module."""
    found: set[str] = set()
    pending = [file]
    while pending:
        new = stars.get(pending.pop(), set()) - found - chosen
        found |= new
        pending += new
    return found


def _listed(
    program: Program, module: Module, node: ast.AST, ignores_filtered: bool
) -> Iterator[str]:
    """Yield the files of the modules whose names an expression lists."""
    match node:
        case ast.Call(func=ast.Name(id="dir"), args=args):
            owner = args[0] if args else None
        case ast.Call(func=func, args=[owner, *_]) if (
            original_names(module, func) & _LISTERS
        ):
            pass
        case _:
            is_namespace, owner = namespace_of(node)
            if not is_namespace or not _is_collection(module, node):
                return
    assert isinstance(node, ast.expr), "it has the names"
    if ignores_filtered and is_filtered(program, module, node):
        return
    if owner is None:
        is_global = "globals" in ast.unparse(node)
        if is_global or isinstance(module.enclosing(node), ast.Module):
            yield module.top.file
        return
    things = module.things(owner)
    yield from (thing.file for thing in things if thing.file)
    # An object of a class has no functions, so it is one, or a module.
    wanted = [ast.unparse(a).rpartition(".")[2] for a in getattr(node, "args", ())[1:]]
    if not things and _FUNCTIONS.intersection(wanted):
        yield from (m.top.file for m in program.modules.values())


def _is_collection(module: Module, node: ast.AST) -> bool:
    """Return whether the names in a namespace are used one after the other."""
    match module.parents.get(node):
        case ast.Attribute(attr=name):
            return name in _COPIES
        case ast.Call(func=ast.Name(id=name)):
            return name in _COLLECTIONS
        case ast.For() | ast.comprehension():
            return True
    return False
