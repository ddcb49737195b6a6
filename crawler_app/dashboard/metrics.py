"""A crawl in numbers for Prometheus, or whoever else reads its format.

Rule: numbers are looked up when they are asked for; the crawl counts nothing for us.
"""

import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from crawler_app.crawl import Crawl
from crawler_app.models import State

__all__ = ["Metrics"]

# Counts of this run: the name among its `Stats`, the metric, what it means.
COUNTERS = (
    ("fetched", "fetched", "Exchanges made, with robots.txt and repeated tries."),
    ("bytes", "received_bytes", "Bytes of bodies received, after decompression."),
    ("retried", "retries", "URLs put back for another try."),
    ("outages", "outages", "Times that a host was found to be down."),
)
REASON_COUNTERS = (
    ("failed", "failed", "URLs that failed for the last time."),
    ("skipped", "skipped_links", "Links that were met and skipped, again each time."),
    ("invalid", "invalid_links", "Links that are not URLs that can be fetched."),
)


class Metrics:
    """Writes the numbers of one crawl and of its process.

    >>> from crawler_app.config import CrawlConfig
    >>> from crawler_app.frontier.memory import MemoryFrontier
    >>> crawl = Crawl(CrawlConfig(("http://a.test/",)), MemoryFrontier(), None)
    >>> text, _ = Metrics(crawl).render()
    >>> b"gencrawl_fetched_total 0.0" in text
    True
    """

    def __init__(self, crawl: Crawl) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_CrawlCollector(crawl))
        ProcessCollector(registry=self._registry)

    def render(self, accept: str = "") -> tuple[bytes, str]:
        """Return the numbers, and the type of that text.

        Args:
            accept: The header in which the reader says which formats it knows.
        """
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type


class _CrawlCollector(Collector):
    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._started_at = time.time()

    def collect(self) -> Iterator[Metric]:
        yield from self._gauges()
        stats = self._crawl.stats
        for name, metric, help_text in COUNTERS:
            yield CounterMetricFamily(f"gencrawl_{metric}", help_text, stats[name])
        for group, metric, help_text in REASON_COUNTERS:
            family = CounterMetricFamily(
                f"gencrawl_{metric}", help_text, None, ["reason"]
            )
            for name, count in stats:
                if name.startswith(f"{group}/"):
                    family.add_metric([name.removeprefix(f"{group}/")], count)
            yield family

    def _gauges(self) -> Iterator[Metric]:
        crawl = self._crawl
        urls = GaugeMetricFamily(
            "gencrawl_urls", "URLs by where they stand.", labels=["state"]
        )
        for state in State:
            urls.add_metric([state.label], crawl.frontier.count(state))
        yield urls
        hosts = {claim.host for claim in crawl.under_way}
        for name, help_text, value in (
            ("under_way", "URLs being fetched.", len(crawl.under_way)),
            ("hosts_under_way", "Hosts of which URLs are being fetched.", len(hosts)),
            ("paused", "1 while the crawl is paused.", crawl.is_paused),
            ("stopping", "1 once the crawl was told to stop.", crawl.is_stopping),
            ("start_time_seconds", "When this run began.", self._started_at),
        ):
            yield GaugeMetricFamily(f"gencrawl_{name}", help_text, value)
