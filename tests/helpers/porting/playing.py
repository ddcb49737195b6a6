"""Converts programs, and compares what they do before and after."""

import ast
import contextlib
import io
import json
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from gencoro.__main__ import main as command_line
from tests.helpers.porting.battery import PROGRAM, Case

__all__ = ["Outcome", "Player", "convert", "fates", "functions_of", "outcome"]

ROOT = pathlib.Path(__file__).parents[3]

# Much longer than any program takes.
PATIENCE_S = 20.0


class Player:
    """The process that plays programs; it is started when it is first needed.

    Args:
        options: Of ``tests/helpers/porting/player.py``.
    """

    def __init__(self, *options: str) -> None:
        self._options = options
        self._process: subprocess.Popen[str] | None = None

    def play(self, folder: pathlib.Path, program: str = PROGRAM) -> str:
        """Return what a program prints and logs."""
        if self._process is None:
            self._process = _started(self._options)
        job = {"folder": str(folder), "program": program, "seconds": PATIENCE_S}
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        trace: str = json.loads(self._process.stdout.readline())
        return trace

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            with self._process as process:
                assert process.stdin
                process.stdin.close()


def _started(options: tuple[str, ...]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.porting.player", *options],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


class Outcome(NamedTuple):
    """What became of a program.

    Attributes:
        before, after: Its traces.
        texts: The bytes of its files after, by their paths.
        converted, left: Its functions, as ``module:name``.
        report: What the conversion printed.
    """

    before: str
    after: str
    texts: dict[str, bytes]
    converted: frozenset[str]
    left: frozenset[str]
    report: str


def outcome(case: Case, folder: pathlib.Path, player: Player) -> Outcome:
    """Play a program, convert it, and play it again."""
    case.write(folder)
    before = player.play(folder)
    report = convert(folder)
    texts = {path: (folder / path).read_bytes() for path in case.files}
    converted, left = fates(case, texts)
    return Outcome(before, player.play(folder), texts, converted, left, report)


def convert(folder: pathlib.Path, *options: str) -> str:
    """Convert the files of a folder, in this process; return what is printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        command_line(["convert", str(folder), "--write", *options])
    return printed.getvalue()


def fates(case: Case, after: dict[str, bytes]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the functions that have become native, and those that have not."""
    converted, left = set(), set()
    for path, text in case.files.items():
        module = path.removesuffix(".py").replace("/", ".")
        new = functions_of(after[path])
        for name, node in functions_of(text).items():
            is_new = isinstance(new.get(name), ast.AsyncFunctionDef)
            is_other = is_new and not isinstance(node, ast.AsyncFunctionDef)
            (converted if is_other else left).add(f"{module}:{name}")
    return frozenset(converted), frozenset(left)


def functions_of(text: bytes) -> dict[str, Any]:
    """Return the functions of a module by their qualified names."""
    return dict(_functions(ast.parse(text), ""))


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{prefix}{child.name}."
            if not isinstance(child, ast.ClassDef):
                yield prefix + child.name, child
        yield from _functions(child, inner)
