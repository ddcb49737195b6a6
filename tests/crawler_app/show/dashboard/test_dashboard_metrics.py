"""The metrics of a crawl for Prometheus."""

import pytest

from gencoro import gen
from tests.helpers.metrics import values_in

pytestmark = pytest.mark.usefixtures("no_socket_is_left")


@gen.coroutine
def test_counts_of_a_crawl_can_be_read(watch):
    with watch() as watched:
        watched.crawl.admit("mailto:someone@a.test")
        yield watched.crawl.run()
        answer = yield watched.ask("/metrics")

    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    values = values_in(answer.body.decode())
    assert values["gencrawl_fetched_total",] == 40
    assert values["gencrawl_received_bytes_total",] == watched.crawl.stats["bytes"] > 0
    assert values["gencrawl_urls", "done"] == 40
    assert values["gencrawl_urls", "queued"] == 0
    assert values["gencrawl_invalid_links_total", "unsupported_scheme"] == 1
    assert values["gencrawl_retries_total",] == 0
    assert values["gencrawl_under_way",] == 0
    assert values["process_cpu_seconds_total",] > 0


@gen.coroutine
def test_metrics_show_urls_under_way_and_pauses(watch):
    with watch() as watched:
        run = yield watched.run_to(0)
        yield watched.act("pause")
        values = values_in((yield watched.ask("/metrics")).body.decode())
        watched.site.let_go("/0")
        watched.crawl.stop()
        yield run

    assert values["gencrawl_under_way",] == 1
    assert values["gencrawl_hosts_under_way",] == 1
    assert values["gencrawl_urls", "under_way"] == 1
    assert values["gencrawl_paused",] == 1
    assert values["gencrawl_stopping",] == 0
    assert values["gencrawl_start_time_seconds",] > 1e9
