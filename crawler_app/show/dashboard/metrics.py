"""Metrics of a crawl in the format of Prometheus.

Rule: values are read on request; the crawl counts nothing just for the metrics.
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

from crawler_app.base.models import State
from crawler_app.run.crawl.monitor import Watched

__all__ = ["Metrics"]

# Counts of this run: the name among its counters, the metric, and its meaning.
COUNTERS = (
    ("fetched", "fetched", "HTTP exchanges, including robots.txt and retries."),
    ("bytes", "received_bytes", "Bytes of bodies received, after decompression."),
    ("retried", "retries", "URLs put back for another try."),
    ("outages", "outages", "Times that a host was found to be down."),
    ("render/pages", "rendered_pages", "Pages whose scripts were run in a browser."),
    ("render/gained", "rendered_gains", "Those that had more links or text then."),
    ("render/links", "rendered_links", "Links that only these scripts made."),
    ("render/words", "rendered_words", "Words that only these scripts made."),
    ("render/requests", "rendered_requests", "Requests that these pages made."),
    (
        "render/chromium_ms",
        "rendered_browser_cpu_milliseconds",
        "CPU time of Chromium.",
    ),
)
REASON_COUNTERS = (
    ("failed", "failed", "URLs that failed after all tries."),
    (
        "skipped",
        "skipped_links",
        "Links that were skipped; repeated links count again.",
    ),
    ("invalid", "invalid_links", "Links that are not valid http or https URLs."),
)


class Metrics:
    """The metrics of one crawl and of its process.

    >>> from crawler_app.base.config import CrawlConfig
    >>> from crawler_app.run.crawl import Crawl
    >>> from crawler_app.run.crawl.wiring import wire
    >>> from crawler_app.store.frontier.sqlite import SqliteFrontier
    >>> crawl = Crawl(wire(CrawlConfig(("http://a.test/",)), SqliteFrontier(), None))
    >>> text, _ = Metrics(crawl).render()
    >>> b"gencrawl_fetched_total 0.0" in text
    True
    """

    def __init__(self, crawl: Watched) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_CrawlCollector(crawl))
        ProcessCollector(registry=self._registry)

    def render(self, accept: str = "") -> tuple[bytes, str]:
        """Return the metrics, and their content type.

        Args:
            accept: The ``Accept`` header of the request, which chooses the format.
        """
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type


class _CrawlCollector(Collector):
    def __init__(self, crawl: Watched) -> None:
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
            for name, count in sorted(stats.items()):
                if name.startswith(f"{group}/"):
                    family.add_metric([name.removeprefix(f"{group}/")], count)
            yield family

    def _gauges(self) -> Iterator[Metric]:
        crawl = self._crawl
        urls = GaugeMetricFamily(
            "gencrawl_urls", "URLs of the whole crawl by state.", labels=["state"]
        )
        for state in State:
            urls.add_metric([state.label], crawl.count(state))
        yield urls
        under_way_by_host = crawl.under_way_by_host()
        for name, help_text, value in (
            ("under_way", "URLs being fetched.", under_way_by_host.total()),
            ("hosts_under_way", "Hosts being fetched from.", len(under_way_by_host)),
            ("paused", "1 while the crawl is paused.", crawl.is_paused),
            ("stopping", "1 once the crawl was told to stop.", crawl.is_stopping),
            ("start_time_seconds", "Start time of this run.", self._started_at),
        ):
            yield GaugeMetricFamily(f"gencrawl_{name}", help_text, value)
