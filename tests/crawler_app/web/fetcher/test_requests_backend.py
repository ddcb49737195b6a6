"""The fetcher over `requests`: its threads, and custom adapters.

`test_contract` and `test_access` test what it has in common with the others.
"""

import gc
import gzip
import io
import ssl
import threading
import time

import pytest
import requests
import requests_mock
import urllib3

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import FetchError
from crawler_app.base.models import Fetched, Request
from crawler_app.web.fetcher import requests_backend
from crawler_app.web.fetcher.requests_backend import RequestsFetcher
from gencoro import gen
from tests.helpers.fetching import LIMIT, answer, fetch_from, run, run_with
from tests.helpers.http.faulty import FaultServer, answers

pytestmark = pytest.mark.usefixtures("no_socket_is_left", "no_thread_is_left")

URL = "http://a.test/page"

# Longer than `run` waits.
HANGS_S = 600.0


@pytest.fixture
def no_thread_is_left():
    yield
    left = [each.name for each in threading.enumerate() if "fetch" in each.name]
    assert left == []


@pytest.fixture
def no_error_is_logged(caplog):
    yield
    gc.collect()  # asyncio logs errors that were never retrieved
    assert [r for r in caplog.records if r.levelname in ("ERROR", "CRITICAL")] == []


@pytest.fixture
def adapter():
    return requests_mock.Adapter()


def factory_for(adapter, **attributes):
    """Return a session factory that mounts an adapter."""

    def make_session():
        session = requests.Session()
        session.mount("http://", adapter)
        for name, value in attributes.items():
            setattr(session, name, value)
        return session

    return make_session


@gen.coroutine
def give_fetcher(main, factory, **options):
    options = {"seeds": (URL,), "max_body_bytes": LIMIT, "client": "requests"} | options
    fetcher = RequestsFetcher(CrawlConfig(**options), factory)
    try:
        return (yield main(fetcher))
    finally:
        fetcher.close()


def with_fetcher(main, factory=None, **options):
    """Run a coroutine function with a fetcher; return its result."""
    return run(lambda: give_fetcher(main, factory, **options))


def fetch_by(factory, url=URL, **options):
    """Fetch with the sessions of a factory; return Fetched or FetchError."""

    @gen.coroutine
    def main(fetcher):
        try:
            return (yield fetcher.fetch(Request(url)))
        except FetchError as exc:
            return exc

    return with_fetcher(main, factory, **options)


def with_server(server, main, factory=None, **options):
    """Run a coroutine function with a fetcher, a server and its URL."""

    options = {"deny_private": False} | options

    def with_url(fetcher):
        return main(fetcher, server, server.url)

    return run_with(server, lambda: give_fetcher(with_url, factory, **options))


def silent_once():
    """Return a server that answers from the second connection on."""
    return FaultServer(answers())


# Custom adapters.


def test_mounted_adapter_is_used(adapter):
    adapter.register_uri(
        "GET", URL, content=b"<p>hello", headers={"Content-Type": "text/html"}
    )

    fetched = fetch_by(factory_for(adapter), headers=("X-A: 1",), auth="me:secret")

    assert (fetched.status, fetched.body, fetched.peer) == (200, b"<p>hello", "")
    assert fetched.headers["content-type"] == "text/html"
    assert fetched.raw_head == b"HTTP/1.1 200 \r\nContent-Type: text/html\r\n\r\n"
    lines = fetched.request_head.split(b"\r\n")
    assert lines[:2] == [b"GET /page HTTP/1.1", b"Host: a.test"]
    assert b"X-A: 1" in lines
    sent = adapter.last_request.headers
    assert sent["User-Agent"].startswith("gencoro-crawler/")
    assert sent["Authorization"] == "Basic bWU6c2VjcmV0"


def test_response_of_a_mounted_adapter_is_decoded_and_bounded(adapter):
    packed = gzip.compress(bytes(LIMIT + 1))
    adapter.register_uri(
        "GET", URL, content=packed, headers={"Content-Encoding": "gzip"}
    )

    error = fetch_by(factory_for(adapter))
    fetched = fetch_by(factory_for(adapter), max_body_bytes=LIMIT + 1)

    assert (error.reason, error.is_passing) == ("too_large", False)
    assert fetched.body == bytes(LIMIT + 1)
    assert fetched.encoded_body == packed


def test_headers_of_one_name_are_all_kept(adapter):
    headers = urllib3.HTTPHeaderDict([("A", "1"), ("Set-Cookie", "a=1")])
    headers.add("Set-Cookie", "b=2")
    raw = urllib3.HTTPResponse(
        io.BytesIO(b"x"),
        headers,
        200,
        version=10,
        reason="Fine",
        preload_content=False,
    )
    adapter.register_uri("GET", URL, raw=raw)

    fetched = fetch_by(factory_for(adapter))

    assert fetched.raw_head == (
        b"HTTP/1.0 200 Fine\r\nA: 1\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n"
    )
    assert fetched.headers.get_list("Set-Cookie") == ["a=1", "b=2"]


def test_adapter_without_urllib3_is_supported():
    class FileAdapter(requests.adapters.BaseAdapter):
        def send(self, request, **kwargs):
            response = requests.Response()
            response.status_code, response.request = 200, request
            response.headers["X-A"] = "1"
            response.raw = io.BytesIO(b"x" * 100_000)
            return response

        def close(self):
            pass

    fetched = fetch_by(factory_for(FileAdapter()))

    assert fetched.body == b"x" * 100_000
    assert fetched.raw_head == b"HTTP/1.1 200 \r\nX-A: 1\r\n\r\n"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("location", ["/b", "http://[", "\xff", "http://b.test/"])
def test_redirect_of_a_mounted_adapter_is_not_followed(adapter, status, location):
    adapter.register_uri(
        "GET",
        requests_mock.ANY,
        status_code=status,
        headers={"Location": location},
        content=b"moved",
    )

    fetched = fetch_by(factory_for(adapter))

    assert (fetched.status, fetched.body) == (status, b"moved")
    assert adapter.call_count == 1


REASON_BY_ERROR = {
    requests.exceptions.ConnectTimeout("x"): ("timeout", True),
    requests.exceptions.ReadTimeout("x"): ("timeout", True),
    requests.exceptions.SSLError("x"): ("tls", False),
    requests.exceptions.ProxyError("x"): ("proxy_error", True),
    requests.exceptions.ConnectionError("x"): ("network", True),
    requests.exceptions.ConnectionError(
        urllib3.exceptions.ProtocolError("Connection aborted.", ConnectionResetError())
    ): ("connection_closed", True),
    requests.exceptions.ChunkedEncodingError(
        urllib3.exceptions.ProtocolError("ended prematurely")
    ): ("connection_closed", True),
    requests.exceptions.ContentDecodingError("x"): ("bad_response", False),
    requests.exceptions.InvalidURL("x"): ("bad_request", False),
    requests.exceptions.InvalidHeader("x"): ("bad_request", False),
    requests.exceptions.RequestException("x"): ("network", True),
    ConnectionRefusedError("x"): ("refused", True),
    OSError("x"): ("network", True),
    ssl.SSLCertVerificationError("x"): ("tls", False),
    ZeroDivisionError("x"): ("bad_request", False),
}


@pytest.mark.parametrize("error", REASON_BY_ERROR, ids=repr)
def test_error_of_a_mounted_adapter_has_its_reason(adapter, error):
    adapter.register_uri("GET", URL, exc=error)

    failed = fetch_by(factory_for(adapter))

    assert isinstance(failed, FetchError)
    assert (failed.reason, failed.is_passing) == REASON_BY_ERROR[error]
    assert str(failed)


def test_private_host_is_refused_before_an_adapter_sees_it(adapter):
    error = fetch_by(factory_for(adapter), "http://10.0.0.1/")

    assert (error.reason, adapter.call_count) == ("private_address", 0)


# Custom sessions.


@gen.coroutine
def fetch_twice(fetcher):
    yield fetcher.fetch(Request(URL))
    yield fetcher.fetch(Request(URL))


def test_settings_of_a_custom_session_are_kept(adapter):
    adapter.register_uri("GET", URL, headers={"Set-Cookie": "a=1"})
    jar = requests.cookies.RequestsCookieJar()
    jar.set("mine", "7", domain="a.test", path="/")
    factory = factory_for(adapter, cookies=jar, auth=("me", "secret"))

    with_fetcher(fetch_twice, factory, cookies=False, concurrency=1)

    for request in adapter.request_history:
        assert request.headers["Cookie"] == "mine=7"
        assert request.headers["Authorization"] == "Basic bWU6c2VjcmV0"


def test_cookies_are_kept_only_by_the_crawler(adapter):
    sessions = []
    adapter.register_uri("GET", URL, headers={"Set-Cookie": "a=1; Path=/"})

    def factory():
        sessions.append(factory_for(adapter)())
        return sessions[-1]

    with_fetcher(fetch_twice, factory, concurrency=1)

    assert adapter.last_request.headers["Cookie"] == "a=1"
    assert [len(session.cookies) for session in sessions] == [0]


def test_session_is_reused_by_one_thread_at_a_time(adapter):
    made, busy, clashes = [], set(), []

    class CountingSession(requests.Session):
        def send(self, request, **kwargs):
            if self in busy:
                clashes.append(self)
            busy.add(self)
            time.sleep(0.001)
            busy.remove(self)
            return super().send(request, **kwargs)

    def factory():
        made.append(CountingSession())
        made[-1].mount("http://", adapter)
        return made[-1]

    adapter.register_uri("GET", requests_mock.ANY, text="x")

    @gen.coroutine
    def main(fetcher):
        yield [fetcher.fetch(Request(f"http://a.test/{n}")) for n in range(60)]

    with_fetcher(main, factory, concurrency=4)

    assert clashes == []
    assert 1 <= len(made) <= 4
    assert adapter.call_count == 60


# TLS.


def fetch_securely(certificates, **options):
    server = FaultServer(then=answer(b"x"), ssl=certificates.server_context())

    def factory():
        session = requests.Session()
        session.trust_env, session.verify = False, certificates.ca
        return session

    @gen.coroutine
    def main(fetcher, server, url):
        try:
            return (yield fetcher.fetch(Request(url)))
        except FetchError as exc:
            return exc

    return with_server(server, main, factory, **options), server


def test_exchange_over_tls_is_recorded(certificates):
    fetched, server = fetch_securely(certificates)

    assert isinstance(fetched, Fetched), str(fetched)
    assert (fetched.body, fetched.peer) == (b"x", "127.0.0.1")
    assert fetched.raw_head == b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
    assert fetched.request_head.decode() == server.requests[0]


def test_private_address_is_refused_over_tls(certificates, monkeypatch):
    # Without the check of the URL, which would refuse it before the connection.
    monkeypatch.setattr(
        "crawler_app.web.fetcher.request_policy.is_private_host", lambda host: False
    )

    error, server = fetch_securely(certificates, deny_private=None)

    assert (error.reason, len(server.peers)) == ("private_address", 0)


# Threads.


@gen.coroutine
def until(condition):
    while not condition():
        yield gen.sleep(0.001)


def join_threads():
    for thread in threading.enumerate():
        if "fetch" in thread.name:
            thread.join(10)


@pytest.mark.usefixtures("no_error_is_logged")
def test_thread_of_a_timed_out_fetch_is_freed():
    @gen.coroutine
    def main(fetcher, server, url):
        with pytest.raises(FetchError) as caught:
            yield fetcher.fetch(Request(url))
        return caught.value, (yield fetcher.fetch(Request(url)))

    error, fetched = with_server(
        silent_once(), main, concurrency=1, request_timeout_s=1.5
    )

    assert (error.reason, error.is_passing) == ("timeout", True)
    assert fetched.body == b"good"


@pytest.mark.usefixtures("no_error_is_logged")
def test_fetch_cancelled_in_the_queue_never_begins():
    @gen.coroutine
    def main(fetcher, server, url):
        first = fetcher.fetch(Request(url))
        second = fetcher.fetch(Request(url + "second"))
        yield until(lambda: server.requests)
        second.cancel()
        first.cancel()
        yield fetcher.fetch(Request(url + "third"))
        return [request.split()[1] for request in server.requests]

    options = {"concurrency": 1, "request_timeout_s": HANGS_S}
    assert with_server(silent_once(), main, **options) == ["/", "/third"]


def test_waiting_for_a_thread_is_not_request_time(adapter):
    def slow(request, context):
        time.sleep(0.15)
        return "x"

    adapter.register_uri("GET", URL, text=slow)

    @gen.coroutine
    def main(fetcher):
        return (yield [fetcher.fetch(Request(URL)) for _ in range(10)])

    started_at = time.monotonic()
    answers = with_fetcher(
        main, factory_for(adapter), concurrency=1, request_timeout_s=1.2
    )
    all_took_s = time.monotonic() - started_at

    assert all(fetched.took_s >= 0.15 for fetched in answers)
    assert sum(fetched.took_s for fetched in answers) < all_took_s


@pytest.mark.usefixtures("no_error_is_logged")
def test_close_ends_fetches_under_way():
    @gen.coroutine
    def main(fetcher, server, url):
        fetches = [
            fetcher.fetch(Request(url)) for _ in range(3)
        ]  # the last one in the queue
        yield until(lambda: len(server.requests) == 2)
        fetcher.close()
        reasons = []
        for fetch in fetches:
            with pytest.raises(FetchError) as caught:
                yield fetch
            reasons.append(caught.value.reason)
        return reasons

    server = FaultServer(then=answers())
    reasons = with_server(server, main, concurrency=2, request_timeout_s=HANGS_S)

    assert reasons == ["connection_closed"] * 3


def test_close_does_not_wait_for_ever(adapter, monkeypatch):
    monkeypatch.setattr(requests_backend, "CLOSE_WITHIN_S", 0.2)
    is_here, may_go, is_over = (threading.Event() for _ in range(3))

    def stuck(request, context):
        is_here.set()
        may_go.wait(20)
        is_over.set()
        return "x"

    adapter.register_uri("GET", URL, text=stuck)

    @gen.coroutine
    def main(fetcher):
        fetch = fetcher.fetch(Request(URL))
        yield until(is_here.is_set)
        fetcher.close()
        with pytest.raises(FetchError, match="closed"):
            yield fetch

    try:
        with_fetcher(main, factory_for(adapter))
        was_waited_for = is_over.is_set()
    finally:
        may_go.set()
        join_threads()

    assert not was_waited_for


def test_fetch_after_close_fails(adapter):
    @gen.coroutine
    def main(fetcher):
        fetcher.close()
        with pytest.raises(FetchError, match="closed"):
            yield fetcher.fetch(Request(URL))

    with_fetcher(main, factory_for(adapter))


def test_thread_may_end_after_the_loop(adapter, monkeypatch):
    monkeypatch.setattr(requests_backend, "CLOSE_WITHIN_S", 0.0)
    adapter.register_uri("GET", URL, text=lambda *_: time.sleep(0.3) or "x")

    @gen.coroutine
    def main(fetcher):
        fetcher.fetch(Request(URL)).cancel()
        yield gen.moment

    with_fetcher(main, factory_for(adapter))
    join_threads()


# Only for this client.


def test_body_of_a_redirect_is_not_unpacked_by_requests():
    bomb = gzip.compress(bytes(LIMIT * 100))

    error, _ = fetch_from(
        "requests",
        answer(bomb, "302 Found", Location="/b", Content_Encoding="gzip"),
    )

    assert (error.reason, error.is_passing) == ("too_large", False)
