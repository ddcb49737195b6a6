"""The objects that the parts of one run share."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from crawler_app.base.config import CrawlConfig
from crawler_app.run.crawl.host_state import HostStates
from crawler_app.run.crawl.observer import HostObserver
from crawler_app.run.crawl.outages import Outages
from crawler_app.store.frontier import Frontier

__all__ = ["RunContext"]


@dataclass(frozen=True, slots=True)
class RunContext:
    """One run of a crawl.

    Attributes:
        hosts: What this run has learned about the hosts.
        outages: Which of them are down.
        stats: Counts what this run does, by names such as ``skipped/robots``; the frontier knows
            the outcome of every URL.
        clock: Returns the current time in seconds since the epoch.
        host_observer: Notified of what the run learns about hosts.
    """

    config: CrawlConfig
    frontier: Frontier
    hosts: HostStates
    outages: Outages
    stats: Counter[str]
    clock: Callable[[], float]
    host_observer: HostObserver
