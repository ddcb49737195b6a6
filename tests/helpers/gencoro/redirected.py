"""Runs Tornado's own test modules on gencoro, or with `gencoro.compat` installed.

For a process of its own, since `prepare` changes the modules of the whole process.  On
gencoro, everything that imports `tornado.gen`, the test modules and all of Tornado, gets
`gencoro.gen`; the same goes for the other modules of `REDIRECTED`.
"""

import faulthandler
import gc
import importlib
import logging
import os
import sys
import unittest
from collections.abc import Callable, Iterator
from typing import NamedTuple

import hypothesis

__all__ = ["Report", "prepare", "run"]

REDIRECTED = ["gen", "concurrent", "ioloop", "locks", "queues"]

# Tests that want what gencoro does better, by a part of their names.  One wants the log of a
# pending Task when a loop is closed, which ends Tasks here; some count the waiters of a queue
# by a private name, and those of gencoro leave when their time is over.  Others start a Python
# of their own, in which Tornado is neither redirected nor patched; and what Tornado's own
# parsers and curl's decompressor make of megabytes takes long and is not for us to test.
FOREIGN = (
    "TestIOLoopConfiguration",
    "LoggingOptionTest",
    "ThreadedResolverImportTest",
    "SyncHTTPClientSubprocessTest",
    "CurlHTTPClientCommonTestCase.test_decompression_bomb_without_streaming_callback",
    "CurlHTTPClientCommonTestCase.test_streaming_decompression_bomb",
    "memory_budget",
)
LEFT_OUT = {
    "gencoro": ("test_gc_infinite_async_await", "clears_timed_out", *FOREIGN),
    "compat": ("test_gc_infinite_async_await", *FOREIGN),
}
RETRIES = 3

# Seconds for a test of Tornado's that sets no limit of its own, in place of 5.
LIMIT_S = 60

# Seconds for a module, which takes a few; one that hangs ends its process and says where.
TIMEOUT_S = 600


class Report(NamedTuple):
    """The number of tests that ran, the ids that failed, and why others were skipped."""

    run: int
    failed: list[str]
    skipped: dict[str, str]


def prepare(way: str) -> None:
    """Prepare this process for one of the ways: "gencoro" or "compat"."""
    # Tornado's own runner does the same: its tests provoke these log records.
    logging.getLogger("tornado.access").setLevel(logging.CRITICAL)
    os.environ["ASYNC_TEST_TIMEOUT"] = str(LIMIT_S)
    # A hundred of the tests load the authorities that are trusted, and need none of them.
    os.environ["SSL_CERT_FILE"] = os.devnull
    # Tornado's own runs try more: what is tested here is whether it works at all.
    hypothesis.settings.register_profile("few", max_examples=5, database=None)
    hypothesis.settings.load_profile("few")
    if way == "compat":
        importlib.import_module("gencoro.compat").install()
    else:
        _redirect()
    _spare_measurements()


def _spare_measurements() -> None:
    """Call once what Tornado's tests measure for long.

    Whether its parsers take linear time is for its own runs.
    """
    # Imported here, after Tornado's modules have been redirected or patched.
    util = importlib.import_module("tornado.test.util")
    util.assert_linear_scaling = _call_once


def _call_once(
    func: Callable[[int], object], n1: int, *_: object, **__: object
) -> None:
    func(n1)


def _redirect() -> None:
    """Put gencoro's modules in the places of Tornado's, before they are imported."""
    import tornado

    for name in REDIRECTED:
        module = importlib.import_module(f"gencoro.{name}")
        sys.modules[f"tornado.{name}"] = module
        setattr(tornado, name, module)


def run(way: str, module_name: str) -> Report:
    """Run the tests of a module in the process that was prepared for a way."""
    if way == "gencoro":
        _check_redirected(module_name)
    suite = unittest.defaultTestLoader.loadTestsFromName(f"tornado.test.{module_name}")
    suite = unittest.TestSuite(
        test
        for test in _tests_of(suite)
        if not any(name in test.id() for name in LEFT_OUT[way])
    )
    # A loop that is closed looks at every object: only at those of this module's tests.
    gc.collect()
    gc.freeze()
    faulthandler.dump_traceback_later(TIMEOUT_S, exit=True)
    result = _run_suite(suite)
    faulthandler.cancel_dump_traceback_later()
    return Report(
        result.testsRun,
        [
            test.id()
            for test, text in result.failures + result.errors
            if not (_was_late(test, text) and _passes_later(test))
        ],
        {test.id(): why for test, why in result.skipped},
    )


def _tests_of(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _tests_of(test)
        else:
            yield test


def _run_suite(suite: unittest.TestSuite) -> unittest.TestResult:
    return unittest.TextTestRunner(sys.stdout).run(suite)


def _was_late(test: unittest.TestCase, text: str) -> bool:
    """Tell if a test failed by a short limit of its own, such as 0.2 s.

    What exceeds the general limit hangs, and is not tried again.
    """
    if not isinstance(test, unittest.TestCase):
        return False  # Stands for a failed setUpClass.
    error = text.rstrip().rpartition("\n")[2]
    if test.id().endswith(".test_request_timeout"):
        return True  # Its request may not have arrived when its 0.1 s are over.
    return "Timeout" in error and f"timed out after {LIMIT_S}" not in error


def _passes_later(test: unittest.TestCase) -> bool:
    return any(
        _run_suite(unittest.TestSuite([test])).wasSuccessful() for _ in range(RETRIES)
    )


def _check_redirected(module_name: str) -> None:
    """Make sure that the tests see gencoro, and so do the modules they test with."""
    tests = importlib.import_module(f"tornado.test.{module_name}")
    testing = importlib.import_module("tornado.testing")
    web = importlib.import_module("tornado.web")
    assert tests.gen is web.gen is sys.modules["gencoro.gen"]
    assert testing.IOLoop is sys.modules["gencoro.ioloop"].IOLoop
    concurrent = sys.modules["gencoro.concurrent"]
    name = "future_set_result_unless_cancelled"
    assert getattr(web, name) is getattr(concurrent, name)
