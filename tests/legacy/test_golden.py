"""The golden programs behave as recorded on Tornado 4.5.3.

The programs, their stage and their traces are in ``golden``; where gencoro differs on
purpose, ``differences.py`` says why.
"""

import ast
import contextvars
import gc
import json
import pathlib
from collections.abc import Callable
from typing import Any

from tests.helpers.legacy.differences import DIFFERENCES, reasons
from tests.legacy.golden import stage

GOLDEN = pathlib.Path(stage.HERE)

PROGRAMS: dict[str, Callable[[Any], None]] = stage.load_programs()


def traces(of: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(
        (GOLDEN / "traces" / f"{of}.json").read_text()
    )
    return found


TORNADO_4 = traces("tornado-4.5.3")
GENCORO = traces("gencoro")


def test_program_does_as_it_did():
    for name, program in sorted(PROGRAMS.items()):
        play = contextvars.copy_context().run
        gc.freeze()  # only what the program makes is collected: so it is quick, too

        trace = play(stage.play, program, "gencoro")

        expected = GENCORO if name in reasons() else TORNADO_4
        assert trace == expected[name], name


def test_every_program_has_its_trace_and_no_other_has():
    assert len(PROGRAMS) >= 150
    assert traces("tornado-4.5.3").keys() == PROGRAMS.keys()
    assert traces("tornado-5.1.1").keys() == PROGRAMS.keys()
    assert GENCORO.keys() == reasons().keys()


def test_every_difference_is_one_of_a_program_and_is_named_once():
    names = [name for difference in DIFFERENCES for name in difference.programs]

    assert sorted(names) == sorted(reasons())
    assert [name for name in names if name not in PROGRAMS] == []
    assert [name for name in names if GENCORO[name] == TORNADO_4[name]] == []


def test_golden_files_can_be_read_by_the_python_of_old_tornado():
    for path in GOLDEN.rglob("*.py"):
        ast.parse(path.read_text(), str(path), feature_version=(3, 7))
