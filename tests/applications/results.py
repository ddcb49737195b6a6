"""The results: kept as JSON, and drawn as the table of docs/applications.rst.

Rule: what the table says is in the JSON, and what is in the JSON was seen in a run.
"""

import json
import re
from pathlib import Path
from typing import Any

__all__ = ["COLUMNS", "OWN_TESTS", "RESULTS", "draw", "read", "record"]

RESULTS = Path(__file__).with_name("results.json")

# The ways in which an application is started, and the titles of their columns.
COLUMNS = {
    "plain": "Tornado 6",
    "compat": "Tornado 6 with compat",
    "old": "Old Tornado",
}

# How the step of an application's own tests begins; what came of them follows.
OWN_TESTS = "its own tests: "


def read() -> dict[str, Any]:
    """Return the results by application."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def record(application: str, start: str, column: str, result: dict[str, Any]) -> None:
    """Add one result, or replace an earlier one."""
    results = read()
    row = results.setdefault(application, {})
    row["start"] = start
    row[column] = result
    text = json.dumps(results, indent=1, sort_keys=True, ensure_ascii=False)
    RESULTS.write_text(text + "\n")


def draw() -> str:
    """Return the table, as reStructuredText."""
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 20 26 18 18 18", ""]
    lines += _row("Application", "What it does", *COLUMNS.values())
    for application, row in sorted(read().items(), key=lambda item: item[0].lower()):
        cells = [_outcome(row.get(column)) for column in COLUMNS]
        start = f"{application}\n\n``{row['start']}``"
        lines += _row(start, _most_steps(row), *cells)
    return "\n".join(lines) + "\n"


def _row(*cells: str) -> list[str]:
    lines: list[str] = []
    for cell in cells:
        mark = "   * - " if not lines else "     - "
        first, *rest = cell.splitlines()
        lines += [mark + first, *(" " * 7 + line if line else "" for line in rest)]
    return [*lines, ""]


def _most_steps(row: dict[str, Any]) -> str:
    ways = [row[column]["steps"] for column in COLUMNS if column in row]
    most = max(ways, key=len, default=[])
    if most and most[0].startswith(OWN_TESTS):
        return OWN_TESTS.rstrip(": ")
    return ", ".join(most) or "-"


def _outcome(result: dict[str, Any] | None) -> str:
    if result is None:
        return "not run"
    found = result["versions"]
    versions = (
        f"(Tornado {found['tornado']}, Python {found['python']})" if found else ""
    )
    steps, reason = result["steps"], _escape(result["reason"])
    step, _, why = reason.partition(": ")
    if steps and steps[0].startswith(OWN_TESTS):
        outcome = steps[0].removeprefix(OWN_TESTS)
    elif why:
        outcome = f'{len(steps) or "no"} steps; "{step}" fails: {why}'
    else:
        outcome = reason or f"all {len(steps)} steps"
    return f"{outcome}\n\n{versions}".rstrip()


def _escape(text: str) -> str:
    """Escape what reStructuredText would read as markup."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)
