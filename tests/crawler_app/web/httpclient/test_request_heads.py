"""Request heads, as the server receives them."""

import datetime
import gc
import re
import weakref

import pytest
import tornado
from tornado.httputil import HTTPHeaders

from gencoro import gen
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")


def lines_of(request):
    return request.head.decode("latin-1").split("\r\n")[:-2]


def fields(request, name):
    """Return the values of a header in their order."""
    return request.headers.get_list(name)


@gen.coroutine
def test_request_has_only_the_necessary_headers(client, web):
    yield client.fetch(web.url)

    first, *rest = lines_of(web.requests[0])
    names = sorted(line.partition(":")[0] for line in rest)
    assert first == "GET / HTTP/1.1"
    # An HTTP/1.1 connection is kept alive by default.
    assert names == ["Accept-Encoding", "Host", "User-Agent"]


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("", "/"),
        ("?q=1", "/?q=1"),
        ("/a?b?c=d&e", "/a?b?c=d&e"),
        ("/a#fragment", "/a"),
        ("/a?q#fragment?x", "/a?q"),
        ("#fragment", "/"),
        ("/a;p=1/b", "/a;p=1/b"),
        ("/a%2Fb%zz%", "/a%2Fb%zz%"),
        ("/../a//./b", "/../a//./b"),
        ("//a", "//a"),
        ("/*", "/*"),
        ("/a b", "/a%20b"),
        ("/é?ü=€", "/%C3%A9?%C3%BC=%E2%82%AC"),
        ("/\x7f", "/%7F"),
        ('/"<>\\^`{|}', '/"<>\\^`{|}'),
    ],
)
@gen.coroutine
def test_target_is_the_path_and_the_query(client, web, path, target):
    response = yield client.fetch(web.url + path)

    assert web.requests[0].target == target
    assert response.effective_url == web.url + path


@pytest.mark.parametrize("path", ["/\r\nX: y", "/a\nb", "/\tx", "/?\r\n\r\nGET /x"])
@gen.coroutine
def test_line_breaks_in_a_url_are_escaped(client, web, path):
    try:
        yield client.fetch(web.url + path)
    except ValueError:
        assert web.requests == []
    else:
        (request,) = web.requests
        assert "X" not in request.headers
        assert not re.search(r"\s", request.target)


@gen.coroutine
def test_host_header_is_that_of_the_url(make_client, web):
    names = ["a.test", "xn--bcher-kva.test", "A.Test"]
    client = make_client(hostname_mapping=dict.fromkeys(names, "127.0.0.1"))
    client_of_port_80 = make_client(
        hostname_mapping={("a.test", 80): ("127.0.0.1", web.port)}
    )

    for name in ("a.test", "me:secret@a.test", "bücher.test"):
        yield client.fetch(f"http://{name}:{web.port}/")
    yield client_of_port_80.fetch("http://a.test/")
    yield client.fetch(web.url, headers={"Host": "other.test"})

    hosts = [fields(request, "Host") for request in web.requests]
    assert hosts == [
        [f"a.test:{web.port}"],
        [f"a.test:{web.port}"],
        [f"xn--bcher-kva.test:{web.port}"],
        ["a.test"],
        ["other.test"],
    ]


@gen.coroutine
def test_host_of_an_ipv6_address_has_brackets(client, serve):
    server = serve(HELLO, host="::1")

    yield client.fetch(server.url)

    assert fields(server.requests[0], "Host") == [f"[::1]:{server.port}"]


@gen.coroutine
def test_host_comes_first(client, web):
    yield client.fetch(web.url, headers={"A": "b", "Accept": "*/*"})

    assert lines_of(web.requests[0])[1].startswith("Host: ")


def several(name, *values):
    headers = HTTPHeaders()
    for value in values:
        headers.add(name, value)
    return headers


NEW_YEAR = datetime.datetime(2026, 1, 1, 3, 4, 5, tzinfo=datetime.UTC)
NEW_YEAR_SENT = "Thu, 01 Jan 2026 03:04:05 GMT"
FORM = "application/x-www-form-urlencoded"
PUT = {"method": "PUT", "body": b"x"}
POST = {"method": "POST", "body": b""}
NO_BODY = {"method": "PUT", "allow_nonstandard_methods": True}

# Options, the name of a header, and the values that are sent.
FIELDS = {
    "codings": ({}, "Accept-Encoding", ["gzip, deflate, br, zstd"]),
    "own codings": ({"headers": {"Accept-Encoding": "x"}}, "Accept-Encoding", ["x"]),
    "several": ({"headers": several("X", "1", "2", "3, 4")}, "X", ["1", "2", "3, 4"]),
    "latin-1": ({"headers": {"X": "b\xe4r"}}, "X", ["b\xe4r"]),
    "a tab": ({"headers": {"X": "a\tb"}}, "X", ["a\tb"]),
    "bytes": ({"headers": {"X": b"c"}}, "X", ["c"]),
    "no agent": ({}, "User-Agent", [f"Tornado/{tornado.version}"]),
    "an agent": ({"headers": {"User-Agent": "x"}}, "User-Agent", ["x"]),
    "two agents": (
        {"user_agent": "option", "headers": {"User-Agent": "x"}},
        "User-Agent",
        ["option"],
    ),
    "no codings": ({"decompress_response": False}, "Accept-Encoding", []),
    "no gzip": ({"use_gzip": False}, "Accept-Encoding", []),
    "since": ({"if_modified_since": NEW_YEAR}, "If-Modified-Since", [NEW_YEAR_SENT]),
    "a user": ({"auth_username": "other"}, "Authorization", ["Basic b3RoZXI6"]),
    "a password": (
        {"auth_username": "me", "auth_password": "p:w", "auth_mode": "basic"},
        "Authorization",
        ["Basic bWU6cDp3"],
    ),
    "no password": (
        {"auth_username": "other", "auth_password": ""},
        "Authorization",
        ["Basic b3RoZXI6"],
    ),
    "no user": ({"auth_password": "x"}, "Authorization", ["Basic Ong="]),
    "a user and a header": (
        {"auth_username": "me", "headers": {"Authorization": "Bearer x"}},
        "Authorization",
        ["Basic bWU6"],
    ),
    # RFC 9110, 8.6: a method that allows a body sends the length of an empty one too.
    "length of nothing": (POST, "Content-Length", ["0"]),
    "length of UTF-8": ({"method": "PUT", "body": "ü"}, "Content-Length", ["2"]),
    "length of no body": (NO_BODY, "Content-Length", ["0"]),
    "no length": ({"method": "DELETE"}, "Content-Length", []),
    "a form": (POST, "Content-Type", [FORM]),
    "no form": (POST | {"headers": {"content-type": "a/b"}}, "Content-Type", ["a/b"]),
    "no type": (PUT, "Content-Type", []),
    "no expectation": ({"expect_100_continue": True}, "Expect", []),
}


@pytest.mark.parametrize("what", FIELDS)
@gen.coroutine
def test_header_option_is_sent(client, web, what):
    options, name, values = FIELDS[what]
    yield client.fetch(web.url, **options)

    (request,) = web.requests
    assert fields(request, name) == values


@pytest.mark.parametrize(
    ("userinfo", "sent"),
    [
        ("me:secret@", "bWU6c2VjcmV0"),
        ("me@", "bWU6"),
        ("m%40e:s%3Aecret@", "bUBlOnM6ZWNyZXQ="),
    ],
)
@gen.coroutine
def test_credentials_of_the_url_are_sent_once(client, web, userinfo, sent):
    url = web.url.replace("//", f"//{userinfo}") + "/x"

    response = yield client.fetch(url, auth_username="other")

    assert fields(web.requests[0], "Authorization") == [f"Basic {sent}"]
    assert b"@" not in web.requests[0].head
    assert response.code == 200


@pytest.mark.parametrize("values", [("5", "5"), ("5", "4")], ids=["same", "other"])
@pytest.mark.parametrize("has_body", [True, False])
@pytest.mark.parametrize("name", ["Content-Length", "Transfer-Encoding", "Host"])
@gen.coroutine
def test_unique_header_is_not_sent_twice(client, web, name, has_body, values):
    options = {"headers": several(name, *values)}
    if has_body:
        options |= {"method": "PUT", "body_producer": lambda write: write(b"12345")}

    with pytest.raises(ValueError, match=f"{name} is given more than once"):
        yield client.fetch(web.url, **options)

    assert web.streams == []


class Value(str):
    """A header value with a weak reference, to observe that it is freed."""


@pytest.mark.parametrize(
    "name", ["Authorization", "cookie", "COOKIE", "Proxy-Authorization"]
)
@gen.coroutine
def test_secrets_are_forgotten_after_their_fetch(client, web, name):
    secret = Value("not for others")
    is_known = weakref.ref(secret)

    yield client.fetch(web.url, headers={name: secret, "X-Other": "x"})
    yield client.fetch(web.url)
    sent = fields(web.requests[0], name)
    del secret
    gc.collect()

    assert sent == ["not for others"]
    assert is_known() is None
