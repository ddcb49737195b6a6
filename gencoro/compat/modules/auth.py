"""Legacy `tornado.auth`, for handlers that use callbacks.

Rule: with a callback, a failed sign-in passes None to it and is logged; the callback of
a redirect gets no argument.  Without a callback, the error is an ``AuthError``.
"""

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import tornado.auth
from tornado.auth import AuthError, OAuthMixin, _oauth_parse_response
from tornado.escape import json_decode
from tornado.httpclient import HTTPError, HTTPResponse
from tornado.ioloop import IOLoop
from tornado.log import gen_log
from tornado.util import ArgReplacer

from gencoro.compat.calls.started_coroutines import (
    Started,
    is_for_await,
    raise_within_contexts,
)
from gencoro.compat.modules.concurrent import Future
from gencoro.compat.names import INSTEAD
from gencoro.futures import AnyFuture, is_future
from gencoro.legacy.adaptors import return_future
from gencoro.legacy.contexts import ExceptionStackContext
from gencoro.legacy.stack_context import wrap
from gencoro.yieldables import as_future

__all__ = [
    "FacebookMixin",
    "FriendFeedMixin",
    "GoogleMixin",
    "auth_future_to_callback",
    "auth_return_future",
    "callback_at_1",
    "callback_at_2",
    "callback_at_3",
    "callback_at_5",
    "mixin_init",
    "oauth_get_user",
    "oauth_get_user_future",
    "on_access_token",
    "on_authentication_verified",
    "on_json",
    "on_oauth_get_user",
    "on_request_token",
    "redirect_at_2",
    "redirect_at_4",
    "redirected_at_3",
    "redirected_at_5",
    "twitter_oauth_get_user",
    "twitter_parse_user_response",
]

Callback = Callable[..., object] | None
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def auth_future_to_callback(
    callback: Callable[[Any], object], future: "AnyFuture[Any]"
) -> None:
    """Pass a Future's result to a callback, or None if the Future holds an `AuthError`."""
    try:
        result = future.result()
    except AuthError as exc:
        gen_log.warning("%s", exc)
        result = None
    callback(result)


def _redirected_to_callback(
    callback: Callable[[], object], future: "AnyFuture[Any]"
) -> None:
    future.result()
    callback()


def _starting(
    place: int, deliver: Callable[[Any, "AnyFuture[Any]"], None]
) -> Decorator:
    """Return a decorator that starts a native coroutine and accepts a callback.

    Args:
        place: The former position of the callback.
        deliver: Called with the callback and the done Future.
    """

    def decorate(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            callback, args = _take_callback(args, kwargs, place)
            call = original(*args, **kwargs)
            if callback is None and is_for_await():
                return call
            started = Started(_with_auth_errors(call), raise_within_contexts())
            if callback is not None:
                IOLoop.current().add_future(
                    started, functools.partial(deliver, callback)
                )
            return started

        return wrapper

    return decorate


def _take_callback(
    args: tuple[Any, ...], kwargs: dict[str, Any], place: int
) -> tuple[Callback, tuple[Any, ...]]:
    """Remove the callback from the arguments of a call.

    Many of these methods pass other keyword arguments on to the service, and one service
    takes a string named ``callback``.
    """
    by_name = kwargs.get("callback")
    if callable(by_name) or ("callback" in kwargs and by_name is None):
        return kwargs.pop("callback"), args
    if len(args) > place and callable(args[place]):
        return args[place], args[:place] + args[place + 1 :]
    return None, args


callback_at_1 = _starting(1, auth_future_to_callback)
callback_at_2 = _starting(2, auth_future_to_callback)
callback_at_3 = _starting(3, auth_future_to_callback)
callback_at_5 = _starting(5, auth_future_to_callback)
redirect_at_2 = _starting(2, _redirected_to_callback)
redirect_at_4 = _starting(4, _redirected_to_callback)


async def _with_auth_errors(call: Awaitable[Any]) -> Any:
    """Await a call, and turn a failed request into an `AuthError`, as in Tornado 4."""
    try:
        return await call
    except (HTTPError, OSError) as exc:
        raise _as_auth_error(exc) from None


def _as_auth_error(error: HTTPError | OSError) -> AuthError:
    """Return a copy of an error that can be caught as an `AuthError` too."""
    kind: Any = type(error)
    kind = _auth_error_type(kind)
    copy: AuthError = kind.__new__(kind, *error.args)
    copy.args = error.args
    vars(copy).update(vars(error))
    return copy.with_traceback(error.__traceback__)


@functools.cache
def _auth_error_type(kind: Any) -> Any:
    def __str__(self: AuthError) -> str:
        return f"Error response {kind.__str__(self)}"

    name = f"{kind.__name__}AuthError"
    return type(name, (AuthError, kind), {"__str__": __str__, "__module__": __name__})


def _redirected(place: int, parameters: int) -> Decorator:
    """Return a decorator for redirects, which take effect at once and returned a Future.

    Today they return None.  That can be yielded but not awaited, and methods decorated
    with `tornado.web.asynchronous` may use the Future.

    Args:
        place: The former position of the callback.
        parameters: The former number of parameters.
    """

    def decorate(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            callback, args = _take_callback(args, kwargs, place)
            if _has_no_callback(args[place:], len(args) == parameters):
                args = args[:place] + args[place + 1 :]
            is_legacy = is_for_await() or not getattr(args[0], "_auto_finish", True)
            original(*args, **kwargs)
            if callback is None and not is_legacy:
                return None
            return _redirected_now(callback)

        return wrapper

    return decorate


def _redirected_now(callback: Callback) -> Future[None]:
    """Schedule the callback and return a done Future."""
    if callback is not None:
        IOLoop.current().add_callback(callback)
    done: Future[None] = Future()
    done.set_result(None)
    return done


def _has_no_callback(rest: tuple[Any, ...], are_all_given: bool) -> bool:
    """Return True if None was passed as the callback.

    It is followed by a scope; in today's signature, by a response type, which is a string.
    """
    if not rest or rest[0] is not None:
        return False
    return are_all_given or (len(rest) > 1 and not isinstance(rest[1], str))


redirected_at_3 = _redirected(3, parameters=4)
redirected_at_5 = _redirected(5, parameters=8)


def auth_return_future(f: Callable[..., object]) -> Callable[..., Future[Any]]:
    """Make a function return the Future that it is passed as ``callback``.

    The function sets the Future's result.  The caller may pass a callback, by position or
    by name.  An error of the function, or of callbacks that it has scheduled, fails the
    Future.
    """
    replacer = ArgReplacer(f, "callback")

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        callback, places, kwargs = replacer.replace(future, args, kwargs)
        if callback is not None:
            deliver = functools.partial(auth_future_to_callback, callback)
            future.add_done_callback(wrap(deliver))

        def handle(
            typ: type[BaseException], value: BaseException, traceback: Any
        ) -> bool:
            if future.done():
                return False
            future.set_exc_info((typ, value, traceback))
            return True

        with ExceptionStackContext(handle):
            f(*places, **kwargs)
        return future

    return wrapper


# Tornado 6.7 will not have it.
_OpenIdMixin: Any = getattr(tornado.auth, "OpenIdMixin", None)


def mixin_init(original: Callable[..., None]) -> Callable[..., None]:
    """Allow the mixin to precede RequestHandler in the bases of a class."""

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if args or kwargs:
            super(_OpenIdMixin, self).__init__(*args, **kwargs)
        else:
            original(self)

    return __init__


def oauth_get_user(self: OAuthMixin, access_token: Any, callback: Any) -> None:
    """Pass the user, a dict, to the callback; subclasses implement this."""
    raise NotImplementedError(
        f"{type(self).__qualname__} defines neither _oauth_get_user_future() nor "
        "_oauth_get_user()"
    )


def twitter_oauth_get_user(self: Any, access_token: Any, callback: Any) -> None:
    """Request the user, and pass it to the callback as a dict."""
    self.twitter_request(
        "/account/verify_credentials",
        access_token=access_token,
        callback=functools.partial(self._parse_user_response, callback),
    )


def twitter_parse_user_response(self: Any, callback: Any, user: Any) -> None:
    """Pass the user to the callback, with ``username`` set as for other services."""
    del self
    if user:
        user["username"] = user["screen_name"]
    callback(user)


_OURS = (oauth_get_user, twitter_oauth_get_user)


def oauth_get_user_future(original: Callable[..., Any]) -> Callable[..., Any]:
    """Use a subclass's ``_oauth_get_user``, which takes a callback, if it has one."""

    @functools.wraps(original)
    async def ask(self: OAuthMixin, access_token: Any) -> Any:
        if inspect.getattr_static(type(self), "_oauth_get_user", None) in (
            *_OURS,
            None,
        ):
            return await original(self, access_token)
        return await _called_back_by_subclass(self, access_token)

    return callback_at_2(ask)


@return_future
def _called_back_by_subclass(self: Any, access_token: Any, callback: Any) -> None:
    self._oauth_get_user(access_token, callback)


# The callbacks that the mixins passed to `AsyncHTTPClient.fetch`, as do mixins of programs
# modeled on them.  `waiting` is a Future or a callback.


def _response_of(fetched: Any) -> HTTPResponse:
    """Return the response of a fetch, or of its Future, which Tornado 5.1 passed."""
    try:
        response: HTTPResponse = fetched.result() if is_future(fetched) else fetched
    except (HTTPError, OSError) as exc:
        raise _as_auth_error(exc) from None
    if response.error:
        raise AuthError(f"Error response {response.error}")
    return response


def _answer(waiting: Any, value: Any) -> None:
    if is_future(waiting):
        waiting.set_result(value)
    else:
        waiting(value)


def _refuse(waiting: Any, error: AuthError) -> None:
    if is_future(waiting):
        waiting.set_exception(error)
    else:
        gen_log.warning("%s", error)
        waiting(None)


def on_json(self: Any, waiting: Any, *fetched: Any) -> None:
    """Deliver the JSON body of a response."""
    del self
    try:
        response = _response_of(fetched[-1])
    except AuthError as exc:
        _refuse(waiting, exc)
    else:
        _answer(waiting, json_decode(response.body))


def on_access_token(self: Any, waiting: Any, fetched: Any) -> None:
    """Request the user of an access token, and deliver it."""
    try:
        response = _response_of(fetched)
    except AuthError as exc:
        _refuse(waiting, exc)
        return
    access_token = _oauth_parse_response(response.body)
    user = as_future(self._oauth_get_user_future(access_token))
    deliver = functools.partial(self._on_oauth_get_user, access_token, waiting)
    IOLoop.current().add_future(user, deliver)


def on_oauth_get_user(self: Any, access_token: Any, waiting: Any, user: Any) -> None:
    """Deliver a user, or the user in a Future."""
    del self
    try:
        known = user.result() if is_future(user) else user
        if not known:
            raise AuthError("the service returned no user")
    except AuthError as exc:
        _refuse(waiting, exc)
    except Exception as exc:  # an error of the method that requests the user
        if not is_future(waiting):
            raise
        waiting.set_exception(exc)
    else:
        known["access_token"] = access_token
        _answer(waiting, known)


def on_request_token(original: Callable[..., None]) -> Callable[..., None]:
    """Accept a callback before the response, and raise an error response."""

    @functools.wraps(original)
    def wrapper(self: Any, authorize_url: str, callback_uri: Any, *rest: Any) -> None:
        *callbacks, fetched = rest
        original(self, authorize_url, callback_uri, _response_of(fetched))
        for callback in filter(None, callbacks):
            callback()

    return wrapper


def on_authentication_verified(original: Callable[..., Any]) -> Callable[..., Any]:
    """Accept a callback or Future before the response, and deliver the user to it."""

    @functools.wraps(original)
    def wrapper(self: Any, *args: Any) -> Any:
        if len(args) == 1:
            return original(self, *args)
        waiting, fetched = args
        try:
            user = original(self, _response_of(fetched))
        except AuthError as exc:
            _refuse(waiting, exc)
        else:
            _answer(waiting, user)
        return None

    return wrapper


def _mixin_that_refuses(name: str, *methods: str) -> type[Any]:
    """Return a mixin of a discontinued service: it can be imported but not used."""

    def refuse(self: Any, *_args: Any, **_kwargs: Any) -> None:
        instead = INSTEAD[f"tornado.auth.{name}"]
        raise AuthError(f"{type(self).__qualname__}: {name} cannot work; {instead}")

    return type(name, (), dict.fromkeys(methods, refuse) | {"__module__": __name__})


_SIGNING_IN = ("authenticate_redirect", "authorize_redirect", "get_authenticated_user")

FacebookMixin = _mixin_that_refuses("FacebookMixin", *_SIGNING_IN, "facebook_request")
FriendFeedMixin = _mixin_that_refuses(
    "FriendFeedMixin", *_SIGNING_IN, "friendfeed_request"
)
GoogleMixin = _mixin_that_refuses("GoogleMixin", *_SIGNING_IN)
