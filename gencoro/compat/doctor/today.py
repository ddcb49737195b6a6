"""The installed Tornado as seen in its source: modules, names, classes and parameters.

Rule: the source is read, and nothing is run or imported.  So it makes no difference
whether compat is installed.  Used by the other modules of the doctor.
"""

import ast
import functools
import importlib.machinery
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from gencoro.compat.doctor.parsing import DEFS, parse, statements

__all__ = ["Parameters", "Today"]

# A name of a module: its definition there, or the dotted name that is imported.
_Member: TypeAlias = ast.stmt | str

# The methods that create an object of a class.
_MAKERS = ("__new__", "__init__", "initialize")


class Parameters(NamedTuple):
    """The parameters of a function.

    Attributes:
        names: The names of its parameters, including ``self``.
        takes_any: Whether it has ``**kwargs``.
    """

    names: frozenset[str]
    takes_any: bool


class Today:
    """The installed Tornado, which an import would find.

    >>> today = Today()
    >>> today.has("tornado.gen.coroutine"), today.has("tornado.gen.engine")
    (True, False)
    >>> today.owners("tornado.iostream.IOStream")
    ['tornado.iostream.IOStream', 'tornado.iostream.BaseIOStream']
    """

    def __init__(self) -> None:
        self.members = functools.cache(self._members)
        self.find = functools.cache(self._find)
        self.module_of = functools.cache(self._module_of)
        self.owners = functools.cache(self._owners)
        self.path_of = functools.cache(self._path_of)

    def has(self, name: str) -> bool:
        """Return True if a module exists, or a name in a module."""
        return self.find(name) is not None

    def _module_of(self, name: str) -> str:
        """Return the longest part of a dotted name that is a module of Tornado."""
        parts = name.split(".")
        if parts[0] != "tornado":
            return ""
        for count in range(len(parts), 0, -1):
            if self.members(".".join(parts[:count])) is not None:
                return ".".join(parts[:count])
        return ""

    def _owners(self, name: str) -> list[str]:
        """Return a class of Tornado and its base classes, by their defining names."""
        own_name, node = self.find(name) or ("", None)
        if not isinstance(node, ast.ClassDef):
            return []
        owners = [own_name]
        for base in node.bases:
            base_name = self._dotted(base, self.module_of(own_name))
            # A class of the standard library is named, and no more.
            found = self.owners(base_name) or [base_name]
            owners += [o for o in found if o not in owners]
        return owners

    def parameters(self, name: str) -> Parameters | None:
        """Return the parameters of a function or class; None if it is neither."""
        found = self.find(name)
        if found is None:
            return None
        if isinstance(found[1], ast.ClassDef):
            makers = [self.find(f"{found[0]}.{maker}") for maker in _MAKERS]
            nodes = [maker[1] for maker in makers if maker is not None]
        else:
            nodes = [found[1]]
        functions = [n for n in nodes if isinstance(n, DEFS)]
        if not functions:
            return None
        return Parameters(
            frozenset(name for f in functions for name in _parameter_names(f)),
            any(function.args.kwarg for function in functions),
        )

    def _find(self, name: str) -> tuple[str, ast.stmt | None] | None:
        """Return the defining name of a name, and its definition.

        The definition is None for names from outside Tornado.
        """
        module = self.module_of(name)
        if not module or name == module:
            return (name, None) if module else None
        first, *rest = name.removeprefix(module + ".").split(".")
        members = self.members(module) or {}
        if "*" in members:
            return name, None
        member = members.get(first)
        if isinstance(member, str):
            full_name = ".".join([member, *rest])
            if member.partition(".")[0] != "tornado":
                return full_name, None
            return self.find(full_name)
        if member is None or not rest:
            return None if member is None else (f"{module}.{first}", member)
        if not isinstance(member, ast.ClassDef) or len(rest) > 1:
            return None
        for owner in self.owners(f"{module}.{first}"):
            found = self.find(owner)
            if found is not None and isinstance(found[1], ast.ClassDef):
                node = _names_of(found[1].body).get(rest[0])
                if isinstance(node, ast.stmt):
                    return f"{owner}.{rest[0]}", node
        return None

    def _members(self, module: str) -> dict[str, _Member] | None:
        """Return the names of a module; None if there is no such module.

        A module that is not written in Python has ``*``: it may have any name.
        """
        parent, _, _name = module.rpartition(".")
        spec = importlib.machinery.PathFinder.find_spec(module, self.path_of(parent))
        if spec is None:
            return None
        if not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return {"*": module}
        names = _names_of(parse(spec.loader.get_data(spec.loader.path)).body)
        maker = names.get("__getattr__")
        if isinstance(maker, ast.FunctionDef):
            for node in ast.walk(maker):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    names.setdefault(node.value, maker)
        return names

    def _path_of(self, package: str) -> Sequence[str] | None:
        if not package:
            return None
        parent, _, _name = package.rpartition(".")
        spec = importlib.machinery.PathFinder.find_spec(package, self.path_of(parent))
        return spec.submodule_search_locations or () if spec is not None else ()

    def _dotted(self, node: ast.expr, module: str) -> str:
        """Return the full name of a name or attribute in the source of a module."""
        if isinstance(node, ast.Attribute):
            return f"{self._dotted(node.value, module)}.{node.attr}"
        name = node.id if isinstance(node, ast.Name) else "?"
        member = (self.members(module) or {}).get(name)
        return member if isinstance(member, str) else f"{module}.{name}"


def _names_of(body: list[ast.stmt]) -> dict[str, _Member]:
    """Return the definitions of statements by name; the last one of a name counts."""
    names: dict[str, _Member] = {}
    for node in statements(body):
        if isinstance(node, (*DEFS, ast.ClassDef)):
            names[node.name] = node
        elif isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.For, ast.With)):
            for child in ast.walk(node):
                if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                    names.setdefault(child.id, node)
    return names


def _parameter_names(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
) -> list[str]:
    args = function.args
    return [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
