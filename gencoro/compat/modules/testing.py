"""Legacy `tornado.testing`, where an error in a callback fails the test.

Until Tornado 5 an error in a callback ended the test that had scheduled it; since 6 it
is logged, and the test goes on.  A test gets the behavior for which it was written.

Rule: a test is legacy if its module, or the module of one of its base classes, was written
for Tornado 5 or earlier (`gencoro.compat.doctor.eras`).
"""

import asyncio
import contextlib
import functools
import io
import logging
import socket
import sys
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import tornado.testing

from gencoro.compat.calls.legacy_modules import is_module_legacy
from gencoro.legacy.contexts import ExceptionStackContext

__all__ = [
    "FIRST_PORT",
    "LogTrapTestCase",
    "fetching_errors_too",
    "finding_era",
    "get_unused_port",
    "running_in_context",
    "stack_context",
]

# The first port that `get_unused_port` tries, as in Tornado 2 to 4: above the privileged ones.
FIRST_PORT = 10000


def get_unused_port() -> int:
    """Return a port that is not in use; each call returns another one."""
    while True:
        port: int = tornado.testing._next_port  # type: ignore[attr-defined]
        tornado.testing._next_port = port + 1  # type: ignore[attr-defined]
        with contextlib.closing(socket.socket()) as sock, contextlib.suppress(OSError):
            sock.bind(("127.0.0.1", port))
            return port


class LogTrapTestCase(unittest.TestCase):
    """A test case whose log is shown only if it fails.

    It redirects the stream of the root logger's only handler.  It has no effect if logging
    is configured in another way, for example by pytest.
    """

    def run(
        self, result: unittest.TestResult | None = None
    ) -> unittest.TestResult | None:
        """Run the test."""
        if not logging.root.handlers:
            logging.basicConfig()
        handler = logging.root.handlers[0]
        if (
            len(logging.root.handlers) > 1
            or not isinstance(handler, logging.StreamHandler)
            or result is None
        ):
            return super().run(result)
        trap = io.StringIO()
        stream = handler.setStream(trap)
        bad_before = len(result.failures) + len(result.errors)
        try:
            return super().run(result)
        finally:
            handler.setStream(stream)
            if (
                stream is not None
                and len(result.failures) + len(result.errors) > bad_before
            ):
                stream.write(trap.getvalue())


def finding_era(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `AsyncTestCase.__init__`, which is called when tests are collected.

    Reading the source takes time and memory, which a running test may measure or limit.
    """

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        _is_legacy(type(self))

    return __init__


def running_in_context(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `AsyncTestCase.run`: an error in a callback of a legacy test fails the test."""

    @functools.wraps(original)
    def run(self: Any, result: Any = None) -> Any:
        if not _is_legacy(type(self)):
            return original(self, result)
        with ExceptionStackContext(functools.partial(_handle_exception, self)):
            ran = original(self, result)
        # The context has consumed the error that the original raised at its end.
        self._AsyncTestCase__rethrow()
        return ran

    return run


def _handle_exception(
    self: Any, typ: type[BaseException], value: BaseException, traceback: Any
) -> bool:
    # Closing the loop cancels what is left of a test, which has passed.
    if isinstance(value, asyncio.CancelledError):
        return False
    return bool(self._handle_exception(typ, value, traceback))


@contextlib.contextmanager
def stack_context(self: Any) -> Iterator[None]:
    """Fail the test on an error in a ``with`` block: `AsyncTestCase._stack_context`."""
    try:
        yield
    except Exception:  # any error of the test's code
        self._handle_exception(*sys.exc_info())


def fetching_errors_too(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `AsyncHTTPTestCase.fetch`: a legacy test always gets a response.

    If the request fails, its code is 599 and its ``error`` has the reason.
    """

    @functools.wraps(original)
    def fetch(self: Any, path: str, raise_error: bool = False, **kwargs: Any) -> Any:
        if raise_error or not _is_legacy(type(self)):
            return original(self, path, raise_error=raise_error, **kwargs)
        is_whole = path.lower().startswith(("http://", "https://"))
        url = path if is_whole else self.get_url(path)
        self.http_client.fetch(url, callback=self.stop, **kwargs)
        return self.wait()

    return fetch


def _is_legacy(test_class: type) -> bool:
    """Return True if the tests of a class are legacy."""
    for base in test_class.__mro__:
        package, _, rest = base.__module__.partition(".")
        is_of_user = package not in ("builtins", "gencoro", "tornado", "unittest")
        if is_of_user or (package == "tornado" and rest.partition(".")[0] == "test"):
            module = sys.modules.get(base.__module__)
            if is_module_legacy(module):
                return True
    return False
