"""What the head of a request looks like to the server."""

import gc
import re
import weakref

import pytest
from tornado.httputil import HTTPHeaders

from crawler_app.httpclient import PooledHTTPResponse
from gencoro import gen
from tests.helpers.http.peers import answer

HELLO = answer(b"hello")


def lines_of(request):
    return request.head.decode("latin-1").split("\r\n")[:-2]


def fields(request, name):
    """Return the values of a header in the order they came."""
    return request.headers.get_list(name)


@gen.coroutine
def test_request_of_a_plain_url_has_no_more_than_it_needs(client, serve):
    server = serve(HELLO)

    yield client.fetch(server.url)

    first, *rest = lines_of(server.requests[0])
    names = sorted(line.partition(":")[0] for line in rest)
    assert first == "GET / HTTP/1.1"
    # An HTTP/1.1 connection is kept without a word.
    assert names == ["Accept-Encoding", "Host", "User-Agent"]


@gen.coroutine
def test_codings_that_can_be_undone_are_asked_for(client, serve):
    server = serve(HELLO)

    yield client.fetch(server.url)
    yield client.fetch(server.url, headers={"Accept-Encoding": "x"})

    (asked,) = fields(server.requests[0], "Accept-Encoding")
    assert re.split(r",\s*", asked) == ["gzip", "deflate", "br", "zstd"]
    assert fields(server.requests[1], "Accept-Encoding") == ["x"]


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
def test_target_is_the_path_and_the_query(client, serve, path, target):
    server = serve(HELLO)

    response = yield client.fetch(server.url + path)

    assert server.requests[0].target == target
    assert response.effective_url == server.url + path


@pytest.mark.parametrize("path", ["/\r\nX: y", "/a\nb", "/\tx", "/?\r\n\r\nGET /x"])
@gen.coroutine
def test_line_breaks_in_a_url_break_no_line(client, serve, path):
    server = serve(HELLO)

    try:
        yield client.fetch(server.url + path)
    except ValueError:
        assert server.requests == []
    else:
        (request,) = server.requests
        assert "X" not in request.headers
        assert not re.search(r"\s", request.target)


@gen.coroutine
def test_host_is_what_the_url_names(make_client, serve):
    server = serve(HELLO)
    names = ["a.test", "xn--bcher-kva.test", "A.Test"]
    client = make_client(hostname_mapping=dict.fromkeys(names, "127.0.0.1"))
    client_of_port_80 = make_client(
        hostname_mapping={("a.test", 80): ("127.0.0.1", server.port)}
    )

    for name in ("a.test", "me:secret@a.test", "bücher.test"):
        yield client.fetch(f"http://{name}:{server.port}/")
    yield client_of_port_80.fetch("http://a.test/")
    yield client.fetch(server.url, headers={"Host": "other.test"})

    hosts = [fields(request, "Host") for request in server.requests]
    assert hosts == [
        [f"a.test:{server.port}"],
        [f"a.test:{server.port}"],
        [f"xn--bcher-kva.test:{server.port}"],
        ["a.test"],
        ["other.test"],
    ]


@gen.coroutine
def test_host_of_an_ipv6_address_has_brackets(client, serve):
    server = serve(HELLO, host="::1")

    yield client.fetch(server.url)

    assert fields(server.requests[0], "Host") == [f"[::1]:{server.port}"]


@gen.coroutine
def test_host_comes_first(client, serve):
    server = serve(HELLO)

    yield client.fetch(server.url, headers={"A": "b", "Accept": "*/*"})

    assert lines_of(server.requests[0])[1].startswith("Host: ")


@gen.coroutine
def test_header_may_come_several_times(client, serve):
    server = serve(HELLO)
    headers = HTTPHeaders()
    for value in ("one", "two", "three, four"):
        headers.add("X-Many", value)

    yield client.fetch(server.url, headers=headers)

    assert fields(server.requests[0], "X-Many") == ["one", "two", "three, four"]


@gen.coroutine
def test_header_is_latin1(client, serve):
    server = serve(HELLO)

    yield client.fetch(
        server.url, headers={"Foo": "b\xe4r", "Tab": "a\tb", "Bytes": b"c"}
    )

    assert b"\r\nFoo: b\xe4r\r\n" in server.requests[0].head
    assert fields(server.requests[0], "Tab") == ["a\tb"]
    assert fields(server.requests[0], "Bytes") == ["c"]


@gen.coroutine
def test_user_agent_of_the_option_wins_over_the_header(client, serve):
    server = serve(HELLO)

    yield client.fetch(server.url, user_agent="option", headers={"User-Agent": "x"})
    yield client.fetch(server.url, headers={"User-Agent": "header"})
    yield client.fetch(server.url)

    agents = [fields(request, "User-Agent") for request in server.requests]
    assert agents[:2] == [["option"], ["header"]]
    assert agents[2][0].startswith("Tornado/")


@pytest.mark.parametrize(
    ("userinfo", "options", "sent"),
    [
        ("me:secret@", {}, "bWU6c2VjcmV0"),
        ("me@", {}, "bWU6"),
        ("m%40e:s%3Aecret@", {}, "bUBlOnM6ZWNyZXQ="),
        ("me:secret@", {"auth_username": "other"}, "bWU6c2VjcmV0"),
        ("", {"auth_username": "other", "auth_password": ""}, "b3RoZXI6"),
    ],
)
@gen.coroutine
def test_credentials_are_sent_once(client, serve, userinfo, options, sent):
    server = serve(HELLO)

    response = yield client.fetch(
        server.url.replace("//", f"//{userinfo}") + "/x", **options
    )

    assert fields(server.requests[0], "Authorization") == [f"Basic {sent}"]
    assert b"@" not in server.requests[0].head
    assert response.code == 200


@gen.coroutine
def test_credentials_win_over_a_header(client, serve):
    server = serve(HELLO)

    yield client.fetch(
        server.url, auth_username="me", headers={"Authorization": "Bearer x"}
    )

    assert fields(server.requests[0], "Authorization") == ["Basic bWU6"]


@gen.coroutine
def test_response_has_the_head_as_it_was_sent(client, serve):
    server = serve(HELLO)

    response = yield client.fetch(
        f"{server.url}/a?b", method="POST", body=b"body", headers={"X": "y"}
    )

    assert isinstance(response, PooledHTTPResponse)
    assert response.request_head == server.requests[0].head
    assert response.request_head.endswith(b"\r\n\r\n")


@gen.coroutine
def test_method_with_a_body_says_how_long_it_is(client, serve):
    server = serve(HELLO)

    yield client.fetch(server.url, method="POST", body=b"")
    yield client.fetch(server.url, method="PUT", body="ü")
    yield client.fetch(server.url, method="PUT", allow_nonstandard_methods=True)
    yield client.fetch(server.url, method="DELETE")

    lengths = [fields(request, "Content-Length") for request in server.requests]
    # RFC 9110, 8.6: a method that could have a body says so even if it is empty.
    assert lengths == [["0"], ["2"], ["0"], []]


@gen.coroutine
def test_post_is_a_form_unless_it_says_otherwise(client, serve):
    server = serve(HELLO)

    yield client.fetch(server.url, method="POST", body=b"")
    yield client.fetch(
        server.url, method="POST", body=b"", headers={"content-type": "a/b"}
    )
    yield client.fetch(server.url, method="PUT", body=b"")

    types = [fields(request, "Content-Type") for request in server.requests]
    assert types == [["application/x-www-form-urlencoded"], ["a/b"], []]


@pytest.mark.parametrize("values", [("5", "5"), ("5", "4")], ids=["same", "other"])
@pytest.mark.parametrize("has_body", [True, False])
@pytest.mark.parametrize("name", ["Content-Length", "Transfer-Encoding", "Host"])
@gen.coroutine
def test_header_that_must_be_there_once_is_not_sent_twice(
    client, serve, name, has_body, values
):
    server = serve(HELLO)
    headers = HTTPHeaders()
    for value in values:
        headers.add(name, value)
    options = {"method": "PUT", "body_producer": lambda write: write(b"12345")}

    with pytest.raises(ValueError, match=f"{name} is there more than once"):
        yield client.fetch(server.url, headers=headers, **(options if has_body else {}))

    assert server.streams == []


@pytest.mark.parametrize("value", ["0", "", "identity"])
@gen.coroutine
def test_transfer_encoding_without_a_body_is_refused(client, serve, value):
    server = serve(HELLO)

    with pytest.raises(ValueError, match="Transfer-Encoding"):
        yield client.fetch(server.url, headers={"Transfer-Encoding": value})

    assert server.streams == []


class Value(str):
    """A value of a header that can be seen to be forgotten."""


@pytest.mark.parametrize(
    "name", ["Authorization", "cookie", "COOKIE", "Proxy-Authorization"]
)
@gen.coroutine
def test_secrets_are_forgotten_after_their_fetch(client, serve, name):
    server = serve(HELLO)
    secret = Value("not for others")
    is_known = weakref.ref(secret)

    yield client.fetch(server.url, headers={name: secret, "X-Other": "x"})
    yield client.fetch(server.url)
    sent = fields(server.requests[0], name)
    del secret
    gc.collect()

    assert sent == ["not for others"]
    assert is_known() is None
