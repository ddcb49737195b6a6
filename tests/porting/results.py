"""The results: kept as JSON, and drawn as the table of docs/conversions.rst.

Rule: what the table says is in the JSON, and what is in the JSON was seen in a run.
"""

import json
import re
from pathlib import Path
from typing import Any

__all__ = [
    "BATTERY",
    "RESULTS",
    "draw_battery",
    "draw_packages",
    "read",
    "record",
]

RESULTS = Path(__file__).with_name("results.json")

# The key of the results of the battery.
BATTERY = "battery"

COLUMNS = (
    "Package",
    "Coroutines",
    "Converted",
    "Before",
    "After",
    "Converted by the peer",
    "After the peer",
)


def read() -> dict[str, Any]:
    """Return the results by package, and those of the battery."""
    return json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}


def record(title: str, result: dict[str, Any]) -> None:
    """Add one result, or replace an earlier one."""
    results = read() | {title: result}
    text = json.dumps(results, indent=1, sort_keys=True, ensure_ascii=False)
    RESULTS.write_text(text + "\n", "utf-8")


def draw_packages() -> str:
    """Return the table of packages, as reStructuredText."""
    lines = [
        ".. list-table::",
        "   :header-rows: 1",
        "   :widths: 20 9 9 18 18 9 18",
        "",
    ]
    lines += _row(*COLUMNS)
    results = {title: row for title, row in read().items() if title != BATTERY}
    for title in sorted(results, key=str.lower):
        lines += _row(title, *_cells(results[title]))
    total = [
        sum(result[way][count] for result in results.values())
        for way, count in (
            ("before", "coroutines"),
            ("after", "converted"),
            ("peer", "converted"),
        )
    ]
    lines += _row(
        "all of them", str(total[0]), str(total[1]), "", "", str(total[2]), ""
    )
    return "\n".join(lines) + "\n"


def draw_battery() -> str:
    """Return the table of small programs, as reStructuredText."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    counts = read()[BATTERY]
    lines += _row("Programs", "Right", "Refused", "Wrong")
    for name, title in (("after", "gencoro"), ("peer", "the peer")):
        count = counts[name]
        cells = (str(count[kind]) for kind in ("right", "refused", "wrong"))
        lines += _row(f"{sum(count.values())}, by {title}", *cells)
    return "\n".join(lines) + "\n"


def _row(*cells: str) -> list[str]:
    first, *rest = (cell or "\\ " for cell in cells)
    return [f"   * - {first}", *(f"     - {cell}" for cell in rest)]


def _cells(result: dict[str, Any]) -> list[str]:
    before, after, peer = result["before"], result["after"], result["peer"]
    return [
        str(before["coroutines"]),
        str(after["converted"]),
        _outcome(before, before),
        _outcome(after, before),
        str(peer["converted"]),
        _outcome(peer, before),
    ]


def _outcome(done: dict[str, Any], before: dict[str, Any]) -> str:
    """Return what came of a run; the output of a program is compared, and not shown."""
    if done["outcome"].startswith(("[", "{")):
        return "its output" if done is before else _same(done, before)
    return _escape(done["outcome"])


def _same(done: dict[str, Any], before: dict[str, Any]) -> str:
    return (
        "the same output" if done["outcome"] == before["outcome"] else "another output"
    )


def _escape(text: str) -> str:
    """Escape what reStructuredText would read as markup."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)
