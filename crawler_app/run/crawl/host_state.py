"""Per-host latency and crawl delay of one run.

No clock: the current time is an argument.  State that must survive the run is in the
frontier.
"""

import math
from collections.abc import Iterable, Iterator

from crawler_app.base.config import CrawlConfig
from crawler_app.run.crawl.observer import NO_HOST_OBSERVER, HostObserver
from crawler_app.store.frontier import MAX_SETBACK_S
from crawler_app.web import politeness

__all__ = ["HostStates"]

# A fetch waits no longer, since its worker does nothing else.  Only a gap that the user has
# chosen may be longer.
MAX_WAIT_S = politeness.MAX_CRAWL_DELAY_S


class HostStates:
    """The hosts of one run.

    Args:
        observer: Notified of gaps.

    >>> hosts = HostStates(CrawlConfig(("http://a.test/",)))
    >>> hosts.note_answer("a.test", took_s=3.0)
    >>> hosts.gap_s("a.test")
    3.0
    """

    def __init__(
        self, config: CrawlConfig, observer: HostObserver = NO_HOST_OBSERVER
    ) -> None:
        self._config = config
        self._observer = observer
        self._latency_by_host: dict[str, float] = {}
        self._crawl_delay_by_host: dict[str, float] = {}
        self._least_gap_by_host: dict[str, float] = {}
        # When the last fetch was started, and until when it holds the host.
        self._last_by_host: dict[str, tuple[float, float]] = {}
        self._now = -math.inf

    def limit(self, seed_hosts: Iterable[str]) -> int | None:
        """Return how many fetches from one host may be under way; None for no limit."""
        config = self._config
        return politeness.per_host_limit(
            config.per_host, seed_hosts, config.scope, config.concurrency
        )

    def note_crawl_delay(self, host: str, crawl_delay_s: float | None) -> None:
        """Note the crawl delay of a host's robots.txt."""
        if crawl_delay_s is not None:
            self._crawl_delay_by_host[host] = crawl_delay_s
            self._observer.gap_changed(host, self.gap_s(host))

    def slow_down(self, host: str) -> float:
        """Ask a host that has refused the crawl more slowly; return the new gap."""
        gap_s = politeness.refused_gap_s(self.gap_s(host), self._config.retry_pause_s)
        self._least_gap_by_host[host] = gap_s
        self._observer.gap_changed(host, gap_s)
        return gap_s

    def begin_fetch(self, host: str, now: float) -> tuple[float, float]:
        """Note that a fetch starts; return when, and until when it holds its host.

        It starts now, unless the last one still holds the host: no claim has waited for a
        robots.txt or its redirect, nor for a request that is sent again.
        """
        if now < self._now - MAX_SETBACK_S:
            self._last_by_host.clear()  # the clock was set back
        self._now = now
        _, held_to = self._last_by_host.get(host, (now, now))
        begins_at = now + min(max(held_to - now, 0.0), MAX_WAIT_S)
        held_to = begins_at + self.gap_s(host)
        self._last_by_host[host] = begins_at, held_to
        return begins_at, held_to

    def change(
        self, config: CrawlConfig, now: float
    ) -> Iterator[tuple[str, float, float]]:
        """Use another configuration from now on.

        Yields each host that is held for its gap, or is to be held: its name, and the ends
        of the hold before and after the change.
        """
        self._config = config
        for host, (began_at, before) in self._last_by_host.items():
            after = began_at + self.gap_s(host)
            if after != before and max(before, after) > now:
                self._last_by_host[host] = began_at, after
                yield host, before, after

    def gap_s(self, host: str) -> float:
        """Return the current minimum time between the starts of two fetches."""
        gap_s = politeness.host_gap_s(host, self._config.host_gap_s)
        crawl_delay_s = self._crawl_delay_by_host.get(host)
        least_s = self._least_gap_by_host.get(host, 0.0)
        if not gap_s and not least_s and crawl_delay_s is None:
            return 0.0
        latency_s = self._latency_by_host.get(host, 0.0)
        return max(least_s, politeness.next_gap_s(gap_s, latency_s, crawl_delay_s))

    def note_answer(self, host: str, took_s: float) -> None:
        """Note that a host has answered, and how long it took."""
        before_s = self._latency_by_host.get(host)
        self._latency_by_host[host] = politeness.smoothed_latency_s(before_s, took_s)
        self._observer.gap_changed(host, self.gap_s(host))

    def learn_gap(self, host: str, gap_s: float) -> None:
        """Note the gap that another process keeps; if it differs, that is due to latency."""
        if gap_s != self.gap_s(host):
            self._latency_by_host[host] = gap_s
