"""tornado.auth as code of Tornado 2 to 5 uses it, with services of our own."""

import asyncio
import base64
import functools
import gc
import logging

import pytest
import tornado.auth
from tornado import gen, web
from tornado.auth import (
    AuthError,
    FacebookGraphMixin,
    GoogleOAuth2Mixin,
    OAuth2Mixin,
    OAuthMixin,
    OpenIdMixin,
    TwitterMixin,
)
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPError
from tornado.httputil import url_concat
from tornado.ioloop import IOLoop
from tornado.web import RequestHandler

from gencoro.compat.calls.started_coroutines import Started
from gencoro.futures import is_future
from gencoro.legacy.adaptors import return_future
from gencoro.legacy.stack_context import ExceptionStackContext, StackContext
from tests.helpers.compat.rows import uses

# Tornado's own word about it, which those who use it have read.
pytestmark = pytest.mark.filterwarnings("ignore:OpenIdMixin:DeprecationWarning")

# What a test waits for at the longest; no test needs it.
PATIENCE_S = 20.0

TOKEN = {"key": "k", "secret": "s"}

AX = "http://openid.net/srv/ax/1.0"
EMAIL = "http://axschema.org/contact/email"
OPEN_ID = {
    "openid.mode": "id_res",
    "openid.ns.ax": AX,
    "openid.ax.type.email": EMAIL,
    "openid.ax.value.email": "foo@example.test",
}


# The services.


class OpenIdServer(RequestHandler):
    def post(self):
        is_valid = self.get_argument("openid.ax.value.email") == "foo@example.test"
        self.write(f"is_valid:{str(is_valid).lower()}\n")


class TokenServer(RequestHandler):
    def get(self):
        if self.get_argument("error", None):
            self.send_error(500)
        else:
            self.write("oauth_token=k&oauth_token_secret=s&screen_name=foo")


class UserServer(RequestHandler):
    def get(self, name):
        if name == "error":
            self.send_error(500)
        else:
            who = {"screen_name": "foo", "name": "Foo", "asked": self.request.uri}
            self.write(who)

    def post(self, name):
        self.write({"posted": self.get_argument("status")})


class AccessServer(RequestHandler):
    def get(self):
        self.write({"access_token": "a", "expires_in": 3600})

    def post(self):
        self.write({"access_token": self.get_argument("code")})


# The clients.


class Client(RequestHandler):
    """Runs what a test gives to it, as its ``get``."""

    def initialize(self):
        server = f"http://{self.request.host}"
        self._OPENID_ENDPOINT = f"{server}/openid"
        self._OAUTH_REQUEST_TOKEN_URL = f"{server}/token"
        self._OAUTH_ACCESS_TOKEN_URL = f"{server}/token"
        self._OAUTH_AUTHORIZE_URL = f"{server}/authorize"
        self._OAUTH_AUTHENTICATE_URL = f"{server}/authenticate"
        self._TWITTER_BASE_URL = f"{server}/user"
        self._FACEBOOK_BASE_URL = f"{server}/user"

    def get(self):
        return self.settings["do"][0](self)

    def log_exception(self, typ, value, traceback):
        self.settings["errors"].append(value)

    def on_user(self, user):
        self.finish({"user": user})

    def _oauth_consumer_token(self):
        return {"key": "ck", "secret": "cs"}


class OpenIdClient(Client, OpenIdMixin):
    pass


class OpenIdFirstClient(OpenIdMixin, Client):
    pass


class OAuthClient(Client, OAuthMixin):
    """Has the hook of Tornado 2."""

    def _oauth_get_user(self, access_token, callback):
        callback({"email": "foo@example.test"})


class OAuthClient3(Client, OAuthMixin):
    """Has the hook of Tornado 3, in the style of its time."""

    @return_future
    def _oauth_get_user_future(self, access_token, callback):
        IOLoop.current().add_callback(callback, {"email": "foo@example.test"})


class OAuthClient0(Client, OAuthMixin):
    """Has no hook."""


class NobodyClient(Client, OAuthMixin):
    def _oauth_get_user(self, access_token, callback):
        IOLoop.current().add_callback(callback, None)


class FailingClient(Client, OAuthMixin):
    def _oauth_get_user(self, access_token, callback):
        IOLoop.current().add_callback(self.fail)

    def fail(self):
        raise ZeroDivisionError


class OAuth2Client(Client, OAuth2Mixin):
    pass


class TwitterClient(Client, TwitterMixin):
    pass


class OwnTwitterClient(Client, TwitterMixin):
    """Asks the mixin of Tornado 2 for the user, and tells more."""

    def _oauth_get_user(self, access_token, callback):
        def add(user):
            callback({**user, "is_mine": True})

        super()._oauth_get_user(access_token, add)


class FacebookClient(Client, FacebookGraphMixin):
    def initialize(self):
        super().initialize()
        self._OAUTH_ACCESS_TOKEN_URL = f"http://{self.request.host}/access"


class GoogleClient(Client, GoogleOAuth2Mixin):
    def initialize(self):
        super().initialize()
        self._OAUTH_ACCESS_TOKEN_URL = f"http://{self.request.host}/access"


@pytest.fixture
def errors():
    return []


@pytest.fixture
def do():
    return []


@pytest.fixture
def app(compat, errors, do):
    return web.Application(
        [
            ("/openid", OpenIdServer),
            ("/token", TokenServer),
            ("/access", AccessServer),
            (r"/user/?(?:me|users/show/)?(\w*).*", UserServer),
            *((f"/{client.__name__}", client) for client in Client.__subclasses__()),
        ],
        do=do,
        errors=errors,
        google_oauth={"key": "ck", "secret": "cs"},
    )


@pytest.fixture
def visit(loop, http_client, base_url, do):
    """Return what has a client's handler do something, and returns its response."""

    def visit(client, what, headers=None, **query):
        do[:] = [what]

        async def main():
            url = url_concat(f"{base_url}/{client}", query)
            return await http_client.fetch(
                url, headers=headers, follow_redirects=False, raise_error=False
            )

        return loop.run_sync(main, timeout=PATIENCE_S)

    return visit


def asynchronous(method):
    """Mark a method when it is called: compat is installed only then."""
    return lambda self: web.asynchronous(method)(self)


@asynchronous
def sign_in(self):
    self.get_authenticated_user(self.on_user)


def body_of(response):
    assert response.code == 200, response
    return web.escape.json_decode(response.body)


def cookie_of_request(key=b"k"):
    cookie = "|".join(base64.b64encode(part).decode() for part in (key, b"s"))
    return {"Cookie": f'_oauth_request_token="{cookie}"'}


# Each call: the client, the method, its arguments, which the callback followed, and what
# comes of it.
SHOW = "/users/show/foo"
SIGN_IN = "get_authenticated_user"
AUTHORIZE = "authorize_redirect"
AUTHENTICATE = "authenticate_redirect"
NAME = {"name": "Foo"}
EMAIL_OF_FOO = {"email": "foo@example.test"}
KEY = {"access_token": {**TOKEN, "screen_name": "foo"}}
SESSION = {"access_token": "a", "session_expires": "3600", **NAME}
CALLS = {
    "twitter": ("TwitterClient", "twitter_request", [SHOW], NAME),
    "oauth2": ("OAuth2Client", "oauth2_request", ["{server}/user" + SHOW], NAME),
    "facebook": ("FacebookClient", "facebook_request", [SHOW], NAME),
    "facebook user": ("FacebookClient", SIGN_IN, ["/", "id", "secret", "c"], SESSION),
    "google user": ("GoogleClient", SIGN_IN, ["/", "code"], {"access_token": "code"}),
    "openid user": ("OpenIdClient", SIGN_IN, [], EMAIL_OF_FOO),
    "oauth user": ("OAuthClient", SIGN_IN, [], EMAIL_OF_FOO),
    "twitter user": ("TwitterClient", SIGN_IN, [], {"username": "foo"}),
}
REDIRECTS = {
    "oauth": ("TwitterClient", AUTHORIZE, [None] * 3, "/authorize?oauth_token=k"),
    "twitter": ("TwitterClient", AUTHENTICATE, ["/"], "/authenticate?oauth_token=k"),
    "oauth2": ("OAuth2Client", AUTHORIZE, ["/", "id", None, None], "client_id=id"),
    "openid": ("OpenIdClient", AUTHENTICATE, ["/", ["email"]], "openid.mode"),
}


def made(self, method, args, *more, **names):
    args = [
        arg.format(server=f"http://{self.request.host}")
        if isinstance(arg, str)
        else arg
        for arg in args
    ]
    if method == "twitter_request":
        names = {"access_token": TOKEN, **names}
    return getattr(self, method)(*args, *more, **names)


def styles(method, args, done):
    """Return a ``get`` for each style: it makes a call, and gives the result to `done`."""

    @asynchronous
    def by_place(self):
        made(self, method, args, functools.partial(done, self))

    @asynchronous
    def by_name(self):
        made(self, method, args, callback=functools.partial(done, self))

    @asynchronous
    def by_task(self):
        @gen.engine
        def run():
            done(self, (yield gen.Task(made, self, method, args)))

        run()

    @gen.coroutine
    def by_yield(self):
        done(self, (yield made(self, method, args)))

    @asynchronous
    def by_future(self):
        future = made(self, method, args)
        assert is_future(future)
        IOLoop.current().add_future(future, lambda known: done(self, known.result()))

    async def by_await(self):
        done(self, await made(self, method, args))

    @asynchronous
    def dropped(self):
        made(self, method, args)

    ways = {"place": by_place, "name": by_name, "Task": by_task, "yield": by_yield}
    return ways | {"Future": by_future, "await": by_await, "dropped": dropped}


STYLES = ["place", "name", "Task", "yield", "Future", "await"]


@uses(
    "tornado.auth.FacebookGraphMixin.facebook_request",
    "tornado.auth.FacebookGraphMixin.get_authenticated_user",
    "tornado.auth.GoogleOAuth2Mixin.get_authenticated_user",
    "tornado.auth.OAuth2Mixin.oauth2_request",
    "tornado.auth.OAuthMixin.get_authenticated_user",
    "tornado.auth.OAuthMixin._oauth_get_user_future",
    "tornado.auth.OpenIdMixin.get_authenticated_user",
    "tornado.auth.TwitterMixin._oauth_get_user_future",
    "tornado.auth.TwitterMixin.twitter_request",
)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("call", CALLS)
def test_answer_of_a_service(visit, call, style):
    client, method, args, answer = CALLS[call]
    run = styles(method, args, Client.on_user)[style]
    response = visit(client, run, cookie_of_request(), **OPEN_ID, oauth_token="k")

    assert body_of(response)["user"].items() >= answer.items()


@uses(
    "tornado.auth.OAuthMixin.authorize_redirect",
    "tornado.auth.TwitterMixin.authenticate_redirect",
    "tornado.auth.OAuth2Mixin.authorize_redirect",
    "tornado.auth.OpenIdMixin.authenticate_redirect",
)
@pytest.mark.parametrize("style", [*STYLES, "dropped"])
@pytest.mark.parametrize("call", REDIRECTS)
def test_redirect(visit, call, style):
    called = []
    client, method, args, location = REDIRECTS[call]
    run = styles(method, args, lambda self, *result: called.append(result))[style]
    response = visit(client, run)

    assert response.code == 302
    assert location in response.headers["Location"]
    assert called.count(()) == (style in ("place", "name"))


def test_redirect_at_once_returns_nothing_today(visit):
    def run(self):
        assert self.authorize_redirect("/back", "id") is None

    assert visit("OAuth2Client", run).code == 302


@pytest.mark.parametrize(
    "args",
    [
        pytest.param([SHOW, TOKEN, {"status": "new"}], id="today's places"),
        pytest.param([SHOW, print, TOKEN, {"status": "new"}], id="those of once"),
    ],
)
def test_callback_has_its_place_only_if_it_can_be_called(visit, args):
    @gen.coroutine
    def run(self):
        self.on_user((yield self.twitter_request(*args)))

    assert body_of(visit("TwitterClient", run))["user"] == {"posted": "new"}


def test_a_services_own_callback_argument_is_passed_on(visit):
    @gen.coroutine
    def run(self):
        asked = self.facebook_request("/users/show/foo", access_token="a", callback="f")
        self.on_user((yield asked))

    assert "callback=f" in body_of(visit("FacebookClient", run))["user"]["asked"]


# What fails.


@pytest.mark.parametrize("call", ["twitter", "oauth2", "facebook"])
def test_callback_gets_none_for_an_error_of_the_service(visit, call, caplog):
    client, method, args, _answer = CALLS[call]
    failing = [arg.replace("/foo", "/error") for arg in args]

    @asynchronous
    def run(self):
        made(self, method, failing, self.on_user)

    assert body_of(visit(client, run)) == {"user": None}
    assert "Error response HTTP 500: Internal Server Error" in caplog.text
    assert {"tornado.general"} >= {
        record.name for record in caplog.records if record.levelno == logging.WARNING
    }


def test_callback_gets_none_for_who_cannot_be_signed_in(visit, caplog):
    assert body_of(visit("OAuthClient", sign_in, oauth_token="k")) == {"user": None}
    assert "Missing OAuth request token cookie" in caplog.text


@pytest.mark.parametrize("kind", [AuthError, HTTPClientError])
def test_error_of_the_service_can_be_caught_by_both_its_names(visit, kind):
    @gen.coroutine
    def run(self):
        try:
            yield self.twitter_request("/users/show/error", access_token=TOKEN)
        except kind as exc:
            assert exc.code == 500
            assert exc.response.code == 500
            self.finish({"error": str(exc)})

    body = body_of(visit("TwitterClient", run))
    assert body == {"error": "Error response HTTP 500: Internal Server Error"}


def test_error_of_the_connection_is_an_auth_error(visit):
    @gen.coroutine
    def run(self):
        try:
            yield self.oauth2_request("http://127.0.0.1:1/")
        except AuthError as exc:
            assert isinstance(exc, ConnectionRefusedError)
            self.finish({"errno": exc.errno})

    refused = ConnectionRefusedError(111, "")
    assert body_of(visit("OAuth2Client", run)) == {"errno": refused.errno}


def test_error_of_the_callback_answers_the_request(visit, errors):
    @asynchronous
    def run(self):
        def fail(user):
            raise ZeroDivisionError

        self.twitter_request(SHOW, fail, access_token=TOKEN)

    assert visit("TwitterClient", run).code == 500
    assert isinstance(errors[0], ZeroDivisionError)


@pytest.mark.parametrize("method", [AUTHORIZE, AUTHENTICATE])
def test_unretrieved_error_answers_the_request(visit, errors, method):
    @asynchronous
    def run(self):
        self._OAUTH_REQUEST_TOKEN_URL += "?error=1&"
        getattr(self, method)()

    assert visit("TwitterClient", run).code == 500
    assert isinstance(errors[0], AuthError)


def test_error_that_is_looked_at_late_is_not_handed_on(visit, errors):
    @asynchronous
    def run(self):
        @gen.coroutine
        def get():
            failing = self.twitter_request("/users/show/error", access_token=TOKEN)
            user = yield self.twitter_request(SHOW, access_token=TOKEN)
            with pytest.raises(AuthError):
                yield failing
            self.on_user(user)

        return get()

    assert body_of(visit("TwitterClient", run))["user"]["name"] == "Foo"
    assert errors == []


# Redirects.


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param((["email", "name"], "token"), id="today's places"),
        pytest.param((None, ["email", "name"], "token"), id="those of once"),
        pytest.param((None, ["email", "name"]), id="those of once, but the last"),
    ],
)
def test_scope_after_the_place_of_the_callback(visit, rest):
    def run(self):
        self.authorize_redirect("/back", "id", None, None, *rest)

    location = visit("OAuth2Client", run).headers["Location"]
    assert "scope=email+name" in location
    assert f"response_type={'token' if 'token' in rest else 'code'}" in location


# The user's own methods.


@uses(
    "tornado.auth.OAuthMixin._oauth_get_user",
    "tornado.auth.OpenIdMixin.__init__",
    "tornado.auth.TwitterMixin._oauth_get_user",
    "tornado.auth.TwitterMixin._parse_user_response",
)
@pytest.mark.parametrize(
    ("client", "user"),
    [
        ("OAuthClient", EMAIL_OF_FOO | KEY),
        ("OAuthClient3", EMAIL_OF_FOO | KEY),
        ("OwnTwitterClient", {"username": "foo", "is_mine": True}),
        ("OpenIdFirstClient", EMAIL_OF_FOO),
        ("NobodyClient", None),
    ],
)
def test_hook_of_a_subclass(visit, client, user):
    response = visit(client, sign_in, cookie_of_request(), **OPEN_ID, oauth_token="k")
    found = body_of(response)["user"]

    assert found == (user and {**found, **user})


@pytest.mark.parametrize(
    ("client", "error"),
    [("OAuthClient0", NotImplementedError), ("FailingClient", ZeroDivisionError)],
)
def test_error_of_a_hook_answers_the_request(visit, errors, client, error):
    response = visit(client, sign_in, cookie_of_request(), oauth_token="k")

    assert response.code == 500
    assert isinstance(errors[0], error)


def test_base_has_no_hook(visit):
    def run(self):
        with pytest.raises(NotImplementedError, match="OAuthClient0 defines neither"):
            self._oauth_get_user({}, print)
        self.finish({})

    assert body_of(visit("OAuthClient0", run)) == {}


def test_mixin_still_warns_of_its_end(compat):
    with pytest.warns(DeprecationWarning, match="OpenIdMixin"):
        OpenIdMixin()


# What they gave to fetch(), and so did those who wrote mixins after them.


@uses("tornado.auth.OAuthMixin._on_request_token")
@pytest.mark.parametrize("has_callback", [True, False])
def test_own_authorize_redirect(visit, has_callback):
    called = []
    callbacks = [lambda: called.append(True)] if has_callback else []

    @asynchronous
    def run(self):
        on_token = functools.partial(
            self._on_request_token, self._OAUTH_AUTHORIZE_URL, None, *callbacks
        )
        AsyncHTTPClient().fetch(self._oauth_request_token_url(), on_token)

    assert visit("OAuthClient", run).code == 302
    assert called == [True] * has_callback


@uses(
    "tornado.auth.OAuthMixin._on_access_token",
    "tornado.auth.OAuthMixin._on_oauth_get_user",
)
@pytest.mark.parametrize("waiting", ["callback", "Future"])
@pytest.mark.parametrize("is_future_of", [False, True])
@pytest.mark.parametrize(
    ("client", "error"),
    [
        ("OAuthClient", None),
        ("NobodyClient", AuthError),
        ("FailingClient", ZeroDivisionError),
        ("OAuthClient?error=1", AuthError),
    ],
)
def test_own_get_authenticated_user(
    visit, errors, waiting, is_future_of, client, error
):
    client, _, query = client.partition("?")

    @asynchronous
    def run(self):
        user = gen.Future()
        loop = IOLoop.current()
        wanted = self.on_user if waiting == "callback" else user
        on_token = functools.partial(self._on_access_token, wanted)
        url = f"{self._OAUTH_ACCESS_TOKEN_URL}?{query}"
        if is_future_of:
            loop.add_future(AsyncHTTPClient().fetch(url), on_token)
        else:
            AsyncHTTPClient().fetch(url, on_token)
        if waiting == "Future":
            loop.add_future(user, lambda known: self.on_user(known.result()))

    response = visit(client, run)
    if error is None:
        assert body_of(response)["user"]["access_token"]["key"] == "k"
    elif waiting == "callback" and error is AuthError:
        assert body_of(response) == {"user": None}
    else:
        assert response.code == 500
        assert isinstance(errors[0], error)


@uses(
    "tornado.auth.FacebookGraphMixin._on_facebook_request",
    "tornado.auth.GoogleOAuth2Mixin._on_access_token",
    "tornado.auth.OAuth2Mixin._on_oauth2_request",
    "tornado.auth.TwitterMixin._on_twitter_request",
)
@pytest.mark.parametrize(
    ("client", "method"),
    [
        ("FacebookClient", "_on_facebook_request"),
        ("GoogleClient", "_on_access_token"),
        ("OAuth2Client", "_on_oauth2_request"),
        ("TwitterClient", "_on_twitter_request"),
    ],
)
@pytest.mark.parametrize("name", ["foo", "error"])
def test_own_request(visit, client, method, name):
    @asynchronous
    def run(self):
        url = f"http://{self.request.host}/user/users/show/{name}"
        answer = functools.partial(getattr(self, method), self.on_user)
        AsyncHTTPClient().fetch(url, answer)

    user = body_of(visit(client, run))["user"]
    assert user == (None if name == "error" else {**user, **NAME})


@uses("tornado.auth.OpenIdMixin._on_authentication_verified")
@pytest.mark.parametrize("waiting", ["callback", "nobody"])
@pytest.mark.parametrize("is_valid", [True, False])
def test_own_openid(visit, errors, waiting, is_valid):
    @asynchronous
    def run(self):
        def fetched(response):
            if waiting == "nobody":
                self.on_user(self._on_authentication_verified(response))
            else:
                self._on_authentication_verified(self.on_user, response)

        body = f"openid.ax.value.email={'foo' if is_valid else 'bar'}@example.test"
        AsyncHTTPClient().fetch(
            self._OPENID_ENDPOINT, fetched, method="POST", body=body
        )

    response = visit("OpenIdClient", run, **OPEN_ID)
    if is_valid:
        assert body_of(response)["user"]["email"] == "foo@example.test"
    elif waiting == "callback":
        assert body_of(response) == {"user": None}
    else:
        assert isinstance(errors[0], AuthError)


# What mixins of others import.


@uses("tornado.auth._auth_return_future", "tornado.auth._auth_future_to_callback")
def test_own_mixin_method(loop):
    def fetch(user, callback):
        if user == "sync":
            raise ZeroDivisionError
        if user == "later":
            IOLoop.current().add_callback(fetch, "sync", callback)
        elif user == "nobody":
            callback.set_exception(AuthError("nobody"))
        else:
            callback.set_result(user)

    get_user = tornado.auth._auth_return_future(fetch)
    called = []

    async def main():
        assert await get_user("foo") == "foo"
        assert await get_user("foo", called.append) == "foo"
        with pytest.raises(AuthError):
            await get_user("nobody", callback=called.append)
        for user in ("sync", "later"):
            with pytest.raises(ZeroDivisionError):
                await get_user(user)

    loop.run_sync(main, timeout=PATIENCE_S)
    assert called == ["foo", None]


def test_error_of_a_methods_callback_goes_to_the_callers_context(loop):
    @tornado.auth._auth_return_future
    def get_user(callback):
        IOLoop.current().add_callback(callback.set_result, "foo")

    caught = gen.Future()

    def handle(typ, value, traceback):
        caught.set_result(value)
        return True

    def fail(user):
        raise ZeroDivisionError

    async def main():
        with ExceptionStackContext(handle):
            get_user(fail)
        return await caught

    error = loop.run_sync(main, timeout=PATIENCE_S)
    assert isinstance(error, ZeroDivisionError)


# The services that have ended.


@uses(
    "tornado.auth.FacebookMixin",
    "tornado.auth.FriendFeedMixin",
    "tornado.auth.GoogleMixin",
)
@pytest.mark.parametrize(
    ("name", "method", "sentence"),
    [
        ("FacebookMixin", "authorize_redirect", "use FacebookGraphMixin"),
        ("FacebookMixin", "facebook_request", "use FacebookGraphMixin"),
        ("FriendFeedMixin", "get_authenticated_user", "let users sign in elsewhere"),
        ("FriendFeedMixin", "friendfeed_request", "let users sign in elsewhere"),
        ("GoogleMixin", "authenticate_redirect", "use GoogleOAuth2Mixin"),
    ],
)
def test_mixin_of_an_ended_service_refuses_when_it_is_used(
    compat, name, method, sentence
):
    mixin = type("Login", (getattr(tornado.auth, name),), {})

    with pytest.raises(
        AuthError, match=f"Login: {name} cannot work; {sentence}: .*end"
    ):
        getattr(mixin(), method)("users.getInfo", callback=print)


# What is started.


async def double(number):
    await asyncio.sleep(0)
    return 2 * number


async def fail():
    raise ZeroDivisionError


class Requests(OAuth2Mixin):
    pass


def test_started_coroutine_passes_for_a_coroutine_and_for_a_future(loop):
    async def main():
        started = [Started(double(number)) for number in range(5)]
        return [
            await started[0],
            await asyncio.create_task(started[1]),
            *await asyncio.gather(started[2]),
            await asyncio.wait_for(started[3], PATIENCE_S),
            await gen.convert_yielded(started[4]),
        ]

    assert loop.run_sync(main, timeout=PATIENCE_S) == [0, 2, 4, 6, 8]


def test_task_of_a_started_coroutine_can_be_cancelled(loop):
    async def main():
        started = Started(asyncio.Event().wait())
        task = asyncio.create_task(started)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return started.cancelled()

    assert loop.run_sync(main, timeout=PATIENCE_S)


def test_started_coroutine_runs_within_its_callers_contexts(loop):
    entered = []

    class Context:
        def __enter__(self):
            entered.append(True)

        def __exit__(self, *exc_info):
            entered.append(False)

    async def main():
        with StackContext(Context):
            started = Started(double(21))
        entered.clear()
        return await started

    assert loop.run_sync(main, timeout=PATIENCE_S) == 42
    assert entered == [True, False] * 2


def test_error_that_is_lost_is_handed_on_once(loop, caplog):
    lost = gen.Future()

    async def main():
        Started(fail(), lost.set_result)
        return await lost

    assert isinstance(loop.run_sync(main, timeout=PATIENCE_S), ZeroDivisionError)
    gc.collect()
    assert caplog.text == ""


def test_error_that_is_lost_is_logged_without_contexts(loop, http_server, caplog):
    async def main():
        closed = asyncio.Event()

        def request():
            Requests().oauth2_request("http://127.0.0.1:1/").add_done_callback(
                lambda done: closed.set()
            )

        request()
        await closed.wait()
        await asyncio.sleep(0)

    loop.run_sync(main, timeout=PATIENCE_S)
    gc.collect()
    assert "exception was never retrieved" in caplog.text


def test_without_a_running_loop_it_is_the_coroutine(compat):
    coroutine = Requests().oauth2_request("http://127.0.0.1:1/")

    assert asyncio.iscoroutine(coroutine)
    assert not is_future(coroutine)
    coroutine.close()


def test_native_caller_gets_the_coroutine(loop):
    async def main():
        coroutine = Requests().oauth2_request("http://127.0.0.1:1/")
        assert not is_future(coroutine)
        with pytest.raises(ConnectionRefusedError) as caught:
            await coroutine
        assert not isinstance(caught.value, (AuthError, HTTPError))

    loop.run_sync(main, timeout=PATIENCE_S)
