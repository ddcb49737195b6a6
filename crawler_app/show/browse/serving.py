"""The server of `gencrawl browse`, on loopback.

Every path begins with the token, so what a page loads has it too, and nothing else does.
The replayed pages are of the same origin: they could read the crawl that they are from, but
not reach another server.
"""

import asyncio
import logging
import re
import secrets
import socket
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.iostream import StreamClosedError
from tornado.web import Application, HTTPError, RequestHandler

from crawler_app.base.errors import (
    ConfigError,
    SearchError,
    SearchIndexError,
    StorageError,
)
from crawler_app.base.text.formatting import sentence
from crawler_app.show.browse.pages import (
    STARTING_PAGE,
    STARTING_SCRIPT,
    hits_page,
    replay_page,
    sentence_page,
)
from crawler_app.show.browse.sparse_file import SparseFile
from crawler_app.show.dashboard.address import LOOPBACK, is_own_name
from crawler_app.show.dashboard.searcher import Searcher
from gencoro import gen

__all__ = ["Browsed", "start_server"]

logger = logging.getLogger(__name__)

TOKEN_BYTES = 24

# ReplayWeb.page makes styles and uses images of its own as data.  Its service worker has the
# policy of its script: it answers from the archive and cannot ask anyone but us.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; "
    "frame-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'self'; "
    # For all frames: scripts of the archive open no window, and do not lead this one elsewhere,
    # with what they have read in the URL.
    "sandbox allow-scripts allow-same-origin allow-forms allow-modals allow-downloads"
)
WORKER_POLICY = (
    "default-src 'self' data: blob:; script-src 'self' 'wasm-unsafe-eval'; "
    "connect-src 'self' data: blob:"
)
# Without the right of its origin it could not do more than a page of the archive.
REPORT_POLICY = "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox"

_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


@dataclass(frozen=True)
class Browsed:
    """What is shown.

    Attributes:
        name: Of the crawl.
        start: The URL to begin with.
        wacz: The archive.
        player: The scripts of ReplayWeb.page by name.
        searcher: None if the crawl has no index.
        make_report: Returns the page of the report; called in a thread on the first request.
    """

    name: str
    start: str
    wacz: SparseFile
    player: Mapping[str, bytes]
    searcher: Searcher | None
    make_report: Callable[[], str]

    @cached_property
    def report(self) -> "asyncio.Future[str]":
        """The page of the report, once it is made."""
        return asyncio.get_running_loop().run_in_executor(None, self.make_report)


def start_server(browsed: Browsed, port: int = 0) -> tuple[HTTPServer, str]:
    """Serve an archive on the running event loop; return the server and its URL.

    Args:
        port: 0 for any free one.

    Raises:
        ConfigError: the port is in use.
    """
    token = secrets.token_urlsafe(TOKEN_BYTES)
    server = HTTPServer(_application(browsed, token))
    try:
        bound = socket.create_server((LOOPBACK, port))
    except OSError as exc:
        raise ConfigError(
            f"port {port} of {LOOPBACK} cannot be used: {exc.strerror}; choose another with "
            "--port"
        ) from None
    bound.setblocking(False)
    server.add_socket(bound)
    return server, f"http://{LOOPBACK}:{bound.getsockname()[1]}/{token}/"


def _application(browsed: Browsed, token: str) -> Application:
    arguments = {"browsed": browsed}
    handlers = (
        ("", _ReplayHandler),
        (r"crawl\.wacz", _WaczHandler),
        (r"replay/(ui\.js|sw\.js)", _PlayerHandler),
        (r"replay/(starting\.js)?", _StartingHandler),
        ("search", _SearchHandler),
        ("report", _ReportHandler),
    )
    return Application(
        [(f"/{token}/{path}", handler, arguments) for path, handler in handlers],
        default_handler_class=_Handler,
        default_handler_args=arguments,
        # The URLs have the token.
        log_function=lambda handler: None,
    )


class _Handler(RequestHandler):
    """Base class: sets safe headers; answers 404 by itself."""

    def initialize(self, browsed: Browsed) -> None:
        self.browsed = browsed

    def set_default_headers(self) -> None:
        self.clear_header("Server")
        self.set_header("Cache-Control", "no-store")
        self.set_header("Content-Security-Policy", POLICY)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")

    def prepare(self) -> None:
        if type(self) is _Handler or not is_own_name(self.request.host, LOOPBACK):
            raise HTTPError(404)

    def compute_etag(self) -> None:
        return None  # responses are not cached

    def say(self, status: int, words: str, query: str = "") -> None:
        """Answer with a sentence for people."""
        self.set_status(status)
        self.finish(sentence_page(self.browsed.name, f"{sentence(words)}.", query))

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        # Tornado's own version would log the URL, which has the token.
        if value is not None and not isinstance(value, (HTTPError, StreamClosedError)):
            logger.error("browse: a request failed", exc_info=value)


class _ReplayHandler(_Handler):
    def get(self) -> None:
        url = self.get_query_argument("url", self.browsed.start)
        self.finish(replay_page(self.browsed.name, url))


class _PlayerHandler(_Handler):
    def get(self, name: str) -> None:
        self.set_header("Content-Type", "text/javascript; charset=utf-8")
        self.set_header("Content-Security-Policy", WORKER_POLICY)
        self.finish(self.browsed.player[name])


class _StartingHandler(_Handler):
    def get(self, script: str | None) -> None:
        if script:
            self.set_header("Content-Type", "text/javascript; charset=utf-8")
        self.finish(STARTING_SCRIPT if script else STARTING_PAGE)


class _WaczHandler(_Handler):
    """Serves the archive, of which ReplayWeb.page asks for ranges."""

    def head(self) -> None:
        self._begin()
        self.finish()

    @gen.coroutine
    def get(self) -> Generator[Any, Any, None]:
        start, end = self._begin()
        for piece in self.browsed.wacz.pieces(start, end):
            self.write(piece)
            yield self.flush()

    def _begin(self) -> tuple[int, int]:
        """Set the status and the headers; return the range that was asked for."""
        size_bytes = self.browsed.wacz.size_bytes
        self.set_header("Content-Type", "application/wacz")
        self.set_header("Accept-Ranges", "bytes")
        asked = self.request.headers.get("Range")
        start, end = 0, size_bytes
        if asked is not None:
            start, end = _range_of(asked, size_bytes)
            if start >= end:
                self.set_header("Content-Range", f"bytes */{size_bytes}")
                raise HTTPError(416)
            self.set_status(206)
            self.set_header("Content-Range", f"bytes {start}-{end - 1}/{size_bytes}")
        self.set_header("Content-Length", str(end - start))
        return start, end


class _SearchHandler(_Handler):
    @gen.coroutine
    def get(self) -> Generator[Any, Any, None]:
        browsed, query = self.browsed, self.get_query_argument("q", "")
        offset = self.get_query_argument("offset", "0")
        if browsed.searcher is None:
            self.say(404, "this crawl has no index to search", query)
            return
        if not offset.isdecimal() or len(offset) > 9:
            raise HTTPError(400)
        try:
            result = yield browsed.searcher.find(query, int(offset), lambda: True)
            self.finish(hits_page(browsed.name, result))
        except SearchError as exc:
            self.say(400, str(exc), query)
        except (ConfigError, SearchIndexError) as exc:
            self.say(503, str(exc), query)


class _ReportHandler(_Handler):
    @gen.coroutine
    def get(self) -> Generator[Any, Any, None]:
        try:
            page = yield self.browsed.report
        except (ConfigError, StorageError) as exc:
            self.say(503, f"the report cannot be made: {exc}")
            return
        self.set_header("Content-Security-Policy", REPORT_POLICY)
        self.finish(page)


def _range_of(header: str, size_bytes: int) -> tuple[int, int]:
    """Return the start and the end of the first range that a header asks for.

    >>> _range_of("bytes=2-3", 10), _range_of("bytes=-4", 10), _range_of("bytes=8-", 10)
    ((2, 4), (6, 10), (8, 10))
    >>> _range_of("lines=1-2", 10)
    (0, 0)
    """
    found = _RANGE.match(header)
    if found is None or not (found[1] or found[2]):
        return 0, 0
    if not found[1]:
        return max(0, size_bytes - int(found[2])), size_bytes
    last = int(found[2]) if found[2] else size_bytes
    return int(found[1]), min(last + 1, size_bytes)
