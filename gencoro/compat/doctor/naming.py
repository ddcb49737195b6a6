"""Resolves expressions in a module's source to names of Tornado.

Rule: names are followed, values are not.  Only imports, plain assignments, base classes
and calls of classes count; if a name is bound in several ways, each that leads to
Tornado counts.  Used by `gencoro.compat.doctor.scan`.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from gencoro.compat.doctor.today import DEFS, Today, statements

__all__ = ["Scope", "Thing", "find_in_class"]

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# What binds a name: a dotted name of Tornado, an assigned expression, or a definition.
Binding: TypeAlias = "str | ast.expr | ast.ClassDef | Function | None"

# Functions of Tornado that return an object of one of its classes.
_RETURNS = {
    "tornado.ioloop.IOLoop.current": "tornado.ioloop.IOLoop",
    "tornado.ioloop.IOLoop.instance": "tornado.ioloop.IOLoop",
}

# Attributes of Tornado that are objects of one of its classes.
_ATTRIBUTES = {
    "tornado.testing.AsyncHTTPTestCase.http_client": "tornado.httpclient.AsyncHTTPClient",
    "tornado.testing.AsyncTestCase.io_loop": "tornado.ioloop.IOLoop",
    "tornado.web.RequestHandler.request": "tornado.httputil.HTTPServerRequest",
}


class Thing(NamedTuple):
    """What an expression refers to.

    Attributes:
        name: Its dotted name in Tornado; empty if the scanned module defines it.
        is_object: Whether it is an object of the class of that name.
        node: The class or function of the scanned module.
    """

    name: str
    is_object: bool = False
    node: ast.ClassDef | Function | None = None


class Scope:
    """The names of a module, a class or a function, and the scopes around it.

    Args:
        node: The syntax node of the scope.
        parent: The enclosing scope; None for a module.
        today: The installed Tornado.
        ignored: Imports that do not count.
    """

    def __init__(
        self,
        node: ast.AST,
        parent: "Scope | None",
        today: Today,
        ignored: frozenset[ast.alias] = frozenset(),
    ) -> None:
        self.node = node
        self.parent = parent
        self._today = today
        self._ignored = ignored
        self._bindings: dict[str, list[Binding]] = {}
        self._outside: set[str] = set()
        self._things_by_name: dict[str, list[Thing]] = {}
        # Caches for the classes of the module, shared by all its scopes.
        self._bases: dict[ast.ClassDef, list[str]]
        self._bases = {} if parent is None else parent._bases
        self._attributes: dict[ast.ClassDef, set[str]]
        self._attributes = {} if parent is None else parent._attributes
        # The modules of Tornado imported with ``*``, shared by all scopes.
        self._stars: list[str] = [] if parent is None else parent._stars
        if isinstance(node, Function):
            for arg in ast.walk(node.args):
                if isinstance(arg, ast.arg):
                    self._bind(arg.arg, None)
        if isinstance(node, (ast.Module, ast.ClassDef, *DEFS)):
            for statement in statements(node.body):
                self._bind_all(statement)

    def inner(self, node: ast.AST) -> "Scope":
        """Return the scope of a class or a function in this one."""
        return Scope(node, self, self._today, self._ignored)

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
            for callee in self.things(node.func):
                if not callee.is_object:
                    yield from self._things_of_call(callee)
        elif isinstance(node, ast.Lambda):
            yield Thing("", node=node)

    def is_sure(self, node: ast.expr) -> bool:
        """Return whether the name at the start of an expression is bound only once."""
        while isinstance(node, (ast.Attribute, ast.Call)):
            node = node.value if isinstance(node, ast.Attribute) else node.func
        if not isinstance(node, ast.Name):
            return True
        scope = self._scope_of(node.id)
        return scope is None or len(scope._bindings[node.id]) == 1

    @property
    def has_stars(self) -> bool:
        """Whether the module has an ``import *`` of a module of Tornado."""
        return bool(self._stars)

    def bases(self, node: ast.ClassDef) -> list[str]:
        """Return the classes of Tornado that a class of the module inherits from."""
        if node not in self._bases:
            # Set first, so that a class that inherits from itself causes no endless loop.
            bases = self._bases[node] = []
            for thing in (thing for base in node.bases for thing in self.things(base)):
                if thing.name:
                    bases.append(thing.name)
                elif isinstance(thing.node, ast.ClassDef):
                    bases += [b for b in self.bases(thing.node) if b not in bases]
        return self._bases[node]

    def enclosing_class(self) -> ast.ClassDef | None:
        """Return the class that contains this scope."""
        scope: Scope | None = self
        while scope is not None and not isinstance(scope.node, ast.ClassDef):
            scope = scope.parent
        return scope.node if scope is not None else None  # type: ignore[return-value]

    def _bind(self, name: str, binding: Binding) -> None:
        self._bindings.setdefault(name, []).append(binding)

    def _bind_all(self, node: ast.stmt) -> None:
        """Record the names that a statement binds, without nested statements."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                if top == "tornado" and alias not in self._ignored:
                    self._bind(alias.asname or top, alias.name if alias.asname else top)
                else:
                    self._bind(alias.asname or top, None)
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
            self._bind_stored(node)

    def _bind_imported(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        is_tornado = not node.level and module.partition(".")[0] == "tornado"
        for alias in node.names:
            if not is_tornado or alias in self._ignored:
                self._bind(alias.asname or alias.name, None)
            elif alias.name == "*":
                self._stars.append(module)
            else:
                self._bind(alias.asname or alias.name, f"{module}.{alias.name}")

    def _bind_stored(self, node: ast.stmt) -> None:
        blocks = {"body", "orelse", "finalbody", "handlers", "cases"}
        for field, value in ast.iter_fields(node):
            if field in blocks:
                continue
            for part in value if isinstance(value, list) else [value]:
                for child in ast.walk(part) if isinstance(part, ast.AST) else ():
                    if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                        self._bind(child.id, None)

    def _scope_of(self, name: str) -> "Scope | None":
        """Return the scope that binds a name, as seen from this one."""
        scope: Scope | None = self
        while scope is not None:
            is_seen = scope is self or not isinstance(scope.node, ast.ClassDef)
            if is_seen and name in scope._bindings and name not in scope._outside:
                return scope
            scope = scope.parent
        return None

    def _things_of_name(self, name: str) -> Iterator[Thing]:
        scope = self._scope_of(name)
        if scope is not None:
            yield from scope._things_of_own_name(name)
        elif not name.startswith("_"):
            for module in self._stars:
                yield Thing(f"{module}.{name}")

    def _things_of_own_name(self, name: str) -> list[Thing]:
        if name not in self._things_by_name:
            # Set first: a binding may refer to the same name, and gets the results so far.
            things = self._things_by_name[name] = []
            for binding in self._bindings[name]:
                found = list(self._things_of_binding(binding, name))
                things += [thing for thing in found if thing not in things]
        return list(self._things_by_name[name])

    def _things_of_binding(self, binding: Binding, name: str) -> Iterator[Thing]:
        if isinstance(binding, str):
            yield Thing(binding)
        elif isinstance(binding, (ast.ClassDef, *DEFS)):
            yield Thing("", node=binding)
        elif isinstance(binding, ast.expr):
            yield from self.things(binding)
        elif (
            isinstance(self.node, DEFS)
            and self.parent is not None
            and isinstance(self.parent.node, ast.ClassDef)
            and self.node.args.args
            and self.node.args.args[0].arg == name
        ):
            yield Thing("", is_object=True, node=self.parent.node)

    def _things_of_attribute(self, owner: Thing, name: str) -> Iterator[Thing]:
        if owner.name:
            full_name = f"{owner.name}.{name}"
            for base in self._today.owners(owner.name) or [owner.name]:
                if f"{base}.{name}" in _ATTRIBUTES:
                    yield Thing(_ATTRIBUTES[f"{base}.{name}"], is_object=True)
                    return
            yield Thing(full_name)
        elif isinstance(owner.node, ast.ClassDef):
            own = find_in_class(owner.node, name)
            if own is not None:
                yield Thing("", node=own)
            elif name not in self._attributes_of(owner.node):
                for base in self.bases(owner.node):
                    # The attributes of other classes are unknown.
                    if self._today.owners(base):
                        yield from self._things_of_attribute(Thing(base), name)

    def _attributes_of(self, node: ast.ClassDef) -> set[str]:
        """Return the names that are assigned in a class and in its methods."""
        if node not in self._attributes:
            self._attributes[node] = {
                child.attr if isinstance(child, ast.Attribute) else child.id
                for child in ast.walk(node)
                if isinstance(child, (ast.Attribute, ast.Name))
                and isinstance(child.ctx, ast.Store)
            }
        return self._attributes[node]

    def _things_of_call(self, callee: Thing) -> Iterator[Thing]:
        if isinstance(callee.node, ast.ClassDef):
            yield Thing("", is_object=True, node=callee.node)
        elif callee.name in _RETURNS:
            yield Thing(_RETURNS[callee.name], is_object=True)
        elif self._today.owners(callee.name):
            yield Thing(callee.name, is_object=True)

    def _bases_of_self(self) -> Iterator[Thing]:
        node = self.enclosing_class()
        for base in self.bases(node) if node is not None else ():
            yield Thing(base, is_object=True)


def find_in_class(node: ast.ClassDef, name: str) -> Function | None:
    """Return a method that a class itself defines, or None."""
    for statement in statements(node.body):
        if isinstance(statement, DEFS) and statement.name == name:
            return statement
    return None
