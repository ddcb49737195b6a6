"""Installs compat in a child process when it imports Tornado, and records it if asked to.

Python imports the first ``sitecustomize`` on the path when it starts.  The program's own one,
if any, follows.  A process that does not use Tornado does not import it, and a Python of another
environment, which may be an older one, is left alone.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Sequence
from typing import Any

# Quoted, for the Python 3 of another environment may be an old one.
__all__: "list[str]" = []

HERE = os.path.dirname(os.path.abspath(__file__))

# Set by `run_children_alike`: the environment to do it in, and the file to record in.
PREFIX, _, PATH = os.environ.get("GENCORO_RUN", "").partition(os.pathsep)

# gencoro's own coroutines can be recorded without Tornado's.
PACKAGES = ("tornado", "gencoro") if PATH else ("tornado",)


class _Starter(importlib.abc.MetaPathFinder):
    """Starts when the first of the packages has been loaded."""

    def find_spec(
        self,
        fullname: str,
        path: "Sequence[str] | None",
        target: "types.ModuleType | None" = None,
    ) -> "importlib.machinery.ModuleSpec | None":
        if fullname not in PACKAGES:
            return None
        sys.meta_path.remove(self)
        _find_this_gencoro()
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            _start_after(spec.loader)
        return spec


def _find_this_gencoro() -> None:
    """Have the parent's gencoro on the path, which may have been beside the command."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
    found = importlib.util.find_spec("gencoro")
    expected = os.path.join(root, "gencoro", "__init__.py")
    if found is None or found.origin != expected:
        sys.path.insert(0, root)


def _start_after(loader: Any) -> None:
    """Start when the loader has executed its module, a package without names.

    Before that, importing gencoro would import the package again.
    """
    plain = loader.exec_module

    def exec_module(module: types.ModuleType) -> None:
        del loader.exec_module
        plain(module)
        if PATH:
            importlib.import_module("gencoro.recording").try_start(PATH)
        elif "gencoro.compat" not in sys.modules:  # which installs it by itself
            importlib.import_module("gencoro.compat").install()

    loader.exec_module = exec_module


def _import_next() -> None:
    """Import the program's own sitecustomize, if it has one."""
    ours = sys.modules.pop(__name__)
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != HERE]
    try:
        importlib.import_module(__name__)
    except ModuleNotFoundError as exc:
        if exc.name != __name__:
            raise
    finally:
        sys.modules.setdefault(__name__, ours)


# Only Python itself gives it this name.
if __name__ == "sitecustomize":
    if sys.prefix == PREFIX:
        sys.meta_path.insert(0, _Starter())
    _import_next()
