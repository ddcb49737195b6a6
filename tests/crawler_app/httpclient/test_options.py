"""Every option of HTTPRequest: it does what it says, or is refused with a sentence."""

import base64
import datetime
import inspect
import ssl

import pytest
from tornado.httpclient import HTTPRequest
from tornado.simple_httpclient import HTTPTimeoutError

from gencoro import gen
from tests.helpers.http.peers import answer

PARAMETERS = [
    name
    for name in inspect.signature(HTTPRequest.__init__).parameters
    if name != "self"
]


class Options:
    """One method for each option: fixtures by `get`, and what is to be seen."""

    def __init__(self, get):
        self.get = get
        self.client = get("client")
        self.web = get("web")

    @gen.coroutine
    def seen(self, **options):
        """Fetch, and return what the server has seen."""
        yield self.client.fetch(**{"request": self.web.url} | options)
        return self.web.requests[-1]

    @gen.coroutine
    def fetch(self, **options):
        return (yield self.client.fetch(self.web.url, **options))

    @gen.coroutine
    def fetch_securely(self, needs_client_cert=False, **options):
        """Fetch from a server with TLS; return the subject of our certificate."""
        context = self.get("certificates").server_context(
            needs_client_cert=needs_client_cert
        )
        subjects = []

        def note(request):
            subjects.append(request.stream.socket.getpeercert())
            return answer()

        server = self.get("serve")(note, ssl_options=context)
        yield self.client.fetch(server.url, **options)
        return subjects[0]

    @gen.coroutine
    def heads_at_proxy(self, **options):
        """Fetch through a proxy; return what it was sent."""
        proxy = self.get("proxy")
        yield self.fetch(**proxy.options | options, raise_error=False)
        return proxy.heads

    def url(self):
        seen = yield self.seen(request=f"{self.web.url}/a/b?c=d")
        assert seen.target == "/a/b?c=d"

    def method(self):
        seen = yield self.seen(method="DELETE")
        assert seen.method == "DELETE"

    def headers(self):
        seen = yield self.seen(headers={"X-One": "1"})
        assert seen.headers["X-One"] == "1"

    def body(self):
        seen = yield self.seen(method="POST", body="ü")
        assert seen.body == "ü".encode()

    def auth_username(self):
        seen = yield self.seen(auth_username="me")
        assert seen.headers["Authorization"] == "Basic " + b64("me:")

    def auth_password(self):
        seen = yield self.seen(auth_username="me", auth_password="p:w")
        assert seen.headers["Authorization"] == "Basic " + b64("me:p:w")

    def auth_mode(self):
        with pytest.raises(ValueError, match="digest"):
            yield self.seen(auth_username="me", auth_mode="digest")
        seen = yield self.seen(auth_username="me", auth_mode="basic")
        assert "Authorization" in seen.headers

    def connect_timeout(self):
        server = self.get("serve")(b"")
        url = f"https://127.0.0.1:{server.port}/"
        with pytest.raises(HTTPTimeoutError, match="Timeout"):
            yield self.client.fetch(url, connect_timeout=0.02)

    def request_timeout(self):
        self.web.hold("/")
        with pytest.raises(HTTPTimeoutError, match="Timeout"):
            yield self.fetch(request_timeout=0.02)

    def if_modified_since(self):
        moment = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
        seen = yield self.seen(if_modified_since=moment)
        assert seen.headers["If-Modified-Since"] == "Fri, 02 Jan 2026 03:04:05 GMT"

    def follow_redirects(self):
        self.web.redirect("/", to="/other")
        response = yield self.fetch(follow_redirects=False, raise_error=False)
        assert response.code == 302

    def max_redirects(self):
        self.web.redirect("/", to="/")
        response = yield self.fetch(max_redirects=3, raise_error=False)
        assert (response.code, len(self.web.requests)) == (302, 4)

    def user_agent(self):
        seen = yield self.seen(user_agent="me/1.0")
        assert seen.headers["User-Agent"] == "me/1.0"

    def decompress_response(self):
        seen = yield self.seen(decompress_response=False)
        assert "Accept-Encoding" not in seen.headers

    def use_gzip(self):
        seen = yield self.seen(use_gzip=False)
        assert "Accept-Encoding" not in seen.headers

    def network_interface(self):
        server = self.get("serve")(lambda request: answer(peer_of(request)))
        response = yield self.client.fetch(server.url, network_interface="127.0.0.9")
        assert response.body == b"127.0.0.9"
        with pytest.raises(ValueError, match="eth0"):
            yield self.fetch(network_interface="eth0")

    def streaming_callback(self):
        chunks = []
        response = yield self.fetch(streaming_callback=chunks.append)
        assert (chunks, response.body) == ([b"hello"], b"")

    def header_callback(self):
        lines = []
        yield self.fetch(header_callback=lines.append)
        assert (lines[0], lines[-1]) == ("HTTP/1.1 200 OK\r\n", "\r\n")

    def prepare_curl_callback(self):
        with pytest.raises(ValueError, match="prepare_curl_callback"):
            yield self.fetch(prepare_curl_callback=lambda curl: None)

    def proxy_host(self):
        heads = yield self.heads_at_proxy()
        assert len(heads) == 1
        with pytest.raises(ValueError, match="proxy_port"):
            yield self.fetch(proxy_host="127.0.0.1")

    def proxy_port(self):
        heads = yield self.heads_at_proxy()
        assert len(heads) == 1
        with pytest.raises(ValueError, match="proxy_host"):
            yield self.fetch(proxy_port=8080)

    def proxy_username(self):
        (head,) = yield self.heads_at_proxy(proxy_username="me")
        assert f"Proxy-Authorization: Basic {b64('me:')}".encode() in head

    def proxy_password(self):
        login = {"proxy_username": "me", "proxy_password": "secret"}
        (head,) = yield self.heads_at_proxy(**login)
        assert f"Proxy-Authorization: Basic {b64('me:secret')}".encode() in head

    def proxy_auth_mode(self):
        with pytest.raises(ValueError, match="digest"):
            yield self.heads_at_proxy(proxy_username="me", proxy_auth_mode="digest")
        heads = yield self.heads_at_proxy(proxy_username="me", proxy_auth_mode="basic")
        assert len(heads) == 1

    def allow_nonstandard_methods(self):
        seen = yield self.seen(method="PURGE", allow_nonstandard_methods=True)
        assert seen.method == "PURGE"
        with pytest.raises(ValueError, match="PURGE"):
            yield self.seen(method="PURGE")

    def validate_cert(self):
        yield self.fetch_securely(validate_cert=False)

    def ca_certs(self):
        yield self.fetch_securely(ca_certs=self.get("certificates").ca)

    def allow_ipv6(self):
        with pytest.raises(OSError):
            yield self.client.fetch("http://[::1]:1/", allow_ipv6=False)
        seen = yield self.seen(allow_ipv6=False)
        assert seen.target == "/"

    def client_key(self):
        yield from self.client_cert()

    def client_cert(self):
        cert, key = self.get("certificates").client_files("option")
        subject = yield self.fetch_securely(
            needs_client_cert=True,
            validate_cert=False,
            client_cert=cert,
            client_key=key,
        )
        assert (("commonName", "option"),) in subject["subject"]

    def body_producer(self):
        seen = yield self.seen(method="PUT", body_producer=lambda write: write(b"abc"))
        assert seen.body == b"abc"
        with pytest.raises(ValueError, match="body_producer"):
            yield self.seen(
                method="PUT", body=b"x", body_producer=lambda write: write(b"abc")
            )

    def expect_100_continue(self):
        seen = yield self.seen(method="PUT", body=b"x", expect_100_continue=True)
        assert (seen.headers["Expect"], seen.body) == ("100-continue", b"x")

    def ssl_options(self):
        ca = self.get("certificates").ca
        yield self.fetch_securely(ssl_options={"ca_certs": ca})
        context = ssl.create_default_context(cafile=ca)
        yield self.fetch_securely(ssl_options=context)


def b64(text):
    return base64.b64encode(text.encode()).decode()


def peer_of(request):
    return request.stream.socket.getpeername()[0].encode()


@pytest.mark.parametrize("name", PARAMETERS)
@gen.coroutine
def test_option_is_honored_or_refused(request, client, web, name):
    options = Options(request.getfixturevalue)

    assert hasattr(options, name), (
        f"Tornado has a new option {name}: what becomes of it?"
    )

    yield from getattr(options, name)()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"request": "ftp://a.test/"}, "ftp"),
        ({"request": "//a.test/"}, "scheme"),
        ({"request": "a.test"}, "scheme"),
        ({"request": ""}, "scheme"),
        ({"request": "http:///path"}, "host"),
        ({"request": "http://:80/"}, "host"),
        ({"request": "http://a.test:port/"}, "port"),
        ({"request": "http://a.test:99999/"}, "ort"),
        ({"request": "http://a b.test/"}, "host"),
        ({"request": "http://[::1/"}, ""),
        ({"method": "BREW"}, "BREW"),
        ({"method": "get"}, "get"),
        ({"method": "GET /x", "allow_nonstandard_methods": True}, "GET /x"),
        ({"method": "CONNECT", "allow_nonstandard_methods": True}, "CONNECT"),
        ({"method": "POST"}, "must not be None"),
        ({"method": "PUT"}, "must not be None"),
        ({"body": b"x"}, "must be None"),
        ({"method": "DELETE", "body": b"x"}, "must be None"),
        ({"method": "HEAD", "body": b"x"}, "must be None"),
        ({"headers": {"A": "b\r\nC: d"}}, ""),
        ({"headers": {"A": "b\nC: d"}}, ""),
        ({"headers": {"A": "b\rC: d"}}, ""),
        ({"headers": {"A": "b\0"}}, ""),
        ({"headers": {"A b": "c"}}, "A b"),
        ({"headers": {"A:": "c"}}, "A:"),
        ({"headers": {"": "c"}}, ""),
        ({"headers": {"A": "€"}}, "€"),
        ({"user_agent": "a\r\nb: c"}, ""),
        ({"headers": {"Content-Length": "5"}}, "Content-Length"),
        ({"headers": {"Transfer-Encoding": "chunked"}}, "Transfer-Encoding"),
        ({"headers": {"Transfer-Encoding": ""}}, "Transfer-Encoding"),
        (
            {
                "method": "PUT",
                "body": b"x",
                "headers": {"Transfer-Encoding": "chunked"},
            },
            "Transfer-Encoding",
        ),
        (
            {
                "method": "PUT",
                "body_producer": lambda write: None,
                "headers": {"Content-Length": "+5"},
            },
            "Content-Length",
        ),
        ({"ssl_options": {"unheard": 1}, "request": "https://a.test/"}, "unheard"),
    ],
    ids=lambda value: str(value)[:50] if isinstance(value, dict) else "",
)
@gen.coroutine
def test_request_that_cannot_be_sent_is_refused(client, web, options, said):
    future = client.fetch(**{"request": web.url} | options)

    with pytest.raises(ValueError, match=said or None):
        yield future

    assert web.streams == []


@pytest.mark.parametrize("length", ["2", "3"])
@gen.coroutine
def test_no_length_but_the_true_one_is_sent(client, web, length):
    options = {"method": "PUT", "body": b"abc", "headers": {"Content-Length": length}}

    try:
        yield client.fetch(web.url, **options)
    except ValueError:
        assert (length, web.requests) == ("2", [])
    else:
        assert web.requests[0].headers.get_list("Content-Length") == ["3"]


@gen.coroutine
def test_headers_of_the_caller_stay_as_they_are(client, web):
    request = HTTPRequest(web.url, "POST", headers={"A": "b"}, body=b"x")

    yield client.fetch(request)
    yield client.fetch(request)

    assert list(request.headers.get_all()) == [("A", "b")]
    assert web.requests[0].headers == web.requests[1].headers
