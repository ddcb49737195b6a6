"""The request handlers of the dashboard.

Rule: `Handler.prepare` checks access before every handler, so no handler has to.
"""

import asyncio
import html
import logging
import urllib.parse
import weakref
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from tornado.http1connection import HTTP1Connection
from tornado.iostream import IOStream, StreamClosedError
from tornado.web import Application, HTTPError, RequestHandler

from crawler_app.base.errors import (
    ConfigError,
    SearchError,
    SearchIndexError,
    StorageError,
)
from crawler_app.base.text.formatting import sentence
from crawler_app.run.crawl.monitor import Monitor
from crawler_app.run.crawl.pace import read_pace
from crawler_app.show.dashboard.access import Access
from crawler_app.show.dashboard.events import to_json
from crawler_app.show.dashboard.feed import Feed
from crawler_app.show.dashboard.metrics import Metrics
from crawler_app.show.dashboard.searcher import Searcher
from crawler_app.store.index.rendering import to_json as hits_to_json
from gencoro import gen
from gencoro.concurrent import Future

__all__ = ["AfterEnd", "DashboardContext", "application"]

logger = logging.getLogger(__name__)

FILES = Path(__file__).parent
TYPE_BY_FILE = {
    "dashboard.js": "text/javascript; charset=utf-8",
    "dashboard.css": "text/css; charset=utf-8",
}

# The page shows text from untrusted sites, so it may run and load only our own files.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

REPORT_POLICY = "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox"

# Far more than anyone pages through; SQLite could not handle more than 64 bits.
MAX_OFFSET = 1_000_000


@dataclass(slots=True)
class AfterEnd:
    """What happens after the crawl.

    Attributes:
        is_over: Whether the crawl has ended, so that it cannot be controlled.
        make_report: Returns the page of the report; called in a thread.  None for no report.
        report: The page, once it has been requested.
        closed: Done when the dashboard is closed from the page.
    """

    is_over: bool = False
    make_report: Callable[[], str] | None = None
    report: "Future[str] | None" = None
    closed: "Future[None]" = field(default_factory=Future)


@dataclass(slots=True, frozen=True)
class DashboardContext:
    """The objects that the handlers share.

    Attributes:
        searcher: None if the crawl has no index.
        trusted: The connections that have sent the token; weak, as they close by themselves.
        after: What happens after the crawl.
    """

    monitor: Monitor
    access: Access
    token: str
    feed: Feed
    metrics: Metrics
    searcher: Searcher | None
    trusted: "weakref.WeakSet[IOStream]" = field(default_factory=weakref.WeakSet)
    after: AfterEnd = field(default_factory=AfterEnd)


class Handler(RequestHandler):
    """Base class: refuses requests without the token, and sets safe headers."""

    def initialize(self, context: DashboardContext) -> None:
        self.context = context

    def set_default_headers(self) -> None:
        self.clear_header("Server")
        self.set_header("Cache-Control", "no-store")
        self.set_header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        self.set_header("X-Content-Type-Options", "nosniff")
        # The URL has the token, which a link to a crawled page must not send there.
        self.set_header("Referrer-Policy", "no-referrer")

    def prepare(self) -> None:
        refusal = self.context.access.refusal(self.request)
        if refusal:
            self.refuse(403, refusal)
        else:
            connection = cast(HTTP1Connection, self.request.connection)
            self.context.trusted.add(connection.stream)

    def refuse(self, status: int, sentence: str) -> None:
        """Answer with an error and a sentence for people."""
        self.set_status(status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{sentence}\n")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        if status_code == 405:
            allowed = [m for m in ("GET", "POST") if m.lower() in vars(type(self))]
            self.set_header("Allow", ", ".join(allowed))
        # Tornado has no public access to the reason, nor below to whether it has finished.
        self.refuse(status_code, f"{status_code}: {self._reason}.")

    def log_exception(
        self,
        typ: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        # Tornado's own version would log the URL, which has the token.
        if value is not None and not isinstance(value, (HTTPError, StreamClosedError)):
            logger.error("dashboard: %s failed", self.request.path, exc_info=value)

    def compute_etag(self) -> None:
        return None  # responses are not cached


class UnknownHandler(Handler):
    """Answers 404 to unknown paths."""

    def prepare(self) -> None:
        super().prepare()
        if not self._finished:
            raise HTTPError(404)


class DashboardPageHandler(Handler):
    """Serves the page."""

    def get(self) -> None:
        token = html.escape(urllib.parse.quote(self.context.token, safe=""))
        page = (FILES / "page.html").read_text(encoding="utf-8")
        self.finish(page.replace("{token}", token))


class FileHandler(Handler):
    """Serves the files of the page."""

    def get(self, name: str) -> None:
        self.set_header("Content-Type", TYPE_BY_FILE[name])
        self.finish((FILES / name).read_bytes())


class EventsHandler(Handler):
    """Sends server-sent events until the browser disconnects or the crawl ends."""

    def initialize(self, context: DashboardContext) -> None:
        super().initialize(context)
        self._ended: Future[None] = Future()

    @gen.coroutine
    def get(self) -> Generator[Any, Any, None]:
        feed = self.context.feed
        if feed.is_full:
            self.refuse(
                503, "Too many pages show this crawl already; close one of them."
            )
            return
        self.set_header("Content-Type", "text/event-stream")
        with feed.joined(self):
            yield self._ended

    def send(self, event: bytes) -> "Future[None]":
        self.write(event)
        taken = self.flush()
        # It fails if the browser is gone; `on_connection_close` handles that.
        taken.add_done_callback(lambda future: future.cancelled() or future.exception())
        return taken

    def end(self) -> None:
        self.finish()
        self.on_connection_close()

    def drop(self) -> None:
        self.detach().close()
        self.on_connection_close()

    def on_connection_close(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)


class StateHandler(Handler):
    """Answers with the latest sample."""

    def get(self) -> None:
        self.finish(to_json(self.context.feed.latest()))


class SearchHandler(Handler):
    """Searches the index; a search ends if its browser disconnects."""

    def initialize(self, context: DashboardContext) -> None:
        super().initialize(context)
        self._is_wanted = True

    @gen.coroutine
    def get(self) -> Generator[Any, Any, None]:
        query, offset = self.get_query_argument("q", ""), self._offset()
        if self.context.searcher is None:
            self._fail(404, "this crawl has no index to search")
            return
        try:
            result = yield self.context.searcher.find(
                query, offset, lambda: self._is_wanted
            )
            self.finish(hits_to_json(result))
        except SearchError as exc:
            self._fail(400, str(exc))
        except (ConfigError, SearchIndexError) as exc:
            self._fail(503, str(exc))

    def on_connection_close(self) -> None:
        self._is_wanted = False

    def _offset(self) -> int:
        text = self.get_query_argument("offset", "0")
        # The length first, because converting thousands of digits takes long.
        if not text.isdecimal() or len(text) > 9 or int(text) > MAX_OFFSET:
            raise HTTPError(400)
        return int(text)

    def _fail(self, status: int, sentence: str) -> None:
        self.set_status(status)
        self.finish({"error": sentence})


class MetricsHandler(Handler):
    """Serves the metrics for Prometheus."""

    def get(self) -> None:
        accept = self.request.headers.get("Accept", "")
        text, content_type = self.context.metrics.render(accept)
        self.set_header("Content-Type", content_type)
        self.finish(text)


class ControlHandler(Handler):
    """Base class: controls a crawl that has not ended."""

    def prepare(self) -> None:
        super().prepare()
        if not self._finished and self.context.after.is_over:
            self.refuse(409, "The crawl has ended.")


class ActionHandler(ControlHandler):
    """Pauses, unpauses or stops the crawl."""

    def post(self, action: str) -> None:
        crawl = self.context.monitor.crawl
        {"pause": crawl.pause, "unpause": crawl.unpause, "stop": crawl.stop}[action]()
        self.context.monitor.look()  # so that all viewers see it immediately
        self.set_status(204)


class PaceHandler(ControlHandler):
    """Changes the pace of the crawl; options that are not sent stay unchanged."""

    def post(self) -> None:
        keys = self.request.body_arguments
        try:
            pace = read_pace({key: self.get_body_argument(key) for key in keys})
            self.context.monitor.crawl.change_pace(pace)
        except ConfigError as exc:
            self.refuse(400, f"{sentence(str(exc))}.")
            return
        self.context.monitor.look()
        self.set_status(204)


class ReportHandler(Handler):
    """Serves the report of a crawl that has ended; it is made on the first request."""

    @gen.coroutine
    def get(self) -> Generator[Any, Any, None]:
        after = self.context.after
        if after.make_report is None:
            self.refuse(404, "There is no report of this crawl yet.")
            return
        if after.report is None or (after.report.done() and after.report.exception()):
            loop = asyncio.get_running_loop()
            after.report = loop.run_in_executor(None, after.make_report)
        try:
            page = yield after.report
        except (ConfigError, StorageError) as exc:
            self.refuse(503, f"The report cannot be made: {exc}.")
            return
        # With the policy of the page itself.  In a sandbox it has an origin of its own, so
        # that nothing in it could reach the dashboard.
        self.set_header("Content-Security-Policy", REPORT_POLICY)
        self.finish(page)


class CloseHandler(Handler):
    """Closes the dashboard of a crawl that has ended."""

    def post(self) -> None:
        if not self.context.after.is_over:
            self.refuse(409, "The crawl is still running.")
            return
        self.set_status(204)
        # After the answer is sent.
        self.finish().add_done_callback(lambda _: self._close())

    def _close(self) -> None:
        if not self.context.after.closed.done():
            self.context.after.closed.set_result(None)


def application(context: DashboardContext) -> Application:
    """Return the application with all handlers."""
    arguments = {"context": context}
    return Application(
        [
            (path, handler, arguments)
            for path, handler in (
                (r"/", DashboardPageHandler),
                (r"/(dashboard\.(?:js|css))", FileHandler),
                (r"/events", EventsHandler),
                (r"/state", StateHandler),
                (r"/search", SearchHandler),
                (r"/metrics", MetricsHandler),
                (r"/(pause|unpause|stop)", ActionHandler),
                (r"/pace", PaceHandler),
                (r"/report", ReportHandler),
                (r"/close", CloseHandler),
            )
        ],
        default_handler_class=UnknownHandler,
        default_handler_args=arguments,
        # The URLs have the token, and standard error is the user's terminal.
        log_function=lambda handler: None,
    )
