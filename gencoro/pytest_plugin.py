"""The pytest plugin: runs tests that are coroutines, each on its own loop.

pytest loads it in every run if gencoro is installed.  So it only handles tests that are
marked or decorated as coroutines, and imports Tornado in functions, when it is needed.

Public are the marker ``gen_test``, the option ``--gen-test-timeout``, the ini option
``gen_test_timeout``, and the fixtures, which `gencoro.pytest_fixtures` defines.
"""

import functools
import inspect
import os
import sys
import types
from collections.abc import Callable, Generator
from typing import Any

import pytest

from gencoro.coroutines import is_coroutine_function, without_mark, wraps_native
from gencoro.pytest_fixtures import FIXTURES

__all__ = [
    "pytest_addoption",
    "pytest_configure",
    "pytest_pycollect_makeitem",
    "pytest_runtest_setup",
]

MARK = "gen_test"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the default timeout as an option and as an ini option."""
    text = "seconds of real time that a coroutine test may take, 0 for no limit"
    group = parser.getgroup("gencoro")
    group.addoption("--gen-test-timeout", type=float, metavar="SECONDS", help=text)
    parser.addini("gen_test_timeout", text)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, the hooks that collect coroutine tests, and the fixtures."""
    config.addinivalue_line(
        "markers",
        f"{MARK}(timeout=None): run a generator function or an `async def` as a test, on "
        "a loop of its own; timeout is in seconds of real time, 0 for no limit",
    )
    others = [
        plugin
        for name, plugin in config.pluginmanager.list_name_plugin()
        if plugin is not None and not name.endswith("conftest.py")
    ]
    # The plugin registered last is called first: before others with the same marker.
    late = types.ModuleType(f"{__name__}.late")
    late.pytest_pycollect_makeitem = _make_coroutine_tests  # type: ignore[attr-defined]
    for function in FIXTURES:
        # A fixture of the same name in another plugin takes precedence.
        if not any(hasattr(plugin, function.__name__) for plugin in others):
            setattr(late, function.__name__, pytest.fixture(function))
    config.pluginmanager.register(late, "gencoro-late")


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> Generator[None, Any, Any]:
    """Add a hint where pytest refuses a generator function."""
    try:
        return (yield)
    except pytest.fail.Exception as refusal:
        if not inspect.isgeneratorfunction(obj):
            raise
        raise pytest.fail.Exception(
            f"{refusal.msg}; if it is a coroutine of gencoro, mark it with "
            f"@pytest.mark.{MARK}, or decorate it with @gen.coroutine",
            pytrace=False,
        ) from None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a coroutine in a TestCase, which would not wait for it."""
    unittest = sys.modules.get("unittest")
    if (
        unittest is not None
        and isinstance(item, pytest.Function)
        and issubclass(item.cls or object, unittest.TestCase)
        and not _is_skipped(item)
        and _is_coroutine_test(item.obj, item)
        and not hasattr(item.obj, "gen_test_timeout")
    ):
        pytest.fail(
            f"{item.name} is a coroutine, and unittest would not wait for it; decorate "
            "it with gencoro.testing.gen_test",
            pytrace=False,
        )


@pytest.hookimpl(tryfirst=True)
def _make_coroutine_tests(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Function] | None:
    """Collect the tests of a coroutine function; leave others to pytest."""
    function: Any = getattr(obj, "__func__", obj)
    if (
        not collector.istestfunction(obj, name)
        or not getattr(function, "__test__", True)
        or not _is_coroutine_test(function, collector)
    ):
        return None
    # Do not mark the user's function itself: several classes may share it.
    stand_in = pytest.mark.usefixtures("io_loop")(_named_as(function))
    tests = list(collector._genfunctions(name, stand_in))
    for test in tests:
        # From now on it is a plain function, also for other plugins.
        test.obj = without_mark(_to_end(test))
    return tests


def _named_as(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def stand_in() -> None: ...

    return without_mark(stand_in)


def _is_coroutine_test(function: Any, node: pytest.Item | pytest.Collector) -> bool:
    inner = _inside_hypothesis(function)
    if _has_gen_test_of_tornado(inner):  # it waits by itself
        return False
    if hasattr(inner, "gen_test_timeout") or is_coroutine_function(inner):
        return True
    marks = [*getattr(function, "pytestmark", []), *node.iter_markers(MARK)]
    return any(mark.name == MARK for mark in marks) and (
        inspect.isgeneratorfunction(inspect.unwrap(inner))
        or inspect.isasyncgenfunction(inner)
        or wraps_native(inner)
    )


def _is_skipped(item: pytest.Function) -> bool:
    return any(getattr(x, "__unittest_skip__", False) for x in (item.obj, item.cls))


def _has_gen_test_of_tornado(function: Any) -> bool:
    """Return True if a function has Tornado's ``gen_test``, also below other decorators."""

    def is_made_by_it(link: Any) -> bool:
        return getattr(link, "__globals__", {}).get("__name__") == "tornado.testing"

    return is_made_by_it(inspect.unwrap(function, stop=is_made_by_it))


def _inside_hypothesis(function: Any) -> Any:
    handle = getattr(function, "hypothesis", None)
    return function if handle is None else handle.inner_test


def _to_end(item: pytest.Function) -> Callable[..., Any]:
    """Return a plain function that runs a coroutine test to its end."""
    test = item.obj
    handle = getattr(test, "hypothesis", None)
    if handle is None:
        return _on_loop(item, test)
    inner = handle.inner_test

    @functools.wraps(test)
    def with_examples(**arguments: Any) -> Any:
        # All parametrized items share one handle, one after the other.
        handle.inner_test = _on_loop(item, inner)
        return test(**arguments)

    return with_examples


def _on_loop(item: pytest.Function, body: Any) -> Callable[..., Any]:
    @functools.wraps(body)
    def test(*args: Any, **kwargs: Any) -> Any:
        from gencoro.testrun import as_coroutine, as_seconds, run_test, running_on

        has_gen_test = hasattr(body, "gen_test_timeout")
        try:
            timeout = as_seconds(_timeout_of(item, body))
            start = body if has_gen_test else as_coroutine(body)
        except (TypeError, ValueError) as mistake:
            raise pytest.fail.Exception(str(mistake), pytrace=False) from None
        if has_gen_test:  # perhaps below other decorators, which must run too
            with running_on(_io_loop_of(item), timeout):
                return body(*args, **kwargs)
        start = functools.partial(start, *args, **kwargs)
        return run_test(_io_loop_of(item), start, timeout)

    return without_mark(test)


def _io_loop_of(item: pytest.Function) -> Any:
    loop: Any = item.funcargs["io_loop"]
    clock = item.funcargs.get("virtual_clock")
    if clock is not None and getattr(loop.asyncio_loop, "clock", None) is not clock:
        pytest.fail(
            f"{item.name} asks for virtual_clock, but its io_loop {loop!r} lives in real "
            "time: another plugin or conftest.py made it; switch that plugin off (-p "
            "no:NAME), or make the loop with virtual_clock.new_event_loop()",
            pytrace=False,
        )
    return loop


def _timeout_of(item: pytest.Function, body: Any) -> float | None:
    for mark in item.iter_markers(MARK):
        # run_sync belongs to pytest-tornado; it is ignored here.
        if mark.args or mark.kwargs.keys() - {"timeout", "run_sync"}:
            raise TypeError(
                f"{item.name} is marked with {mark}; write {MARK}(timeout=SECONDS)"
            )
        if mark.kwargs.get("timeout") is not None:
            timeout: float = mark.kwargs["timeout"]
            return timeout
    own: float | None = getattr(body, "gen_test_timeout", None)
    return _default_timeout(item.config) if own is None else own


def _default_timeout(config: pytest.Config) -> float | None:
    """Return the timeout for all tests; None means the environment's, or 5 s."""
    option: float | None = config.getoption("gen_test_timeout")
    line = config.getini("gen_test_timeout")
    if option is not None or not line or "ASYNC_TEST_TIMEOUT" in os.environ:
        return option
    try:
        return float(line)
    except ValueError:
        raise pytest.UsageError(
            f"gen_test_timeout = {line}: give a number of seconds"
        ) from None
