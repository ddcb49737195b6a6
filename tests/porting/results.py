"""The results: kept as JSON, and drawn as the tables of docs/conversions.rst.

Rule: what the tables say is in the JSON, and what is in the JSON was seen in a run.
"""

import collections
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["RESULTS", "TABLES", "draw", "read", "record"]

RESULTS = Path(__file__).with_name("results.json")

WAYS = {
    "plain": "gencoro",
    "evidence": "gencoro, with evidence",
    "peer": "tornado-async-transformer",
}

# Of the coroutines that the suites call, with evidence.
CALLED = {
    "with evidence, of coroutines that the suites call": "called",
    "with evidence, of those that they only await at once": "at once",
}

# What became of a function: here, and when people did it.
FATES = {
    "bare": "``async def``",
    "left": "left",
    "wrapped": "``async def`` with another decorator",
    "gone": "no longer there",
}

_Results = dict[str, Any]
_Row = tuple[object, ...]


def read(path: Path = RESULTS) -> _Results:
    """Return the results by package."""
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def record(title: str, result: _Results, path: Path = RESULTS) -> None:
    """Add a result; what an earlier run measured of other ways is kept."""
    results = read(path)
    results[title] = results.get(title, {}) | result
    text = json.dumps(results, indent=1, sort_keys=True, ensure_ascii=False)
    path.write_text(text + "\n", "utf-8")


def draw(table: str, results: _Results) -> str:
    """Return one of the `TABLES`, as reStructuredText."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in TABLES[table](results):
        first, *rest = (str(cell) or "\\ " for cell in row)
        lines += [f"   * - {first}", *(f"     - {cell}" for cell in rest)]
    return "\n".join(lines) + "\n"


def _summary(results: _Results) -> Iterator[_Row]:
    yield (
        "Converter",
        "Bare coroutines",
        "Bare tests",
        "Lines added",
        "Helpers",
        "Places listed",
        "Suites as before",
        "CPU, 10,000 lines",
    )
    for way, title in WAYS.items():
        rows = [result for result in results.values() if way in result]
        suites = [row[way]["suite"]["worse"] for row in rows if "suite" in row[way]]
        cpu_s = _sum(rows, way, "cpu_s") / max(_sum(rows, "lines"), 1) * 10_000
        yield (
            f"{title}, {len(rows)} packages",
            _share(_sum(rows, way, "bare"), _sum(rows, "coroutines")),
            _share(_sum(rows, way, "bare tests"), _sum(rows, "tests")),
            _sum(rows, way, "net lines"),
            _sum(rows, way, "helpers"),
            "" if way == "peer" else _sum(rows, way, "listed"),
            f"{sum(not worse for worse in suites)} of {len(suites)}" if suites else "",
            f"{cpu_s:.1f} s",
        )
    rows = [result for result in results.values() if "evidence" in result]
    for title, key in CALLED.items():
        part = _sum(rows, "evidence", f"{key} bare")
        yield (title, _share(part, _sum(rows, "evidence", key)), *[""] * 6)


def _packages(results: _Results) -> Iterator[_Row]:
    yield (
        "Package",
        "Lines",
        "Coroutines",
        "Bare",
        "By the peer",
        "Lines added",
        "Its tests",
        "Worse",
        "Called",
        "Bare, with evidence",
        "Worse, with evidence",
        "Worse by the peer",
    )
    for title in sorted(results, key=str.lower):
        result = results[title]
        suite, evidence = result.get("suite"), result.get("evidence")
        yield (
            title,
            f"{result['lines']:,}",
            result["coroutines"],
            result["plain"]["bare"],
            result["peer"]["bare"] if "peer" in result else "",
            result["plain"]["net lines"],
            _tests(suite) if suite else "",
            _worse(result, "plain"),
            evidence["called"] if evidence else "",
            evidence["called bare"] if evidence else "",
            _worse(result, "evidence"),
            _worse(result, "peer"),
        )


def _reasons(results: _Results) -> Iterator[_Row]:
    yield "Reason", "Coroutines left", "Packages"
    functions: collections.Counter[str] = collections.Counter()
    packages: collections.Counter[str] = collections.Counter()
    for result in results.values():
        functions.update(result["plain"]["left"])
        packages.update(result["plain"]["left"].keys())
    for reason, count in functions.most_common():
        yield reason, count, packages[reason]


def _by_hand(results: _Results) -> Iterator[_Row]:
    yield "gencoro", "By hand", "Coroutines"
    for result in results.values():
        for fates, names in result.get("by hand", {}).items():
            here, by_hand = fates.split(", ")
            yield FATES[here], FATES[by_hand], len(names)


def _functions(results: _Results) -> Iterator[_Row]:
    yield "Function", "gencoro", "By hand"
    rows = [
        (name, fates)
        for result in results.values()
        for fates, names in result.get("by hand", {}).items()
        for name in names
    ]
    for name, fates in sorted(rows):
        path, function = name.split()
        here, by_hand = fates.split(", ")
        yield f"``{path}`` ``{function}``", FATES[here], FATES[by_hand]


TABLES: dict[str, Callable[[_Results], Iterator[_Row]]] = {
    "summary": _summary,
    "packages": _packages,
    "reasons": _reasons,
    "by hand": _by_hand,
    "functions": _functions,
}


def _sum(rows: list[_Results], *keys: str) -> Any:
    total = 0
    for row in rows:
        value: Any = row
        for key in keys:
            value = value[key]
        total += value
    return total


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.1%})" if whole else "none"


def _tests(suite: _Results) -> str:
    failing = len(suite["failing"])
    return f"{suite['tests']}, {failing} failing" if failing else str(suite["tests"])


def _worse(result: _Results, way: str) -> object:
    return len(result[way]["suite"]["worse"]) if "suite" in result.get(way, {}) else ""
