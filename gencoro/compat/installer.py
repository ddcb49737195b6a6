"""Patches Tornado and the standard library according to the table, and undoes it.

Rule: all or nothing.  A module that is already imported is patched by
`gencoro.compat.install`, others when they are imported; if one row fails, everything is
restored and the error is raised.
"""

import asyncio
import contextlib
import dis
import functools
import importlib
import importlib.abc
import importlib.machinery
import inspect
import sys
import threading
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

# The base of the other replacements must be imported before anything is patched.  So must
# tornado.iostream: it and the modules that its replacements need import each other.
import tornado.iostream  # noqa: F401

import gencoro.compat.modules.ioloop  # noqa: F401
from gencoro import deprecated, futures
from gencoro.compat.calls.current_task import with_coroutines
from gencoro.compat.calls.other_threads import loop_of_program
from gencoro.compat.names import INSTEAD, PYTHON, TABLE, TORNADO, Row

__all__ = ["install", "installed", "uninstall"]

# The rows of each module, by their path in it.
_Rows: TypeAlias = dict[str, dict[str, Row]]

# Looked up once: compat replaces it while installed.
_current_task = asyncio.current_task

# The previous value of a name that did not exist.
_MISSING = object()

# The bytecode with which `from ... import ...` gets a name.
_IMPORT_FROM = dis.opmap["IMPORT_FROM"]


def install(python: bool = True) -> None:
    """Let legacy Tornado code run in this process.

    Call it before the legacy modules are imported.  Calling it again has no effect, except
    that ``python=True`` adds what an earlier call with ``python=False`` left out.

    Args:
        python: Whether to also put back what the standard library has removed, such as
            ``collections.Mapping``.  All code in the process sees these names.

    >>> import gencoro.compat
    >>> gencoro.compat.install()
    >>> from tornado import gen, stack_context
    >>> gen.Task, stack_context.wrap  # doctest: +ELLIPSIS
    (<class 'gencoro.compat.modules.gen.Task'>, <function wrap at ...>)
    >>> gencoro.compat.uninstall()
    """
    global _installation
    with _lock:
        if _installation is None:
            new = _Installation()
            new.begin(python)
            _installation = new
        elif python:
            _installation.serve_python()


def uninstall() -> None:
    """Restore Tornado and the standard library as they were before `install`.

    Legacy modules keep what they have imported, and what they have patched.
    """
    global _installation
    with _lock:
        if _installation is not None:
            _installation.end()
            _installation = None


def installed() -> bool:
    """Return True if compat is installed, with or without its standard library part."""
    return _installation is not None


class _Installation:
    """What `install` has changed."""

    def __init__(self) -> None:
        self._rows: _Rows = {}
        self._finder = _Finder(self._rows, self.patch)
        # (owner, name, previous value), in the order of the changes.
        self._changes: list[tuple[Any, str, Any]] = []

    def begin(self, python: bool) -> None:
        sys.meta_path.insert(0, self._finder)
        deprecated.is_quiet = True
        self._set(futures, "loop_of_program", loop_of_program)
        try:
            self.serve(_OF_TORNADO)
            if python:
                self.serve_python()
        except BaseException:
            self.end()
            raise

    def serve_python(self) -> None:
        """Patch the standard library."""
        self.serve(_OF_PYTHON)
        if asyncio.current_task is _current_task:
            for owner in (asyncio, asyncio.tasks):
                self._set(owner, "current_task", with_coroutines(_current_task))

    def serve(self, rows: _Rows) -> None:
        """Patch the modules of these rows, now or when they are imported."""
        if rows.keys() <= self._rows.keys():
            return
        done = len(self._changes)
        # Modules imported while resolving the rows are patched by the finder.
        loaded = [name for name in rows if name in sys.modules]
        self._rows.update(rows)
        try:
            for name in loaded:
                self.patch(sys.modules[name])
        except BaseException:
            self._undo(done)
            for name in rows:
                del self._rows[name]
            raise

    def end(self) -> None:
        """Undo everything, even if `begin` has failed."""
        self._undo(0)
        deprecated.is_quiet = False
        with contextlib.suppress(ValueError):  # the program may have removed it
            sys.meta_path.remove(self._finder)
        for name in self._finder.made:
            if sys.modules.pop(name, None) is not None:
                parent, _, own_name = name.rpartition(".")
                vars(sys.modules[parent]).pop(own_name, None)

    def patch(self, module: types.ModuleType) -> None:
        """Patch a module that has been loaded."""
        done = len(self._changes)
        try:
            rows = self._rows[module.__name__]
            for path, row in rows.items():
                *classes, name = path.split(".")
                owner = functools.reduce(_attribute, classes, module)
                if owner is None:  # a class that a later Tornado has removed
                    continue
                if row.how == "put" or (row.how == "add" and not _has(owner, name)):
                    self._set(owner, name, _at(row.place))
                elif row.how == "wrap":
                    before = inspect.getattr_static(owner, name)
                    self._set(owner, name, _at(row.place)(before))
                elif row.how == "base":
                    self._add_base(_at(row.place), getattr(owner, name))
                elif row.how == "none" and classes:
                    self._set(owner, name, _Refused(f"{module.__name__}.{path}"))
            if any(row.how == "none" for row in rows.values()):
                self._set(module, "__getattr__", _refuser(module))
        except BaseException:
            self._undo(done)
            raise

    def _set(self, owner: Any, name: str, value: Any) -> None:
        # A module that we created is removed as a whole, and stays complete for its users.
        if getattr(owner, "__name__", None) not in self._finder.made:
            self._changes.append((owner, name, vars(owner).get(name, _MISSING)))
        setattr(owner, name, value)

    def _add_base(self, cls: type, base: type) -> None:
        self._changes.append((cls, "__bases__", cls.__bases__))
        bases = [old for old in cls.__bases__ if not issubclass(base, old)]
        cls.__bases__ = (*bases, base)

    def _undo(self, count: int) -> None:
        """Undo all changes except the first ``count``."""
        while len(self._changes) > count:
            owner, name, before = self._changes.pop()
            if before is not _MISSING:
                setattr(owner, name, before)
            elif name in vars(owner):
                delattr(owner, name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the modules of the table: patched ones, and ones that were removed.

    Args:
        rows: The rows of each module.
        patch: Called with each module when it has been loaded.

    Attributes:
        made: The names of the modules that today's Tornado does not have.
    """

    def __init__(self, rows: _Rows, patch: Callable[[types.ModuleType], None]) -> None:
        self._rows = rows
        self._patch = patch
        self.made: list[str] = []

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        row = TABLE.get(fullname)
        if row is not None and row.how == "none":
            raise ImportError(_why_not(fullname), name=fullname)
        if row is not None:
            return importlib.machinery.ModuleSpec(fullname, self)
        if fullname not in self._rows:
            return None
        for finder in sys.meta_path:
            if finder is not self:
                spec = finder.find_spec(fullname, path, target)
                if spec is not None and spec.loader is not None:
                    spec.loader = _PatchingLoader(spec.loader, self._patch)
                    return spec
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        row = TABLE[spec.name]
        text = f"gencoro's replacement for {spec.name} of Tornado {row.last}."
        return types.ModuleType(spec.name, text)

    def exec_module(self, module: types.ModuleType) -> None:
        self.made.append(module.__name__)
        self._patch(module)


class _PatchingLoader(importlib.abc.Loader):
    """Loads a module with its own loader, and then patches it."""

    def __init__(
        self, loader: importlib.abc.Loader, patch: Callable[[types.ModuleType], None]
    ) -> None:
        self._loader = loader
        self._patch = patch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)  # such as get_source

    def create_module(
        self, spec: importlib.machinery.ModuleSpec
    ) -> types.ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        self._loader.exec_module(module)
        assert module.__spec__ is not None, "its import has set it"
        module.__spec__.loader = module.__loader__ = self._loader
        self._patch(module)


def _has(owner: Any, name: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # asyncio tells that it will remove a name
        return hasattr(owner, name)


def _attribute(owner: Any, name: str) -> Any:
    return getattr(owner, name, None)


def _at(place: str) -> Any:
    """Return the object at a place; a static method stays one."""
    row = TABLE.get(place.replace(":", "."))
    if row is not None and row.how == "put":  # it may not be patched yet
        return _at(row.place)
    module, _, path = place.partition(":")
    found: Any = importlib.import_module(module)
    for name in filter(None, path.split(".")):
        if isinstance(found, type):
            found = inspect.getattr_static(found, name)
        else:
            found = getattr(found, name)
    return found


def _why_not(name: str) -> str:
    """Return the error text for a name that is not served."""
    return (
        f"{name} was last in Tornado {TABLE[name].last}, and gencoro.compat does not "
        f"serve it; {INSTEAD[name]}"
    )


class _Refused:
    """A missing attribute of a class, whose error says what to use instead."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        raise AttributeError(_why_not(self._name))


def _refuser(module: types.ModuleType) -> Callable[[str], Any]:
    """Return a module's ``__getattr__``, whose error says what to use instead."""
    before = getattr(module, "__getattr__", None)

    def __getattr__(name: str) -> Any:
        full_name = f"{module.__name__}.{name}"
        row = TABLE.get(full_name)
        if row is not None and row.how == "none":
            # `from ... import` would hide the text of an AttributeError.
            caller = sys._getframe(1)
            if caller.f_code.co_code[caller.f_lasti] == _IMPORT_FROM:
                raise ImportError(_why_not(full_name), name=module.__name__)
            raise AttributeError(_why_not(full_name), name=name, obj=module)
        if before is not None:
            return before(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    return __getattr__


def _rows_by_module(table: dict[str, Row]) -> _Rows:
    by_module: _Rows = {}
    for name, row in table.items():
        module = _module_of(name)
        if row.how == "module":
            by_module.setdefault(module, {})
        elif name != module:
            by_module.setdefault(module, {})[name.removeprefix(module + ".")] = row
    return by_module


def _module_of(name: str) -> str:
    """Return the module of a dotted name of Tornado or the standard library."""
    parts = name.split(".")
    if parts[0] != "tornado":
        return parts[0]
    return ".".join(parts[: 3 if parts[1] == "platform" else 2])


_lock = threading.RLock()
_installation: _Installation | None = None
_OF_TORNADO = _rows_by_module(TORNADO)
_OF_PYTHON = _rows_by_module(PYTHON)
