"""The crawl of one part, controlled by the main process."""

import dataclasses
import time
from collections.abc import Callable, Iterable

from crawler_app.base.models import Claim, State
from crawler_app.base.urls import host_of
from crawler_app.run.crawl import NO_PAGES, Crawl
from crawler_app.run.crawl.wiring import CrawlParts
from crawler_app.run.processes.process_messages import Order, Status
from crawler_app.run.processes.worker_connection import obey, status_of
from crawler_app.store.frontier.part import PartFrontier
from gencoro import gen

__all__ = ["PartCrawl"]


class PartCrawl(Crawl):
    """A crawl whose frontier is drained only when all parts are.

    Args:
        parts: With a `PartFrontier`.
        owns: Returns whether a host belongs to this part.
        on_idle: Called when no URL is under way and none can be claimed.
        quota: How many pages may have been fetched, or be under way; None for no limit.

    Attributes:
        received: The batches of links received.
    """

    frontier: PartFrontier
    asks_again = False

    def __init__(
        self,
        parts: CrawlParts,
        *,
        owns: Callable[[str], bool],
        on_idle: Callable[[], None],
        quota: int | None,
    ) -> None:
        super().__init__(parts)
        assert isinstance(self.frontier, PartFrontier)
        self.received = 0
        self._owns = owns
        self._on_idle = on_idle
        self._quota = quota
        self._is_starved = self._is_whole = False
        self._deepest = 0
        self._obeyed = 0

    def obey(self, order: Order) -> None:
        """Carry out an order of the main process."""
        self._obeyed = order.number
        if order.quota is not None:
            self._quota = order.quota
        if order.recalls_quota and self._quota is not None:
            self._quota = min(self._quota, self.frontier.begun_pages())
        if order.level is not None:
            self._deepest = order.level
        self._is_whole = order.ends and order.is_whole
        obey(self, order)
        self._changed.notify_all()

    def receive(self, links: str) -> None:
        """Add the links of a batch from another part."""
        self.frontier.receive(links, self._parts.admission.admit_received)
        self.received += 1
        self._changed.notify_all()

    def status(self) -> Status:
        """Return the state of this part; failures are in one status only."""
        now = time.time()
        return dataclasses.replace(
            status_of(self, now),
            obeyed=self._obeyed,
            received=self.received,
            has_work=not self.frontier.is_drained(),
            has_outgoing=self.frontier.has_outgoing,
            depth=self._depth(now),
            quota=self._quota,
            is_starved=self._is_starved,
            non_pages_by_state={
                state: self.frontier.count_non_pages(state) for state in State
            },
        )

    def _depth(self, now: float) -> int | None:
        if self.config.max_depth is None:
            return None
        depth = self.frontier.depth_in_work(now)
        if not self.frontier.has_outgoing:
            return depth
        return self._deepest if depth is None else min(depth, self._deepest)

    def _seeds(self) -> Iterable[str]:
        return [seed for seed in self.config.seeds if self._owns(host_of(seed))]

    def _is_over(self) -> bool:
        return self.is_stopping

    def _may_ask(self) -> bool:
        return self._is_whole

    def _claim(self, now: float) -> Claim | None:
        if self._quota is None or self.frontier.begun_pages() < self._quota:
            self._is_starved = False
            return super()._claim(now)
        non_page = self.frontier.claim(now, self._lease_s, NO_PAGES)
        page = super()._claim(now) if non_page is None else None
        self._is_starved = page is not None
        if page is not None:
            self.frontier.release(page)
            self._on_idle()
        return non_page

    def _level(self, now: float) -> int | None:
        depth = super()._level(now)
        return self._deepest if depth is None else min(depth, self._deepest)

    def _wait_for_change(self, now: float) -> "gen.Future[None]":
        if not self._claims:
            self._on_idle()
        return super()._wait_for_change(now)
