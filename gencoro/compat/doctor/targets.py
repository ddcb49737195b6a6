"""Finds the Python sources for a path, or for the name of a module or distribution.

Rule: a package is found without importing it.  Used by `gencoro.compat.doctor`.
"""

import importlib.metadata
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec

__all__ = ["BadTarget", "files_of"]

# As much of a ``#!`` line as Linux reads.
SHEBANG_BYTES = 256


class BadTarget(Exception):
    """The target does not exist."""


def files_of(target: str) -> Iterator[str]:
    """Return the files of a target.

    Raises:
        BadTarget: the target does not exist.
    """
    if target.endswith(".ipynb"):
        raise BadTarget(
            f"{target!r} is a notebook; convert it to a script first, with "
            "`jupyter nbconvert --to script`"
        )
    if os.path.isfile(target):
        return iter([target])
    if os.path.isdir(target):
        return _files_in(target)
    if not target or os.sep in target or "/" in target or target.endswith(".py"):
        raise BadTarget(f"{target!r}: there is no such file or folder")
    found = list(_files_of_module(target)) or _files_of_distribution(target)
    if not found:
        raise BadTarget(
            f"{target!r} is not a file or a folder, and not a module or distribution that "
            "is installed with its source"
        )
    return iter(found)


def _files_in(folder: str) -> Iterator[str]:
    """Yield the sources in a folder, recursively, with the scripts that start with ``#!``.

    Hidden folders are skipped, and so are virtual environments.
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
            # Opening a pipe would block.
            is_other = os.path.exists(path) and not os.path.isfile(path)
            if not is_other and (name.endswith(".py") or _is_script(path)):
                yield path


def _is_script(path: str) -> bool:
    """Return True if a file has no suffix, and starts with a ``#!`` of Python."""
    if "." in os.path.basename(path):
        return False
    try:
        with open(path, "rb") as opened:
            start = opened.read(SHEBANG_BYTES).partition(b"\n")[0]
    except OSError:  # such as a link to nothing
        return False
    return start.startswith(b"#!") and b"python" in start


def _files_of_module(name: str) -> Iterator[str]:
    """Yield the sources of a module or a package, if it exists."""
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
    """Return the sources of a distribution; an empty list if it does not exist."""
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
    """Return a path relative to the current folder, if it is inside that."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative
