"""Tornado's own tests pass when its gen, concurrent and ioloop are gencoro's."""

import json
import pathlib
import subprocess
import sys

import pytest
import redirected

import gencoro

# Tests that cannot apply, by their id, with the reason.
NOT_APPLICABLE: dict[str, str] = {}


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
    report = _run_redirected(module)

    record_property("skipped", report["skipped"])
    for name, why in report["skipped"].items():
        print(f"skipped {name}: {why}")
    assert report["run"] > 0
    assert set(report["failed"]) - set(NOT_APPLICABLE) == set()


def _run_redirected(module):
    root = pathlib.Path(gencoro.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, redirected.__file__, module],
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
