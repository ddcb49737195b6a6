"""A converted program does as it did, for several hundred small programs.

``tests/helpers/porting/battery.py`` says how they are written.  One in four is played, or with
``FUZZ_FACTOR=2`` each.
"""

import collections
import io
import pathlib
import subprocess
import tokenize
from typing import Any

import pytest

from gencoro.porting.formatting import find_ruff
from tests.helpers.fuzzing import some
from tests.helpers.porting.battery import PROGRAM, Case, cases
from tests.helpers.porting.player import HANGS
from tests.helpers.porting.playing import Outcome, convert, outcome

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("without_ruff")]


def _params(*names: str) -> list[Any]:
    return [pytest.param(case, id=case.name) for case in some(cases(*names), 4)]


CASES = _params()

# What the list of places begins with.
LISTED = "Look at these"

SOURCE = '''\
# Grüße
from tornado import gen
from tornado.ioloop import IOLoop
from tools import later


@gen.coroutine
def child(n):
    """Wait."""

    value = yield later(n)  # Grüße
    raise gen.Return(value)


@gen.coroutine
def main():
    print("Grüße", (yield child(1)))
    if True:
        print((yield [child(2),
                      child(3)]))


IOLoop.current().run_sync(main)
'''

LAYOUTS = {
    "CRLF": SOURCE.replace("\n", "\r\n").encode(),
    "tabs": SOURCE.replace("    ", "\t").encode(),
    "two spaces": SOURCE.replace("    ", "  ").encode(),
    "BOM": SOURCE.encode("utf-8-sig"),
    "BOM and CRLF": SOURCE.replace("\n", "\r\n").encode("utf-8-sig"),
    "Latin-1": ("# -*- coding: latin-1 -*-\n" + SOURCE).encode("latin-1"),
    "form feed": SOURCE.replace("\n\n\n", "\n\n\f\n").encode(),
    "no newline at the end": SOURCE.rstrip("\n").encode(),
    "blanks at the ends of lines": SOURCE.replace("\n", "  \n").encode(),
    "CRLF in one line": SOURCE.replace("(n)  # Grüße\n", "(n)  # Grüße\r\n").encode(),
}


def test_the_battery_is_larger_than_that_of_its_peer():
    names = [case.name for case in cases()]

    assert len(names) > 250
    assert [name for name, n in collections.Counter(names).items() if n > 1] == []


@pytest.mark.parametrize("case", CASES)
def test_program_does_as_before_or_the_place_is_listed(case, player, tmp_path):
    done = outcome(case, tmp_path, player)

    assert done.before != HANGS
    if case.is_listed:
        assert LISTED in done.report
    else:
        assert done.after == done.before, _text(done)
    assert _unmarked(case.converted, done.converted) == set(), "is left"
    assert _unmarked(case.left, done.left) == set(), "is converted"
    _check_text(case, done, tmp_path)


@pytest.mark.parametrize(
    "case",
    [pytest.param(c, id=c.name) for c in some(cases(), 12) if not c.is_listed],
)
def test_program_that_is_converted_in_two_steps_does_as_before(case, player, tmp_path):
    """Callers before callees, and functions that are used before others are."""
    case.write(tmp_path)
    before = player.play(tmp_path)

    for step in (["--only-functions", "n$"], []):
        convert(tmp_path, *step)
        assert player.play(tmp_path) == before


@pytest.mark.parametrize("case", _params("plain_tornado"))
def test_program_does_as_before_without_gencoro(case, plain_player, tmp_path):
    done = outcome(case, tmp_path, plain_player)

    assert done.after == done.before, _text(done)
    assert "status 0" in done.before


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_is_kept(layout, player, tmp_path):
    [tools] = [case.files["tools.py"] for case in cases()[:1]]
    case = Case(
        "", {PROGRAM: LAYOUTS[layout], "tools.py": tools}, frozenset(), frozenset()
    )

    done = outcome(case, tmp_path, player)

    assert done.after == done.before
    assert done.converted == {"program:child", "program:main"}
    _check_text(case, done, tmp_path)
    before, after = LAYOUTS[layout], done.texts[PROGRAM]
    for mark in (b"\xef\xbb\xbf", b"\r", b"\t", b"\f", b"  \n", b"coding: latin-1"):
        assert (mark in after) == (mark in before)
    assert after.endswith(b"\n") == before.endswith(b"\n")
    assert set(_endings(after)) == set(_endings(before))


def _endings(text: bytes) -> list[bytes]:
    return [line[len(line.rstrip(b"\r\n")) :] for line in text.splitlines(True)]


def test_output_passes_the_syntax_checks_of_ruff(tmp_path):
    if (ruff := find_ruff()) is None:
        pytest.skip("ruff is not installed")
    # Few, because converting takes long; all are compiled, and run, above.
    for number, case in enumerate(some(cases(), 16)):
        folder = tmp_path / f"n{number}"
        case.write(folder)
        convert(folder)

    for version in ("py311", "py312", "py313"):
        options = ["--isolated", "--no-cache", "--select=E9,F821,F823"]
        done = subprocess.run(
            [ruff, "check", *options, f"--target-version={version}", str(tmp_path)],
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout


def _unmarked(marked: frozenset[str], found: frozenset[str]) -> set[str]:
    """Return the marked functions that are not found."""
    return {
        name
        for name in marked
        if not any(f":{one}".endswith(f":{name}") for one in found)
    }


def _check_text(case: Case, done: Outcome, folder: pathlib.Path) -> None:
    """Check what must hold of any output: it compiles, its comments stay, twice is once."""
    for path, text in case.files.items():
        compile(done.texts[path], path, "exec", dont_inherit=True)
        assert _comments(done.texts[path]) == _comments(text)
        lost = _strings(text) - _strings(done.texts[path])
        # Docstrings that show code, and annotations.
        shown = ("yield", "Future", "Generator")
        assert all(any(word in string for word in shown) for string in lost)
    convert(folder)
    again = {path: (folder / path).read_bytes() for path in case.files}
    assert again == done.texts, "a second conversion changes it"


def _comments(text: bytes) -> list[str]:
    """Return the comments, apart from those with types, which a conversion changes."""
    found = _tokens(text, tokenize.COMMENT)
    return [comment for comment in found if not comment.startswith("# type: (")]


def _strings(text: bytes) -> set[str]:
    return set(_tokens(text, tokenize.STRING))


def _tokens(text: bytes, kind: int) -> list[str]:
    tokens = tokenize.tokenize(io.BytesIO(text).readline)
    return [token.string for token in tokens if token.type == kind]


def _text(done: Outcome) -> str:
    return "\n".join(
        text.decode("utf-8", "replace")
        for path, text in done.texts.items()
        if path != "tools.py"
    )
