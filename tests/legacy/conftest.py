"""Fixtures that run legacy code, on a real IOLoop or in a separate script."""

import gc
import os
import pathlib
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence

import pytest

from gencoro.futures import app_log
from gencoro.ioloop import IOLoop
from tests.helpers.gencoro.freed import Watch

ROOT = str(pathlib.Path(__file__).parents[2])

# What a test waits for at the longest, on a busy machine too.
PATIENCE_S = 300.0

# Collecting doctests would import each program a second time, by its path.
collect_ignore = ["golden"]


@pytest.fixture
def loop(io_loop: IOLoop) -> IOLoop:
    """Return the plugin's IOLoop by a shorter name."""
    return io_loop


@pytest.fixture
def script() -> Callable[..., str]:
    """Run a script in a Python with these options; return its output.

    It must end well, and without a word on stderr.
    """

    def script(source: str, *options: str, arguments: Sequence[str] = ()) -> str:
        is_file = source.endswith(".py")
        call = [source] if is_file else ["-c", textwrap.dedent(source)]
        done = subprocess.run(
            [sys.executable, *options, *call, *arguments],
            env=os.environ
            | {"PYTHONASYNCIODEBUG": "", "GENCORO_DEBUG": "", "PYTHONPATH": ROOT},
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return script


@pytest.fixture
def new(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """Make things to be freed by reference counts alone."""
    # pytest keeps log records, and these keep the traceback of their error.
    monkeypatch.setattr(app_log, "disabled", True)
    gc.disable()
    yield Watch()
    gc.enable()
