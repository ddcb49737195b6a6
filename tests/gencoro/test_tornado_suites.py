"""Tornado's own tests pass on gencoro, and beside legacy code."""

import json
import pathlib
import subprocess
import sys

import pytest
from tornado.test.runtests import TEST_MODULES

import gencoro
from tests.helpers.gencoro import redirected

# Tests that cannot apply, by their id, with the reason.
NOT_APPLICABLE = {
    "tornado.test.api_test.APISnapshotTest.test_api_snapshot": (
        "compares every name of Tornado with a list, and compat changes some on purpose"
    ),
}


@pytest.mark.parametrize(
    "module",
    [
        "gen_test",
        "concurrent_test",
        "ioloop_test",
        "queues_test",
        "locks_test",
        "testing_test",
        "asyncio_test",
    ],
)
def test_a_module_of_tornado_passes_on_gencoro(module, record_property):
    _check(_run("gencoro", module), record_property)


@pytest.mark.once
@pytest.mark.parametrize(
    "module", [m.rpartition(".")[2] for m in TEST_MODULES if ".test." in m]
)
def test_a_module_of_tornado_passes_with_compat_installed(module, record_property):
    _check(_run("compat", module), record_property)


def _check(report, record_property):
    record_property("skipped", report["skipped"])
    for name, why in report["skipped"].items():
        print(f"skipped {name}: {why}")
    if report["skipped"] and not report["run"]:
        pytest.skip(", ".join(set(report["skipped"].values())))
    assert report["run"] > 0
    assert set(report["failed"]) - set(NOT_APPLICABLE) == set()


def _run(way, module):
    root = pathlib.Path(gencoro.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, redirected.__file__, way, module],
        check=False,
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    *log, last = done.stdout.splitlines()
    print(*log, done.stderr, sep="\n")
    return json.loads(last)
