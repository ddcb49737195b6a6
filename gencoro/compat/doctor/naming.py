"""Resolves expressions in a module's source to names of Tornado.

Rule: names are followed, values are not.  Only imports, plain assignments, base classes
and calls of classes count; if a name is bound in several ways, each that leads to
Tornado counts.  Used by `gencoro.compat.doctor.scan`.
"""

import ast
import os
from collections.abc import Iterator
from typing import NamedTuple, Protocol, TypeAlias

from gencoro.compat.doctor.known import has_rows, is_class, meant_by
from gencoro.compat.doctor.members import Members, Value, members_of
from gencoro.compat.doctor.parsing import DEFS, statements
from gencoro.compat.doctor.things import (
    Function,
    Thing,
    attribute_of,
    imported_by,
    parameter_of,
    result_of,
)
from gencoro.compat.doctor.today import Today

__all__ = ["Binding", "Modules", "Scope"]

# What binds a name: a dotted name, something of another file, an assigned expression, or a
# definition.
Binding: TypeAlias = "str | _Elsewhere | ast.expr | ast.ClassDef | Function | None"


class _Elsewhere(NamedTuple):
    """A name of another scanned module, or that module itself if the name is empty."""

    file: str
    name: str


class Modules(Protocol):
    """The modules that a scanned module may import."""

    def file_of(self, name: str, level: int, importer: str) -> str | None:
        """Return the file of an imported module, or None if it is not to be read."""

    def scope_in(self, file: str) -> "Scope | None":
        """Return the scope of a module, or None if nothing of Tornado is in it."""


class _Classes:
    """What is known about the classes of a module."""

    def __init__(self) -> None:
        self.members: dict[ast.ClassDef, Members] = {}
        self.bases: dict[ast.ClassDef, list[Thing]] = {}
        self.known_bases: dict[ast.ClassDef, list[str]] = {}
        self.things: dict[tuple[ast.ClassDef, str], list[Thing]] = {}
        self.scopes: dict[ast.ClassDef, Scope] = {}


class Scope:
    """The names of a module, a class or a function, and the scopes around it.

    Args:
        node: The syntax node of the scope.
        parent: The enclosing scope; None for a module.
        today: The installed Tornado.
        modules: What the module may import.
        file: The file of the module.
        ignored: Imports that do not count.

    Attributes:
        bindings: What binds each of its names: see `Binding`.

    The converter has a subclass, which overrides `known_module`, `things_of_call` and
    `things_of_parameter`.
    """

    def __init__(
        self,
        node: ast.AST,
        parent: "Scope | None",
        today: Today,
        modules: Modules,
        file: str = "",
        ignored: frozenset[ast.alias] = frozenset(),
    ) -> None:
        self.node = node
        self.parent = parent
        self.file = file
        self._today = today
        self.modules = modules
        self._ignored = ignored
        self.bindings: dict[str, list[Binding]] = {}
        self._outside: set[str] = set()
        self._things_by_name: dict[str, list[Thing]] = {}
        # Caches for the classes of the module, shared by all its scopes.
        self._classes: _Classes
        self._classes = _Classes() if parent is None else parent._classes
        # The modules imported with ``*``, shared by all scopes.
        self._stars: list[str | _Elsewhere] = [] if parent is None else parent._stars
        if isinstance(node, Function):
            for arg in ast.walk(node.args):
                if isinstance(arg, ast.arg):
                    self._bind(arg.arg, None)
        if isinstance(node, (ast.Module, ast.ClassDef, *DEFS)):
            for statement in statements(node.body):
                self._bind_all(statement)

    def inner(self, node: ast.AST) -> "Scope":
        """Return the scope of a class or a function in this one."""
        cls = type(self)
        return cls(node, self, self._today, self.modules, self.file, self._ignored)

    def things(self, node: ast.expr) -> Iterator[Thing]:
        """Yield what an expression may refer to, as far as known."""
        if isinstance(node, ast.Name):
            yield from self._things_of_name(node.id)
        elif isinstance(node, ast.Attribute):
            for owner in self.things(node.value):
                yield from self._things_of_attribute(owner, node.attr)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id == "super":
                yield from self._bases_of_self()
            yield from imported_by(node)
            for callee in self.things(node.func):
                if not callee.is_object:
                    yield from self.things_of_call(callee)
        elif isinstance(node, ast.Lambda):
            yield Thing("", node=node)

    def is_sure(self, node: ast.expr) -> bool:
        """Return True if the name at the start of an expression is bound to one thing only.

        Several imports may bind it to the same: ``import tornado.gen, tornado.web``.
        """
        while isinstance(node, (ast.Attribute, ast.Call)):
            node = node.value if isinstance(node, ast.Attribute) else node.func
        if not isinstance(node, ast.Name):
            return True
        scope = self.scope_of(node.id)
        if scope is None:
            return True
        first, *others = scope.bindings[node.id]
        is_import = isinstance(first, (str, _Elsewhere))
        return not others or (is_import and all(other == first for other in others))

    @property
    def has_stars(self) -> bool:
        """Whether the module has an ``import *`` of a module of Tornado."""
        return any(isinstance(star, str) for star in self._stars)

    def defining_name(self, name: str) -> str:
        """Return the name of Tornado under which something is defined, if it is there."""
        found = self._today.find(name)
        return found[0] if found is not None else name

    def own_bases(self, node: ast.ClassDef) -> list[Thing]:
        """Return the direct base classes of a class that this scope defines."""
        if node not in self._classes.bases:
            # Set first, so that a class that inherits from itself causes no endless loop.
            self._classes.bases[node] = []
            self._classes.bases[node] = [
                thing for base in node.bases for thing in self.things(base)
            ]
        return self._classes.bases[node]

    def bases(self, node: ast.ClassDef) -> list[str]:
        """Return the known classes that a class that this scope defines inherits from."""
        if node not in self._classes.known_bases:
            bases = self._classes.known_bases[node] = []
            for thing in self.own_bases(node):
                if thing.name:
                    bases.append(thing.name)
                elif isinstance(thing.node, ast.ClassDef) and thing.home is not None:
                    inherited = thing.home.bases(thing.node)
                    bases += [base for base in inherited if base not in bases]
        return self._classes.known_bases[node]

    def members(self, node: ast.ClassDef) -> Members:
        """Return what a class of this module defines."""
        if node not in self._classes.members:
            self._classes.members[node] = members_of(node)
        return self._classes.members[node]

    def _within(self, node: ast.ClassDef) -> "Scope":
        """Return the scope of a class that this scope defines."""
        if node not in self._classes.scopes:
            self._classes.scopes[node] = self.inner(node)
        return self._classes.scopes[node]

    def _class_scope(self) -> "Scope | None":
        """Return the scope of the class that contains this scope."""
        scope: Scope | None = self
        while scope is not None and not isinstance(scope.node, ast.ClassDef):
            scope = scope.parent
        return scope

    def _bind(self, name: str, binding: Binding) -> None:
        self.bindings.setdefault(name, []).append(binding)

    def _bind_all(self, node: ast.stmt) -> None:
        """Record the names that a statement binds, without nested statements."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                module = alias.name if alias.asname else top
                self._bind(alias.asname or top, self._imported(module, 0, alias))
        elif isinstance(node, ast.ImportFrom):
            self._bind_imported(node)
        elif isinstance(node, (ast.ClassDef, *DEFS)):
            self._bind(node.name, node)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            self._outside.update(node.names)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self._bind(target.id, node.value)
                else:
                    self._bind_in(target)
            self._bind_in(node.value)
        else:
            self._bind_stored(node)

    def _bind_imported(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            module = self._imported(node.module or "", node.level, alias)
            name = alias.asname or alias.name
            if alias.name == "*":
                self._stars += [module] if module is not None else []
            elif isinstance(module, str):
                self._bind(name, f"{module}.{alias.name}")
            elif module is not None:
                self._bind(name, _Elsewhere(module.file, alias.name))
            else:  # the folder may be no package, but have this module
                within = ".".join(filter(None, [node.module, alias.name]))
                self._bind(name, self._imported(within, node.level, alias, own=True))

    def known_module(self, module: str, level: int) -> str | None:
        """Return the name of an imported module if it is known, and not the project's."""
        if level or not has_rows(module):
            return None
        return None if self.modules.file_of(module, 0, self.file) else module

    def _imported(
        self, module: str, level: int, alias: ast.alias, own: bool = False
    ) -> "str | _Elsewhere | None":
        """Return what an imported module is bound to.

        Args:
            own: Whether only scanned modules count.
        """
        if alias in self._ignored:
            return None
        known = None if own else self.known_module(module, level)
        if known is not None:
            return known
        file = self.modules.file_of(module, level, self.file)
        return _Elsewhere(file, "") if file else None

    def _bind_stored(self, node: ast.stmt) -> None:
        for name in _captured(node):
            self._bind(name, None)
        blocks = {"body", "orelse", "finalbody", "handlers", "cases"}
        for field, value in ast.iter_fields(node):
            if field in blocks:
                continue
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.AST):
                    self._bind_in(part)

    def _bind_in(self, node: ast.AST) -> None:
        """Record the names that an expression or a target binds."""
        for child in ast.walk(node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                self._bind(child.id, None)

    def scope_of(self, name: str) -> "Scope | None":
        """Return the scope that binds a name, as seen from this one."""
        scope: Scope | None = self
        while scope is not None:
            is_seen = scope is self or not isinstance(scope.node, ast.ClassDef)
            if is_seen and name in scope.bindings and name not in scope._outside:
                return scope
            scope = scope.parent
        return None

    def _things_of_name(self, name: str) -> Iterator[Thing]:
        scope = self.scope_of(name)
        if scope is not None:
            yield from scope._things_of_own_name(name)
        elif not name.startswith("_"):
            for module in self._stars:
                if isinstance(module, str):
                    yield Thing(f"{module}.{name}")
                else:
                    yield from self._things_in(module.file, name)

    def _things_in(self, file: str, name: str) -> Iterator[Thing]:
        """Yield what a name of another scanned module refers to."""
        scope = self.modules.scope_in(file)
        if scope is not None and name in scope.bindings:
            yield from scope._things_of_own_name(name)
            return
        is_package = os.path.basename(file) == "__init__.py"
        submodule = self.modules.file_of(name, 1, file) if is_package else None
        if submodule is not None:
            yield Thing("", file=submodule)
        elif scope is not None and name not in scope._things_by_name:
            # Set first: modules may import each other's names.
            things = scope._things_by_name[name] = []
            things += scope._things_of_name(name)
            yield from things
        elif scope is not None:
            yield from list(scope._things_by_name[name])

    def _things_of_own_name(self, name: str) -> list[Thing]:
        if name not in self._things_by_name:
            # Set first: a binding may refer to the same name, and gets the results so far.
            things = self._things_by_name[name] = []
            for binding in self.bindings[name]:
                found = list(self._things_of_binding(binding, name))
                things += [thing for thing in found if thing not in things]
        return list(self._things_by_name[name])

    def _things_of_binding(self, binding: Binding, name: str) -> Iterator[Thing]:
        if isinstance(binding, str):
            yield from map(Thing, meant_by(binding, self._today))
        elif isinstance(binding, _Elsewhere):
            if binding.name:
                yield from self._things_in(binding.file, binding.name)
            else:
                yield Thing("", file=binding.file)
        elif isinstance(binding, (ast.ClassDef, *DEFS)):
            yield Thing("", node=binding, home=self)
        elif isinstance(binding, ast.expr):
            # `load = load` in a class means the one around it.
            is_outer = isinstance(binding, ast.Name) and binding.id == name
            scope = self.parent if is_outer and self.parent is not None else self
            yield from scope.things(binding)
        elif isinstance(self.node, DEFS):
            yield from self.things_of_parameter(self.node, name)

    def things_of_parameter(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, name: str
    ) -> Iterator[Thing]:
        owner = self.parent.node if self.parent is not None else None
        home = self.parent.parent if self.parent is not None else None
        names = [arg.arg for arg in node.args.args]
        if not isinstance(owner, ast.ClassDef) or home is None or name not in names:
            return
        place = names.index(name)
        if place == 0 and not _is_static(node, owner):
            yield Thing("", is_object=True, node=owner, home=home)
        for base in home.bases(owner):
            yield from parameter_of(base, node.name, place, self._today)

    def _things_of_attribute(self, owner: Thing, name: str) -> Iterator[Thing]:
        if owner.file:
            yield from self._things_in(owner.file, name)
        elif owner.name:
            yield from attribute_of(owner.name, name, self._today)
        elif isinstance(owner.node, ast.ClassDef) and owner.home is not None:
            yield from owner.home.things_of_member(owner.node, name, set())

    def things_of_member(
        self, node: ast.ClassDef, name: str, seen: set[ast.ClassDef]
    ) -> Iterator[Thing]:
        """Yield what an attribute of a class that this scope defines is."""
        seen.add(node)
        own = self.members(node)
        if name in own.methods:
            yield Thing("", node=own.methods[name], home=self._within(node))
            return
        if name in own.values:
            yield from self._things_of_values(node, name, own.values[name])
            return
        for base in self.own_bases(node):
            if isinstance(base.node, ast.ClassDef) and base.home is not None:
                if base.node not in seen:
                    yield from base.home.things_of_member(base.node, name, seen)
            # The attributes of other classes are unknown.
            elif self._today.owners(base.name) or is_class(base.name):
                yield from self._things_of_attribute(Thing(base.name), name)

    def _things_of_values(
        self, node: ast.ClassDef, name: str, values: list[Value]
    ) -> list[Thing]:
        things = self._classes.things.get((node, name))
        if things is None:
            # Set first: a value may refer to the same attribute.
            things = self._classes.things[node, name] = []
            in_class = self._within(node)
            for place, value in values:
                if isinstance(value, (ast.Attribute, ast.Call, ast.Name)):
                    scope = in_class if place is node else in_class.inner(place)
                    things += [t for t in scope.things(value) if t not in things]
        return list(things)

    def things_of_call(self, callee: Thing) -> Iterator[Thing]:
        if isinstance(callee.node, (ast.ClassDef, *DEFS)):
            yield callee._replace(is_object=True)
        else:
            yield from result_of(callee.name, self._today)

    def _bases_of_self(self) -> Iterator[Thing]:
        scope = self._class_scope()
        if scope is not None and scope.parent is not None:
            assert isinstance(scope.node, ast.ClassDef), "it is the scope of a class"
            for base in scope.parent.own_bases(scope.node):
                yield base._replace(is_object=True)


def _is_static(
    node: ast.FunctionDef | ast.AsyncFunctionDef, owner: ast.ClassDef
) -> bool:
    """Return True if a function of a class gets no object, by its decorators or later."""
    applied = [getattr(decorator, "id", "") for decorator in node.decorator_list]
    for statement in owner.body:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id=wrapper), args=[ast.Name(id=wrapped)]),
            ) if name == wrapped == node.name:
                applied.append(wrapper)
    return "staticmethod" in applied


def _captured(node: ast.stmt) -> Iterator[str]:
    """Yield the names that the handlers or the patterns of a statement bind."""
    if isinstance(node, (ast.Try, ast.TryStar)):
        for handler in node.handlers:
            if handler.name:
                yield handler.name
    elif isinstance(node, ast.Match):
        for case in node.cases:
            for part in ast.walk(case.pattern):
                if isinstance(part, (ast.MatchAs, ast.MatchStar)) and part.name:
                    yield part.name
                elif isinstance(part, ast.MatchMapping) and part.rest:
                    yield part.rest
