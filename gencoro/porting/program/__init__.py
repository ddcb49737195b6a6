"""The program to convert: modules, functions and classes, with names resolved.

Rule: the sources are read, never run; what cannot be parsed is refused with its line.

Pure: sources come as bytes.  Used by everything in `gencoro.porting`.

Inside::

    trees            syntax trees, the parents of nodes, blocks of statements
    scopes           resolves names, also gencoro's
    origins          names as written, and as they are where things come from
    library_names    full names of the standard library's functions and classes
    references       where functions are used
    kept_functions   which functions the program keeps under other names
    reflection       where functions may be looked up by name
    call_graph       groups functions that call each other, and follows calls
    inheritance      which base classes are known, and what overrides Tornado's methods
    families         classes with their base classes and subclasses
    class_hooks      classes that are changed when they are defined
    namespaces       classes and modules whose members are used without naming them
    listed_names     modules whose names are listed or copied
    name_filters     loops over names that skip what a conversion adds
    replacements     what may take the place of a function
    patched_names    names of Tornado that the program replaces
    receivers        which method of Tornado a call is of
    foreign_objects  objects that may come from packages that are not read
"""

import ast
import functools
import os
import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from gencoro.compat.doctor.naming import Scope
from gencoro.compat.doctor.parsing import DEFS, parse_older
from gencoro.compat.doctor.rows import TODAY
from gencoro.compat.doctor.things import Thing
from gencoro.porting.program.scopes import Sources, SourceScope, canonical
from gencoro.porting.program.trees import Definition, own_nodes, parsed

__all__ = ["Definition", "Function", "Module", "Program"]


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

    @property
    def line(self) -> int:
        """The line of its ``def``."""
        return self.node.lineno

    @property
    def key(self) -> tuple[str, int]:
        """Its identity: file and line."""
        return (self.module.path, self.node.lineno)

    @property
    def is_generator(self) -> bool:
        """Whether its body has a ``yield``."""
        return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in self.own)

    @property
    def is_bare(self) -> bool:
        """Whether it is a ``def`` without decorators and without a ``yield``."""
        is_def = isinstance(self.node, ast.FunctionDef)
        return is_def and not self.node.decorator_list and not self.is_generator

    @property
    def yields(self) -> list[ast.Yield]:
        """The places where it yields, apart from ``yield from``."""
        return [node for node in self.own if isinstance(node, ast.Yield)]

    @property
    def parameters(self) -> list[ast.arg]:
        """Its parameters, without ``*args`` and ``**kwargs``."""
        args = self.node.args
        return [*args.posonlyargs, *args.args, *args.kwonlyargs]

    @property
    def scope(self) -> SourceScope:
        """The scope of its body."""
        return self.module.scope_of(self.node)

    @property
    def outer(self) -> SourceScope:
        """The scope that defines it, where its decorators are evaluated."""
        return self.module.scope_at(self.node)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what is around a node of its body, from the inmost on, without itself."""
        node = self.module.parents[node]
        while node is not self.node:
            yield node
            node = self.module.parents[node]

    def names(self, node: ast.expr) -> set[str]:
        """Return the names of Tornado that an expression in its body may stand for."""
        return self.module.names(node, self.scope)

    def decorators(self) -> Iterator[tuple[ast.expr, set[str]]]:
        """Yield its decorators, the outermost first, and what each may be."""
        for decorator in self.node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            yield decorator, self.module.names(called, self.outer)

    def has_decorator(self, name: str) -> bool:
        """Return whether one of its decorators may be a function of Tornado."""
        return any(name in names for _, names in self.decorators())


class Module:
    """A module of a program.

    Args:
        path: Its file.
        source: The source of it.
        sources: The modules that it may import.

    Attributes:
        tree, nodes: Its syntax tree, and all nodes of that.
        parents: The parent of each node.

    Raises:
        SyntaxError: it cannot be parsed.
    """

    def __init__(self, path: str, source: bytes, sources: Sources) -> None:
        self.path = path
        self.source = source
        self.tree, self.parents, self.nodes = parsed(source)
        self.functions: list[Function] = []
        self.classes: list[ast.ClassDef] = []
        self.top = SourceScope(
            self.tree, None, TODAY, sources, os.path.abspath(path), frozenset()
        )
        self._scopes: dict[ast.AST, SourceScope] = {self.tree: self.top}
        self._names: dict[ast.AST, set[str]] = {}
        self._find_functions(self.tree, "", None)

    def _find_functions(
        self, node: ast.AST, prefix: str, owner: ast.ClassDef | None
    ) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                self.classes.append(child)
                self._find_functions(child, f"{prefix}{child.name}.", child)
            elif isinstance(child, DEFS):
                name = prefix + child.name
                own = own_nodes(child)
                self.functions.append(Function(self, child, name, owner, own))
                self._find_functions(child, f"{name}.<locals>.", None)
            else:
                self._find_functions(child, prefix, owner)

    @functools.cached_property
    def function_by_node(self) -> dict[ast.AST, Function]:
        """The functions by their definitions."""
        return {function.node: function for function in self.functions}

    def text_of(self, node: ast.expr) -> str:
        """Return the source of an expression, on one line."""
        is_line = node.lineno == node.end_lineno
        line = re.split(rb"\r\n|\r|\n", self.source)[node.lineno - 1]
        text = line[node.col_offset : node.end_col_offset]
        return text.decode() if is_line and line.isascii() else ast.unparse(node)

    def has_text(self, text: str, node: ast.AST) -> bool:
        """Return whether the source of a node begins with a text."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        lines = re.split(rb"\r\n|\r|\n", self.source)
        return lines[line - 1][column:].startswith(text.encode())

    def enclosing(self, node: ast.AST) -> ast.AST:
        """Return the function, lambda, class or module in whose scope a node is.

        Decorators, defaults and annotations belong to the scope around a function.
        """
        child, parent = node, self.parents.get(node)
        while parent is not None:
            is_inside = (
                child in getattr(parent, "body", ())
                if isinstance(parent, (*DEFS, ast.ClassDef))
                else isinstance(parent, ast.Lambda) and child is parent.body
            )
            if is_inside or isinstance(parent, ast.Module):
                return parent
            child, parent = parent, self.parents.get(parent)
        return self.tree

    def function_at(self, node: ast.AST) -> Function | None:
        """Return the function in whose body a node is; None in a lambda or elsewhere."""
        return self.function_by_node.get(self.enclosing(node))

    def is_called(self, node: ast.AST) -> bool:
        """Return whether an expression is the function of a call."""
        parent = self.parents.get(node)
        return isinstance(parent, ast.Call) and parent.func is node

    def scope_at(self, node: ast.AST) -> SourceScope:
        """Return the scope in which a node is evaluated."""
        return self.scope_of(self.enclosing(node))

    def scope_of(self, node: ast.AST) -> SourceScope:
        """Return the scope of a function, lambda, class or module."""
        if node not in self._scopes:
            outer = self.scope_at(node)
            inner = outer.inner(node)
            assert isinstance(inner, SourceScope), "inner scopes are of the same class"
            self._scopes[node] = inner
        return self._scopes[node]

    def things(self, node: ast.expr, scope: Scope | None = None) -> list[Thing]:
        """Return what an expression may refer to."""
        return list((scope or self.scope_at(node)).things(node))

    def values_of(self, node: ast.expr) -> list[ast.expr]:
        """Return an expression, and what it stands for if it is a variable bound once.

        If the value is a variable in turn, that one is followed, too.  The last item is what
        all of them stand for.
        """
        found = [node]
        while isinstance(node, ast.Name):
            scope = self.scope_at(node)._scope_of(node.id)
            bindings = scope._bindings[node.id] if scope is not None else []
            value = bindings[0] if len(bindings) == 1 else None
            if not isinstance(value, ast.expr) or value in found:
                break
            node = value
            found.append(node)
        return found

    def names(self, node: ast.expr, scope: Scope | None = None) -> set[str]:
        """Return the names of Tornado that an expression may stand for."""
        if node not in self._names:
            found = self.things(node, scope)
            self._names[node] = {
                canonical(thing.name)
                for thing in found
                if thing.name and not thing.is_object
            }
        return self._names[node]


class Program:
    """The modules that are converted together.

    Args:
        sources: The source of each file.
        kept: The keys of functions that stay as they are.
        used_before: The names that modules used before they were converted, by file.
        legacy_before: The files whose tests were of Tornado 5, and are no longer.

    Attributes:
        modules: The modules that could be parsed, by file.
        unreadable: What is wrong with each of the others, and where.
    """

    def __init__(
        self,
        sources: Mapping[str, bytes],
        kept: Collection[tuple[str, int]] = frozenset(),
        used_before: Mapping[str, frozenset[str]] | None = None,
        legacy_before: Collection[str] = (),
    ) -> None:
        self.kept = kept
        self.used_before = used_before or {}
        self.legacy_before = legacy_before
        self.modules: dict[str, Module] = {}
        self.unreadable: list[tuple[str, int, str]] = []
        self._unread: list[bytes] = []
        self._by_path: dict[str, Module] = {}
        self._related: dict[str, list[Module]] = {}
        self._sources = Sources(list(sources), self._scope_in)
        for path, source in sources.items():
            try:
                module = Module(path, source, self._sources)
            except SyntaxError as exc:
                self.unreadable.append((path, exc.lineno or 0, _reason(source, exc)))
                self._unread.append(source)
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
    def unread_words(self) -> frozenset[str]:
        """The words of the sources that could not be parsed, and may import the others."""
        stems = {os.path.splitext(os.path.basename(path))[0] for path in self.modules}
        found = [set(re.findall(r"\w+", s.decode("latin-1"))) for s in self._unread]
        return frozenset().union(*(words for words in found if words & stems))

    def knows_tornado(self, module: Module) -> bool:
        """Return whether a module imports Tornado or gencoro, or a module that does."""
        if b"tornado" in module.source or b"gencoro" in module.source:
            return True
        return self._sources.leads_to_tornado(module.top.file)

    def related(self, module: Module) -> list[Module]:
        """Return a module, the modules that it imports, and those that import it."""
        start = module.top.file
        if start not in self._related:
            found = {start}
            for table in self._imports:
                pending = [start]
                while pending:
                    new = table.get(pending.pop(), set()) - found
                    found |= new
                    pending += new
            related = [self._by_path[file] for file in found if file in self._by_path]
            self._related[start] = related
        return self._related[start]

    def is_imported(self, module: Module) -> bool:
        """Return whether another module of the program imports a module."""
        return bool(self._imports[1].get(module.top.file))

    @functools.cached_property
    def _imports(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """The files that each file imports, and those that import it."""
        imported = {
            module.top.file: self._sources.imported_by(module.source, module.top.file)
            for module in self.modules.values()
        }
        importing: dict[str, set[str]] = {}
        for file, others in imported.items():
            for other in others:
                importing.setdefault(other, set()).add(file)
        return imported, importing

    def functions_of(self, module: Module, node: ast.expr) -> list[Function]:
        """Return the functions of the program that an expression may refer to."""
        nodes = [t.node for t in module.things(node) if not t.is_object]
        return [self.function_by_node[n] for n in nodes if n in self.function_by_node]

    def _scope_in(self, file: str) -> Scope | None:
        module = self._by_path.get(os.path.abspath(file))
        return module.top if module is not None else None


def _reason(source: bytes, error: SyntaxError) -> str:
    """Return why a source cannot be parsed."""
    try:
        _, lines = parse_older(source)
    except SyntaxError as exc:
        return exc.msg
    if lines:
        return "async or await is used as a name"
    return error.msg
