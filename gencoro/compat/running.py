"""Runs a script or a module as Python does, with legacy Tornado code allowed.

Rule: the program sees what it would see if Python had run it: its name, its arguments, its
folder on the path, and no frame of ours in a traceback.
"""

import io
import os
import runpy
import sys
import types
import zipfile
from collections.abc import Callable
from typing import Any

import tornado.autoreload

from gencoro.compat.installer import install

__all__ = ["run_module", "run_script"]


def run_script(path: str, args: list[str]) -> None:
    """Run a file, or a folder with a ``__main__.py``, as ``python path args`` does.

    Raises:
        SystemExit: the program has ended itself, or failed; its traceback is printed.
    """
    if os.path.isfile(path) and not zipfile.is_zipfile(path):
        sys.path[0] = os.path.dirname(os.path.abspath(path))
        _run([path, *args], lambda: _exec(os.path.abspath(path)))
    else:
        # runpy puts the folder in the place of this.
        del sys.path[0]
        _run([path, *args], lambda: runpy.run_path(path, run_name="__main__"))


def run_module(name: str, args: list[str]) -> None:
    """Run a module, or a package's ``__main__``, as ``python -m name args`` does.

    Raises:
        SystemExit: the program has ended itself, or failed; its traceback is printed.
    """
    sys.path[0] = os.getcwd()
    _run(
        [name, *args],
        lambda: runpy.run_module(name, run_name="__main__", alter_sys=True),
    )


def _run(argv: list[str], run: Callable[[], Any]) -> None:
    install()
    _restart_like_this()
    sys.argv[:] = argv
    try:
        run()
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as exc:
        exc.__traceback__ = _of_program(exc.__traceback__)
        sys.excepthook(type(exc), exc, exc.__traceback__)
        sys.exit(1)


def _exec(path: str) -> None:
    """Run a file as the main module, which stays that, as Python has it."""
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = path
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    exec(code, vars(main))  # noqa: S102 (to run it is what we were asked for)


def _restart_like_this() -> None:
    """Have Tornado's autoreload run us again, and not the program alone."""
    # What its own command line does; there is no public way.
    vars(tornado.autoreload).update(
        _autoreload_is_main=True, _original_argv=sys.orig_argv[1:], _original_spec=None
    )


def _of_program(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """Leave out the frames above the program's own."""
    rest = traceback
    while rest is not None and rest.tb_frame.f_globals.get("__name__") in (
        __name__,
        "runpy",
    ):
        rest = rest.tb_next
    return rest or traceback
