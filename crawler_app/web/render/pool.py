"""Browsers and their tabs: started when they are needed, shared, recycled, restarted.

Rule: a page that fails costs itself only.  If its browser ends, perhaps for another page, it is
rendered again in the next one; a tab in which anything went wrong is closed.  A page that failed
has a browser to itself the next time: those beside it may have held it up.
"""

import asyncio
from collections.abc import Callable

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Fetched
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.web.render.browser import Browser, Way, chromium_path, start_browser
from crawler_app.web.render.devtools import BrowserGoneError
from crawler_app.web.render.loading import FetchForBrowser, Rendering
from crawler_app.web.render.tab import Tab
from gencoro.locks import Condition, Lock

__all__ = ["BrowserPool"]

# More make more pages wait for the same cores.
TABS_PER_BROWSER = 4

# A tab is closed after this many pages: what they have stored is forgotten, and what they have
# leaked is freed.
PAGES_PER_TAB = 25

# It is looked at with each closed tab, which takes some milliseconds.
MAX_BROWSER_BYTES = 1536 * 1024 * 1024

# A page whose browser ends again and again is the one that ends it.
MAX_BROWSERS_PER_PAGE = 3


class _Seat:
    """The place of one browser: its free tabs, and how many are taken."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.browser: Browser | None = None
        self.tabs: list[Tab] = []
        self.taken = 0


class BrowserPool:
    """The browsers of a crawl.

    Args:
        fetch: Makes the requests of the pages.
        may_show, storage: Of each `Tab`.

    Raises:
        ConfigError: Chromium is not installed.
    """

    def __init__(
        self,
        config: CrawlConfig,
        fetch: FetchForBrowser,
        may_show: Callable[[str], bool],
        storage: str,
    ) -> None:
        self._program = chromium_path()
        self._of_tabs = config, fetch, may_show, storage
        self._seats = [_Seat() for _ in range(config.browsers)]
        # First come, first served: who needs a whole browser is not passed by others.
        self._turn = Lock()
        self._changed = Condition()
        self._is_full = False
        self._way: Way | None = None
        self._failed_urls: set[str] = set()
        self._is_closed = False

    def render(self, fetched: Fetched) -> Subgenerator[Rendering]:
        """Render a page that was fetched.

        Raises:
            RenderError: the page cannot be rendered, or no browser be started.
        """
        url = fetched.url
        tabs = TABS_PER_BROWSER if url in self._failed_urls else 1
        seat = yield from self._taken(tabs)
        self._failed_urls.add(url)  # unless it succeeds
        try:
            rendering = yield from self._render_in(seat, fetched)
        finally:
            seat.taken -= tabs
            self._changed.notify()
        self._failed_urls.discard(url)
        return rendering

    def close(self) -> None:
        """End all browsers; pages that are being rendered fail."""
        self._is_closed = True
        for seat in self._seats:
            if seat.browser is not None:
                seat.browser.end()
                seat.browser.wait()

    def _taken(self, tabs: int) -> Subgenerator[_Seat]:
        """Wait for a browser with this number of free tabs, and take them."""
        with (yield self._turn.acquire()):
            while True:
                seat = min(self._seats, key=lambda each: each.taken)
                self._is_full = seat.taken + tabs > TABS_PER_BROWSER
                if not self._is_full:
                    seat.taken += tabs
                    return seat
                yield self._changed.wait()

    def _render_in(self, seat: _Seat, fetched: Fetched) -> Subgenerator[Rendering]:
        """Render a page, in the next browser if one ends."""
        for tries_left in reversed(range(MAX_BROWSERS_PER_PAGE)):
            browser = yield from self._running(seat)
            try:
                return (yield from self._render_by(browser, seat.tabs, fetched))
            except BrowserGoneError:
                browser.end()
                if not tries_left or self._is_closed:
                    raise
        raise AssertionError

    def _render_by(
        self, browser: Browser, tabs: list[Tab], fetched: Fetched
    ) -> Subgenerator[Rendering]:
        """Render a page in a tab, which is closed if the page fails."""
        tab = tabs.pop() if tabs else Tab(browser.devtools, *self._of_tabs)
        try:
            if not tab.pages:
                yield from tab.open()
            rendering: Rendering = yield from tab.render(fetched)
            rendering.chromium_s = yield from browser.spent_s()
        except BaseException:
            tab.close()
            raise
        if tab.is_worn or tab.pages >= PAGES_PER_TAB:
            tab.close()
            if browser.memory_bytes() > MAX_BROWSER_BYTES:
                browser.end()
        else:
            tabs.append(tab)
            if not self._is_full:
                tab.rest()
        return rendering

    def _running(self, seat: _Seat) -> Subgenerator[Browser]:
        """Return the browser of a seat; a new one if it has ended."""
        with (yield seat.lock.acquire()):
            old = seat.browser
            if old is not None:
                if not old.devtools.is_lost:
                    return old
                old.end()
                yield asyncio.get_running_loop().run_in_executor(None, old.wait)
            seat.browser, seat.tabs = None, []
            if not self._is_closed:
                seat.browser = yield from start_browser(self._program, self._way)
                self._way = seat.browser.way
            if self._is_closed or seat.browser is None:
                self.close()
                raise BrowserGoneError("the crawl has ended")
            return seat.browser
