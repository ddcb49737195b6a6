"""Runs several programs one after another in one process: most of a short one is its start.

For programs that are told apart by what they print and by their exit status.  Each is given
its arguments, and imports the modules beside it anew.
"""

import contextlib
import io
import json
import runpy
import subprocess
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.helpers.scripts import start_python

__all__ = ["Ended", "run_in_one"]


class Ended(NamedTuple):
    """The exit status of a program, and what it printed."""

    status: int
    output: str
    errors: str


def run_in_one(calls: Iterable[Iterable[object]]) -> list[Ended]:
    """Run programs, each given as its path and its arguments; return how they ended."""
    given = json.dumps([[str(part) for part in call] for call in calls])
    with start_python("-m", __name__, stdin=subprocess.PIPE) as process:
        answer, _ = process.communicate(given)
    assert process.returncode == 0
    return [Ended(*ended) for ended in json.loads(answer)]


def _run(path: str, *arguments: str) -> Ended:
    sys.argv, folder = [path, *arguments], str(Path(path).parent)
    output, errors = io.StringIO(), io.StringIO()
    status: object = None
    sys.path.insert(0, folder)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as ended:
            status = ended.code
            if isinstance(status, str):
                print(status, file=sys.stderr)
        except BaseException:
            traceback.print_exc()
            status = 1
    sys.path.remove(folder)
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(folder):
            del sys.modules[name]
    status = status if isinstance(status, int) else int(status is not None)
    return Ended(status, output.getvalue(), errors.getvalue())


if __name__ == "__main__":
    print(json.dumps([_run(*call) for call in json.load(sys.stdin)]))
