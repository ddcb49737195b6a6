"""The golden programs have the traces of Tornado 4.5.3 when they are converted, too."""

import ast
import json
import pathlib

import pytest

from tests.helpers.porting import golden
from tests.helpers.porting.playing import convert

pytestmark = pytest.mark.once

TRACES = golden.ROOT / golden.GOLDEN / "traces"


def test_golden_programs_do_as_before(tmp_path):
    golden.copy(tmp_path)
    before = _number_of_native_functions(tmp_path)

    convert(tmp_path, "async")

    found = golden.traces(tmp_path)
    expected = _recorded("tornado-4.5.3") | _recorded("gencoro")
    differing = {name for name in found if found[name] != expected[name]}
    if differing:  # a timer may be late on a busy machine
        again = golden.traces(tmp_path)
        differing = {name for name in differing if again[name] != expected[name]}
    assert differing == set()
    assert len(found) > 400
    assert _number_of_native_functions(tmp_path) - before >= 20


def _recorded(name: str) -> dict[str, list[str]]:
    traces: dict[str, list[str]] = json.loads((TRACES / f"{name}.json").read_text())
    return traces


def _number_of_native_functions(folder: pathlib.Path) -> int:
    trees = [ast.parse(path.read_text("utf-8")) for path in folder.rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return sum(isinstance(node, ast.AsyncFunctionDef) for node in nodes)
