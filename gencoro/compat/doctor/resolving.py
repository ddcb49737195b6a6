"""Resolves names in a module: to functions and classes of the program, or to dotted names.

Rule: a name of gencoro stands for Tornado's, and a name of any other module that is not in
the program stands for itself, so that the converter asks for one dotted name only.

The public face of `Scope`.  Used by `gencoro.porting`.
"""

import ast
import functools
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from gencoro.compat.doctor.naming import Scope
from gencoro.compat.doctor.parsing import DEFS
from gencoro.compat.doctor.project import Project, imports_tornado
from gencoro.compat.doctor.rows import TODAY
from gencoro.compat.doctor.things import Thing

__all__ = ["ProgramModules", "SourceScope", "canonical"]

# A copy of Tornado inside of a package, such as salt.ext.tornado.
_VENDORED = re.compile(
    r"[\w.]+\.(?:ext|extern|_?vendor(?:ed)?|minitornado)\.tornado\.(.*)"
)

_Lookup: TypeAlias = Callable[[str], "Scope | None"]
_Results: TypeAlias = Callable[[ast.AST], list[Thing]]


@functools.cache
def canonical(name: str) -> str:
    """Return the defining name of a dotted name of Tornado; any other name as it is.

    >>> canonical("tornado.coroutine"), canonical("tornado.web.gen.coroutine")
    ('tornado.gen.coroutine', 'tornado.gen.coroutine')
    """
    if not name.startswith("tornado."):
        return name
    if name.count(".") == 1 and not TODAY.has(name):
        # gencoro hands out the names of its gen.
        name = f"tornado.gen.{name.removeprefix('tornado.')}"
    found = TODAY.find(name)
    return found[0] if found is not None else name


class ProgramModules(Project):
    """The modules of a program, whose sources are given.

    Args:
        files: The files of the program.
        lookup: Returns the scope of a module of the program.
        results: Returns what a call of a function of the program may return.
    """

    def __init__(self, files: list[str], lookup: _Lookup, results: _Results) -> None:
        super().__init__(files, TODAY, lambda _modules, _module, _file: frozenset())
        self._lookup = lookup
        self.results = results
        self.is_readable = functools.cache(self._is_readable)

    def _is_readable(self, file: str) -> bool:
        """Return whether a module's names are looked up in its source.

        Those of an installed package are if it has to do with Tornado.
        """
        if self._lookup(file) is not None or file in self._files:
            return True
        try:
            with open(file, "rb") as opened:
                return imports_tornado(opened.read())
        except OSError:
            return False

    def _scope_in(self, file: str) -> Scope | None:
        return self._lookup(file) or super()._scope_in(file)


class SourceScope(Scope):
    """A scope whose names lead to the program, to Tornado, or to any other module."""

    modules: ProgramModules

    def known_module(self, module: str, level: int) -> str | None:
        """Return the name of an imported module unless it is one of the program."""
        if level:
            return None
        vendored = _VENDORED.match(f"{module}.")
        if vendored is not None:
            return f"tornado.{vendored[1]}".rstrip(".")
        file = self.modules.file_of(module, 0, self.file)
        if file is not None and self.modules.is_readable(file):
            return None
        top, _, rest = module.partition(".")
        return f"tornado.{rest}".rstrip(".") if top == "gencoro" else module

    def things(self, node: ast.expr) -> Iterator[Thing]:
        """Yield what an expression may refer to; a copy of Tornado counts as Tornado."""
        is_attribute = isinstance(node, ast.Attribute)
        vendored = _VENDORED.match(_dotted(node)) if is_attribute else None
        if vendored is not None:
            yield Thing(f"tornado.{vendored[1]}")
        elif isinstance(node, ast.Call) and _dotted(node.func) == "super" and node.args:
            yield from self._after(node.args[0])
        else:
            yield from super().things(node)

    def _after(self, cls: ast.expr) -> Iterator[Thing]:
        """Yield objects of the base classes of a class, as ``super(cls, self)`` does."""
        for thing in self.things(cls):
            if isinstance(thing.node, ast.ClassDef) and isinstance(thing.home, Scope):
                for base in thing.home.own_bases(thing.node):
                    yield base._replace(is_object=True)

    def things_of_call(self, callee: Thing) -> Iterator[Thing]:
        """Yield what a call returns: objects of classes, also of those not read."""
        if isinstance(callee.node, DEFS):
            yield from self.modules.results(callee.node)
        elif callee.name.endswith((".importorskip", ".import_module")):
            return  # the module is known by its name
        elif callee.name and not callee.name.startswith("tornado."):
            yield Thing(callee.name, is_object=True)
        else:
            yield from super().things_of_call(callee)

    def things_of_parameter(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, name: str
    ) -> Iterator[Thing]:
        """Yield what a parameter is: `self`, or an object of the class it is annotated with."""
        yield from super().things_of_parameter(node, name)
        home = self.parent
        parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        for parameter in parameters:
            if parameter.arg != name or parameter.annotation is None or home is None:
                continue
            for thing in home.things(_class_named(parameter.annotation)):
                if isinstance(thing.node, ast.ClassDef) and not thing.is_object:
                    yield thing._replace(is_object=True)


def _dotted(node: ast.expr) -> str:
    """Return a dotted name; empty for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def _class_named(annotation: ast.expr) -> ast.expr:
    """Return the expression of a class in an annotation, which may be a string."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return annotation
    return annotation
