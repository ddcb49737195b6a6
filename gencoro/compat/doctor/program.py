"""The program to convert: its modules, functions and classes, and what names refer to.

Rule: the sources are read, never run; a source that cannot be parsed is named, and the
others are converted.

Pure: sources come as bytes.  Used by everything in `gencoro.porting`.
"""

import ast
import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from gencoro.compat.doctor.naming import Scope
from gencoro.compat.doctor.parsing import DEFS, TOO_DEEP, parse, parse_older
from gencoro.compat.doctor.resolving import ProgramModules, SourceScope, canonical
from gencoro.compat.doctor.rows import TODAY
from gencoro.compat.doctor.text import SourceText
from gencoro.compat.doctor.things import Thing

__all__ = ["Definition", "Function", "Module", "Program", "block_of"]

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

# The greatest depth of a tree, such as that of a sum; names are looked up recursively.
DEEPEST = 600

_SCOPES = (*DEFS, ast.ClassDef, ast.Lambda)


class Function(NamedTuple):
    """A function of a program.

    Attributes:
        module: Where it is defined.
        node: Its definition.
        name: Its qualified name, as ``__qualname__`` has it.
        owner: The class that has it as a method, if it is one.
        own: The nodes of its body, without those of functions and classes inside it.
    """

    module: "Module"
    node: Definition
    name: str
    owner: ast.ClassDef | None
    own: tuple[ast.AST, ...]

    # The node decides: comparing all fields would compare trees.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self.node is other.node

    def __hash__(self) -> int:
        return hash(self.node)

    @property
    def line(self) -> int:
        """The line of its ``def``."""
        return self.node.lineno

    @property
    def is_generator(self) -> bool:
        """Whether its body has a ``yield``."""
        return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in self.own)

    @property
    def parameters(self) -> list[str]:
        """The names of its parameters, without ``*args`` and ``**kwargs``."""
        args = self.node.args
        return [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]

    @property
    def outer(self) -> SourceScope:
        """The scope that defines it, where its decorators are evaluated."""
        return self.module.scope_at(self.node)

    def around(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Yield what is around a node of its body, the inmost first, each with its child."""
        parents = self.module.parents
        while node is not self.node:
            child, node = node, parents[node]
            if node is not self.node:
                yield node, child


class Module:
    """A module of a program.

    Args:
        path: Its file.
        source: The source of it.
        modules: The modules that it may import.

    Attributes:
        tree, nodes: Its syntax tree, and all nodes of that.
        parents: The parent of each node.

    Raises:
        SyntaxError: it cannot be parsed.
    """

    def __init__(self, path: str, source: bytes, modules: ProgramModules) -> None:
        self.path = path
        self.source = source
        self.tree = parse(source)
        self.nodes, self.parents = _flat(self.tree)
        self.functions: list[Function] = []
        self.classes: list[ast.ClassDef] = []
        file = os.path.abspath(path)
        self.top = SourceScope(self.tree, None, TODAY, modules, file, frozenset())
        self._scopes: dict[ast.AST, SourceScope] = {self.tree: self.top}
        self._things: dict[ast.AST, list[Thing]] = {}
        self._find_functions(self.tree, "", None)
        self.function_by_node: dict[ast.AST, Function] = {
            function.node: function for function in self.functions
        }

    def _find_functions(
        self, node: ast.AST, prefix: str, owner: ast.ClassDef | None
    ) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                self.classes.append(child)
                self._find_functions(child, f"{prefix}{child.name}.", child)
            elif isinstance(child, DEFS):
                name = prefix + child.name
                own = tuple(_own_nodes(child))
                self.functions.append(Function(self, child, name, owner, own))
                self._find_functions(child, f"{name}.<locals>.", None)
            elif not isinstance(child, ast.expr):
                self._find_functions(child, prefix, owner)

    @functools.cached_property
    def text(self) -> SourceText:
        """Its text."""
        return SourceText(self.source)

    def enclosing(self, node: ast.AST) -> ast.AST:
        """Return the function, lambda, class or module in whose scope a node is.

        Decorators, defaults and annotations belong to the scope around a function.
        """
        child, parent = node, self.parents.get(node)
        while parent is not None:
            if isinstance(parent, _SCOPES):
                body = parent.body
                if child is body or (isinstance(body, list) and child in body):
                    return parent
            elif isinstance(parent, ast.Module):
                return parent
            child, parent = parent, self.parents.get(parent)
        return self.tree

    def function_at(self, node: ast.AST) -> Function | None:
        """Return the function in whose body a node is; None in a lambda or elsewhere."""
        return self.function_by_node.get(self.enclosing(node))

    def place_of(self, node: ast.AST) -> str:
        """Return the file and the line of a node."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}"

    def has_text(self, node: ast.AST, text: bytes) -> bool:
        """Return whether the source of a node begins with a text.

        Python 3.11 has wrong positions in f-strings.
        """
        start, _ = self.text.span(node)
        return self.text.data.startswith(text, start)

    def scope_at(self, node: ast.AST) -> SourceScope:
        """Return the scope in which a node is evaluated."""
        return self.scope_of(self.enclosing(node))

    def scope_of(self, node: ast.AST) -> SourceScope:
        """Return the scope of a function, lambda, class or module."""
        if node not in self._scopes:
            inner = self.scope_at(node).inner(node)
            assert isinstance(inner, SourceScope), "inner scopes are of the same class"
            self._scopes[node] = inner
        return self._scopes[node]

    def things(self, node: ast.expr) -> list[Thing]:
        """Return what an expression may refer to."""
        if node not in self._things:
            self._things[node] = list(self.scope_at(node).things(node))
        return self._things[node]

    def names(self, node: ast.expr) -> set[str]:
        """Return the dotted names, outside of the program, that an expression may stand for."""
        found = {
            canonical(thing.name)
            for thing in self.things(node)
            if thing.name and not thing.is_object
        }
        if found or not isinstance(node, ast.Name):
            return found
        is_free = self.scope_at(node).scope_of(node.id) is None
        return {f"builtins.{node.id}"} if is_free else found


class Program:
    """The modules that are converted together.

    Args:
        sources: The source of each file.

    Attributes:
        modules: The modules that could be parsed, by file.
        unreadable: The file, the line and the fault of each of the others.
    """

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self.modules: dict[str, Module] = {}
        self.unreadable: list[tuple[str, int, str]] = []
        self._by_path: dict[str, Module] = {}
        self._results: dict[ast.AST, list[Thing]] = {}
        known = ProgramModules(list(sources), self._scope_in, self._results_of)
        for path, source in sources.items():
            try:
                module = Module(path, source, known)
            except SyntaxError as exc:
                self.unreadable.append((path, exc.lineno or 0, _fault(source, exc)))
            else:
                self.modules[path] = module
                self._by_path[os.path.abspath(path)] = module

    @functools.cached_property
    def functions(self) -> list[Function]:
        """Every function, in the order of the sources."""
        return [f for module in self.modules.values() for f in module.functions]

    @functools.cached_property
    def function_by_node(self) -> dict[ast.AST, Function]:
        """The functions by their definitions."""
        return {function.node: function for function in self.functions}

    @functools.cached_property
    def module_by_class(self) -> dict[ast.ClassDef, Module]:
        """The modules by the classes that they define."""
        return {node: m for m in self.modules.values() for node in m.classes}

    @functools.cached_property
    def functions_by_name(self) -> dict[str, list[Function]]:
        """The functions by their own names, without those of classes."""
        by_name: dict[str, list[Function]] = {}
        for function in self.functions:
            by_name.setdefault(function.node.name, []).append(function)
        return by_name

    @functools.cached_property
    def uses_by_name(self) -> dict[str, list[tuple[Module, ast.expr]]]:
        """The places where each name is read, as a variable or as an attribute."""
        found: dict[str, list[tuple[Module, ast.expr]]] = {}
        for module in self.modules.values():
            for node in module.nodes:
                if isinstance(node, (ast.Name, ast.Attribute)):
                    name = node.id if isinstance(node, ast.Name) else node.attr
                    if isinstance(node.ctx, ast.Load):
                        found.setdefault(name, []).append((module, node))
        return found

    @functools.cached_property
    def imported_as(self) -> dict[str, set[str]]:
        """The other names that imports give to a name."""
        found: dict[str, set[str]] = {}
        for module in self.modules.values():
            for node in module.nodes:
                if isinstance(node, ast.alias) and node.asname:
                    found.setdefault(node.name, set()).add(node.asname)
        return found

    def functions_of(self, module: Module, node: ast.expr) -> list[Function]:
        """Return the functions of the program that an expression may refer to."""
        nodes = [t.node for t in module.things(node) if not t.is_object]
        return [self.function_by_node[n] for n in nodes if n in self.function_by_node]

    def classes_of(self, module: Module, node: ast.expr) -> list[ast.ClassDef]:
        """Return the classes of the program that an expression, or its value, is of."""
        nodes = [thing.node for thing in module.things(node)]
        return [n for n in nodes if isinstance(n, ast.ClassDef)]

    def bases_of(self, owner: ast.ClassDef) -> list[str]:
        """Return the dotted names of the classes outside the program that one inherits from."""
        module = self.module_by_class[owner]
        return [canonical(name) for name in module.scope_at(owner).bases(owner)]

    def _scope_in(self, file: str) -> Scope | None:
        module = self._by_path.get(file)
        return module.top if module is not None else None

    def _results_of(self, node: ast.AST) -> list[Thing]:
        """Return the objects that a plain function of the program returns."""
        if node not in self._results:
            found = self._results[node] = []  # it may call itself
            function = self.function_by_node.get(node)
            if function is not None and not function.node.decorator_list:
                for part in function.own:
                    if isinstance(part, ast.Return) and part.value is not None:
                        found += [
                            t for t in function.module.things(part.value) if t.is_object
                        ]
        return list(self._results[node])


def block_of(parents: Mapping[ast.AST, ast.AST], node: ast.AST) -> Sequence[ast.AST]:
    """Return the statements among which a node is one; none if it is no statement."""
    parent = parents.get(node)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and node in block:
            return block
    return []


def _flat(tree: ast.Module) -> tuple[list[ast.AST], dict[ast.AST, ast.AST]]:
    """Return the nodes of a tree, and their parents.

    Raises:
        SyntaxError: the tree is too deep to be visited recursively.
    """
    nodes: list[ast.AST] = []
    parents: dict[ast.AST, ast.AST] = {}
    level: list[ast.AST] = [tree]
    depth = 0
    while level:
        depth += 1
        nodes += level
        following: list[ast.AST] = []
        for node in level:
            for child in ast.iter_child_nodes(node):
                # One object stands for each context such as Load: it has no parent.
                if not isinstance(child, (ast.expr_context, ast.operator)):
                    parents[child] = node
                    following.append(child)
        level = following
    if depth > DEEPEST:
        raise SyntaxError(TOO_DEEP)
    return nodes, parents


def _own_nodes(function: Definition) -> Iterator[ast.AST]:
    """Yield the nodes of a body in order, without those of other scopes inside it."""
    pending: list[ast.AST] = list(reversed(function.body))
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(list(_children(node)))


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node that are evaluated in the same scope."""
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(node, _SCOPES):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield part


def _fault(source: bytes, error: SyntaxError) -> str:
    """Return why a source cannot be parsed."""
    try:
        _, lines = parse_older(source)
    except SyntaxError as exc:
        return exc.msg
    return "async or await is used as a name" if lines else error.msg
