"""Finds the Python sources for a path, or for the name of a module or distribution.

Rule: a package is found without importing it.  Used by `gencoro.compat.doctor`.
"""

import importlib.metadata
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec

__all__ = ["BadTarget", "files_of"]


class BadTarget(Exception):
    """There is nothing to look at by that name."""


def files_of(target: str) -> Iterator[str]:
    """Give the files of a target.

    Raises:
        BadTarget: there is none.
    """
    if os.path.isfile(target):
        return iter([target])
    if os.path.isdir(target):
        return _files_in(target)
    if not target or os.sep in target or "/" in target or target.endswith(".py"):
        raise BadTarget(f"{target!r}: there is no such file or folder")
    found = list(_files_of_module(target)) or _files_of_distribution(target)
    if not found:
        raise BadTarget(
            f"{target!r} is no file or folder, and no module or distribution that is "
            "installed here with its source"
        )
    return iter(found)


def _files_in(folder: str) -> Iterator[str]:
    """Give a folder's sources, and those in folders of it.

    Hidden folders are left out, and environments of Python, which have code of others.
    """
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith((".", "__pycache__"))
            and not os.path.exists(os.path.join(parent, name, "pyvenv.cfg"))
        )
        for name in sorted(files):
            path = os.path.join(parent, name)
            # A pipe of that name would be waited for.
            is_other = os.path.exists(path) and not os.path.isfile(path)
            if name.endswith(".py") and not is_other:
                yield path


def _files_of_module(name: str) -> Iterator[str]:
    """Give the sources of a module or a package; nothing if there is none."""
    spec: ModuleSpec | None = None
    path: Sequence[str] | None = None
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        return
    for count in range(1, len(parts) + 1):
        spec = _spec(".".join(parts[:count]), path)
        if spec is None or (spec.submodule_search_locations is None and parts[count:]):
            return
        path = list(spec.submodule_search_locations or ())
    if path:
        for folder in path:
            yield from map(_from_here, _files_in(folder))
    elif spec is not None and spec.has_location and (spec.origin or "").endswith(".py"):
        yield _from_here(spec.origin or "")


def _spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    # Not importlib.util.find_spec, which imports the parents.
    for finder in sys.meta_path:
        spec = finder.find_spec(name, path)
        if spec is not None:
            return spec
    return None


def _files_of_distribution(name: str) -> list[str]:
    """Return the sources of a distribution; none if there is none."""
    try:
        distribution = importlib.metadata.distribution(name)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return []
    modules = (distribution.read_text("top_level.txt") or "").split()
    files = {
        _from_here(str(file.locate()))
        for file in distribution.files or ()
        if file.suffix == ".py" and not file.name.startswith("__editable__")
    }
    for module in modules:
        files.update(_files_of_module(module))
    return sorted(files)


def _from_here(path: str) -> str:
    """Return a path as seen from the current folder, if it is in that."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative
