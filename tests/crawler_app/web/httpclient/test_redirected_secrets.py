"""Cross-origin redirects do not leak credentials."""

import pytest

from gencoro import gen
from tests.helpers.http.peers import answer, redirecting

HELLO = answer(b"hello")


SECRETS = {
    "authorization": {"headers": {"Authorization": "Bearer x", "X-Kept": "1"}},
    "cookie": {"headers": {"Cookie": "c=1", "X-Kept": "1"}},
    "auth": {"auth_username": "me", "auth_password": "x", "headers": {"X-Kept": "1"}},
    "userinfo": {"headers": {"X-Kept": "1"}},
}


def secrets_of(request):
    return {
        name: request.headers.get(name)
        for name in ("Authorization", "Cookie")
        if name in request.headers
    }


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("where", ["same", "letters", "host", "port"])
@gen.coroutine
def test_secrets_are_sent_only_to_their_origin(named, serve, kind, where):
    elsewhere = serve(HELLO)
    server = serve(lambda request: redirecting(to)(request))
    to = {
        "same": f"http://a.test:{server.port}/target",
        "letters": f"http:\\\\A.TEST:{server.port}/target",
        "host": f"http://b.test:{server.port}/target",
        "port": f"http://a.test:{elsewhere.port}/target",
    }[where]
    userinfo = "me:x@" if kind == "userinfo" else ""

    yield named.fetch(f"http://{userinfo}a.test:{server.port}/", **SECRETS[kind])

    last = (elsewhere if where == "port" else server).requests[-1]
    assert last.target == "/target"
    assert last.headers["X-Kept"] == "1"
    first_secrets = secrets_of(server.requests[0])
    assert first_secrets
    assert secrets_of(last) == (first_secrets if where in ("same", "letters") else {})


@gen.coroutine
def test_secrets_are_not_sent_to_the_same_host_without_tls(
    make_client, secure_web, serve, certificates
):
    server = serve(HELLO)
    secure_web.redirect("/", to=server.url)
    client = make_client(defaults={"ca_certs": certificates.ca})

    yield client.fetch(secure_web.url, auth_username="me", auth_password="x")

    assert "Authorization" in secure_web.requests[0].headers
    assert secrets_of(server.requests[0]) == {}


@gen.coroutine
def test_secrets_are_not_restored_by_another_redirect(named, serve):
    def script(request):
        where = {"/start": "b.test:{}/away", "/away": "a.test:{}/back"}
        if request.target not in where:
            return HELLO
        to = where[request.target].format(server.port)
        return answer(status="302 Found", Location=f"http://{to}")

    server = serve(script)

    yield named.fetch(f"http://a.test:{server.port}/start", **SECRETS["cookie"])

    assert [secrets_of(request) for request in server.requests] == [
        {"Cookie": "c=1"},
        {},
        {},
    ]


@gen.coroutine
def test_credentials_in_a_foreign_location_are_dropped(named, serve):
    server = serve(lambda request: redirecting(to)(request))
    to = f"http://them:y@b.test:{server.port}/target"

    response = yield named.fetch(f"http://a.test:{server.port}/")

    assert secrets_of(server.requests[-1]) == {}
    assert "them" not in response.effective_url


@gen.coroutine
def test_host_header_is_only_for_the_first_request(named, serve):
    server = serve(lambda request: redirecting(to)(request))
    to = f"http://b.test:{server.port}/target"

    yield named.fetch(f"http://a.test:{server.port}/", headers={"Host": "other.test"})

    hosts = [request.headers["Host"] for request in server.requests]
    assert hosts == ["other.test", f"b.test:{server.port}"]
