"""A crawl whose frontier is shared with other workers, in PostgreSQL.

It claims the URLs that the server leases to it, and ends when no worker has any left, or when
all together have reached a limit.
"""

from collections.abc import Generator
from typing import Any

from crawler_app.base.models import Claim, State
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.run.crawl import NO_PAGES, Crawl
from crawler_app.run.crawl.host_updates import HostUpdates, learn_news
from crawler_app.run.crawl.wiring import CrawlParts
from crawler_app.store.frontier.postgres.caches import OriginNews
from crawler_app.store.frontier.postgres.postgres_frontier import PostgresFrontier
from crawler_app.store.frontier.postgres.worker_state import FrontierObserver
from gencoro import gen

__all__ = ["WorkerCrawl"]


class WorkerCrawl(Crawl, FrontierObserver):
    """A crawl whose limits of pages and bytes are those of the frontier.

    Args:
        parts: With a frontier that was opened, `HostUpdates`, and a configuration without
            limits of pages and bytes.
    """

    frontier: PostgresFrontier
    asks_again = False

    def __init__(self, parts: CrawlParts) -> None:
        super().__init__(parts)
        assert isinstance(self.frontier, PostgresFrontier)
        assert isinstance(parts.context.host_observer, HostUpdates)
        self._is_held = False

    @gen.coroutine
    def run(self) -> Generator[Any, Any, None]:
        """Crawl to the end, and leave; what is claimed then is put back.

        Raises:
            ServerError: the server refuses a step, or does not answer after the end.
        """
        # Beside the crawl, which ends if the exchange does.
        exchanging = self.frontier.run(self)
        exchanging.add_done_callback(lambda _: self.stop())
        try:
            yield super().run()
        finally:
            self.frontier.leave()
            yield exchanging

    def hold(self, is_held: bool) -> None:
        """Begin no fetch while there is no room for it; `unpause` does not end this."""
        if is_held is not self._is_held:
            self._is_held = is_held
            self.frontier.hold(is_held or self.is_paused)
            self._changed.notify_all()

    def pause(self) -> None:
        super().pause()
        self.frontier.hold(True)  # others may not be paused

    def unpause(self) -> None:
        self.frontier.hold(self._is_held)
        super().unpause()

    def next_at(self, now: float) -> float | None:
        # Not the end of a lease: what another worker has may lead to more long before.
        return self.frontier.due_at(now)

    def _may_claim(self) -> bool:
        return not self._is_held and super()._may_claim()

    def _claim(self, now: float) -> Claim | None:
        claim = super()._claim(now)
        if claim is not None and (gap_s := self.frontier.gap_s(claim.host)):
            self._parts.context.hosts.learn_gap(claim.host, gap_s)
        return claim

    def _level(self, now: float) -> int | None:
        # What comes before the first numbers may be deeper than what is crawled now.
        level = super()._level(now)
        return NO_PAGES if level is None else level

    def _may_begin_pages(self) -> bool:
        return True  # the server leases as many as may be begun

    def _is_over(self) -> bool:
        if self.is_stopping or self._limit() == "max_bytes":
            return True
        # The numbers do not have what is to be sent, nor what waits here.
        if self.frontier.is_behind or not super()._is_over():
            return False
        # What others have may come back: they put it back, or are killed.
        return not self.frontier.count(State.CLAIMED)

    def _limit(self) -> str:
        return self.frontier.limit_reached

    def _abandon(self, claim: Claim) -> None:
        super()._abandon(claim)
        self.claim_lost(claim.url)

    # What the frontier calls.

    def claims_changed(self) -> None:
        """Look again whether there is something to do."""
        self._changed.notify_all()

    def claim_lost(self, url: str) -> None:
        """Remove a page from the index that another worker will fetch."""
        if self._parts.index is not None:
            self._parts.index.remove(url)

    def links_forgotten(self) -> None:
        """Find again what the server may have lost, from the start URLs on."""
        self._parts.interpreter.forget_links()
        self._add_seeds()

    def origin_learned(self, news: OriginNews) -> Subgenerator[None]:
        """Use what other workers know of an origin."""
        return learn_news(news, self._parts, self.frontier.shift_s)
