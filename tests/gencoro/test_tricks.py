"""docs/tricks.rst: the tests that it names exist."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]


def test_page_names_tests_that_exist():
    named = re.findall(
        r"``(tests/\S+)::(\w+)``", (ROOT / "docs/tricks.rst").read_text()
    )

    assert len(named) > 30
    assert [
        f"{file}::{test}"
        for file, test in named
        if f"def {test}(" not in (ROOT / file).read_text()
    ] == []
