"""The modules of the project that is scanned, and of installed packages that it imports.

Rule: a module is read only when a name imported from it is looked up, and only if it
mentions Tornado itself, or imports a module that may.  Nothing is imported.

Used by `gencoro.compat.doctor.scan`.
"""

import ast
import functools
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator

from gencoro.compat.doctor.naming import Modules, Scope
from gencoro.compat.doctor.parsing import parse_older
from gencoro.compat.doctor.today import Today

__all__ = ["Project", "imports_tornado"]

# How many modules are kept in memory.
KEPT = 64

_OF_TORNADO = re.compile(
    rb"^[ \t]*(?:from|import)[ \t]+(?:[\w., \t]*,[ \t]*)?(?:tornado|zmq)\b"
    rb"|\b(?:importorskip|import_module|__import__)\(\s*['\"](?:tornado|zmq)\b",
    re.MULTILINE,
)

# An import statement, up to the end of its line or parentheses.
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+[.\w]+[ \t]+import[ \t]+(?:\([^)]*\)|.*)|import[ \t]+.*)",
    re.MULTILINE,
)

# Packages that are not searched: they have nothing of legacy Tornado.
_NOT_SEARCHED = sys.stdlib_module_names | {"gencoro", "tornado", "zmq"}


def imports_tornado(source: bytes) -> bool:
    """Return True if a source imports Tornado, or a package that re-exports it.

    >>> imports_tornado(b"import os, tornado.web"), imports_tornado(b"# tornado")
    (True, False)
    """
    return _OF_TORNADO.search(source) is not None


class _NoModules:
    """The modules of a project that has none."""

    def file_of(self, name: str, level: int, importer: str) -> str | None:
        """Return None: there is no such module."""
        return None

    def scope_in(self, file: str) -> Scope | None:
        """Return None: there is no such module."""
        return None


class Project:
    """Finds the modules that a scanned module imports.

    Args:
        files: The files of the project.
        today: The installed Tornado.
        find_dispensable: Returns the imports of a module that do not count.
    """

    def __init__(
        self,
        files: Iterable[str],
        today: Today,
        find_dispensable: Callable[[Modules, ast.Module, str], frozenset[ast.alias]],
    ) -> None:
        self._leading: set[str] | None = None
        self._files = {os.path.abspath(file) for file in files}
        self._folders = {os.path.dirname(file) for file in self._files}
        self._today = today
        self._find_dispensable = find_dispensable
        self._roots = sorted({self._root_of(folder) for folder in self._folders})
        self._file_by_module: dict[tuple[str, str], str | None] = {}
        self.scope_in = functools.lru_cache(KEPT)(self._scope_in)

    def file_of(self, name: str, level: int, importer: str) -> str | None:
        """Return the file of an imported module, or None if it is not to be read.

        Args:
            level: The dots before the name in ``from ... import``.
            importer: The file with the import.
        """
        if not importer:
            return None
        folder = os.path.dirname(os.path.abspath(importer))
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        key = (folder if level else self._root_of(folder), name)
        if key not in self._file_by_module:
            self._file_by_module[key] = (
                self._file_in(folder, name) if level else self._absolute(key[0], name)
            )
        found = self._file_by_module[key]
        return None if found == os.path.abspath(importer) else found

    def leads_to_tornado(self, file: str) -> bool:
        """Return True if a module imports Tornado, directly or through others."""
        if self._leading is None:
            self._leading = self._find_leading()
        return bool(file) and os.path.abspath(file) in self._leading

    def _find_leading(self) -> set[str]:
        importers: dict[str, list[str]] = {}
        leading = []
        for file in self._files:
            try:
                with open(file, "rb") as opened:
                    source = opened.read()
            except OSError:
                continue
            if imports_tornado(source):
                leading.append(file)
            for imported in self._imported_in(source, file):
                importers.setdefault(imported, []).append(file)
        found = set(leading)
        while leading:
            new = [f for f in importers.get(leading.pop(), []) if f not in found]
            found.update(new)
            leading += new
        return found

    def _imported_in(self, source: bytes, file: str) -> Iterator[str]:
        """Yield the files of the project that a module may import, as its text says."""
        for match in _IMPORT.finditer(source):
            text = match[0].decode(errors="replace")
            words = re.findall(r"[\w.]+", text.replace(" import ", " "))
            if len(words) < 2:
                continue  # not an import, but a line of text
            first, *names = words[1:]
            level = len(first) - len(first.lstrip("."))
            module = first.lstrip(".")
            is_from = text.lstrip().startswith("from")
            inner = (
                [f"{module}.{name}".lstrip(".") for name in names] if is_from else names
            )
            for name in [module, *inner]:
                found = self.file_of(name, level, file)
                if found in self._files:
                    yield found

    def _absolute(self, root: str, name: str) -> str | None:
        top = name.partition(".")[0]
        for folder in [root, *self._roots] if top != "tornado" else ():
            found = self._file_in(folder, name)
            if found is not None:
                return found
            if folder == root and top in sys.stdlib_module_names:
                return None  # the folder of another script does not shadow it
        return None if top in _NOT_SEARCHED else self._installed(name)

    def _file_in(self, folder: str, name: str) -> str | None:
        """Return the file of a module of the project in a folder."""
        path = os.path.join(folder, *name.split(".")) if name else folder
        for file in (path + ".py", os.path.join(path, "__init__.py")):
            if file in self._files:
                return file
        return None

    def _root_of(self, folder: str) -> str:
        """Return the folder that contains the outermost package of a folder."""
        while os.path.join(folder, "__init__.py") in self._files:
            folder = os.path.dirname(folder)
        return folder

    @staticmethod
    def _installed(name: str) -> str | None:
        """Return the source of an installed module.

        Finders are not asked: some of them import the packages that contain it.
        """
        for folder in sys.path:
            path = os.path.join(folder, *name.split("."))
            for file in (path + ".py", os.path.join(path, "__init__.py")):
                if os.path.isfile(file):
                    return file
        return None

    def _scope_in(self, file: str) -> Scope | None:
        """Return the scope of a module, or None if nothing of Tornado is in it."""
        try:
            with open(file, "rb") as opened:
                source = opened.read()
            if file not in self._files and not imports_tornado(source):
                return None
            module, _ = parse_older(source)
            # Looked up without other modules, which may need this one.
            ignored = self._find_dispensable(_NoModules(), module, file)
        except (OSError, RecursionError, SyntaxError):
            return None
        return Scope(module, None, self._today, self, file, ignored)
