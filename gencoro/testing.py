"""Tools for testing coroutines: the names of `tornado.testing`, and more.

`gen_test` runs a test on its own loop, `VirtualClock` makes time jump, and ``ExpectLog``
checks what is logged.  With pytest you need no import from here: see
`gencoro.pytest_plugin`.  The names of ``__all__`` are public.
"""

import functools
from collections.abc import Awaitable, Callable, Generator
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from gencoro import needs_tornado  # noqa: F401

# isort: split
import tornado.testing
from tornado.testing import (
    ExpectLog,
    bind_unused_port,
    get_async_test_timeout,
    main,
)

from gencoro.coroutines import without_mark
from gencoro.errors import DeadlockError
from gencoro.ioloop import IOLoop
from gencoro.testrun import (
    as_coroutine,
    as_seconds,
    io_loop_of_test,
    new_io_loop,
    run_test,
)
from gencoro.virtual_clock import VirtualClock

__all__ = [
    "AsyncHTTPSTestCase",
    "AsyncHTTPTestCase",
    "AsyncTestCase",
    "DeadlockError",
    "ExpectLog",
    "VirtualClock",
    "bind_unused_port",
    "gen_test",
    "get_async_test_timeout",
    "main",
    "new_io_loop",
    "run_test",
]


P = ParamSpec("P")
T = TypeVar("T")


class _Decorator(Protocol):
    """What ``@gen_test`` does to a function; ``@gen_test(timeout=...)`` returns it."""

    @overload
    def __call__(self, func: Callable[P, Generator[Any, Any, T]]) -> Callable[P, T]: ...

    @overload
    def __call__(self, func: Callable[P, Awaitable[T]]) -> Callable[P, T]: ...

    @overload
    def __call__(self, func: Callable[P, T]) -> Callable[P, T]: ...


@overload
def gen_test(func: Callable[P, Generator[Any, Any, T]]) -> Callable[P, T]: ...


@overload
def gen_test(func: Callable[P, Awaitable[T]]) -> Callable[P, T]: ...


@overload
def gen_test(func: Callable[P, T]) -> Callable[P, T]: ...


@overload
def gen_test(*, timeout: float | None = None) -> _Decorator: ...


def gen_test(
    func: Callable[..., Any] | None = None, *, timeout: float | None = None
) -> Callable[..., Any]:
    """Turn a generator function into a test: calling it runs it on a loop to its end.

    A method of `AsyncTestCase` runs on the loop of its test case; any other function or
    method gets a new loop for each call.  ``@gen.coroutine`` and ``async def`` functions
    are accepted too.

    On a timeout, `TimeoutError` is raised at the ``yield`` where the test is stuck, in the
    innermost coroutine, so that the traceback leads there and every ``finally`` runs.  A
    test that continues after that is cancelled, and fails as well.

    Args:
        timeout: Seconds of real time, 0 for no limit; by default the value of the
            environment variable ``ASYNC_TEST_TIMEOUT``, or 5.

    Raises:
        TypeError: func is not such a function.
        ValueError: timeout is negative, or not a number.

    >>> from gencoro import gen
    >>> @gen_test
    ... def test_nap():
    ...     yield gen.sleep(0.001)
    ...     assert 1 + 1 == 2
    >>> test_nap()
    >>> @gen_test(timeout=0.01)
    ... def test_that_is_stuck():
    ...     yield gen.sleep(60)
    >>> try:
    ...     test_that_is_stuck()
    ... except TimeoutError as exc:
    ...     print(exc)  # doctest: +ELLIPSIS
    The test timed out after 0.01 seconds...
    """
    if func is None:
        as_seconds(timeout)
        return functools.partial(_make_test, timeout=timeout)
    if not callable(func):
        raise TypeError(f"gen_test({func!r}): write @gen_test(timeout={func!r})")
    return _make_test(func, timeout=timeout)


# Some test runners collect every function named `*_test`.
gen_test.__test__ = False  # type: ignore[attr-defined]


def _make_test(func: Callable[..., Any], timeout: float | None) -> Callable[..., Any]:
    start = as_coroutine(func)

    @functools.wraps(func)
    def test(*args: Any, **kwargs: Any) -> Any:
        with io_loop_of_test(args[0] if args else None, timeout) as chosen:
            io_loop, seconds = chosen
            return run_test(io_loop, functools.partial(start, *args, **kwargs), seconds)

    # It waits by itself: unittest and `mock.patch` must not take it for an async function.
    vars(without_mark(test)).pop("__tornado_coroutine__", None)
    test.gen_test_timeout = timeout  # type: ignore[attr-defined]
    return test


class AsyncTestCase(tornado.testing.AsyncTestCase):
    """Tornado's class with gencoro's `IOLoop`; decorate its test methods with `gen_test`.

    >>> from gencoro import gen
    >>> class TestNap(AsyncTestCase):
    ...     @gen_test
    ...     def test_nap(self):
    ...         yield gen.sleep(0.001)
    ...         self.assertIs(IOLoop.current(), self.io_loop)
    >>> result = TestNap("test_nap").run()
    >>> result.testsRun, result.errors, result.failures
    (1, [], [])
    """

    def setUp(self) -> None:
        """Create the loop."""
        super().setUp()
        # Turns the loop that Tornado has just created into ours.
        self.io_loop = IOLoop.current()


class AsyncHTTPTestCase(AsyncTestCase, tornado.testing.AsyncHTTPTestCase):
    """Tornado's class with gencoro's `IOLoop`: a server runs the result of ``get_app``.

    >>> from tornado.web import Application
    >>> class TestApp(AsyncHTTPTestCase):
    ...     def get_app(self):
    ...         return Application()
    ...     @gen_test
    ...     def test_app_has_no_pages(self):
    ...         url = self.get_url("/")
    ...         response = yield self.http_client.fetch(url, raise_error=False)
    ...         self.assertEqual(response.code, 404)
    >>> with ExpectLog("tornado.access", "404"):
    ...     result = TestApp("test_app_has_no_pages").run()
    >>> result.testsRun, result.errors, result.failures
    (1, [], [])
    """


class AsyncHTTPSTestCase(AsyncHTTPTestCase, tornado.testing.AsyncHTTPSTestCase):
    """Like `AsyncHTTPTestCase`, with TLS."""
