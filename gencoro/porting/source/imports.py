"""Names and imports by which a module refers to other modules, and names that are free.

Rule: a name that the module binds to something else is not used.

Pure.  Used by `gencoro.porting.callbacks` and the fixers.
"""

import ast
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gencoro.compat.doctor.parsing import DEFS
from gencoro.porting.program import Function, Module
from gencoro.porting.program.scopes import SourceScope, canonical
from gencoro.porting.source.helpers import is_helper

__all__ = [
    "Reference",
    "function_of_library",
    "is_free",
    "is_free_in",
    "is_of_module",
    "module_reference",
    "name_in_module",
    "reference_in_module",
    "reference_to",
    "reference_to_gen",
    "standard_module",
    "unused_name",
]

_GEN = "tornado.gen"
_MISSING = frozenset({"ImportError", "ModuleNotFoundError"})


class Reference(NamedTuple):
    """An expression for a module, and the statements that bind it.

    Attributes:
        text: Such as ``gen``; empty if the name is taken.
        imports: Such as ``from tornado import gen``.
        is_local: Whether only a function binds it, and not the module.
    """

    text: str
    imports: tuple[str, ...] = ()
    is_local: bool = False


def reference_to_gen(function: Function) -> Reference:
    """Return how a function refers to the module ``gen``."""
    module = function.module
    scope = function.scope
    names = [name for name in module.top._bindings if _is_gen_in(module, name)]
    for name in names:
        if not _is_hidden(function, name):
            return Reference(name)
    owner = scope._scope_of("gen")
    if owner is not None and _are_gen(owner._bindings["gen"]):
        return Reference("gen", (), is_local=True)
    if owner is None and not _is_starred("gen", module):
        package = "gencoro" if _imports_gencoro(module) else "tornado"
        return Reference("gen", (f"from {package} import gen",))
    is_tornado = set(module.top._bindings.get("tornado", ())) == {"tornado"}
    is_usable = is_tornado and not _is_hidden(function, "tornado")
    return Reference("tornado.gen" if is_usable else "", ("import tornado.gen",))


def reference_in_module(module: Module) -> Reference:
    """Return how a helper of a module can refer to ``gen``, which a function imports.

    The reference is empty if the module itself imports nothing of that package: when it is
    executed, the package may not be ready to be imported.
    """
    package = "gencoro" if _imports_gencoro(module) else "tornado"
    is_imported = _imports(package, module.tree.body)
    return module_reference(_GEN, module) if is_imported else Reference("")


def reference_to(name: str, function: Function) -> Reference:
    """Return how a function refers to a module of the standard library."""
    is_bound = function.scope._scope_of(name) is not None
    is_hidden = is_bound and _is_hidden(function, name)
    return Reference("") if is_hidden else standard_module(name, function.module)


def standard_module(name: str, module: Module) -> Reference:
    """Return how a module can refer to a module of the standard library.

    An import below a definition is made at the top, too: a helper may need it before.
    """
    body = module.tree.body
    imports = sum(_is_import_of(name, node) for node in _statements(body))
    bindings = module.top._bindings.get(name, ())
    is_bound_by_imports = imports == len(bindings) - _fallbacks(name, module)
    is_other = _is_deleted(name, module) if imports else _is_starred(name, module)
    if not is_bound_by_imports or is_other:
        return Reference("")
    start = itertools.takewhile(lambda node: not _has_definition(node), body)
    is_early = any(_is_import_of(name, node) for node in start)
    return Reference(name, () if is_early else (f"import {name}",))


def function_of_library(owner: str, name: str, module: Module) -> Reference:
    """Return how a module can refer to a function of a module of the standard library.

    By the name that the module imports, if it is a statement of the module itself.
    """
    found = standard_module(owner, module)
    if found.text:
        return found._replace(text=f"{owner}.{name}")
    is_imported = any(
        isinstance(node, ast.ImportFrom)
        and (node.module, node.level) == (owner, 0)
        and any((a.name, a.asname) == (name, None) for a in node.names)
        for node in module.tree.body
    )
    is_bound_again = len(module.top._bindings.get(name, ())) > 1 or any(
        isinstance(node, ast.Global) and name in node.names for node in module.nodes
    )
    is_own = is_imported and not is_bound_again and not _is_deleted(name, module)
    return Reference(name if is_own else "")


def module_reference(name: str, module: Module) -> Reference:
    """Return how a module can refer to a module of Tornado, such as ``tornado.web``."""
    bindings = module.top._bindings
    for known, found in bindings.items():
        if found and all(binding == name for binding in found):
            return Reference(known)
    short = name.rpartition(".")[2]
    if short not in bindings:
        is_ours = name == _GEN and _imports_gencoro(module)
        package = "gencoro" if is_ours else "tornado"
        return Reference(short, (f"from {package} import {short}",))
    is_usable = set(map(str, bindings.get("tornado", ["tornado"]))) == {"tornado"}
    return Reference(name if is_usable else "", (f"import {name}",))


def name_in_module(owner: str, name: str, module: Module) -> Reference:
    """Return how a module can refer to a name of a module of Tornado."""
    bindings = module.top._bindings
    for known, found in bindings.items():
        if found and all(binding == f"{owner}.{name}" for binding in found):
            return Reference(known)
        if found and all(binding == owner for binding in found):
            return Reference(f"{known}.{name}")
    if name in bindings:
        return Reference("")
    package = "gencoro" if _imports_gencoro(module) else "tornado"
    origin = package + owner.removeprefix("tornado")
    return Reference(name, (f"from {origin} import {name}",))


def unused_name(name: str, module: Module, taken: Iterable[str] = ()) -> str:
    """Return a name for a new variable: ``name``, with ``_`` behind it if it is used.

    Args:
        taken: Further names that are used.
    """
    used = {node.id for node in module.nodes if isinstance(node, ast.Name)}
    used |= {node.arg for node in module.nodes if isinstance(node, ast.arg)}
    used.update(taken)
    while name in used:
        name += "_"
    return name


def is_free(name: str, function: Function) -> bool:
    """Return whether a helper of that name can be defined, or is defined already."""
    return is_free_in(name, function.module, function.scope)


def is_free_in(name: str, module: Module, scope: SourceScope) -> bool:
    """Return the same for a scope of a module."""
    owner = scope._scope_of(name)
    if owner is None:
        return True
    bindings = owner._bindings[name]
    return owner is module.top and all(
        isinstance(binding, ast.FunctionDef) and is_helper(binding)
        for binding in bindings
    )


def is_of_module(node: ast.expr, function: Function) -> bool:
    """Return whether the first name of a decorator is one of the module."""
    while isinstance(node, ast.Attribute):
        node = node.value
    if not isinstance(node, ast.Name):
        return False
    scope = function.outer._scope_of(node.id)
    return scope in (None, function.module.top)


def _is_gen_in(module: Module, name: str) -> bool:
    """Return whether a name of a module is gen, which another one may hand out."""
    if _are_gen(module.top._bindings[name]):
        return True
    node = ast.Name(name)
    is_certain = module.top.is_sure(node) and len(module.top._bindings[name]) == 1
    return is_certain and module.names(node, module.top) == {_GEN}


def _are_gen(bindings: Sequence[object]) -> bool:
    """Return whether a name is gen; None stands for a missing import."""
    found = [b for b in bindings if not _is_none(b)]
    return bool(found) and all(map(_is_gen, found))


def _is_none(binding: object) -> bool:
    return isinstance(binding, ast.Constant) and binding.value is None


def _is_gen(binding: object) -> bool:
    return isinstance(binding, str) and canonical(binding) == _GEN


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield statements, and those in blocks of these, that bind names of the module."""
    for node in body:
        yield node
        if not isinstance(node, (*DEFS, ast.ClassDef, ast.expr)):
            yield from _statements(ast.iter_child_nodes(node))


def _fallbacks(name: str, module: Module) -> int:
    """Return how many bindings only apply where an import of the standard library fails.

    Such as in ``try: import asyncio`` / ``except ImportError: asyncio = None``.
    """
    return sum(
        _binds(name, statement)
        for block in _statements(module.tree.body)
        if isinstance(block, ast.Try)
        and [ast.unparse(statement) for statement in block.body] == [f"import {name}"]
        for handler in block.handlers
        if handler.type is not None and ast.unparse(handler.type) in _MISSING
        for statement in handler.body
    )


def _binds(name: str, statement: ast.stmt) -> int:
    """Return how often a statement binds a name to something else than the module."""
    match statement:
        case ast.Assign(targets=targets):
            return sum(isinstance(t, ast.Name) and t.id == name for t in targets)
        case ast.Import(names=names):
            return sum(alias.asname == name for alias in names)
        case ast.ImportFrom(names=names):
            return sum((alias.asname or alias.name) == name for alias in names)
    return 0


def _has_definition(statement: ast.stmt) -> bool:
    return any(isinstance(n, (*DEFS, ast.ClassDef)) for n in ast.walk(statement))


def _is_import_of(name: str, node: ast.AST) -> bool:
    return isinstance(node, ast.Import) and any(
        alias.name.partition(".")[0] == name and not alias.asname
        for alias in node.names
    )


def _is_hidden(function: Function, name: str) -> bool:
    """Return whether a name of the module means something else in a function."""
    module = function.module
    return function.scope._scope_of(name) is not module.top or _is_deleted(name, module)


def _is_starred(name: str, module: Module) -> bool:
    """Return whether ``import *`` gives a name something else than the module."""
    for star in module.top._stars:
        scope = module.top._modules.scope_in(getattr(star, "file", ""))
        bound = scope._bindings.get(name) if scope is not None else None
        if bound and not _are_gen(bound):
            assert scope is not None, "it has the name"
            body = getattr(scope.node, "body", [])
            return not any(_is_import_of(name, statement) for statement in body)
    return False


def _is_deleted(name: str, module: Module) -> bool:
    """Return whether a module deletes a name when it has been executed."""
    return any(
        isinstance(target, ast.Name) and target.id == name
        for statement in module.tree.body
        if isinstance(statement, ast.Delete)
        for target in statement.targets
    )


def _imports_gencoro(module: Module) -> bool:
    """Return whether a module has its coroutines from gencoro and not from Tornado."""
    return _imports("gencoro", module.nodes)


def _imports(package: str, nodes: Iterable[ast.AST]) -> bool:
    """Return whether one of these statements imports something of a package."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and not node.level:
            if (node.module or "").partition(".")[0] == package:
                return True
        elif isinstance(node, ast.Import) and any(
            alias.name.partition(".")[0] == package for alias in node.names
        ):
            return True
    return False
