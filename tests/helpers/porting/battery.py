"""Reads the battery: small programs, each with what should become of its functions.

A file of ``tests/porting/battery`` has a text about its programs, and then each of them
after a line ``=== name : +converted -left ~``.  The marks may be left out, and a function
that is not marked may be converted or left.  With ``~`` the program may do something else
after its conversion, as the places that are listed say.  A program of several files has a line
``--- path`` before each; one of a single file gets the usual imports, and a last line that
runs ``main``.
"""

import pathlib
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["BATTERY", "PROGRAM", "Case", "cases"]

BATTERY = pathlib.Path(__file__).parents[2] / "porting/battery"

# The file of a case that is run.
PROGRAM = "program.py"

HEAD = """\
from tornado import gen
from tornado.ioloop import IOLoop
from tools import fail_later, later

"""

FOOT = """
print("result", IOLoop.current().run_sync(main))
"""

# What every program may import.
TOOLS = '''\
from tornado.concurrent import Future
from tornado.ioloop import IOLoop


def later(value, seconds=0.001):
    """Return a Future of this value, done a little later."""
    future = Future()
    IOLoop.current().call_later(seconds, future.set_result, value)
    return future


def fail_later(error, seconds=0.001):
    future = Future()
    IOLoop.current().call_later(seconds, future.set_exception, error)
    return future
'''


class Case(NamedTuple):
    """One program.

    Attributes:
        name: What it shows.
        files: The bytes of its files, by their paths.
        converted, left: The functions that must be converted, and those that must stay,
            as ``name`` or ``module:name``.
        is_listed: Whether it may do something else, at places that are listed.
    """

    name: str
    files: dict[str, bytes]
    converted: frozenset[str]
    left: frozenset[str]
    is_listed: bool = False

    def write(self, folder: pathlib.Path) -> None:
        """Write the program's files into a folder."""
        for path, content in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)


def cases(*names: str) -> list[Case]:
    """Return the cases of these files of the battery, all without any name."""
    paths = [BATTERY / f"{name}.txt" for name in names] or sorted(BATTERY.glob("*.txt"))
    return [case for path in paths for case in _read(path)]


def _read(path: pathlib.Path) -> Iterator[Case]:
    text = path.read_text("utf-8")
    _, *parts = ("\n" + text).split("\n=== ")
    for part in parts:
        title, _, source = part.partition("\n")
        name, _, marks = title.partition(" : ")
        converted, left = _marked("+", marks), _marked("-", marks)
        is_listed = "~" in marks.split()
        yield Case(name.strip(), _files(source), converted, left, is_listed)


def _marked(sign: str, marks: str) -> frozenset[str]:
    return frozenset(mark[1:] for mark in marks.split() if mark[0] == sign)


def _files(source: str) -> dict[str, bytes]:
    first, *parts = ("\n" + source).split("\n--- ")
    files = dict(part.split("\n", 1) for part in parts)
    if not files:
        files = {PROGRAM: HEAD + first.strip("\n") + "\n" + FOOT}
    files.setdefault("tools.py", TOOLS)
    return {path: text.encode() for path, text in files.items()}
