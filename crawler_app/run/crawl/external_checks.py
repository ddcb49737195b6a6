"""Checks that external URLs exist, with one request each.

The request is HEAD, and GET after any error: some servers handle HEAD differently.  Nothing is archived, and nothing is read,
except the ids on pages whose fragments a check looks up.  URLs that exist are remembered in
`crawler_app.run.crawl.external_cache`, and not checked again for a while.
"""

import dataclasses

from crawler_app.base.errors import FetchError
from crawler_app.base.http_headers import is_html
from crawler_app.base.models import Claim, Fetched, Outcome, State
from crawler_app.base.reasons import HOST_FAULTS, Reason
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.run.crawl import ending
from crawler_app.run.crawl.context import RunContext
from crawler_app.run.crawl.ending import Ending, Finish, Retry
from crawler_app.run.crawl.external_cache import ExternalCache
from crawler_app.run.crawl.fetching import Fetching
from crawler_app.run.crawl.observer import CrawlObserver
from crawler_app.run.crawl.redirecting import RedirectReader
from crawler_app.web.documents.reader import Reader
from crawler_app.web.httpclient.response import REDIRECTS
from crawler_app.web.walls import is_wall

__all__ = ["ExternalChecker"]

# Many hosts send these to programs but show the page to visitors.
REFUSALS = (401, 403, 406, 407, 418, 451)


class ExternalChecker:
    """Checks whether external URLs exist.

    Args:
        kept: The URLs that existed in earlier runs.
        reader: Reads pages.
        observer: Says which pages to read; None for none.
    """

    def __init__(
        self,
        context: RunContext,
        fetching: Fetching,
        redirects: RedirectReader,
        kept: ExternalCache,
        reader: Reader,
        observer: CrawlObserver | None = None,
    ) -> None:
        self._context = context
        self._fetching = fetching
        self._redirects = redirects
        self._kept = kept
        self._reader = reader
        self._observer = observer
        self._hosts_without_head: set[str] = set()
        # The errors of hosts whose names are unknown, one for each lookup.
        self._errors_by_unknown_host: dict[str, list[str]] = {}

    def note_failure(self, host: str, exc: FetchError) -> None:
        """Note that a request got no response."""
        if exc.reason is Reason.DNS:
            self._errors_by_unknown_host.setdefault(host, []).append(str(exc))

    def known(self, claim: Claim) -> Ending | None:
        """Return the ending of a URL that needs no request; None if one is needed.

        It was checked recently, or the name of its host was looked up as often as a URL is
        tried: thousands of links may lead to a domain that is gone.
        """
        errors = self._errors_by_unknown_host.get(claim.host, [])
        if len(errors) >= self._context.config.tries:
            return Finish(Outcome(State.FAILED, Reason.DNS, error=errors[-1]))
        if self._wants_places(claim.url):
            return None
        fetched = self._kept.find(claim.url, self._context.clock())
        return None if fetched is None else self._ending(claim, fetched)

    def ask(self, claim: Claim) -> Subgenerator[Ending]:
        """Ask for a URL.

        Raises:
            FetchError: there was no usable response.
        """
        fetched = yield from self._exchange(claim)
        self._errors_by_unknown_host.pop(claim.host, None)
        end = self._ending(claim, fetched)
        if isinstance(end, Finish) and end.outcome.state is State.DONE:
            self._kept.keep(fetched, self._context.clock())
            if end.outcome.reason is Reason.EXISTS:
                yield from self._show_places(claim.url, fetched)
        return end

    def _wants_places(self, url: str) -> bool:
        return self._observer is not None and self._observer.wants_places(url)

    def _show_places(self, url: str, fetched: Fetched) -> Subgenerator[None]:
        """Show the observer the ids on a page, if it wants them."""
        if self._observer is None or not self._wants_places(url):
            return
        ids = None
        content_type = fetched.headers.get("Content-Type", "")
        if fetched.body and is_html(content_type):
            outline = yield from self._reader.outline(fetched.body, content_type)
            ids = None if outline.is_partial else outline.ids
        self._observer.saw_places(url, ids)

    def _exchange(self, claim: Claim) -> Subgenerator[Fetched]:
        # The first try has ended with GET.  Its number is known to all processes, as a note of
        # this one would not be, and so the GET follows the HEAD before the URL is put back.
        if (
            not claim.tries
            and claim.host not in self._hosts_without_head
            and not self._wants_places(claim.url)
        ):
            fetched = yield from self._head(claim)
            # A link with a fragment may have been found meanwhile.
            if fetched is not None and not self._wants_places(claim.url):
                return fetched
        return (yield from self._get(claim.url))

    def _head(self, claim: Claim) -> Subgenerator[Fetched | None]:
        """Return the response to HEAD; None if GET may have another."""
        try:
            fetched = yield from self._fetching.fetch(
                claim.url, method="HEAD", is_archived=False
            )
        except FetchError as exc:
            if exc.reason not in HOST_FAULTS:
                return None
            raise
        if fetched.status in (405, 501):
            self._hosts_without_head.add(claim.host)
        return fetched if fetched.status < 400 and not is_wall(fetched) else None

    def _get(self, url: str) -> Subgenerator[Fetched]:
        try:
            return (yield from self._fetching.fetch(url, is_archived=False))
        except FetchError as exc:
            if exc.reason is not Reason.TOO_LARGE:
                raise
            return Fetched(url, 200, {}, b"", 0.0)  # it exists

    def _ending(self, claim: Claim, fetched: Fetched) -> Ending:
        if fetched.status in REDIRECTS:
            return self._redirects.read(claim, fetched)
        if is_wall(fetched):
            return ending.of_wall(fetched)
        if fetched.status >= 400:
            if fetched.status in REFUSALS:
                outcome = ending.outcome_of(State.FAILED, Reason.REFUSED_TO_US, fetched)
                return Finish(outcome)
            return _of_status(fetched, self._context.clock())
        outcome = ending.outcome_of(State.DONE, Reason.EXISTS, fetched)
        # It was not read, so it is neither a page nor a file of this crawl.
        outcome.content_type, outcome.digest, outcome.size_bytes = "", "", 0
        return Finish(outcome)


def _of_status(fetched: Fetched, now: float) -> Ending:
    """Return the ending for an error status; an external host that says when to come back
    is not broken.
    """
    end = ending.of_status(fetched, now)
    if isinstance(end, Retry) and end.asked_for_s is not None:
        outcome = dataclasses.replace(end.outcome, reason=Reason.RATE_LIMITED)
        return dataclasses.replace(end, outcome=outcome)
    return end
