"""One HTTP exchange with a host: rate-limited, counted, archived.

When a site is crawled again, unchanged pages come from the archive.  Used by
`crawler_app.crawl`.
"""

import logging
from collections.abc import Container, Mapping

from crawler_app.archive.captures import Capture
from crawler_app.archive.store import Archive
from crawler_app.crawl.context import RunContext
from crawler_app.errors import ArchiveError
from crawler_app.fetcher import Fetcher
from crawler_app.models import Fetched
from crawler_app.reasons import Reason
from crawler_app.subgenerator import Subgenerator
from crawler_app.urls import host_of

__all__ = ["Fetching"]

logger = logging.getLogger(__name__)


class Fetching:
    """Makes the exchanges of a run, and counts them (``fetched``) and their ``bytes``.

    Args:
        archive: Stores each exchange; None for no archive.
        is_recrawl: Whether to fetch only what has changed since it was archived.
        archived: URLs whose responses are read from the archive instead.
    """

    def __init__(
        self,
        context: RunContext,
        fetcher: Fetcher,
        archive: Archive | None,
        *,
        is_recrawl: bool,
        archived: Container[str] = (),
    ) -> None:
        self._context = context
        self._fetcher = fetcher
        self._archive = archive
        self._is_recrawl = is_recrawl
        self._archived = archived

    def fetch_page(self, url: str) -> Subgenerator[tuple[Fetched, Reason]]:
        """Fetch a URL; if it is unchanged, return the archived response.

        The second value is ``UNCHANGED`` or ``OK``.
        """
        capture = None
        if self._archive is not None and (self._is_recrawl or url in self._archived):
            capture = self._archive.latest(url)
        if self._archive is None or capture is None:
            return (yield from self.fetch(url)), Reason.OK
        if not self._is_recrawl:
            archived = self._read(self._archive, capture)
            return archived or (yield from self.fetch(url)), Reason.OK
        fetched = yield from self.fetch(url, _conditions(capture))
        if fetched.status != 304:
            return fetched, Reason.OK
        archived = self._read(self._archive, capture)
        if archived is None:
            return (yield from self.fetch(url)), Reason.OK
        archived.took_s = fetched.took_s
        return archived, Reason.UNCHANGED

    def _read(self, archive: Archive, capture: Capture) -> Fetched | None:
        """Return an archived response; None if it cannot be read."""
        try:
            return archive.read(capture, self._context.config.max_body_bytes)
        except ArchiveError as exc:
            logger.warning("fetching all of %s again: %s", capture.url, exc)
            return None

    def fetch(
        self, url: str, headers: Mapping[str, str] | None = None
    ) -> Subgenerator[Fetched]:
        """Make one exchange, and archive it.

        Raises:
            FetchError: there was no usable response.
            ArchiveError: the archive cannot be written.
        """
        context, host = self._context, host_of(url)
        gap_s = context.hosts.gap_s(host)
        if gap_s:
            context.frontier.hold_host(host, context.clock() + gap_s)
        began_at = context.clock()
        fetched: Fetched = yield self._fetcher.fetch(url, headers)
        context.hosts.note_answer(host, fetched.took_s)
        context.stats.add("fetched")
        context.stats.add("bytes", len(fetched.body))
        if self._archive is not None:
            yield self._archive.write(fetched, began_at)
        return fetched


def _conditions(capture: Capture) -> dict[str, str]:
    """Return the headers of a conditional request for an archived page."""
    fields = {
        "If-None-Match": capture.etag,
        "If-Modified-Since": capture.last_modified,
    }
    return {name: value for name, value in fields.items() if value}
