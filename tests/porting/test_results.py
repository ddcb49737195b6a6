"""What docs/conversions.rst publishes is what was measured."""

from pathlib import Path

import pytest

from tests.porting.packages import PACKAGES
from tests.porting.results import TABLES, draw, read

PAGE = Path(__file__).parents[2] / "docs/conversions.rst"

RESULTS = {
    "toro 1.0": {
        "lines": 2000,
        "coroutines": 4,
        "tests": 0,
        "suite": {"tests": 9, "failing": ["test_lock"]},
        "plain": {
            "bare": 3,
            "bare tests": 0,
            "net lines": -3,
            "helpers": 0,
            "cpu_s": 1,
            "left": {"kept": 1},
            "listed": 2,
            "suite": {"worse": ["test_queue"]},
        },
        "by hand": {"bare, left": ["toro.py get", "toro.py put"]},
    }
}


def test_every_package_was_measured_and_no_other():
    assert set(read()) == {package.title for package in PACKAGES}


@pytest.mark.parametrize("table", TABLES)
def test_page_shows_every_table(table):
    assert f".. conversions:: {table}\n" in PAGE.read_text("utf-8")
    assert draw(table, read()).count("\n   * - ") > 1


def test_package_is_shown_with_what_is_worse():
    lines = draw("packages", RESULTS).splitlines()

    cells = [line.strip(" *-\\") for line in lines[-12:]]
    assert cells == [
        "toro 1.0",
        "2,000",
        "4",
        "3",
        "",
        "3",
        "9, 1 failing",
        "1",
        *[""] * 4,
    ]


def test_shares_are_those_of_the_counts():
    assert "3 of 4 (75.0%)" in draw("summary", RESULTS)


def test_functions_are_shown_beside_those_converted_by_hand():
    assert "``async def``\n     - left\n     - 2\n" in draw("by hand", RESULTS)


def test_each_function_is_shown_beside_the_one_by_hand():
    assert "   * - ``toro.py`` ``put``\n     - ``async def``\n     - left\n" in draw(
        "functions", RESULTS
    )
