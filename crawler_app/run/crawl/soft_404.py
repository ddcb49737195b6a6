"""Detects soft 404s with one request for a nonexistent URL per host.

A host that answers with a page, or with a redirect to one, hides its broken links.  It is asked
once in a run, when everything else is done, and only if its robots.txt allows it.
"""

import collections
import secrets
from collections.abc import Callable, Generator, Iterable
from typing import Any

from crawler_app.base.errors import FetchError, UrlError
from crawler_app.base.models import Fetched
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import host_of, redirect_target
from crawler_app.run.crawl.context import RunContext
from crawler_app.web.httpclient.response import REDIRECTS
from crawler_app.web.walls import is_wall
from gencoro import gen

__all__ = ["Soft404Detector"]

# More than a site needs to send visitors to its error page.
MAX_REDIRECTS = 3


class Soft404Detector:
    """Detects the soft 404s of a run.

    Args:
        fetch: Makes one exchange that is not archived.
        is_allowed: Returns whether the robots.txt that this run has read allows a URL.
    """

    def __init__(
        self,
        context: RunContext,
        fetch: Callable[[str], Subgenerator[Fetched]],
        is_allowed: Callable[[str], bool],
    ) -> None:
        self._context = context
        self._fetch = fetch
        self._is_allowed = is_allowed

    def ask_all(self, may_ask: Callable[[], bool]) -> Subgenerator[None]:
        """Ask every host that has pages, and note the answers in the frontier.

        Args:
            may_ask: Returns whether a request may be made now.
        """
        origins = collections.deque(self._origins())
        several = min(len(origins), self._context.config.concurrency)
        yield gen.multi([self._ask_in_turn(origins, may_ask) for _ in range(several)])

    def _origins(self) -> Iterable[str]:
        frontier = self._context.frontier
        for host in frontier.hosts():
            known = (f"{scheme}://{host.name}" for scheme in ("https", "http"))
            if host.pages:
                yield from [each for each in known if frontier.known_url(each)][:1]

    @gen.coroutine
    def _ask_in_turn(
        self, origins: collections.deque[str], may_ask: Callable[[], bool]
    ) -> Generator[Any, Any, None]:
        while origins and may_ask():
            origin = origins.popleft()
            url = f"{origin}/{secrets.token_hex(16)}"
            if not self._is_allowed(url):
                continue  # what an earlier run has found stays
            if not self._context.frontier.take_soft_404(origin):
                continue
            try:
                exists = yield from self._seems_to_exist(url, may_ask)
            except FetchError:
                continue
            if exists is not None:
                self._context.frontier.note_soft_404(origin, url if exists else "")

    def _seems_to_exist(
        self, url: str, may_ask: Callable[[], bool]
    ) -> Subgenerator[bool | None]:
        """Return whether a host answers with a page of its own; None if that is unknown."""
        host, at = host_of(url), url
        for _ in range(MAX_REDIRECTS + 1):
            if host_of(at) != host or not self._is_allowed(at):  # such as a sign-in
                return False
            # Its last exchange may have been just now.
            yield gen.sleep(self._context.hosts.gap_s(host))
            if not may_ask():
                return None
            fetched = yield from self._fetch(at)
            if is_wall(fetched):
                return None
            if fetched.status not in REDIRECTS:
                return 200 <= fetched.status < 300
            try:
                at = redirect_target(at, fetched.headers.get("Location", ""))
            except UrlError:
                return False
        return False
