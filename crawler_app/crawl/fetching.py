"""One exchange with a host: held to its gap, counted, archived.

In a second crawl what has not changed is taken from the archive.  Used by
`crawler_app.crawl`.
"""

import logging
from collections.abc import Callable, Generator, Mapping
from typing import Any

from crawler_app.archive.captures import Capture
from crawler_app.archive.store import Archive
from crawler_app.crawl.host_state import Hosts
from crawler_app.crawl.stats import Stats
from crawler_app.errors import ArchiveError
from crawler_app.fetcher import Fetcher
from crawler_app.frontier import Frontier
from crawler_app.models import Fetched
from crawler_app.reasons import Reason
from crawler_app.urls import host_of

__all__ = ["Exchanges"]

logger = logging.getLogger(__name__)


class Exchanges:
    """Makes the exchanges of a run.

    Args:
        hosts: Learns how quick they are, and says how long each is to be left alone.
        stats: Counts what was ``fetched``, and its ``bytes``.
        clock: The current time, in seconds of the epoch.
        archive: Where each is kept; None for nowhere.
        is_recrawl: Whether to ask only for what has changed since it was archived.
        max_body_bytes: Of a page that is read from the archive.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        frontier: Frontier,
        hosts: Hosts,
        stats: Stats,
        clock: Callable[[], float],
        *,
        archive: Archive | None,
        is_recrawl: bool,
        max_body_bytes: int,
    ) -> None:
        self._fetcher = fetcher
        self._frontier = frontier
        self._hosts = hosts
        self._stats = stats
        self._clock = clock
        self._archive = archive
        self._is_recrawl = is_recrawl
        self._max_body_bytes = max_body_bytes

    def fetch_page(self, url: str) -> Generator[Any, Any, tuple[Fetched, Reason]]:
        """Fetch a URL, or find that it is as it was archived; and say which."""
        capture = None
        if self._archive is not None and self._is_recrawl:
            capture = self._archive.latest(url)
        if self._archive is None or capture is None:
            return (yield from self.fetch(url)), Reason.OK
        fetched = yield from self.fetch(url, _conditions(capture))
        if fetched.status != 304:
            return fetched, Reason.OK
        try:
            archived = self._archive.read(capture, self._max_body_bytes)
        except ArchiveError as exc:
            logger.warning("%s is fetched whole: %s", url, exc)
            return (yield from self.fetch(url)), Reason.OK
        archived.took_s = fetched.took_s
        return archived, Reason.UNCHANGED

    def fetch(
        self, url: str, headers: Mapping[str, str] | None = None
    ) -> Generator[Any, Any, Fetched]:
        """Make one exchange, and archive it.

        Raises:
            FetchError: there was no usable response.
            ArchiveError: the disk has failed.
        """
        host = host_of(url)
        gap_s = self._hosts.gap_s(host)
        if gap_s:
            self._frontier.hold_host(host, self._clock() + gap_s)
        began_at = self._clock()
        fetched: Fetched = yield self._fetcher.fetch(url, headers)
        self._hosts.note_answer(host, fetched.took_s)
        self._stats.add("fetched")
        self._stats.add("bytes", len(fetched.body))
        if self._archive is not None:
            yield self._archive.write(fetched, began_at)
        return fetched


def _conditions(capture: Capture) -> dict[str, str]:
    """Return the headers that ask for a page only if it is not what was archived."""
    fields = {
        "If-None-Match": capture.etag,
        "If-Modified-Since": capture.last_modified,
    }
    return {name: value for name, value in fields.items() if value}
