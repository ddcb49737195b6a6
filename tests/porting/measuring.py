"""Converts packages and says what came of it.

Rule: a package is measured as it was published, in a copy, and each way of converting it gets
a copy of its own.
"""

import collections
import functools
import json
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.applications.application import Environment
from tests.applications.environments import install
from tests.porting import counting
from tests.porting.packages import Package
from tests.porting.suites import Suite, run_suite

__all__ = ["WAYS", "Measuring"]

# The ways to convert a package; that of the peer is tornado-async-transformer.
WAYS = ("plain", "evidence", "peer")

# What is counted of the coroutines that a suite calls.
CALLED = ("called", "called bare", "at once", "at once bare")

# The recorded uses for which an `async def` does the same.
AT_ONCE = frozenset({"awaited", "together", "dispatched"})

# Its later versions, and those of LibCST, cannot work together.
PEER = Environment("tornado-async-transformer==0.2.0 libcst==0.1.2 parso==0.5.2")

# Which can still read what setup.py was in 2015.
BUILDER = Environment("setuptools==57.5.0 wheel six")

# What the suites need, and can use together on today's Python; some of it asks for less.
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
SUITES = Environment("--no-deps " + REQUIREMENTS.read_text())


class Measuring(NamedTuple):
    """Where packages are measured, and which converter is.

    Attributes:
        cache: Where sources, environments and copies are kept.
        gencoro: The folder that has the package `gencoro` whose converter is measured.
    """

    cache: Path
    gencoro: Path

    def measure(self, package: Package, ways: tuple[str, ...] = WAYS) -> dict[str, Any]:
        """Return all figures of a package."""
        before = self.copy(package, "before")
        sources = _sources(before, package.paths)
        coroutines = _coroutines(sources)
        result: dict[str, Any] = {
            "lines": sum(text.count("\n") for text in sources.values()),
            "coroutines": sum(not counting.is_test(c) for c in coroutines.values()),
            "tests": sum(map(counting.is_test, coroutines.values())),
        }
        record = before.with_suffix(".evidence")
        suites = self.run_before(package, before, record) if package.suite else []
        if suites:
            result["suite"] = _described(suites)
        for way in ways:
            if way != "evidence" or suites:
                result[way] = self.convert(package, way, before, record)
                if suites:
                    result[way]["suite"] = self.compare(package, way, suites)
        if package.successor and "plain" in ways:
            result["by hand"] = self.beside_hand(package, sources)
        return result

    def beside_hand(
        self, package: Package, sources: dict[str, str]
    ) -> dict[str, list[str]]:
        """Return the coroutines by what has become of them: here, and by hand."""
        theirs = self.copy(package._replace(version=package.successor), "before")
        ours = self.cache / "converted" / _folder(package) / "plain"
        fates = [
            list(_fates(sources, _sources(folder, package.paths)))
            for folder in (ours, theirs)
        ]
        found: dict[str, list[str]] = {}
        for ((path, name, _), _, here), (_, _, by_hand) in zip(*fates, strict=True):
            found.setdefault(f"{here}, {by_hand}", []).append(f"{path} {name}")
        return found

    def run_before(self, package: Package, folder: Path, record: Path) -> list[Suite]:
        """Run the suite of a package twice, and the second time record it.

        Twice, as a test that fails now and then says nothing about a converter.  The
        results are kept in the cache: they depend on no converter.
        """
        kept = folder.with_suffix(".runs")
        if not kept.exists():
            record.unlink(missing_ok=True)
            runs = [self.run(package, folder), self.run(package, folder, record)]
            kept.write_text(json.dumps([[*map(sorted, run)] for run in runs]))
        return [Suite(*map(frozenset, run)) for run in json.loads(kept.read_text())]

    def compare(
        self, package: Package, way: str, before: list[Suite]
    ) -> dict[str, list[str]]:
        """Run the suite of a converted copy; return what is worse each time."""
        folder = self.cache / "converted" / _folder(package) / way
        runs = [self.run(package, folder)]
        if self.worse(before, runs):
            runs.append(self.run(package, folder))
        awaited = set.intersection(*(set(run.never_awaited) for run in runs))
        return {
            "worse": self.worse(before, runs),
            "never awaited": sorted(awaited - before[0].never_awaited),
        }

    @staticmethod
    def worse(before: list[Suite], after: list[Suite]) -> list[str]:
        """Return the tests that passed each time before, and never after."""
        always = frozenset.intersection(*(run.passed for run in before))
        return sorted(always.difference(*(run.passed for run in after)))

    def copy(self, package: Package, way: str) -> Path:
        """Return a new copy of a package as it was published."""
        source = self.cache / "sources" / _folder(package)
        if not source.exists():
            self._fetch(package, source)
        folder = self.cache / "converted" / source.name / way
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder, symlinks=True)
        return folder

    def _fetch(self, package: Package, source: Path) -> None:
        python = install(BUILDER, self.cache) / "bin/python"
        new = source.with_suffix(".new")
        shutil.rmtree(new, ignore_errors=True)
        options = "--quiet --no-deps --no-build-isolation --no-binary :all: --dest"
        pip = [str(python), "-m", "pip", "download", *options.split(), str(new)]
        subprocess.run([*pip, f"{package.name}=={package.version}"], check=True)
        [archive] = new.iterdir()
        subprocess.run(["tar", "-xf", archive, "-C", new], check=True)
        archive.unlink()
        [root] = new.iterdir()
        root.rename(source)
        new.rmdir()

    def run(self, package: Package, folder: Path, record: Path | None = None) -> Suite:
        """Run the suite of a package in a copy of it."""
        python = install(SUITES, self.cache) / "bin/python"
        return run_suite(folder, python, self.gencoro, package.suite, record)

    def convert(
        self, package: Package, way: str, before: Path, record: Path
    ) -> dict[str, Any]:
        """Convert a new copy of a package; return what came of it."""
        folder = self.copy(package, way)
        paths = [str(p.relative_to(folder)) for p in _paths(folder, package.paths)]
        command = [sys.executable, "-m", "gencoro", "convert", "--write"]
        command += ["--format", "json"]
        if way == "evidence":
            command += ["--evidence", str(record)]
        if way == "peer":
            python = install(PEER, self.cache) / "bin/python"
            command = [str(python), "-m", "tornado_async_transformer.tool"]
        started = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [*command, *paths],
            cwd=folder,
            env={"PYTHONPATH": str(self.gencoro), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            check=False,
            text=True,
        )
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        folder.with_suffix(".report").write_text(done.stdout + done.stderr)
        texts, new = _sources(before, package.paths), _sources(folder, package.paths)
        figures = _figures(texts, new)
        cpu_s = ended.ru_utime + ended.ru_stime - started.ru_utime - started.ru_stime
        figures["cpu_s"] = round(cpu_s, 2)
        if way != "peer":
            figures |= _reported(done.stdout)
        if way == "evidence":
            figures |= _called(texts, new, record)
        return figures


def _folder(package: Package) -> str:
    return f"{package.name}-{package.version}"


def _described(runs: list[Suite]) -> dict[str, Any]:
    first, recorded = runs
    return {
        "tests": len(first.passed | first.failed),
        "failing": sorted(first.failed),
        "failing when recorded": sorted(first.passed - recorded.passed),
    }


# Each text is asked for several times.
_functions = functools.cache(counting.functions_in)


def _paths(folder: Path, patterns: str) -> list[Path]:
    return [path for pattern in patterns.split() for path in folder.glob(pattern)]


def _sources(folder: Path, patterns: str) -> dict[str, str]:
    """Return the sources that today's Python can read, by path."""
    found = {}
    for path in _paths(folder, patterns):
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            content = file.read_bytes()
            try:
                _functions(content)
                found[str(file.relative_to(folder))] = content.decode()
            except (SyntaxError, ValueError):
                continue
    return found


def _coroutines(sources: dict[str, str]) -> dict[tuple[str, str, int], Any]:
    return {
        (path, *key): function
        for path, text in sources.items()
        if "coroutine" in text or "gen_test" in text
        for key, function in counting.coroutines_in(text).items()
    }


def _fates(
    before: dict[str, str], after: dict[str, str]
) -> Iterator[tuple[tuple[str, str, int], Any, str]]:
    """Yield each coroutine and what became of it."""
    coroutines = _coroutines(before)
    now = {path: _functions(after.get(path, "")) for path, *_ in coroutines}
    for (path, name, number), function in coroutines.items():
        fate = counting.fate_of(function, now[path].get((name, number)))
        yield (path, name, number), function, fate


def _figures(before: dict[str, str], after: dict[str, str]) -> dict[str, Any]:
    fates: collections.Counter[str] = collections.Counter()
    tests: collections.Counter[str] = collections.Counter()
    for _, function, fate in _fates(before, after):
        (tests if counting.is_test(function) else fates)[fate] += 1
    changed = [path for path in before if before[path] != after.get(path)]
    helpers = sum(
        len(_functions(after.get(path, "")).keys() - _functions(before[path]).keys())
        for path in changed
    )
    return {
        "bare": fates.pop("bare", 0),
        "bare tests": tests.pop("bare", 0),
        "others": dict(sorted((fates + tests).items())),
        "net lines": sum(
            after.get(p, "").count("\n") - before[p].count("\n") for p in changed
        ),
        "helpers": helpers,
        "broken files": sorted(path for path in changed if path not in after),
    }


def _called(
    before: dict[str, str], after: dict[str, str], record: Path
) -> dict[str, int]:
    """Return how many coroutines a suite has called, and how many of those are bare.

    Likewise of those whose Futures were only ever awaited at once: the others cannot be a
    bare ``async def`` and do the same.
    """
    uses = _uses(record)
    found: collections.Counter[str] = collections.Counter()
    for (path, *_), function, fate in _fates(before, after):
        seen = {
            use
            for (called_path, line), kinds in uses.items()
            if line == function.line and called_path.endswith("/" + path)
            for use in kinds
        }
        if seen and not counting.is_test(function):
            found["called"] += 1
            found["called bare"] += fate == "bare"
            found["at once"] += seen <= AT_ONCE
            found["at once bare"] += seen <= AT_ONCE and fate == "bare"
    return {key: found[key] for key in CALLED}


def _uses(record: Path) -> dict[tuple[str, int], set[str]]:
    """Return what was recorded of each coroutine, by its path and line."""
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    files = {line["file"]: line["path"] for line in lines if "file" in line}
    uses: dict[tuple[str, int], set[str]] = {}
    for line in lines:
        if "call" in line:
            file, number, _ = line["call"]
            uses.setdefault((files[file], number), set()).add(line["use"])
    return uses


def _reported(report: str) -> dict[str, Any]:
    """Return what the converter said: why coroutines were left, and how much is listed.

    The first reason of a coroutine counts.  A converter that failed has reported nothing.
    """
    try:
        found = json.loads(report)
    except ValueError:
        return {"left": {}, "listed": 0, "failed": True}
    reasons = (
        left["reasons"][0]["reason"]
        for left in found["left"]
        if left["kind"] == "coroutine"
    )
    left = dict(collections.Counter(reasons).most_common())
    return {"left": left, "listed": len(found["listed"]), "failed": False}
