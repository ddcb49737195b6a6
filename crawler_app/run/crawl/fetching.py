"""One HTTP exchange with a host: rate-limited, counted, archived.

When a site is crawled again, unchanged pages come from the archive.  Used by
`crawler_app.run.crawl`.
"""

import logging
from collections.abc import Container, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crawler_app.base.errors import (
    ArchiveError,
    FetchError,
    ObjectStorageError,
    StaleConnectionError,
)
from crawler_app.base.models import Fetched, Request, Role
from crawler_app.base.reasons import HOST_FAULTS, Reason
from crawler_app.base.shared_calls import SharedCalls
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import host_of
from crawler_app.run.crawl import trace
from crawler_app.run.crawl.context import RunContext
from crawler_app.store.archive.captures import Capture
from crawler_app.store.archive.reading import ArchiveReader, newest
from crawler_app.store.archive.store import Archive
from crawler_app.web.fetcher import Fetcher
from gencoro import gen

if TYPE_CHECKING:
    from crawler_app.run.crawl.session import Session
    from crawler_app.web.render.kept import KeptResponses

__all__ = ["Fetching"]

logger = logging.getLogger(__name__)

# Requests sent again because an idle connection was closed: more than are idle to one host.
MAX_STALE = 10


class Fetching:
    """Makes the exchanges of a run, and counts them (``fetched``) and their ``bytes``.

    Args:
        archive: Stores each exchange; None for no archive.
        is_recrawl: Whether to fetch only what has changed since it was archived.
        archived: URLs whose responses are read from the archive instead.
        others: The archives of other processes, for a recrawl.

    Attributes:
        kept: What a browser has fetched as well; None unless pages are rendered.
        session: Logs in, and tells whether the site has logged the crawl out; None for none.
    """

    def __init__(
        self,
        context: RunContext,
        fetcher: Fetcher,
        archive: Archive | None,
        *,
        is_recrawl: bool,
        archived: Container[str] = (),
        others: Sequence[ArchiveReader] = (),
    ) -> None:
        self._context = context
        self._fetcher = fetcher
        self._archive = archive
        self._is_recrawl = is_recrawl
        self._archived = archived
        self._others = others
        self.kept: KeptResponses | None = None
        self.session: Session | None = None
        self._probes = SharedCalls[None]()

    def fetch_page(
        self, url: str, role: Role = Role.LINK
    ) -> Subgenerator[tuple[Fetched, Reason]]:
        """Fetch a URL; if it is unchanged, return the archived response.

        The second value is ``UNCHANGED`` or ``OK``.

        Raises:
            FetchError: there was no usable response.
        """
        if self.kept is None or role is not Role.ASSET:
            return (yield from self.fetch_changed(url))
        reason = Reason.OK

        def fetch() -> Subgenerator[Fetched]:
            nonlocal reason
            fetched, reason = yield from self.fetch_changed(url)
            return fetched

        return (yield from self.kept.fetch(url, fetch)), reason

    def fetch_changed(self, url: str) -> Subgenerator[tuple[Fetched, Reason]]:
        """Fetch a URL as `fetch_page` does, also if a browser has fetched it."""
        found = None
        if self._archive is not None and (self._is_recrawl or url in self._archived):
            archives: list[Archive | ArchiveReader]
            archives = [self._archive, *self._others]
            found = newest((each, each.latest(url)) for each in archives)
        if found is None:
            return (yield from self.fetch(url)), Reason.OK
        archive, capture = found
        if not self._is_recrawl:
            archived = self._read(archive, capture)
            return archived or (yield from self.fetch(url)), Reason.OK
        elsewhere = None
        if isinstance(archive, ArchiveReader):
            elsewhere = archive.original_of(capture)
        conditions = _conditions(capture)
        fetched = yield from self.fetch(url, conditions, elsewhere=elsewhere)
        if fetched.status != 304:
            return fetched, Reason.OK
        archived = self._read(archive, capture)
        if archived is None:
            return (yield from self.fetch(url)), Reason.OK
        archived.took_s = fetched.took_s
        return archived, Reason.UNCHANGED

    def cookies_for(self, url: str) -> str:
        """Return the Cookie header that a request for a URL would have now."""
        return self._fetcher.policy.cookies_for(url)

    @property
    def storage(self) -> dict[str, list[tuple[str, str]]]:
        """The names and values for the localStorage of origins."""
        return self._fetcher.policy.storage

    def probe(self, failed_url: str, error: FetchError) -> Subgenerator[None]:
        """If a failure may be that of the host, find out, and note it in ``context.outages``.

        That takes one request for all waiting workers.
        """
        if not error.is_passing or error.reason in HOST_FAULTS:
            return
        context = self._context
        url = context.outages.url_to_probe(failed_url, context.clock())
        if not url:
            return
        yield self._probes.ask(url, lambda: self._fetch_known(url))

    @gen.coroutine
    def _fetch_known(self, url: str) -> Generator[Any, Any, None]:
        """Fetch a URL again that got a response before."""
        try:
            yield from self.fetch(url)
        except FetchError:
            self._context.outages.note_down(url)

    def _read(
        self, archive: Archive | ArchiveReader, capture: Capture
    ) -> Fetched | None:
        """Return an archived response; None if it cannot be read."""
        try:
            return archive.read(capture, self._context.config.max_body_bytes)
        except (ArchiveError, ObjectStorageError) as exc:
            logger.warning("fetching all of %s again: %s", capture.url, exc)
            return None

    def fetch(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        method: str = "GET",
        body: bytes | None = None,
        is_archived: bool = True,
        elsewhere: Capture | None = None,
    ) -> Subgenerator[Fetched]:
        """Make one exchange, and archive it; again if the session was lost.

        Args:
            is_archived: Whether it belongs into the archive, if there is one.
            elsewhere: What a 304 refers to, if it is in the archive of another process.

        Raises:
            FetchError: there was no usable response.
            ArchiveError: the archive cannot be written.
        """
        ask = self.exchange if self.session is None else self.session.ask
        fetched, began_at = yield from ask(Request(url, headers, method, body))
        if self._archive is not None and is_archived:
            yield self._archive.write(fetched, began_at, elsewhere)
        return fetched

    def exchange(self, request: Request) -> Subgenerator[tuple[Fetched, float]]:
        """Make one exchange, which is not archived; return the response and when it began.

        Raises:
            FetchError: there was no usable response.
        """
        context, host = self._context, host_of(request.url)
        for _ in range(MAX_STALE):
            began_at = yield from self._turn(host)
            try:
                fetched: Fetched = yield self._fetcher.fetch(request)
                break
            except StaleConnectionError as exc:
                stale = exc
        else:
            raise stale
        context.hosts.note_answer(host, fetched.took_s)
        fetched.request_body = request.body or b""
        context.outages.note_response(request.url)
        context.stats["fetched"] += 1
        context.stats["bytes"] += len(fetched.body)
        trace.note_response(request.method, fetched)
        return fetched, began_at

    def keep(self, url: str, content_type: str, body: bytes) -> Subgenerator[None]:
        """Archive what no server has sent, if there is an archive.

        Raises:
            ArchiveError: the archive cannot be written.
        """
        if self._archive is not None:
            kept = Fetched(url, 200, {"Content-Type": content_type}, body, 0.0)
            yield self._archive.write(kept, self._context.clock())

    def _turn(self, host: str) -> Subgenerator[float]:
        """Wait until a host may be asked; return the time."""
        context, now = self._context, self._context.clock()
        begins_at, held_to = context.hosts.begin_fetch(host, now)
        if held_to > begins_at:
            context.frontier.hold_host(host, held_to)
        if begins_at > now:
            yield gen.sleep(begins_at - now)
        return begins_at


def _conditions(capture: Capture) -> dict[str, str]:
    """Return the headers of a conditional request for an archived page."""
    fields = {
        "If-None-Match": capture.etag,
        "If-Modified-Since": capture.last_modified,
    }
    return {name: value for name, value in fields.items() if value}
