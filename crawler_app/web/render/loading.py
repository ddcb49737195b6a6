"""A page under way in a tab: its requests, what becomes of it, and when it is done."""

import datetime
import re
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from crawler_app.base.errors import FetchError
from crawler_app.base.http_headers import decoded_fields
from crawler_app.base.models import Fetched
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.web.render import page_script
from crawler_app.web.render.devtools import BrowserGoneError, DevTools, RenderError
from crawler_app.web.render.problems import ScriptProblem, problem_of, request_problem
from crawler_app.web.render.requests import BrowserRequest
from gencoro import gen
from gencoro.locks import Condition

__all__ = ["FetchForBrowser", "Rendering", "refuse"]

# In seconds or milliseconds since 1970, as scripts add it to a URL against caches.
_TIME = re.compile(r"\d{10,13}")

# Without a request or an answer; that of the browser itself.  Precedents: Puppeteer's networkidle0
# 500 ms, browsertrix 2 s.
QUIET_S = 0.5

# Longer than most pages take between two requests.
STEADY_S = 2.0

# Since the start, or since a request was last held back by us, for a gap or a retry.
# Precedents: Puppeteer 30 s, Scrapy's rendering services 30 to 90 s.
LIMIT_S = 30.0

# Whatever holds it back.
MAX_LIMIT_S = 240.0

# Each page that is loaded again asks for itself: a cookie is set, or a version has changed.
MAX_RELOADS = 2

MAX_PROBLEMS = 20

# Returns the response to a request, or raises FetchError.  It calls the function whenever a rule
# of the crawl has held the request back.
FetchForBrowser: TypeAlias = Callable[
    [BrowserRequest, Callable[[], None]], Subgenerator[Fetched]
]


@dataclass(slots=True, eq=False)
class Rendering:
    """A page that a tab renders, or has rendered.

    Args:
        fetched: Answers the first request.
        frame: The id of its main frame.

    Attributes:
        url: Its URL, which a script may have changed.
        led_to: Where a script wanted to take the visitor; empty for nowhere.
        requests: How many it has made.
        problems: What its scripts got wrong, in order, and requests of scripts that failed.
        error: Why it cannot be rendered; None if it can.
        html: The document when it was done; shadow trees are templates in it.
        pictures: Its first screen in WebP, ``view`` and ``thumbnail``, if it was to be taken.
        world: The id of that in which the page is read; 0 while it has none.
        chromium_s: CPU time of the browser since the last page was done.
    """

    fetched: Fetched
    frame: str
    devtools: DevTools
    fetch: FetchForBrowser
    url: str = ""
    led_to: str = ""
    requests: int = 0
    problems: dict[ScriptProblem, None] = field(default_factory=dict)
    error: RenderError | None = None
    html: str = ""
    pictures: dict[str, bytes] = field(default_factory=dict)
    world: int = 0
    chromium_s: float = 0.0
    # Notified when it may be done, or has failed.
    _changed: Condition = field(default_factory=Condition)
    # The id of the document in the main frame.
    _document: str = ""
    _navigations: int = 0
    # Under way, and whether it was asked for nothing like that before.
    _answers: dict[gen.Future[None], bool] = field(default_factory=dict)
    # URLs, the time of day left aside.
    _asked: set[str] = field(default_factory=set)
    # Whether its network was idle once, or will not be.
    _is_idle: bool = False
    _is_loaded: bool = False
    _began_at: float = field(default_factory=time.monotonic)
    _quiet_since: float = 0.0
    _limit_at: float = field(default_factory=lambda: time.monotonic() + LIMIT_S)

    @property
    def is_over(self) -> bool:
        """Whether its limit is reached."""
        return time.monotonic() >= self._limit_at

    @property
    def wait_s(self) -> float:
        """How long to wait before asking again; 0 if it is done, or over.

        It is done when the browser calls its network idle, which means that it has loaded and then
        had no request under way for half a second, and when we have answered nothing for as long.
        The browser alone knows whether a page has received what we have answered, and we alone
        know of requests after that.  A page that asks for the same again and again, or that
        stopped its own loading, is done when it has asked for nothing new for two seconds.  One
        that never rests is read at its limit as it is then.
        """
        now = time.monotonic()
        left_s = self._limit_at - now
        if (self._is_idle or self._is_loaded) and not any(self._answers.values()):
            quiet_s = QUIET_S if self._is_idle else STEADY_S
            left_s = min(left_s, self._quiet_since + quiet_s - now)
        return max(0.0, round(left_s, 3))

    def extend(self) -> None:
        """Note that it was waiting for us until now."""
        self._limit_at = min(time.monotonic() + LIMIT_S, self._began_at + MAX_LIMIT_S)

    def settle(self) -> Subgenerator[None]:
        """Wait until it is done, or over.

        Raises:
            RenderError: it cannot be rendered.
        """
        while self.error is None:
            wait_s = self.wait_s
            if wait_s <= 0:
                return
            yield self._changed.wait(datetime.timedelta(seconds=wait_s))
        raise self.error

    def note_event(self, method: str, params: dict[str, Any]) -> None:
        """Note what the browser tells of the page."""
        match method, params:
            case "Page.lifecycleEvent", {"name": "networkIdle", "loaderId": loader}:
                self._is_idle |= loader == self._document
            case "Page.lifecycleEvent", _:
                return  # nine of ten
            case "Page.frameStoppedLoading", {"frameId": self.frame}:
                self._is_loaded, self._quiet_since = True, time.monotonic()
            case "Page.frameNavigated", {"frame": {"id": self.frame} as frame}:
                self._document, self.url = frame["loaderId"], frame["url"]
            case "Page.navigatedWithinDocument", {"frameId": self.frame}:
                self.url = params["url"]
            case "Runtime.executionContextCreated", {"context": context}:
                is_main = context.get("auxData", {}).get("frameId") == self.frame
                if is_main and context["name"] == page_script.WORLD:
                    self.world = context["id"]
            case (("Inspector.targetCrashed" | "Inspector.detached"), _):
                gone = self.devtools.is_lost
                error = BrowserGoneError if gone else RenderError
                self.error = self.error or error("the page crashed its tab")
            case _:
                self._add_problem(problem_of(method, params))
        self._changed.notify_all()

    def _add_problem(self, problem: ScriptProblem | None) -> None:
        if problem is not None and len(self.problems) < MAX_PROBLEMS:
            self.problems[problem] = None

    def leave(self) -> None:
        """Cancel what the page still waits for."""
        for answer in list(self._answers):
            answer.cancel()

    def answer(self, params: dict[str, Any], session: str) -> None:
        """Begin to answer a paused request; refuse it if no page needs it."""
        request = BrowserRequest.of(params)
        if request is None:
            refuse(self.devtools, params, session)
            return
        url = _TIME.sub("", request.url)
        is_new = url not in self._asked or request.method != "GET"
        self._asked.add(url)
        self.requests += 1
        answer = self._serve(request, params, session)
        self._answers[answer] = is_new
        answer.add_done_callback(self._note_answered)

    def _note_answered(self, answer: "gen.Future[None]") -> None:
        if self._answers.pop(answer):
            self._quiet_since = time.monotonic()
        self._changed.notify_all()

    @gen.coroutine
    def _serve(
        self, request: BrowserRequest, params: dict[str, Any], session: str
    ) -> Generator[Any, Any, None]:
        fetched, error = None, ""
        try:
            fetched = yield from self._response(request, params["frameId"])
        except FetchError as exc:
            error = str(exc)
        if fetched is None:
            refuse(self.devtools, params, session)
        else:
            answer = {
                "requestId": params["requestId"],
                "responseCode": fetched.status,
                "responseHeaders": [
                    {"name": name, "value": value}
                    for name, value in decoded_fields(fetched.headers)
                ],
            }
            self.devtools.send("Fetch.fulfillRequest", session, fetched.body, **answer)
            if fetched.status >= 400:
                error = f"status {fetched.status}"
        self._add_problem(request_problem(params, error))

    def _response(
        self, request: BrowserRequest, frame: str
    ) -> Subgenerator[Fetched | None]:
        """Return the response to a request; None to refuse it."""
        if request.kind == "Document" and frame == self.frame:
            self._navigations += 1
            if self._navigations == 1:
                return self.fetched
            if not self._is_reload(request):
                return None
            self._is_idle = self._is_loaded = False
        return (yield from self.fetch(request, self.extend))

    def _is_reload(self, request: BrowserRequest) -> bool:
        """Return whether a document is loaded again, and note where else a script goes."""
        if request.method != "GET":
            return False
        if request.url == self.fetched.url:
            return self._navigations <= 1 + MAX_RELOADS
        self.led_to = self.led_to or request.url
        # The document that stays does not load any further.
        self._is_idle = True
        return False


def refuse(devtools: DevTools, params: dict[str, Any], session: str) -> None:
    """Refuse a paused request."""
    # Aborted: the document that asks to be left stays.
    reason = "Aborted" if params["resourceType"] == "Document" else "BlockedByClient"
    refusal = {"requestId": params["requestId"], "errorReason": reason}
    devtools.send("Fetch.failRequest", session, **refusal)
