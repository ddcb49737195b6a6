"""Runs a script or a module as Python does, with compat installed.

Rule: the program sees the same as under plain Python: its name, its arguments, its folder
on the path, and no frames of gencoro in a traceback.
"""

import builtins
import importlib.util
import io
import multiprocessing.spawn
import os
import runpy
import sys
import types
import zipfile
from typing import Any

import tornado.autoreload

from gencoro.compat.installer import install
from gencoro.compat.startup import run_children_alike

__all__ = ["MAIN", "run_module", "run_script", "spawn_like_this"]

# The environment variable that tells spawned processes what is being run: "file:" and a
# path, or "module:" and a name.
MAIN = "GENCORO_COMPAT_MAIN"

# The files whose frames are above those of the program.
_ABOVE_PROGRAM = {
    "<frozen runpy>",
    runpy.__file__,
    __file__,
    os.path.join(os.path.dirname(os.path.dirname(__file__)), "__main__.py"),
}


def run_script(path: str, args: list[str]) -> None:
    """Run a file, or a folder with a ``__main__.py``, as ``python path args`` does.

    Raises:
        SystemExit: the program has exited.
    """
    _prepare([path, *args], f"file:{os.path.abspath(path)}")
    if os.path.isfile(path) and not zipfile.is_zipfile(path):
        sys.path[0] = os.path.dirname(os.path.abspath(path))
        _exec(os.path.abspath(path))
    else:
        # runpy inserts the folder instead.
        del sys.path[0]
        runpy.run_path(path, run_name="__main__")


def run_module(name: str, args: list[str]) -> None:
    """Run a module, or a package's ``__main__``, as ``python -m name args`` does.

    Raises:
        SystemExit: there is no such module, or the program has exited.
    """
    _prepare([name, *args], f"module:{name}")
    sys.path[0] = os.getcwd()
    try:
        is_there = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its package does not exist
        is_there = False
    if not is_there:
        sys.exit(f"{sys.executable}: No module named {name}")
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _prepare(argv: list[str], main: str) -> None:
    install()
    sys.argv[:] = argv
    sys.excepthook = _print_error
    # Tornado's autoreload must restart this command, and not only the program.  Its own
    # command line sets the same variables; there is no public interface.
    vars(tornado.autoreload).update(
        _autoreload_is_main=True, _original_argv=sys.orig_argv[1:], _original_spec=None
    )
    os.environ[MAIN] = main
    spawn_like_this()
    run_children_alike()


def spawn_like_this() -> None:
    """Make processes spawned by multiprocessing install compat too."""
    # multiprocessing has no hook for what a spawned process runs first.
    plain = multiprocessing.spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        data = plain(name)
        if data.pop("init_main_from_path", data.pop("init_main_from_name", None)):
            data["init_main_from_name"] = "gencoro.compat.spawned"
        return data

    multiprocessing.spawn.get_preparation_data = get_preparation_data


def _exec(path: str) -> None:
    """Run a file as the main module, which stays in ``sys.modules``, as in Python."""
    main: Any = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    main.__file__ = path
    main.__builtins__ = builtins
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    exec(code, vars(main))  # noqa: S102 (the user asked to run it)


def _print_error(
    typ: type[BaseException],
    value: BaseException,
    traceback: types.TracebackType | None,
) -> None:
    """Print an uncaught error without the frames above the program's."""
    while traceback and traceback.tb_frame.f_code.co_filename in _ABOVE_PROGRAM:
        traceback = traceback.tb_next
    sys.__excepthook__(typ, value.with_traceback(traceback), traceback)
