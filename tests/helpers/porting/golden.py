"""The golden programs of ``tests/legacy``, as a program that can be converted.

There they get the library from their stage; here each file imports it.  As a command, it
plays the programs of a folder, and prints their traces.
"""

import ast
import gc
import importlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Any

__all__ = ["copy", "traces"]

ROOT = pathlib.Path(__file__).parents[3]
GOLDEN = "tests/legacy/golden"

MODULES = "gen|concurrent|stack_context|ioloop"
FROM_STAGE = re.compile(rf"\b(?:self\.)?stage\.({MODULES})\b")
IMPORTS = "".join(
    f"from gencoro import {module} as the_{module}\n" for module in MODULES.split("|")
)

# They are about the library, and not programs that use it.
STAGE = ("stage.py", "record.py")

PATIENCE_S = 300.0


def copy(folder: pathlib.Path) -> None:
    """Write the programs, and what they import, into a folder."""
    shutil.copytree(ROOT / GOLDEN, folder / GOLDEN)
    shutil.copy(ROOT / "tests/__init__.py", folder / "tests")
    for path in (folder / GOLDEN).rglob("*.py"):
        text = path.read_text("utf-8")
        if path.name not in STAGE and FROM_STAGE.search(text):
            lines = text.splitlines(keepends=True)
            end = ast.parse(text).body[0].end_lineno
            lines[end:end] = ["\n", IMPORTS]
            path.write_text(FROM_STAGE.sub(r"the_\1", "".join(lines)), "utf-8")


def traces(folder: pathlib.Path) -> dict[str, list[str]]:
    """Play the programs of a folder; return their traces by their names."""
    done = subprocess.run(
        [sys.executable, __file__, str(folder)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_S,
    )
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def _play(folder: str) -> dict[str, list[str]]:
    sys.path[:0] = [folder, str(ROOT)]
    stage: Any = importlib.import_module("tests.legacy.golden.stage")
    programs = stage.load_programs()
    gc.freeze()  # each program calls the collector
    return {name: stage.play(programs[name], "gencoro") for name in sorted(programs)}


if __name__ == "__main__":
    print(json.dumps(_play(sys.argv[1])))
