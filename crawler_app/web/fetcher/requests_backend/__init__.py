"""The fetcher over the blocking library `requests`, in threads.

For sites that need a transport adapter of that library, and for comparison: the crawler's
coroutines wait for a thread as for any Future.

`adapter` connects and reads, `requests_errors` turns its exceptions into a FetchError.

Rule 1: cookies, timers and outcomes belong to the event loop's thread; a pool thread uses
one session, for one exchange at a time.

Rule 2: an exchange that is no longer awaited is aborted, so that its thread becomes free.
What cannot be aborted, such as a DNS look-up, runs to its end, and its result is discarded.

Needs `requests`: ``pip install requests``.
"""

import asyncio
import concurrent.futures
import contextlib
import functools
import http.cookiejar
import threading
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any
from urllib.parse import quote

import requests
from requests.adapters import HTTPAdapter
from tornado.httputil import HTTPHeaders

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import FetchError
from crawler_app.base.models import Fetched, Request
from crawler_app.base.reasons import Reason
from crawler_app.web.fetcher.client_errors import of_proxy, refuse_answer
from crawler_app.web.fetcher.cookies import OnCookies
from crawler_app.web.fetcher.request_policy import RequestPolicy
from crawler_app.web.fetcher.requests_backend.adapter import (
    CrawlAdapter,
    Wire,
    wire_of_this_thread,
)
from crawler_app.web.fetcher.requests_backend.requests_errors import requests_error
from crawler_app.web.fetcher.response_collector import ResponseCollector, decoded
from crawler_app.web.httpclient.codings import ACCEPTED
from crawler_app.web.httpclient.request import Proxy
from gencoro import gen
from gencoro.concurrent import future_set_exception_unless_cancelled, run_on_executor

__all__ = ["RequestsFetcher"]

# A read at a time: an aborted exchange is noticed, and the limit checked, between two of them.
CHUNK_BYTES = 64 * 1024

# How long `close` waits for threads to stop.
CLOSE_WITHIN_S = 2.0

VERSION_BY_NUMBER = {10: "HTTP/1.0", 11: "HTTP/1.1", 20: "HTTP/2"}


class RequestsFetcher:
    """Fetches with a session of `requests` for each of ``config.concurrency`` threads.

    Args:
        session_factory: Creates a session, in the thread that needs one; a session is used
            by one thread at a time.  The default adapter is replaced by ours; a custom
            adapter is kept, and must itself check the addresses that it connects to.
            Redirects, timeouts and cookies set by servers are handled by the crawler.
        on_cookies: As `CookieStore` has it.

    Raises:
        ConfigError: the cookie file cannot be read.

    >>> from gencoro.ioloop import IOLoop
    >>> @gen.coroutine
    ... def main():
    ...     fetcher = RequestsFetcher(CrawlConfig(("http://a.test/",)))
    ...     try:
    ...         yield fetcher.fetch(Request("http://127.0.0.1/"))
    ...     except FetchError as exc:
    ...         print(exc.reason)
    ...     fetcher.close()
    >>> IOLoop.current().run_sync(main)
    private_address
    """

    def __init__(
        self,
        config: CrawlConfig,
        session_factory: Callable[[], requests.Session] | None = None,
        on_cookies: OnCookies | None = None,
    ) -> None:
        self._config = config
        self.policy = RequestPolicy(config, ACCEPTED, on_cookies)
        self._proxies = _proxies(self.policy.proxy)
        self._make_session = session_factory or _plain_session
        self._threads = concurrent.futures.ThreadPoolExecutor(
            config.concurrency, thread_name_prefix="fetch"
        )
        self._sessions: list[requests.Session] = []
        self._idle_sessions: list[requests.Session] = []
        # The exchanges that threads are running, whether or not they are awaited.
        self._begun: set[_ThreadedFetch] = set()
        self._awaited: set[_ThreadedFetch] = set()
        self._is_closed = False

    @gen.coroutine
    def fetch(self, request: Request) -> Generator[Any, Any, Fetched]:
        """Fetch a URL once; see `crawler_app.web.fetcher.Fetcher`."""
        if self._is_closed:
            raise FetchError(Reason.BAD_REQUEST, "the fetcher is closed")
        url = request.url
        self.policy.require_public_host(url)
        headers = self.policy.headers_for(url, request.headers)
        exchange = _ThreadedFetch(
            request._replace(headers=headers), Wire(url, self.policy.check_address)
        )
        job = self._perform(exchange, asyncio.get_running_loop())
        gen.chain_future(job, exchange.outcome)
        self._awaited.add(exchange)
        try:
            fetched: Fetched = yield exchange.outcome
        finally:
            self._awaited.discard(exchange)
            exchange.leave()
            job.cancel()  # if it has not started yet
        refuse_answer(fetched, self.policy.proxy)
        self.policy.take_cookies(url, fetched.headers)
        return fetched

    def allow(self, concurrency: int) -> None:
        """Leave the number of threads as it was at the start; see `Fetcher`."""

    def close(self) -> None:
        """Stop the threads, waiting briefly for those that cannot be aborted."""
        self._is_closed = True
        for exchange in self._awaited:
            exchange.fail(Reason.CONNECTION_CLOSED, "the fetcher was closed")
        self._threads.shutdown(wait=False, cancel_futures=True)
        give_up_at = time.monotonic() + CLOSE_WITHIN_S
        are_over = [
            exchange.is_over.wait(max(give_up_at - time.monotonic(), 0.0))
            for exchange in self._begun.copy()
        ]
        self._threads.shutdown(wait=all(are_over))
        for session in self._sessions.copy():
            session.close()

    @run_on_executor(executor="_threads")
    def _perform(
        self, exchange: "_ThreadedFetch", loop: asyncio.AbstractEventLoop
    ) -> Fetched:
        """Make an exchange, in a thread; its request timeout starts here."""
        self._begun.add(exchange)
        try:
            limit_s = self._config.request_timeout_s
            loop.call_soon_threadsafe(exchange.limit_time, limit_s)
            with wire_of_this_thread(exchange.wire):
                return self._exchange(exchange)
        except FetchError:
            raise
        except Exception as exc:  # from requests, urllib3, http.client, ssl, sockets
            raise of_proxy(requests_error(exc), self.policy.proxy) from exc
        finally:
            exchange.is_over.set()
            self._begun.discard(exchange)

    def _exchange(self, exchange: "_ThreadedFetch") -> Fetched:
        request = exchange.request
        _require_wanted(exchange.wire)
        started_at = time.monotonic()
        collector = ResponseCollector(self._config.max_body_bytes)
        with (
            self._session() as session,
            contextlib.closing(self._send(session, request)) as response,
        ):
            head = exchange.wire.raw_head or _rebuilt_head(response)
            for line in head.splitlines(keepends=True):
                collector.take_line(line.decode("latin-1"))
            _read_body(response, collector, exchange.wire)
        headers = HTTPHeaders.parse(head.decode("latin-1").partition("\n")[2])
        encoded = collector.body
        body, notes = decoded(encoded, headers, self._config.max_body_bytes)
        return Fetched(
            request.url,
            response.status_code,
            headers,
            body,
            time.monotonic() - started_at,
            request_head=exchange.wire.request_head or _request_head(response.request),
            raw_head=head,
            encoded_body=encoded,
            peer=exchange.wire.peer,
            notes=notes,
        )

    def _send(self, session: requests.Session, request: Request) -> requests.Response:
        url, headers, method, body = request
        prepared = session.prepare_request(
            requests.Request(method, url, headers=dict(headers or {}), data=body)
        )
        # Undo the normalization of requests.
        prepared.url = url
        settings = session.merge_environment_settings(
            url, self._proxies, True, None, None
        )
        limits_s = (self._config.connect_timeout_s, self._config.request_timeout_s)
        return session.send(
            prepared, allow_redirects=False, timeout=limits_s, **settings
        )

    @contextlib.contextmanager
    def _session(self) -> Iterator[requests.Session]:
        """Lend the most recently used session: its connections are likely still open."""
        try:
            session = self._idle_sessions.pop()
        except IndexError:
            session = _equipped(self._make_session(), self.policy.proxy)
            self._sessions.append(session)
        try:
            yield session
        finally:
            self._idle_sessions.append(session)


class _ThreadedFetch:
    """One fetch, shared by the thread that makes it and the loop that waits for it.

    Attributes:
        outcome: Done when the thread has finished, or when the fetch has failed or timed
            out before.
        is_over: Set when the thread has finished.
    """

    def __init__(self, request: Request, wire: Wire) -> None:
        self.request = request
        self.wire = wire
        self.outcome: gen.Future[Fetched] = gen.Future()
        self.is_over = threading.Event()
        self._timer: asyncio.TimerHandle | None = None

    def limit_time(self, limit_s: float) -> None:
        """Make the fetch fail after ``limit_s``.

        The timeouts of `requests` apply to each read from the socket, so a server that
        sends a byte now and then could keep it busy for ever.
        """
        if not self.outcome.done():
            self._timer = asyncio.get_running_loop().call_later(
                limit_s, self.fail, Reason.TIMEOUT, f"not done after {limit_s} seconds"
            )

    def fail(self, reason: Reason, text: str) -> None:
        """Fail the fetch immediately, even if the thread is still busy."""
        self.wire.cut()
        error = FetchError(reason, text)
        if not self.outcome.done():
            future_set_exception_unless_cancelled(self.outcome, error)

    def leave(self) -> None:
        """Stop the timer and abort the exchange if it is still running."""
        if self._timer is not None:
            self._timer.cancel()
        self.wire.cut()


class _KeepsNoCookies(http.cookiejar.DefaultCookiePolicy):
    def set_ok(self, cookie: http.cookiejar.Cookie, request: Any) -> bool:
        return False


def _plain_session() -> requests.Session:
    session = requests.Session()
    # Ignore proxies and passwords of the environment.
    session.trust_env = False
    return session


def _equipped(session: requests.Session, proxy: Proxy | None) -> requests.Session:
    """Replace the default adapters of a session, and disable its cookies and redirects."""
    for prefix, adapter in list(session.adapters.items()):
        if type(adapter) is HTTPAdapter:
            session.mount(prefix, CrawlAdapter(proxy))
    session.cookies.set_policy(_KeepsNoCookies())
    # The original makes requests read the whole body of a redirect, of any size.
    session.get_redirect_target = _no_target  # type: ignore[method-assign]
    return session


def _no_target(resp: requests.Response) -> str | None:
    return None


def _proxies(proxy: Proxy | None) -> dict[str, str]:
    if proxy is None:
        return {}
    userinfo = ""
    if proxy.username:
        login = (proxy.username, proxy.password)
        userinfo = ":".join(quote(text, safe="") for text in login) + "@"
    url = f"http://{userinfo}{proxy.host}:{proxy.port}"
    return {"http": url, "https": url}


def _read_body(
    response: requests.Response, collector: ResponseCollector, wire: Wire
) -> None:
    """Read a body, still encoded, up to the limit."""
    collector.refuse_too_large()
    for chunk in _chunks(response.raw):
        collector.take_chunk(chunk)
        collector.refuse_too_large()
        _require_wanted(wire)


def _require_wanted(wire: Wire) -> None:
    if wire.is_cut:
        raise FetchError(Reason.CONNECTION_CLOSED, "aborted")


def _chunks(raw: Any) -> Iterator[bytes]:
    if hasattr(raw, "stream"):
        yield from raw.stream(CHUNK_BYTES, decode_content=False)
    else:  # from an adapter that does not use urllib3
        yield from iter(functools.partial(raw.read, CHUNK_BYTES), b"")


def _rebuilt_head(response: requests.Response) -> bytes:
    """Return the head of a response that was received by another adapter than ours."""
    number = getattr(response.raw, "version", 0)
    version = VERSION_BY_NUMBER.get(number, "HTTP/1.1")
    headers = getattr(response.raw, "headers", response.headers)
    lines = [f"{version} {response.status_code} {response.reason or ''}"]
    # urllib3's mapping keeps repeated fields.
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


def _request_head(request: requests.PreparedRequest) -> bytes:
    """Return the head that http.client sends for a request."""
    host = str(request.url).split("/", 3)[2]
    lines = [f"{request.method} {request.path_url} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
