"""Tornado's own tests pass on gencoro, and beside legacy code."""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest
from tornado.test.runtests import TEST_MODULES

from tests.helpers.gencoro import redirected

# Modules that cannot apply, with the reason.
UNTOUCHED = "tests nothing that compat changes: next to no code of gencoro runs in it"
NOT_APPLICABLE = {
    "api_test": (
        "compares every name of Tornado with a list, and compat changes some on purpose"
    ),
    "autoreload_test": "tests programs that it starts, which have no compat",
    "escape_test": UNTOUCHED,
    "import_test": UNTOUCHED,
    "options_test": UNTOUCHED,
    "property_test": UNTOUCHED,
    "template_test": UNTOUCHED,
    "util_test": UNTOUCHED,
}

MODULES = [m.rpartition(".")[2] for m in TEST_MODULES if ".test." in m]


def _process(way: str) -> Iterator[Callable[[str], redirected.Report]]:
    """Start the process in which all modules run that are tested in one way."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, redirected.prepare, (way,)) as process:
        yield lambda module: process.submit(redirected.run, way, module).result()


@pytest.fixture(scope="module")
def on_gencoro():
    """Run a module of Tornado's tests on gencoro, and return the report."""
    yield from _process("gencoro")


@pytest.fixture(scope="module")
def with_compat():
    """Run a module with compat installed."""
    yield from _process("compat")


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
def test_a_module_of_tornado_passes_on_gencoro(on_gencoro, module, record_property):
    _check(on_gencoro(module), record_property)


@pytest.mark.once
@pytest.mark.parametrize("module", [m for m in MODULES if m not in NOT_APPLICABLE])
def test_a_module_of_tornado_passes_with_compat_installed(
    with_compat, module, record_property
):
    _check(with_compat(module), record_property)


def _check(report, record_property):
    record_property("run", report.run)
    record_property("skipped", report.skipped)
    for name, why in report.skipped.items():
        print(f"skipped {name}: {why}")
    if report.skipped and not report.run:
        pytest.skip(", ".join(set(report.skipped.values())))
    assert report.run > 0
    assert report.failed == []
