"""Finds out whether a host refuses the crawl, with one request for all workers.

`crawler_app.web.walls` recognizes the walls that name themselves, and
`crawler_app.run.crawl.refusals` decides about the others.
"""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from crawler_app.base.errors import FetchError
from crawler_app.base.models import Claim, Fetched, Outcome, State
from crawler_app.base.reasons import Category, Reason, traits_of
from crawler_app.base.shared_calls import SharedCalls
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.run.crawl.ending import Ending, Finish, Retry
from crawler_app.run.crawl.fetching import Fetching
from crawler_app.run.crawl.refusals import Refusals
from crawler_app.web.walls import REFUSALS, is_wall
from gencoro import gen

__all__ = ["WallChecker"]

_NOT_ASKED = Finish(
    Outcome(
        State.FAILED,
        Reason.BLOCKED,
        error="not asked for, because the host refuses every request",
    )
)


class WallChecker:
    """Judges the refusals of a run.

    Attributes:
        refusals: What is known of each host.
    """

    def __init__(self, fetching: Fetching) -> None:
        self.refusals = Refusals()
        self._fetching = fetching
        self._probes = SharedCalls[None]()

    def known(self, claim: Claim) -> Ending | None:
        """Return the ending of a URL whose host has closed; None if it is to be fetched."""
        return _NOT_ASKED if self.refusals.is_closed(claim.host) else None

    def judge(
        self, claim: Claim, fetched: Fetched, end: Ending
    ) -> Subgenerator[Ending]:
        """Return the ending of a URL that got a response; a refusal may be that of its host."""
        if not isinstance(end, Finish | Retry):
            return end
        outcome = end.outcome
        if outcome.state is not State.FAILED:
            if traits_of(outcome.reason).category is Category.CONTENT:
                self.refusals.note_answer(claim.host, claim.url)
            return end
        if fetched.status not in REFUSALS and outcome.reason != Reason.BLOCKED:
            return end
        status = fetched.status
        yield self._probes.ask(claim.host, lambda: self._probe(claim, status))
        if not self.refusals.is_closed(claim.host) or outcome.reason == Reason.BLOCKED:
            return end
        is_limit = outcome.reason == Reason.RATE_LIMITED
        reason = Reason.RATE_LIMITED if is_limit else Reason.BLOCKED
        return Finish(replace(outcome, reason=reason))

    @gen.coroutine
    def _probe(self, claim: Claim, status: int) -> Generator[Any, Any, None]:
        """Fetch a page again that the host gave before, if that decides."""
        host = claim.host
        url = self.refusals.url_to_probe(host, claim.url, status)
        if not url:
            return
        try:
            fetched = yield from self._fetching.fetch(url, is_archived=False)
        except FetchError:
            return  # an outage, which says nothing
        if fetched.status in REFUSALS or is_wall(fetched):
            self.refusals.note_closed(host, fetched.status)
