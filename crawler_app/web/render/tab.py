"""A tab: renders one page after another.

Rule: nothing that a page does lasts longer than its limit, and whatever goes wrong becomes a
`RenderError`, after which the tab is closed.
"""

import base64
import contextlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import FetchError
from crawler_app.base.models import Fetched
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import join_or_nothing
from crawler_app.web.render import page_script
from crawler_app.web.render.devtools import DevTools, RenderError
from crawler_app.web.render.loading import FetchForBrowser, Rendering, refuse
from gencoro import gen

__all__ = ["Tab"]

# Screens of a page that is scrolled to its end, which may have none, and routes of one page.
MAX_MOVES = 100

# The window: 16 to 9, as that of browsertrix, whose thumbnails are of half this width too.
WIDTH, HEIGHT = 1280, 720
SCREEN = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
CLIP = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT}

# A whole element, and what may hold the text of its tags; no other has "<" in it.
_NOSCRIPT = re.compile(
    r"(<(script|style|xmp)\b.*?</\2>|<!--.*?-->)|<noscript\b.*?</noscript>", re.DOTALL
)

# A link to a state that a script shows for what is after the "#": "#/about", or "#!about".
_ROUTE = re.compile(r'\shref="([^"#]*)(#[/!][^"]+)"')

# Set on each page, and on each frame and worker that has a process of its own.
ADD_SCRIPT = "Page.addScriptToEvaluateOnNewDocument"
ATTACH_ALL: dict[str, Any] = {
    "autoAttach": True,
    "waitForDebuggerOnStart": True,
    "flatten": True,
}

# The result of a command, or None.
Answer: TypeAlias = Subgenerator[dict[str, Any] | None]


@dataclass(slots=True, eq=False)
class Tab:
    """One tab, in a browser context of its own.

    Args:
        may_show: Whether a route may be shown, by its URL.
        storage: The names and values in the localStorage of origins, as JSON.

    Attributes:
        pages: How many pages it has rendered.
        is_worn: Whether to render no more: dialogs of one page hold up the next.
    """

    devtools: DevTools
    config: CrawlConfig
    fetch: FetchForBrowser
    may_show: Callable[[str], bool]
    storage: str
    pages: int = 0
    is_worn: bool = False
    _session: str = ""
    _target: str = ""
    _context: str = ""
    _page: Rendering | None = None

    def open(self) -> Subgenerator[None]:
        """Open the tab in the browser."""
        ask = self.devtools.ask
        reader = page_script.READER + page_script.STORE.format(items=self.storage)
        created = yield ask("Target.createBrowserContext")
        self._context = created["browserContextId"]
        where: dict[str, Any] = {"browserContextId": self._context}
        target = yield ask("Target.createTarget", url="about:blank", **where)
        self._target = target["targetId"]
        attached = yield ask(
            "Target.attachToTarget", targetId=self._target, flatten=True
        )
        self._session = attached["sessionId"]
        self.devtools.listen(self._session, self._on_event)
        commands = [
            ask("Browser.setDownloadBehavior", behavior="deny", **where),
            self._ask("Page.enable"),
            self._ask("Page.setLifecycleEventsEnabled", enabled=True),
            self._ask("Runtime.enable"),
            self._ask(ADD_SCRIPT, source=page_script.GUARD),
            self._ask(ADD_SCRIPT, source=reader, worldName=page_script.WORLD),
            self._ask("Emulation.setFocusEmulationEnabled", enabled=True),
            self._ask("Emulation.setDeviceMetricsOverride", **SCREEN),
            self._ask("Target.setAutoAttach", **ATTACH_ALL),
            self._ask("Fetch.enable"),  # without patterns: pause all requests
        ]
        yield gen.multi(commands, quiet_exceptions=FetchError)

    def close(self) -> None:
        """Close the tab, and forget what its pages have stored."""
        if self._context:
            self.devtools.send(
                "Target.disposeBrowserContext", browserContextId=self._context
            )

    def render(self, fetched: Fetched) -> Subgenerator[Rendering]:
        """Render a page that was fetched; scroll it and take pictures of it if configured.

        Raises:
            RenderError: the page crashed the tab, or kept it busy.
        """
        page = self._page = Rendering(fetched, self._target, self.devtools, self.fetch)
        self.pages += 1
        try:
            done = yield self._ask("Page.navigate", url=fetched.url)
            if "errorText" in done and not page.led_to:
                raise RenderError(f"the browser does not show it: {done['errorText']}")
            html = yield from self._read_settled(page)
            if self.config.screenshots:
                page.pictures = yield from self._pictures()
            html = yield from self._read_moved(page, html)
        finally:
            self._page = None
            page.leave()
        page.html = _NOSCRIPT.sub(r"\1", html)
        return page

    def rest(self) -> None:
        """Leave the page, whose scripts would go on."""
        self.devtools.send("Page.navigate", self._session, url="about:blank")

    def _read_settled(self, page: Rendering) -> Subgenerator[str]:
        """Return the document as HTML, once it has loaded and rests."""
        while True:
            yield from page.settle()
            document = yield from self._call(page, "rest", page.is_over)
            # What it has asked for meanwhile may change it.
            if document is None or page.wait_s > 0:
                continue
            # By the browser, which a page cannot deceive, and which sees closed shadow trees.
            whole = {"objectId": document["objectId"], "includeShadowDOM": True}
            answer = yield from self._asked(page, "DOM.getOuterHTML", **whole)
            if answer is not None:
                return str(answer["outerHTML"])

    def _read_moved(self, page: Rendering, html: str) -> Subgenerator[str]:
        """Return the document with what it shows at its other routes, and further down."""
        led_to, routes = page.led_to, ["#" + urlsplit(page.url).fragment]
        for route in routes:  # which grow
            if route is not routes[0]:
                html = yield from self._read_route(page, route)
            if self.config.scroll:
                yield from self._scroll(page)
                html = yield from self._read_settled(page)
            found = dict.fromkeys(self._routes_in(page.url, html))
            routes += [each for each in found if each not in routes]
            del routes[MAX_MOVES:]
        if len(routes) > 1:
            html = yield from self._read_route(page, routes[0])
            page.led_to = led_to  # of the page, not of a route
        elif not self.config.scroll:
            return html
        lost = yield from self._call(page, "lost")
        before, tag, after = html.rpartition("</body>")
        return before + (lost["value"] if lost else "") + tag + after

    def _routes_in(self, url: str, document: str) -> Iterator[str]:
        """Yield the routes of a page to which its document links, from the "#" on."""
        here = url.partition("#")[0]
        for link in dict.fromkeys(_ROUTE.findall(document)):
            page, route = map(unescape, link)
            is_here = not page or join_or_nothing(here, page) == here
            if is_here and self.may_show(here + route):
                yield route

    def _read_route(self, page: Rendering, route: str) -> Subgenerator[str]:
        page.extend()
        yield from self._call(page, "show", route)
        return (yield from self._read_settled(page))

    def _scroll(self, page: Rendering) -> Subgenerator[None]:
        """Scroll to the end, screen by screen; what that loads makes the page longer."""
        is_at_end = False
        for _ in range(MAX_MOVES):
            was_at_end = is_at_end
            found = yield from self._call(page, "scroll")
            is_at_end = found is None or not found["value"]
            if is_at_end and was_at_end or page.is_over:
                return
            if is_at_end:
                yield from page.settle()
                yield from self._call(page, "rest", False)

    def _pictures(self) -> Subgenerator[dict[str, bytes]]:
        """Return pictures of what is shown now, by name; none if they cannot be taken."""
        taken = {}
        with contextlib.suppress(RenderError):
            for name, scale in (("view", 1), ("thumbnail", 0.5)):
                shot = {"format": "webp", "clip": CLIP | {"scale": scale}}
                answer = yield self._ask("Page.captureScreenshot", **shot)
                taken[name] = base64.b64decode(answer["data"])
        return taken

    def _call(self, page: Rendering, function: str, *args: str | bool) -> Answer:
        """Call a function of our script; return None if the document has changed."""
        if not page.world:
            # It is made before any script, so there is no document, or it is a picture.
            raise page.error or RenderError("the browser shows no document")
        call = f"gencrawl.{function}({', '.join(map(json.dumps, args))})"
        where = {"expression": call, "contextId": page.world, "awaitPromise": True}
        answer = yield from self._asked(page, "Runtime.evaluate", **where)
        if answer is not None and "exceptionDetails" in answer:
            raise RenderError(f"cannot be read: {answer['exceptionDetails']['text']}")
        return None if answer is None else answer["result"]

    def _asked(self, page: Rendering, method: str, **params: Any) -> Answer:
        """Return the result of a command; None if the document has changed meanwhile."""
        world = page.world
        try:
            answer: dict[str, Any] = yield self._ask(method, **params)
        except RenderError:
            # The browser is well, even if this is late: a script of the page does not end.
            if self.devtools.is_lost:
                raise
            if page.error is None and page.world != world:
                return None
            raise page.error or RenderError("its scripts do not end") from None
        return answer

    def _ask(self, method: str, **params: Any) -> "gen.Future[dict[str, Any]]":
        return self.devtools.ask(method, self._session, **params)

    # -- events ---------------------------------------------------------------------------

    def _on_event(self, method: str, params: dict[str, Any], session: str) -> None:
        page = self._page
        if method == "Fetch.requestPaused":
            if page is None:  # of a page that was left
                refuse(self.devtools, params, session)
            else:
                page.answer(params, session)
        elif method == "Target.attachedToTarget":
            self._attach(params)
        elif method == "Page.javascriptDialogOpening":
            # "Leave this page?" is the only question with one right answer.
            self.is_worn = True
            accept = params["type"] == "beforeunload"
            self.devtools.send("Page.handleJavaScriptDialog", session, accept=accept)
        elif page is None:
            return
        elif method == "Runtime.executionContextsCleared" and session == self._session:
            page.world = 0
        else:
            page.note_event(method, params)

    def _attach(self, params: dict[str, Any]) -> None:
        """Pause the requests of a frame or a worker with a process of its own, too."""
        session, send = params["sessionId"], self.devtools.send
        self.devtools.listen(session, self._on_event)
        if params["targetInfo"]["type"] in ("page", "service_worker"):
            # A window, or what would answer instead of the site: it never begins.
            send("Target.closeTarget", targetId=params["targetInfo"]["targetId"])
            return
        send("Runtime.enable", session)
        send(ADD_SCRIPT, session, source=page_script.GUARD)
        send("Fetch.enable", session)
        send("Target.setAutoAttach", session, **ATTACH_ALL)
        send("Runtime.runIfWaitingForDebugger", session)
