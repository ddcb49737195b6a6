"""A crawl under way and a dashboard, both on the loop of the test."""

import contextlib
import json

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.iostream import StreamClosedError
from tornado.tcpclient import TCPClient

from crawler_app.base.config import CrawlConfig
from crawler_app.run.crawl import Crawl
from crawler_app.run.crawl.monitor import Monitor
from crawler_app.run.crawl.wiring import wire
from crawler_app.show.dashboard import Dashboard
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.store.index.index_writer import IndexWriter
from crawler_app.web.fetcher import make_fetcher
from gencoro import gen

TOKEN = "a-token-of-the-tests"
PAGES = 40


class Watched:
    """A crawl of the site, with its dashboard and HTTP requests to it."""

    def __init__(self, site, monitor, dashboard, index, streams):
        self.site = site
        self.crawl = monitor.crawl
        self.monitor = monitor
        self.dashboard = dashboard
        self.index = index
        self.streams = streams
        self.address = dashboard.url.partition("/?")[0]
        self.port = int(self.address.rpartition(":")[2])

    def ask(self, path, *, token=TOKEN, method="GET", headers=None, body=None):
        """Return the response to a request, with any status."""
        if token is not None:
            path += f"{'&' if '?' in path else '?'}token={token}"
        request = HTTPRequest(
            self.address + path,
            method,
            headers,
            "" if method == "POST" and body is None else body,
            allow_nonstandard_methods=True,
        )
        return AsyncHTTPClient().fetch(request, raise_error=False)

    @gen.coroutine
    def run_to(self, number):
        """Begin the crawl; return its Future when a held page is requested."""
        self.site.hold(f"/{number}")
        run = self.crawl.run()
        while f"/{number}" not in self.site.paths:
            yield gen.moment
        return run

    def act(self, action):
        return self.ask(f"/{action}", method="POST")

    @gen.coroutine
    def json(self, path):
        answer = yield self.ask(path)
        return answer.code, json.loads(answer.body)

    @gen.coroutine
    def send(self, path):
        """Send a request, and return its connection."""
        stream = yield TCPClient().connect("127.0.0.1", self.port)
        self.streams.append(stream)
        path += f"{'&' if '?' in path else '?'}token={TOKEN}"
        yield stream.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        return stream

    @gen.coroutine
    def follow(self):
        """Receive events as a browser does."""
        stream = yield self.send("/events")
        head = yield stream.read_until(b"\r\n\r\n")
        return Events(stream, head)


class Events:
    """A stream of server-sent events, read event by event."""

    def __init__(self, stream, head):
        self.head = head
        self._stream = stream

    @gen.coroutine
    def next(self):
        """Return the next event and its data; None after the last one."""
        size = int((yield self._stream.read_until(b"\r\n")), 16)
        chunk = yield self._stream.read_bytes(size + 2)
        if not size:
            return None
        lines = chunk.decode().strip().split("\n")
        fields = dict(line.split(": ", 1) for line in lines)
        return fields["event"], json.loads(fields["data"])

    @gen.coroutine
    def is_closed(self):
        """Wait for the end of the connection; return whether no event preceded it."""
        try:
            yield self._stream.read_bytes(1)
        except StreamClosedError:
            return True
        return False

    def close(self):
        self._stream.close()


@pytest.fixture
def site(site):
    """Pages /0 and on; each but the last links to the next one."""
    for n in range(PAGES):
        link = f'<a href="/{n + 1}">next</a>' if n + 1 < PAGES else ""
        body = f"<title>Page {n}</title><p>A lonely mill. {link}"
        site.answer(f"/{n}", body.encode())
    return site


@pytest.fixture
def watch(site, tmp_path):
    """Return a context manager with the dashboard of a crawl that has not begun."""
    streams = []

    @contextlib.contextmanager
    def enter(*, address="127.0.0.1:0", index=True, seed="0"):
        config = CrawlConfig((site.url + seed,), robots=False, concurrency=2)
        with contextlib.ExitStack() as cleanup:
            pages = None
            if index:
                pages = cleanup.enter_context(
                    contextlib.closing(IndexWriter(tmp_path / "index.sqlite"))
                )
            frontier = cleanup.enter_context(contextlib.closing(SqliteFrontier()))
            fetcher = cleanup.enter_context(contextlib.closing(make_fetcher(config)))
            monitor = Monitor(Crawl(wire(config, frontier, fetcher, index=pages)))
            dashboard = cleanup.enter_context(
                Dashboard(
                    monitor,
                    address,
                    index_paths=[tmp_path / "index.sqlite"] if index else (),
                    token=TOKEN,
                )
            )
            yield Watched(site, monitor, dashboard, pages, streams)

    yield enter
    for stream in streams:
        stream.close()


@pytest.fixture
def watched(watch):
    """A crawl that has not begun, with an ordinary dashboard."""
    with watch() as watched:
        yield watched
