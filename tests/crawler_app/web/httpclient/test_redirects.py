"""Redirects: which are followed, with which request, on which connection; and no secrets leak."""

import pytest
from tornado.httpclient import HTTPRequest
from tornado.simple_httpclient import HTTPTimeoutError

from gencoro import gen
from tests.helpers.http.peers import answer, redirecting

HELLO = answer(b"hello")
IDNA_NAME = "xn--bcher-kva.test"
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@gen.coroutine
def test_method_and_body_after_a_redirect(client, serve, status, method):
    server = serve(redirecting("/target", status))
    has_body = method in ("POST", "PUT", "PATCH")
    request = HTTPRequest(
        f"{server.url}/start",
        method,
        headers={"Content-Type": "a/b", "X-Kept": "1"},
        body=b"body" if has_body else None,
    )

    response = yield client.fetch(request)

    becomes_get = (status == 303 and method != "HEAD") or (
        status in (301, 302) and method == "POST"
    )
    _, last = server.requests
    assert (response.code, response.effective_url) == (200, f"{server.url}/target")
    assert last.method == ("GET" if becomes_get else method)
    assert last.body == (b"body" if has_body and not becomes_get else b"")
    assert ("Content-Type" in last.headers) == (not becomes_get)
    if becomes_get:
        assert "Content-Length" not in last.headers
    assert last.headers["X-Kept"] == "1"
    # The response has the request of the caller.
    assert response.request is request
    assert (request.method, request.url) == (method, f"{server.url}/start")
    assert server.used == [0, 0]


@pytest.mark.parametrize(
    ("status", "method", "body"), [(307, "PUT", b"body"), (303, "GET", b"")]
)
@gen.coroutine
def test_body_is_produced_again_if_the_method_stays(
    client, serve, status, method, body
):
    server = serve(redirecting("/target", status))

    yield client.fetch(
        server.url, method="PUT", body_producer=lambda write: write(b"body")
    )

    last = server.requests[-1]
    assert (last.method, last.body) == (method, body)
    assert ("Transfer-Encoding" in last.headers) == bool(body)


NOWHERE = {
    **{
        str(status): {"status": f"{status} Moved", "Location": "/target"}
        for status in (300, 304, 305, 306, 309)
    },
    "no location": {"body": b"where?", "status": "302 Found"},
    "an empty location": {"status": "302 Found", "Location": ""},
}


@pytest.mark.parametrize("kind", NOWHERE)
@gen.coroutine
def test_redirect_without_a_location_is_the_response(client, serve, kind):
    said = NOWHERE[kind]
    server = serve(answer(**said))

    response = yield client.fetch(server.url, raise_error=False)

    assert response.code == int(said["status"][:3])
    assert response.body == said.get("body", b"")
    assert len(server.requests) == 1


@gen.coroutine
def test_redirect_loop_ends_with_the_last_redirect(client, serve):
    server = serve(lambda r: redirecting(r.target + "x", body=b"b")(r))

    response = yield client.fetch(f"{server.url}/", max_redirects=3, raise_error=False)

    assert (response.code, response.body) == (302, b"b")
    assert [request.target for request in server.requests] == ["/", "/x", "/xx", "/xxx"]
    assert response.effective_url == f"{server.url}/xxx"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/target", "/target"),
        ("target", "/a/target"),
        ("../target", "/target"),
        ("?q", "/a/b?q"),
        ("/target#fragment", "/target"),
        ("//{host}/target", "/target"),
        ("http://{host}/target", "/target"),
        ("HTTP://{host}/target", "/target"),
        ("http://{host}", "/"),
        ("/a%2Fb", "/a%2Fb"),
        ("/a b", "/a%20b"),
        (" /target ", "/target"),
        ("\\\\{host}\\target?", "/target?"),
        ("http:/%7Etarget?100%", "/%7Etarget?100%"),
        # Bytes of UTF-8 and of latin-1, as servers send them.
        ("/caf\xc3\xa9", "/caf%C3%A9"),
        ("/caf\xe9", "/caf%E9"),
    ],
)
@gen.coroutine
def test_each_spelling_of_a_location_is_followed(client, serve, location, target):
    def script(request):
        if len(server.requests) > 1:
            return HELLO
        where = location.format(host=f"127.0.0.1:{server.port}")
        return answer(status="302 Found", Location=where)

    server = serve(script)

    response = yield client.fetch(f"{server.url}/a/b?x=y")

    assert response.body == b"hello"
    assert server.requests[-1].target == target


@pytest.mark.parametrize(
    "location",
    [
        "ftp://a.test/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "h:5",
        "http://[::1",
        "http://a.test:99999/",
        "gopher://127.0.0.1:25/x",
    ],
)
@gen.coroutine
def test_location_with_another_scheme_is_refused(client, serve, location):
    server = serve(redirecting(location))

    with pytest.raises(ValueError):
        yield client.fetch(server.url)


@gen.coroutine
def test_utf8_host_in_a_location_becomes_idna(make_client, web):
    client = make_client(hostname_mapping={IDNA_NAME: "127.0.0.1"})
    location = f"http://bücher.test:{web.port}/target"
    web.script = redirecting(location.encode().decode("latin-1"))

    response = yield client.fetch(web.url)

    assert response.body == b"hello"
    hosts = [request.headers["Host"] for request in web.requests]
    assert hosts == [f"{name}:{web.port}" for name in ("127.0.0.1", IDNA_NAME)]


@gen.coroutine
def test_repeated_location_is_followed_once(client, serve):
    moved = b"HTTP/1.1 302 Found\r\n" + b"Location: /target\r\n" * 2
    moved += b"Content-Length: 0\r\n\r\n"
    server = serve(lambda request: HELLO if request.target == "/target" else moved)

    response = yield client.fetch(server.url)

    assert response.body == b"hello"
    assert [request.target for request in server.requests] == ["/", "/target"]


# Connections.


@pytest.mark.parametrize(
    ("size", "is_kept"), [(0, True), (1000, True), (65536, True), (65537, False)]
)
@gen.coroutine
def test_connection_is_kept_if_the_redirect_has_a_small_body(
    client, serve, size, is_kept
):
    # It is not decoded.
    body = {"body": b"x" * size, "Content_Encoding": "gzip"}
    server = serve(redirecting("/target", **body))

    response = yield client.fetch(server.url)

    assert response.body == b"hello"
    assert server.used == ([0, 0] if is_kept else [0, 1])


@pytest.mark.parametrize("announced", [None, 10**12])
@gen.coroutine
def test_endless_body_of_a_redirect_is_not_read(client, serve, announced):
    @gen.coroutine
    def forever(request):
        yield request.stream.write(
            answer(status="302 Found", Location="/target", Content_Length=announced)
        )
        while True:
            yield request.stream.write(b"x" * 10_000)

    def script(request):
        return HELLO if request.target == "/target" else forever(request)

    server = serve(script)

    response = yield client.fetch(server.url)
    yield server.gone(0)

    assert response.body == b"hello"
    assert server.used == [0, 1]


@pytest.mark.parametrize("part", [b"", b"look th"])
@gen.coroutine
def test_missing_body_of_a_redirect_is_not_waited_for(
    client, serve, virtual_clock, part
):
    said = answer(status="302 Found", Location="/target", Content_Length=10) + part
    server = serve(lambda request: HELLO if request.target == "/target" else said)

    response = yield client.fetch(server.url, request_timeout=0)
    yield server.gone(0)

    assert response.body == b"hello"
    assert virtual_clock.time() == 1
    assert server.used == [0, 1]


@gen.coroutine
def test_request_timeout_covers_all_redirects(client, web, virtual_clock):
    @gen.coroutine
    def slow(request):
        yield gen.sleep(4)
        yield request.stream.write(redirecting(request.target + "x")(request))

    web.script = slow

    with pytest.raises(HTTPTimeoutError, match="Timeout during request"):
        yield client.fetch(web.url, request_timeout=10)

    assert virtual_clock.time() == 10
    assert len(web.requests) == 3


# Cross-origin redirects do not leak credentials.


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
