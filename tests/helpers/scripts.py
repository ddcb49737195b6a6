"""Programs in processes of their own, which import what the tests import."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = [
    "IMPORTS",
    "is_running",
    "printed_by",
    "start_gencrawl",
    "start_python",
    "wait_until",
]

# Part of an environment.
IMPORTS = {"PYTHONPATH": os.pathsep.join(sys.path)}


def start_python(*arguments: object, **options: Any) -> subprocess.Popen[Any]:
    """Start the interpreter of the tests; by default its output is read as text."""
    options = {"stdout": subprocess.PIPE, "text": True} | options
    options["env"] = options.get("env", os.environ) | IMPORTS
    return subprocess.Popen([sys.executable, *map(str, arguments)], **options)


def start_gencrawl(*arguments: object) -> subprocess.Popen[str]:
    """Start a command of the crawler; both of its outputs are read."""
    return start_python("-m", "crawler_app", *arguments, stderr=subprocess.PIPE)


def printed_by(source: str, *options: str) -> str:
    """Run a program, which must not write to its standard error; return what it printed."""
    process = start_python(*options, "-c", source, stderr=subprocess.PIPE)
    printed, errors = process.communicate()
    assert errors == ""
    return printed


def is_running(pid: int) -> bool:
    """Return whether a process has not ended; a zombie has."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "XZ"


def wait_until(
    condition: Callable[[], object], seconds: float = 60.0, every_s: float = 0.005
) -> None:
    """Wait for what another process does; fail if it never comes to that."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(every_s)
