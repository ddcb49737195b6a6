"""Starts recording in a child process, when it imports Tornado or gencoro.

Python imports the first ``sitecustomize`` on the path when it starts.  The program's own one,
if any, follows.  A process that uses neither package starts as fast as ever, and imports
nothing that it would not import itself.
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

__all__: list[str] = []


class _Starter(importlib.abc.MetaPathFinder):
    """Starts recording when the first of two packages has been loaded."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in ("tornado", "gencoro"):
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            _start_after(spec.loader)
        return spec


def _start_after(loader: Any) -> None:
    """Start recording when the loader has executed its module, a package without names.

    Before that, importing gencoro would import the package again.
    """
    plain = loader.exec_module

    def exec_module(module: types.ModuleType) -> None:
        del loader.exec_module
        plain(module)
        if importlib.util.find_spec("gencoro") is not None:  # not another environment
            recording = importlib.import_module("gencoro.recording")
            recording.start(os.environ[recording.RECORD])

    loader.exec_module = exec_module


def _import_next() -> None:
    """Import the program's own sitecustomize, if it has one."""
    ours = sys.modules.pop(__name__)
    here = os.path.dirname(__file__)
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
    try:
        importlib.import_module(__name__)
    except ModuleNotFoundError as exc:
        if exc.name != __name__:
            raise
    finally:
        sys.modules.setdefault(__name__, ours)


# Only Python itself gives it this name.
if __name__ == "sitecustomize":
    sys.meta_path.insert(0, _Starter())
    _import_next()
