"""Observers of a crawl: of its documents and URLs, and of what it learns about hosts.

Both are passed in when a crawl is made, and called on the event loop.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from crawler_app.base.models import Candidate, Outcome, Role
from crawler_app.web.documents.outline import Outline
from crawler_app.web.fetcher.set_cookie import Cookie
from crawler_app.web.robots.cache import RobotsResult

if TYPE_CHECKING:
    from crawler_app.web.render.problems import ScriptProblem

__all__ = ["NO_HOST_OBSERVER", "CrawlObserver", "HostObserver"]


class CrawlObserver(Protocol):
    """Notified of each document and each finished URL, as a check needs it."""

    def served_at(self, url: str) -> str:
        """Return the URL to fetch in place of one that was found; usually the same."""
        ...

    def saw_document(self, url: str, outline: Outline, *, has_ids: bool = True) -> None:
        """Record a page, a style sheet or a PDF file; called before `saw_end`.

        Args:
            has_ids: Whether fragments of its URL are ids in it.
        """
        ...

    def saw_problems(self, url: str, problems: "Sequence[ScriptProblem]") -> None:
        """Record what the scripts of a rendered page get wrong."""
        ...

    def saw_entries(self, sitemap: str, urls: Iterable[str]) -> None:
        """Record the URLs that a sitemap lists; called before its `saw_end`."""
        ...

    def saw_refusal(self, candidate: Candidate) -> None:
        """Record a URL that will not be fetched."""
        ...

    def wants_places(self, url: str) -> bool:
        """Return whether to read an external page, for the ids on it."""
        ...

    def saw_places(self, url: str, ids: Collection[str] | None) -> None:
        """Record the ids on such a page, before its `saw_end`; None if they cannot be read."""
        ...

    def unread(self) -> Collection[str]:
        """Return the URLs of such pages that were fetched but not read."""
        ...

    def saw_end(self, url: str, outcome: Outcome, role: Role) -> None:
        """Record how a URL ended."""
        ...


class HostObserver:
    """Notified of what a run learns about its hosts; this one ignores it.

    `crawler_app.run.crawl.host_updates.HostUpdates` passes it on to other workers.
    """

    def gap_changed(self, host: str, gap_s: float) -> None:
        """Note the gap of a host, which may be the same as before."""

    def outage_changed(self, origin: str, pauses: int, is_down: bool) -> None:
        """Note how many pauses an origin was given, and whether it is down."""

    def robots_found(self, origin: str, result: RobotsResult) -> None:
        """Note the result of a fetch of robots.txt; its sitemaps are not added yet."""

    def robots_applied(self, origin: str) -> None:
        """Note that the sitemaps of an origin's robots.txt were added to the frontier."""

    def cookies_set(self, origin: str, cookies: list[Cookie]) -> None:
        """Note the cookies that an origin has changed."""


# Has no state, so all crawls without other workers share it.
NO_HOST_OBSERVER = HostObserver()
