"""Python in processes of its own, which import what the tests import."""

import os
import subprocess
import sys
from typing import Any

__all__ = ["IMPORTS", "printed_by", "start_python"]

# Part of an environment.
IMPORTS = {"PYTHONPATH": os.pathsep.join(sys.path)}


def start_python(*arguments: object, **options: Any) -> subprocess.Popen[Any]:
    """Start the interpreter of the tests; by default its output is read as text."""
    options = {"stdout": subprocess.PIPE, "text": True} | options
    options["env"] = options.get("env", os.environ) | IMPORTS
    return subprocess.Popen([sys.executable, *map(str, arguments)], **options)


def printed_by(source: str, *options: str) -> str:
    """Run a program, which must not write to its standard error; return what it printed."""
    process = start_python(*options, "-c", source, stderr=subprocess.PIPE)
    printed, errors = process.communicate()
    assert errors == ""
    return printed
