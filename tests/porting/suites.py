"""Runs the tests that a package brings with it, on today's Tornado behind ``gencoro run``.

Rule: what is compared are the names of the tests that fail, not how many they are.
"""

import contextlib
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree
from pathlib import Path
from typing import NamedTuple

__all__ = ["Suite", "run_suite"]

# Of all tests of a package.
SUITE_TIMEOUT_S = 900

# After the report: some suites leave a thread that keeps the process alive.
EXIT_TIMEOUT_S = 15

OPTIONS = (
    "-q --tb=native -p no:cacheprovider -W ignore -W always::RuntimeWarning --timeout=120 "
    "--continue-on-collection-errors --import-mode=importlib -o addopts="
)

# Modules that a suite for Python 2 imports, by another name today.
RENAMED = Path(__file__).with_name("renamed")

NEVER_AWAITED = re.compile(r"coroutine '([^']+)' was never awaited")


class Suite(NamedTuple):
    """What came of one run: names of tests, and of coroutines that were never awaited."""

    passed: frozenset[str]
    failed: frozenset[str]
    never_awaited: frozenset[str]


def run_suite(
    folder: Path, python: Path, gencoro: Path, arguments: str, record: Path | None
) -> Suite:
    """Run a suite.

    Args:
        folder: The root of the source distribution.
        gencoro: The folder that has the package `gencoro`.
        arguments: What pytest is told, besides the usual.
        record: Where evidence is written to, if it is.
    """
    report = folder.with_suffix(".xml")
    report.unlink(missing_ok=True)
    recording = ["--record", str(record)] if record else []
    launch = [str(python), "-m", "gencoro", "run", *recording, "-m", "pytest"]
    command = [*launch, f"--junitxml={report}", *OPTIONS.split(), *arguments.split()]
    log = folder.with_suffix(".log")
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=_environment(folder, python, (gencoro, folder, RENAMED)),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait(process, report)
        finally:
            _end_group(process)
    passed, failed = _outcomes(report)
    never_awaited = NEVER_AWAITED.findall(log.read_text(errors="replace"))
    return Suite(passed, failed, frozenset(never_awaited))


def _environment(folder: Path, python: Path, path: tuple[Path, ...]) -> dict[str, str]:
    home = folder.with_suffix(".home")
    home.mkdir(exist_ok=True)
    return {
        # On a busy machine too, only what hangs should fail.
        "ASYNC_TEST_TIMEOUT": "20",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _wait(process: "subprocess.Popen[bytes]", report: Path) -> None:
    end = time.monotonic() + SUITE_TIMEOUT_S
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.5)
        if report.exists():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(EXIT_TIMEOUT_S)
            return


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    # The process may be gone, with processes that it has started.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _outcomes(report: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the tests that passed or were skipped, and of those that failed."""
    passed: set[str] = set()
    failed: set[str] = set()
    # A suite that is ended leaves no report.
    cases = (
        xml.etree.ElementTree.parse(report).iter("testcase") if report.exists() else ()
    )
    for case in cases:
        name = f"{case.get('classname')}::{case.get('name')}"
        # Addresses and numbers of ports differ from run to run.
        name = re.sub(r"0x[0-9a-f]+|\d{5,}", "N", name)
        is_bad = case.find("failure") is not None or case.find("error") is not None
        (failed if is_bad else passed).add(name)
    return frozenset(passed - failed), frozenset(failed)
