"""Headers, proxies, private addresses, and recorded exchanges, with every client."""

import base64
import contextlib
import gzip
import socket
import sys

import pytest
from tornado.httputil import HTTPHeaders

from crawler_app.base.config import CLIENTS, CrawlConfig
from crawler_app.base.errors import ConfigError, FetchError
from crawler_app.base.models import Fetched, Request
from crawler_app.web.fetcher import check_fetcher, make_fetcher
from crawler_app.web.fetcher.addresses import is_private_host
from crawler_app.web.fetcher.http import CLASS_BY_CLIENT
from gencoro import gen
from tests.helpers.fetching import answer, fetch, fetch_from, run, run_with, sends
from tests.helpers.http.faulty import FaultServer
from tests.helpers.http.peers import refusing_port

pytestmark = pytest.mark.usefixtures("no_socket_is_left")


def values(request, name):
    return HTTPHeaders.parse(request.partition("\r\n")[2]).get_list(name)


def basic(text):
    return "Basic " + base64.b64encode(text.encode()).decode()


# The record of an exchange.


def test_exchange_is_recorded_as_transferred(client):
    encoded = gzip.compress(b"<p>hello")
    head = (
        b"HTTP/1.1 404 Not \xe9 Found\r\n"
        b"Server: x\r\nSet-Cookie: a=1\r\nX-Two: \xe9\x85\r\nSet-Cookie: b=2\r\n"
        b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(encoded)
    )

    fetched, server = fetch_from(client, sends(head + encoded), "/a?b")

    assert fetched.body == b"<p>hello"
    assert fetched.encoded_body == encoded
    assert "Content-Encoding" not in fetched.headers
    assert fetched.headers["X-Consumed-Content-Encoding"] == "gzip"
    assert fetched.request_head.decode() == server.requests[0]
    if client == "simple":  # its order differs
        assert sorted(fetched.raw_head.split(b"\r\n")) == sorted(head.split(b"\r\n"))
    else:
        assert fetched.raw_head == head
    assert fetched.peer == ("" if client == "simple" else "127.0.0.1")


def test_data_is_posted_and_the_request_recorded(client, site, run_sync):
    site.answer("/", b"ok")

    @gen.coroutine
    def post():
        fetcher = make_fetcher(CrawlConfig((site.url,), client=client))
        with contextlib.closing(fetcher):
            return (yield fetcher.fetch(Request(site.url, {"x-a": "b"}, "POST", b"{}")))

    fetched = run_sync(post)

    assert fetched.body == b"ok"
    assert fetched.request_head.startswith(b"POST / HTTP/1.1\r\n")
    assert site.methods == ["POST"]
    ((_, headers),) = site.requests
    assert headers["Content-Length"] == "2"
    assert headers["X-A"] == "b"


def test_unknown_coding_is_left_unchanged(client):
    fetched, _ = fetch_from(client, answer(b"x", Content_Encoding="weird"))

    assert (fetched.body, fetched.encoded_body) == (b"x", b"x")
    assert fetched.headers["Content-Encoding"] == "weird"


@pytest.mark.parametrize("interim", ["100 Continue", "103 Early Hints"])
def test_head_of_an_interim_response_is_not_recorded(client, interim):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
    script = sends(f"HTTP/1.1 {interim}\r\nLink: </x>\r\n\r\n".encode(), head + b"ok")

    fetched, _ = fetch_from(client, script)

    assert (fetched.raw_head, fetched.body) == (head, b"ok")
    assert "Link" not in fetched.headers


def test_trailers_are_not_part_of_the_head(able_client):
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n"
    script = sends(head, b"1\r\nx\r\n0\r\nX-End: 1\r\n\r\n")

    fetched, _ = fetch_from(able_client, script)

    assert (fetched.raw_head, fetched.encoded_body) == (head, b"x")


def test_exchange_on_a_reused_connection_is_recorded_too(client):
    async def script(peer):
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1")
        if client != "simple":
            await peer.request()
            await peer.send(b"HTTP/1.1 201 OK\r\nContent-Length: 1\r\n\r\n2")
        peer.close()

    (_, fetched), server = fetch_from(client, script, "/1", "/2")

    assert isinstance(fetched, Fetched), str(fetched)
    assert len(server.peers) == (2 if client == "simple" else 1)
    assert fetched.request_head.decode() == server.requests[1]
    assert fetched.body == (b"1" if client == "simple" else b"2")
    if client != "simple":
        assert fetched.raw_head.startswith(b"HTTP/1.1 201 OK")
        assert fetched.peer == "127.0.0.1"


def test_length_of_a_missing_body_is_not_limited(client):
    script = answer(b"", "304 Not Modified", Content_Length=9_999_999_999)

    fetched, _ = fetch_from(client, script)

    assert isinstance(fetched, Fetched), str(fetched)
    assert (fetched.status, fetched.body) == (304, b"")


# Headers and cookies.


def test_configured_headers_replace_the_defaults(client):
    _, server = fetch_from(
        client,
        answer(),
        headers=("ACCEPT: x/y", "user-agent: me", "Accept-Language: de", "X-N: \xe9"),
        extra={"If-None-Match": '"x"', "accept": "text/plain"},
    )

    (request,) = server.requests
    assert values(request, "Host") == [f"127.0.0.1:{server.port}"]
    assert "gzip" in values(request, "Accept-Encoding")[0]
    assert values(request, "If-None-Match") == ['"x"']
    assert values(request, "Accept") == ["text/plain"]
    assert values(request, "User-Agent") == ["me"]
    assert values(request, "Accept-Language") == ["de"]
    assert values(request, "X-N") == ["\xe9"]


SECRETS = {
    "headers": (
        "Authorization: Bearer t",
        "Cookie: id=7",
        "Proxy-Authorization: p",
        "X-Api-Key: k",
        "Accept-Language: de",
    ),
}


@pytest.mark.parametrize("options", [SECRETS, {"auth": "user:p\xe4ss:word"}])
def test_secrets_are_sent_only_to_origins_of_seeds(client, options):
    server = FaultServer(then=answer())

    def main():
        other = f"http://localhost:{server.port}/"
        return fetch(client, server.url, other, **options)

    run_with(server, main, client)

    request, elsewhere = server.requests
    for name in ("Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key"):
        assert values(elsewhere, name) == []
    if "auth" in options:
        assert values(request, "Authorization") == [basic("user:p\xe4ss:word")]
    for secret in options.get("headers", ()):
        name, _, value = secret.partition(": ")
        assert values(request, name) == [value]


@pytest.mark.parametrize(("are_wanted", "sent"), [(True, ["b=2; a=1"]), (False, [])])
def test_cookies_are_sent_back_to_their_origin(client, are_wanted, sent):
    script = answer(Set_Cookie="a=1\r\nSet-Cookie: b=2; Path=/x")

    (_, second), server = fetch_from(client, script, "/", "/x", cookies=are_wanted)

    assert isinstance(second, Fetched)
    assert values(server.requests[0], "Cookie") == []
    assert values(server.requests[1], "Cookie") == sent


def test_cookies_of_a_file_are_sent(client, tmp_path):
    file = tmp_path / "cookies.txt"
    file.write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\txyz\n")

    _, server = fetch_from(client, answer(), cookie_file=str(file))

    assert values(server.requests[0], "Cookie") == ["sid=xyz"]


# Proxies.


def through_proxy(client, script, *urls, userinfo="", **options):
    """Fetch through a proxy that responds itself; return the outcome and the proxy."""
    proxy = FaultServer(then=script)

    def main():
        option = f"{userinfo}127.0.0.1:{proxy.port}"
        return fetch(client, *urls, proxy=option, **options)

    return run_with(proxy, main), proxy


def test_proxy_gets_the_whole_url_and_its_password(able_client):
    fetched, proxy = through_proxy(
        able_client,
        answer(b"x"),
        "http://seed.test/a?b",
        userinfo="http://me:p%40s\xe9@",
        auth="user:password",
    )

    assert isinstance(fetched, Fetched), str(fetched)
    (request,) = proxy.requests
    assert request.startswith("GET http://seed.test/a?b HTTP/1.1\r\n")
    assert values(request, "Host") == ["seed.test"]
    assert values(request, "Proxy-Authorization") == [basic("me:p@s\xe9")]
    assert values(request, "Authorization") == [basic("user:password")]
    assert fetched.peer == "127.0.0.1"
    assert fetched.request_head.decode() == request


def test_refused_tunnel_is_an_error(able_client):
    error, proxy = through_proxy(
        able_client,
        answer(b"no", "403 Forbidden"),
        "https://seed.test/",
        userinfo="me:secret@",
        auth="user:password",
    )

    assert (error.reason, error.is_passing) == ("proxy_error", True), str(error)
    (request,) = proxy.requests
    assert request.startswith("CONNECT seed.test:443 HTTP/1.")
    assert values(request, "Proxy-Authorization") == [basic("me:secret")]
    assert values(request, "Authorization") == []


def test_unreachable_proxy_is_an_error(able_client):
    port, sock = refusing_port()
    option = f"127.0.0.1:{port}"

    with sock:
        error = run(lambda: fetch(able_client, "http://seed.test/", proxy=option))

    assert (error.reason, error.is_passing) == ("proxy_error", True), str(error)
    assert str(error).startswith(f"proxy {option}: ")


@pytest.mark.parametrize("host", ["10.1.2.3", "[::1]", "localhost", "169.254.169.254"])
def test_private_host_is_not_requested_from_a_proxy(able_client, host):
    error, proxy = through_proxy(
        able_client,
        answer(b"x"),
        f"http://{host}/",
        seeds=("http://seed.test/",),
    )

    assert (error.reason, error.is_passing) == ("private_address", False)
    assert len(proxy.peers) == 0


def test_proxy_in_the_environment_is_ignored(client, monkeypatch):
    port, sock = refusing_port()
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{port}")

    with sock:
        fetched, _ = fetch_from(client, answer(b"x"))

    assert isinstance(fetched, Fetched), str(fetched)


def test_proxy_exceptions_in_the_environment_are_ignored(able_client, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")

    fetched, proxy = through_proxy(able_client, answer(b"x"), "http://seed.test/")

    assert isinstance(fetched, Fetched), str(fetched)
    (request,) = proxy.requests
    assert values(request, "Proxy-Authorization") == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"client": "simple", "proxy": "a.test:80"}, "'pooled' does"),
        ({"client": "requests", "proxy": "socks5://a.test:80"}, "support SOCKS; 'po"),
        (
            {"client": "curl", "ca_file": "ca.pem"},
            "support --ca and --client-cert; 'po",
        ),
        ({"client_key": "me.key"}, "give that with --client-cert"),
        ({"client": "curl"}, "pip install pycurl"),
        ({"client": "requests"}, "pip install requests"),
        *(
            ({"client": each, "cookie_file": "/no/file"}, "cannot read the cookies")
            for each in ("pooled", "simple", "requests")
        ),
    ],
)
@pytest.mark.parametrize("refuse", [make_fetcher, check_fetcher])
def test_unsupported_configuration_is_refused(monkeypatch, options, said, refuse):
    config = CrawlConfig(("http://a.test/",), **options)
    if "pip" in said:
        monkeypatch.setitem(sys.modules, "pycurl", None)
        monkeypatch.delitem(sys.modules, "tornado.curl_httpclient", raising=False)
        monkeypatch.setitem(sys.modules, "requests", None)
        monkeypatch.delitem(
            sys.modules, "crawler_app.web.fetcher.requests_backend", raising=False
        )

    with pytest.raises(ConfigError, match=said):
        refuse(config)


def test_every_client_of_the_configuration_has_a_fetcher():
    assert set(CLIENTS) == CLASS_BY_CLIENT.keys()


# Addresses that are not public.

PUBLIC_SEED = {"seeds": ("http://seed.test/",)}


@pytest.mark.parametrize("host", ["127.0.0.1", "[::ffff:127.0.0.1]", "localhost"])
def test_private_address_is_not_connected_to(client, host):
    error, server = fetch_from(client, answer(b"secret"), host=host, **PUBLIC_SEED)

    assert isinstance(error, FetchError)
    assert (error.reason, error.is_passing) == ("private_address", False), str(error)
    assert "--allow-private" in str(error)
    assert len(server.peers) == 0


@pytest.fixture
def names(monkeypatch):
    """Resolve names as a test says; all others are unknown.

    Not for libcurl, which asks the system itself.
    """
    addresses_by_name = {}
    ask = socket.getaddrinfo

    def getaddrinfo(host, *args, **kwargs):
        found = []
        for address in addresses_by_name.get(host, [host]):
            found += ask(address, *args, **kwargs)
        return found

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return addresses_by_name


@pytest.mark.parametrize("asking", ["pooled", "simple", "requests"])
@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["::ffff:127.0.0.1", "10.0.0.1"]])
def test_name_of_a_private_address_is_refused(asking, names, addresses):
    names["rebinding.test"] = addresses

    error, server = fetch_from(
        asking, answer(b"secret"), host="rebinding.test", **PUBLIC_SEED
    )

    assert (error.reason, error.is_passing) == ("private_address", False), str(error)
    assert "rebinding.test" in str(error)
    assert len(server.peers) == 0


@pytest.fixture
def public(monkeypatch):
    """Return a set of addresses that count as public."""
    addresses = set()
    monkeypatch.setattr(
        "crawler_app.web.fetcher.addresses.is_public", addresses.__contains__
    )
    yield addresses
    # A later test may have a server at the same port.
    is_private_host.cache_clear()


@pytest.mark.parametrize("asking", ["pooled", "simple", "requests"])
def test_private_address_beside_a_public_one_is_skipped(asking, names, public):
    names["both.test"] = ["127.0.0.2", "127.0.0.1"]
    public.add("127.0.0.1")

    fetched, server = fetch_from(asking, answer(b"x"), host="both.test", **PUBLIC_SEED)

    assert isinstance(fetched, Fetched), str(fetched)
    assert len(server.peers) == 1


def test_public_address_is_connected_to(client, public):
    public.add("127.0.0.1")

    fetched, server = fetch_from(client, answer(b"x"), **PUBLIC_SEED)

    assert isinstance(fetched, Fetched), str(fetched)
    assert len(server.peers) == 1
