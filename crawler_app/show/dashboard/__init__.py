"""The dashboard: a web page to watch and control a crawl, ``crawl ... --dashboard``.

Rule: the crawl never waits for a browser, and nothing is shown without the token.

Inside::

    address   where it listens, and the host names it accepts
    access    the token
    handlers  answers requests; page.html, dashboard.css and dashboard.js are the page
    feed      sends samples to the browsers, as events
    events    samples as JSON and as server-sent events
    metrics   the same for Prometheus
    searcher  searches the index, in a thread
"""

import contextlib
import errno
import logging
import os
import socket
import urllib.parse
from collections.abc import Callable, Container, Generator, Sequence
from pathlib import Path
from typing import Any, Self

from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream

from crawler_app.base.errors import ConfigError
from crawler_app.run.crawl.monitor import Monitor
from crawler_app.show.dashboard.access import TOKEN_VARIABLE, Access, token_from
from crawler_app.show.dashboard.address import (
    ANY_PORT,
    is_loopback,
    parse_address,
    place_of,
)
from crawler_app.show.dashboard.events import Ending
from crawler_app.show.dashboard.feed import Feed
from crawler_app.show.dashboard.handlers import DashboardContext, application
from crawler_app.show.dashboard.metrics import Metrics
from crawler_app.show.dashboard.searcher import Searcher
from gencoro import gen

__all__ = ["ANY_PORT", "Dashboard", "check_dashboard"]

logger = logging.getLogger(__name__)

# Enough for the requests of a browser or of Prometheus.
MAX_HEAD_BYTES = 16_384
MAX_BODY_BYTES = 1024
IDLE_S = 60.0

# Connections are accepted without a token, and open files are limited, often to 1024,
# which the crawl needs too.  Twenty pages have two or three connections each.  One more
# closes the oldest that has not sent the token: silent ones must not lock out the owner.
MAX_CONNECTIONS = 100


def check_dashboard(address: str) -> None:
    """Check that a dashboard can be started, before a crawl is begun.

    Raises:
        ConfigError: the address, or the token in the environment, cannot be used.
    """
    token_from(os.environ)
    _bind(*parse_address(address)).close()


def _bind(host: str, port: int) -> socket.socket:
    place = f"port {port} of {host}"
    advice = "choose another with --dashboard ADDR:PORT"
    try:
        # IPv4 first, where clients look up a name too.
        family, *_, address = min(
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        )
        bound = socket.create_server(address, family=family)
    except OSError as exc:
        if exc.errno == errno.EADDRINUSE:
            raise ConfigError(f"{place} is already in use; {advice}") from None
        reason = exc.strerror or exc
        raise ConfigError(f"{place} cannot be used: {reason}; {advice}") from None
    bound.setblocking(False)
    return bound


class Dashboard:
    """A context manager that serves the dashboard on the running loop.

    Args:
        monitor: Takes the samples; the caller enters it.
        address: Where to listen, such as ``127.0.0.1:8080``; port 0 is any free port.
        index_paths: The files of the crawl's index, one for each process that crawls.
        token: The secret that requests must carry; None for the one in the environment,
            or a new one.

    Attributes:
        url: The complete URL of the page, with the token; known once it is entered.
        shown_url: The same for display and logs: with a token from the environment, which
            stays valid, it has the name of the variable instead.

    Raises:
        ConfigError: the address, or the token in the environment, cannot be used; on
            entering, the port is already in use.

    >>> from crawler_app.base.config import CrawlConfig
    >>> from crawler_app.run.crawl import Crawl
    >>> from crawler_app.run.crawl.wiring import wire
    >>> from crawler_app.store.frontier.sqlite import SqliteFrontier
    >>> from gencoro import gen
    >>> from gencoro.ioloop import IOLoop
    >>> @gen.coroutine
    ... def main():
    ...     crawl = Crawl(wire(CrawlConfig(("http://a.test/",)), SqliteFrontier(), None))
    ...     with Dashboard(Monitor(crawl)) as dashboard:
    ...         print(dashboard.url)
    >>> loop = IOLoop(make_current=False)
    >>> loop.run_sync(main)  # doctest: +ELLIPSIS
    http://127.0.0.1:.../?token=...
    >>> loop.close()
    """

    def __init__(
        self,
        monitor: Monitor,
        address: str = ANY_PORT,
        *,
        index_paths: Sequence[Path] = (),
        token: str | None = None,
    ) -> None:
        self.url = self.shown_url = ""
        self._monitor = monitor
        self._host, self._port = parse_address(address)
        self._index_paths = index_paths
        self._token = token_from(os.environ) if token is None else token
        self._cleanup = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as cleanup:
            bound = cleanup.enter_context(_bind(self._host, self._port))
            context = self._make_context(cleanup)
            server = _Server(
                application(context),
                trusted=context.trusted,
                idle_connection_timeout=IDLE_S,
                body_timeout=IDLE_S,
                max_header_size=MAX_HEAD_BYTES,
                max_body_size=MAX_BODY_BYTES,
            )
            server.add_socket(bound)
            cleanup.callback(server.close)
            cleanup.callback(self.end, "")
            self._feed, self._after = context.feed, context.after
            self._cleanup = cleanup.pop_all()
        self._announce(*bound.getsockname()[:2])
        return self

    def __exit__(self, exc_type: type[BaseException] | None, *exc_info: object) -> None:
        with self._cleanup:
            if exc_type is None:  # after an error, the frontier may be closed
                self.take_last_sample()

    def take_last_sample(self) -> None:
        """Take the last sample, before the crawl is closed; only the first call does.

        From then on the crawl cannot be controlled.
        """
        if not self._after.is_over:
            self._monitor.look()
            self._after.is_over = True

    def end(self, summary: str) -> None:
        """Show that the crawl has ended, with its results as plain text."""
        self._feed.end(Ending(summary))

    @gen.coroutine
    def stay(
        self, summary: str, make_report: Callable[[], str] | None = None
    ) -> Generator[Any, Any, None]:
        """Show that the crawl has ended, and wait until the dashboard is closed on the page.

        Args:
            summary: The results, as plain text.
            make_report: Returns the page of a report; called in a thread on the first
                request.  None for no report.
        """
        self._after.make_report = make_report
        self._feed.end(Ending(summary, make_report is not None, is_staying=True))
        yield self._after.closed

    def _make_context(self, cleanup: contextlib.ExitStack) -> DashboardContext:
        searcher = None
        if self._index_paths:
            searcher = Searcher(self._index_paths)
            cleanup.callback(searcher.close)
        return DashboardContext(
            self._monitor,
            Access(self._token, self._host),
            self._token,
            Feed(self._monitor, can_search=searcher is not None),
            Metrics(self._monitor.crawl),
            searcher,
        )

    def _announce(self, address: str, port: int) -> None:
        token = urllib.parse.quote(self._token, safe="")
        page = f"http://{place_of(self._host, port)}/?token="
        self.url = self.shown_url = page + token
        if self._token == os.environ.get(TOKEN_VARIABLE):
            self.shown_url = f"{page}${TOKEN_VARIABLE}"
        if not is_loopback(address):
            logger.warning(
                "other machines can reach the dashboard on port %d, over plain HTTP: "
                "anyone with its URL can control the crawl and read its results",
                port,
            )


class _Server(HTTPServer):
    """A server with a limit of connections, which can close them without waiting.

    Tornado's `close_all_connections` is a coroutine, which `__exit__` cannot wait for.
    """

    def initialize(self, *args: Any, **options: Any) -> None:
        self._trusted: Container[IOStream] = options.pop("trusted")
        super().initialize(*args, **options)
        self._streams: list[IOStream] = []  # the oldest first

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        self._streams = [each for each in self._streams if not each.closed()]
        if len(self._streams) >= MAX_CONNECTIONS:
            others = (each for each in self._streams if each not in self._trusted)
            surplus = next(others, stream)
            surplus.close()
            if surplus is stream:
                return
        self._streams.append(stream)
        super().handle_stream(stream, address)

    def close(self) -> None:
        self.stop()
        for stream in self._streams:
            stream.close()
