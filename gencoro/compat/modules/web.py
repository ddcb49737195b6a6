"""Legacy `tornado.web`: handlers that use callbacks and return before they finish.

Rule: every request is answered, even if the callbacks that should do so fail.  Their
errors go to the handler, like those of its method.
"""

import asyncio
import functools
import hashlib
import hmac
import inspect
import re
import sys
import types
from collections.abc import Callable, Generator
from typing import Any

from tornado.concurrent import Future, future_set_result_unless_cancelled
from tornado.escape import native_str, utf8, xhtml_escape
from tornado.http1connection import HTTP1Connection
from tornado.ioloop import IOLoop
from tornado.iostream import StreamClosedError
from tornado.log import app_log
from tornado.web import HTTPError, RequestHandler, StaticFileHandler

from gencoro.compat.calls.io_loop_arguments import on_loop
from gencoro.compat.modules.http1connection import call_when_written
from gencoro.coroutines import is_coroutine_function
from gencoro.legacy.active_contexts import NOTHING, held
from gencoro.legacy.stack_context import ExceptionStackContext, wrap
from gencoro.yieldables import as_future, convert_yielded

__all__ = [
    "CONTROL_CHARACTER",
    "NOT_YET",
    "async_callback",
    "asynchronous",
    "clear_all_cookies",
    "clear_cookie",
    "cookie_signature",
    "execute",
    "execute_delegate",
    "flush",
    "get_error_html",
    "get_static_file",
    "log_message",
    "set_status",
    "stack_context_handle_exception",
    "write_error",
]

# The code flags of functions that can wait for the result of a call.
MAY_WAIT = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR

CONTROL_CHARACTER = re.compile(r"[\x00-\x1f]")

# The path arguments of a handler before its `prepare`.
NOT_YET = None


def asynchronous(method: Callable[..., Any]) -> Callable[..., Any]:
    """Make a handler method that does not finish the request when it returns.

    The handler calls ``finish()`` when it has its answer.  An error of the method, or of
    callbacks that it has scheduled, ends the request like an error of any other method.
    If the method is a coroutine, the request ends with it.

    Below a coroutine decorator, it applies to the first step only.

    >>> from tornado.web import RequestHandler
    >>> class Answer(RequestHandler):
    ...     @asynchronous
    ...     def get(self):
    ...         IOLoop.current().add_callback(self.finish, "42")
    """

    @functools.wraps(method)
    def wrapper(self: RequestHandler, *args: Any, **kwargs: Any) -> Any:
        self._auto_finish = False
        # Handlers have this attribute while compat is installed; subclasses may define it.
        handle = getattr(
            self,
            "_stack_context_handle_exception",
            functools.partial(stack_context_handle_exception, self),
        )
        with ExceptionStackContext(handle):
            result = method(self, *args, **kwargs)
            if isinstance(result, Generator):
                return result
            if result is not None:
                finish = wrap(functools.partial(_finish_after, self))
                IOLoop.current().add_future(as_future(result), finish)
        return None

    return wrapper


def _finish_after(handler: RequestHandler, done: "Future[Any]") -> None:
    try:
        done.result()
    except StreamClosedError:
        # From `return self.finish()`, which returned None: the client has disconnected.
        if not handler._finished:
            raise
    if not handler._finished:
        handler.finish()


def stack_context_handle_exception(
    self: RequestHandler,
    typ: type[BaseException],
    value: BaseException,
    traceback: types.TracebackType | None,
) -> bool:
    """Send an error response for an error in a callback of the request."""
    del typ
    try:
        # Error methods of handlers read it from sys.exc_info().
        raise value.with_traceback(traceback)
    except (Exception, asyncio.CancelledError) as exc:  # any error of the callback
        self._handle_request_exception(exc)
    finally:
        del value, traceback  # The runner's rule 3.
    return True


def async_callback(
    self: RequestHandler,
    callback: Callable[..., Any] | None,
    *args: Any,
    **kwargs: Any,
) -> Callable[..., Any] | None:
    """Wrap a callback so that its errors go to the handler; return None for None."""
    if callback is None:
        return None

    def call(*more_args: Any, **more_kwargs: Any) -> Any:
        try:
            return callback(*args, *more_args, **{**kwargs, **more_kwargs})
        except Exception as exc:  # any error of the callback
            if self._headers_written:
                app_log.exception("Error in %r after the headers were sent", callback)
            else:
                self._handle_request_exception(exc)

    return call


def execute(original: Callable[..., Any]) -> Callable[..., Any]:
    """Handle a request inside the stack contexts that a handler class has entered.

    The method was not a coroutine and ran when it was called.  So a subclass that calls
    it in a ``with`` block need not return its result.
    """

    @functools.wraps(original)
    def wrapper(self: RequestHandler, *args: Any, **kwargs: Any) -> Any:
        coroutine = original(self, *args, **kwargs)
        if held() is NOTHING and not _runs_by_itself(type(self)):
            return coroutine
        return convert_yielded(coroutine)

    return wrapper


def _runs_by_itself(handler_class: Any) -> bool:
    """Return True if a class has an ``_execute`` that is not a native coroutine."""
    own = getattr(handler_class, "_execute", None)
    return own is not RequestHandler._execute and not inspect.iscoroutinefunction(own)


def execute_delegate(original: Callable[..., Any]) -> Callable[..., Any]:
    """Accept an ``_execute`` of a handler that returns None."""

    @functools.wraps(original)
    def wrapper(self: Any) -> Any:
        if _runs_by_itself(self.handler_class):
            self.handler_class = functools.partial(_make_executing, self.handler_class)
        return original(self)

    return wrapper


def _make_executing(
    handler_class: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Create a handler whose first call of ``_execute`` returns a Future."""
    handler = handler_class(*args, **kwargs)

    def run(*args: Any, **kwargs: Any) -> Any:
        del handler._execute
        result = handler._execute(*args, **kwargs)
        if result is None:
            result = asyncio.get_running_loop().create_future()
            result.set_result(None)
        return result

    handler._execute = run
    return handler


def get_static_file(original: Callable[..., Any]) -> Callable[..., Any]:
    """Allow a subclass's ``get`` that is not a coroutine to drop the result of this one.

    The request is answered nevertheless; the returned Future only signals when.
    """

    @functools.wraps(original)
    def wrapper(self: StaticFileHandler, *args: Any, **kwargs: Any) -> Any:
        coroutine = original(self, *args, **kwargs)
        own = type(self).get
        if (
            own is StaticFileHandler.get
            or sys._getframe(1).f_code.co_flags & MAY_WAIT  # it yields or awaits this
            or inspect.iscoroutinefunction(own)
            or is_coroutine_function(own)
        ):
            return coroutine
        answered = as_future(coroutine)
        ended = answered.get_loop().create_future()
        answered.add_done_callback(
            lambda _: future_set_result_unless_cancelled(ended, None)
        )
        asynchronous(lambda _: answered)(self)
        return ended

    return wrapper


def flush(original: Callable[..., Any]) -> Callable[..., Any]:
    """Accept a callback, called when the flushed data is written."""

    @functools.wraps(original)
    def wrapper(
        self: RequestHandler,
        include_footers: bool = False,
        callback: Callable[[], object] | None = None,
    ) -> Any:
        connection = self.request.connection
        if callback is None:
            if not (self._headers_written and self.request.method == "HEAD"):
                return original(self, include_footers)
            # It creates a Future itself, for which it needs a loop on another thread.
            stream = getattr(connection, "stream", None)
            with on_loop(None if stream is None else stream.io_loop):
                return original(self, include_footers)
        # The response to HEAD consists of the headers only.
        if isinstance(connection, HTTP1Connection) and self.request.method != "HEAD":
            call_when_written(connection, callback)
            original(self, include_footers)
        else:
            written = original(self, include_footers)
            written.add_done_callback(functools.partial(_if_written, wrap(callback)))
        return None

    return wrapper


def _if_written(callback: Callable[[], object], written: "Future[None]") -> None:
    if not written.cancelled() and written.exception() is None:
        callback()


def _get_log_message(self: HTTPError) -> str | None:
    message = self._log_message
    return message.replace("%", "%%") if message and not self.args else message


def _set_log_message(self: HTTPError, message: str | None) -> None:
    if message and not self.args:
        message = message.replace("%%", "%")
    self._log_message = message


# The message for the log, a format string for the arguments of the error.
log_message = property(_get_log_message, _set_log_message)


def set_status(original: Callable[..., None]) -> Callable[..., None]:
    """Accept a reason that is bytes."""

    @functools.wraps(original)
    def wrapper(
        self: RequestHandler, status_code: int, reason: str | bytes | None = None
    ) -> None:
        original(self, status_code, None if reason is None else native_str(reason))

    return wrapper


def get_error_html(self: RequestHandler, status_code: int, **kwargs: Any) -> str:
    """Return the default error page; subclasses override this."""
    del kwargs
    message = f"{status_code}: {xhtml_escape(self._reason)}"
    return f"<html><title>{message}</title><body>{message}</body></html>"


def write_error(original: Callable[..., None]) -> Callable[..., None]:
    """Use the page of a handler's ``get_error_html``, if its class overrides that."""

    @functools.wraps(original)
    def wrapper(self: RequestHandler, status_code: int, **kwargs: Any) -> None:
        own: Any = type(self).get_error_html  # type: ignore[attr-defined]
        if own is get_error_html:
            original(self, status_code, **kwargs)
            return
        _typ, error, traceback = kwargs.pop("exc_info", (None, None, None))
        if error is None:
            page = own(self, status_code, **kwargs)
        else:
            try:
                # The method may read sys.exc_info().
                raise error.with_traceback(traceback)
            except BaseException as exc:
                page = own(self, status_code, exception=exc, **kwargs)
            finally:
                del error, traceback  # The runner's rule 3.
        self.finish(page)

    return wrapper


def clear_cookie(original: Callable[..., None]) -> Callable[..., None]:
    """Accept the path and the domain by position."""

    @functools.wraps(original)
    def wrapper(self: RequestHandler, name: str, *args: Any, **kwargs: Any) -> None:
        if args:
            kwargs.update(_path_and_domain(*args))
        original(self, name, **kwargs)

    return wrapper


def clear_all_cookies(original: Callable[..., None]) -> Callable[..., None]:
    """Accept the path and the domain by position."""

    @functools.wraps(original)
    def wrapper(self: RequestHandler, *args: Any, **kwargs: Any) -> None:
        if args:
            kwargs.update(_path_and_domain(*args))
        original(self, **kwargs)

    return wrapper


def _path_and_domain(path: str, domain: str | None = None) -> dict[str, Any]:
    return {"path": path, "domain": domain}


def cookie_signature(self: RequestHandler, *parts: str | bytes) -> bytes:
    """Return a cookie's signature as in Tornado 2.0."""
    self.require_setting("cookie_secret", "secure cookies")
    signature = hmac.new(utf8(self.settings["cookie_secret"]), digestmod=hashlib.sha1)
    for part in parts:
        signature.update(utf8(part))
    return utf8(signature.hexdigest())
