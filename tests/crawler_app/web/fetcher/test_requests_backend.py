"""The fetcher over `requests`: its threads, its errors, and TLS.

`test_contract` and `test_access` test what it has in common with the others.
"""

import asyncio
import gc
import gzip
import ssl
import threading
import time

import pytest
import requests
import urllib3

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import FetchError
from crawler_app.base.models import Fetched, Request
from crawler_app.web.fetcher import requests_backend
from crawler_app.web.fetcher.requests_backend import RequestsFetcher, adapter
from crawler_app.web.fetcher.requests_backend.requests_errors import requests_error
from gencoro import gen
from tests.helpers.fetching import LIMIT, answer, fetch_from, run, run_with
from tests.helpers.http.faulty import GOOD, FaultServer, answers

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


@gen.coroutine
def give_fetcher(main, **options):
    fetcher = RequestsFetcher(
        CrawlConfig((URL,), max_body_bytes=LIMIT, client="requests", **options)
    )
    try:
        return (yield main(fetcher))
    finally:
        fetcher.close()


def with_fetcher(main, **options):
    """Run a coroutine function with a fetcher; return its result."""
    return run(lambda: give_fetcher(main, **options))


def with_server(server, main, **options):
    """Run a coroutine function with a fetcher, a server and its URL."""

    def with_url(fetcher):
        return main(fetcher, server, server.url)

    return run_with(
        server, lambda: give_fetcher(with_url, deny_private=False, **options)
    )


def silent_once():
    """Return a server that answers from the second connection on."""
    return FaultServer(answers())


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
def test_error_of_the_library_has_its_reason(error):
    failed = requests_error(error)

    assert (failed.reason, failed.is_passing) == REASON_BY_ERROR[error]
    assert str(failed)


# Sessions and TLS.


def test_session_is_reused_by_one_thread_at_a_time(monkeypatch):
    made, busy, clashes = [], set(), []

    class CountingSession(requests.Session):
        def __init__(self):
            super().__init__()
            made.append(self)

        def send(self, request, **kwargs):
            if self in busy:
                clashes.append(self)
            busy.add(self)
            try:
                return super().send(request, **kwargs)
            finally:
                busy.remove(self)

    monkeypatch.setattr(requests, "Session", CountingSession)

    @gen.coroutine
    def main(fetcher, server, url):
        return (yield [fetcher.fetch(Request(f"{url}{n}")) for n in range(60)])

    fetched = with_server(FaultServer(), main, concurrency=4)

    assert clashes == []
    assert 1 <= len(made) <= 4
    assert {each.body for each in fetched} == {b"good"}


def test_exchange_over_tls_is_recorded(certificates, monkeypatch):
    monkeypatch.setattr("requests.adapters.DEFAULT_CA_BUNDLE_PATH", certificates.ca)

    fetched, server = fetch_from(
        "requests", answer(b"x"), scheme="https", ssl=certificates.server_context()
    )

    assert isinstance(fetched, Fetched), str(fetched)
    assert (fetched.body, fetched.peer) == (b"x", "127.0.0.1")
    assert fetched.raw_head == b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
    assert fetched.request_head.decode() == server.requests[0]


def test_private_address_is_refused_over_tls(certificates, monkeypatch):
    # Without the check of the URL, which would refuse it before the connection.
    monkeypatch.setattr(
        "crawler_app.web.fetcher.request_policy.is_private_host", lambda host: False
    )

    error, server = fetch_from(
        "requests", answer(b"x"), scheme="https", ssl=certificates.server_context()
    )

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


def test_waiting_for_a_thread_is_not_request_time():
    async def slow(peer):
        while True:
            await peer.request()
            await asyncio.sleep(0.15)
            await peer.send(GOOD)

    @gen.coroutine
    def main(fetcher, server, url):
        return (yield [fetcher.fetch(Request(url)) for _ in range(10)])

    started_at = time.monotonic()
    fetched = with_server(
        FaultServer(then=slow), main, concurrency=1, request_timeout_s=1.2
    )
    all_took_s = time.monotonic() - started_at

    assert all(each.took_s >= 0.15 for each in fetched)
    assert sum(each.took_s for each in fetched) < all_took_s


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


def test_close_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(requests_backend, "CLOSE_WITHIN_S", 0.2)
    is_here, may_go, is_over = (threading.Event() for _ in range(3))

    def stuck(*_args, **_options):
        is_here.set()
        may_go.wait(20)
        is_over.set()
        raise OSError("no such host")

    monkeypatch.setattr(adapter.socket, "getaddrinfo", stuck)

    @gen.coroutine
    def main(fetcher):
        fetch = fetcher.fetch(Request(URL))
        yield until(is_here.is_set)
        fetcher.close()
        with pytest.raises(FetchError, match="closed"):
            yield fetch

    try:
        with_fetcher(main)
        was_waited_for = is_over.is_set()
    finally:
        may_go.set()
        join_threads()

    assert not was_waited_for


def test_fetch_after_close_fails():
    @gen.coroutine
    def main(fetcher):
        fetcher.close()
        with pytest.raises(FetchError, match="closed"):
            yield fetcher.fetch(Request(URL))

    with_fetcher(main)


def test_thread_may_end_after_the_loop(monkeypatch):
    monkeypatch.setattr(requests_backend, "CLOSE_WITHIN_S", 0.0)
    monkeypatch.setattr(
        adapter.socket, "getaddrinfo", lambda *_, **__: time.sleep(0.3) or []
    )

    @gen.coroutine
    def main(fetcher):
        fetcher.fetch(Request(URL)).cancel()
        yield gen.moment

    with_fetcher(main)
    join_threads()


# Only for this client.


def test_body_of_a_redirect_is_not_unpacked_by_requests():
    bomb = gzip.compress(bytes(LIMIT * 100))

    error, _ = fetch_from(
        "requests",
        answer(bomb, "302 Found", Location="/b", Content_Encoding="gzip"),
    )

    assert (error.reason, error.is_passing) == ("too_large", False)
