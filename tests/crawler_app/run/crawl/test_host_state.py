"""HostStates: the gap of each host."""

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.run.crawl.host_state import HostStates
from crawler_app.run.crawl.observer import HostObserver


def hosts(**options):
    return HostStates(CrawlConfig(("http://a.test/",), **options))


@pytest.mark.parametrize(
    ("options", "host", "took_s", "crawl_delay_s", "gap_s"),
    [
        ({}, "a.test", [], None, 1.0),
        ({"host_gap_s": 0.25}, "a.test", [], None, 0.25),
        ({}, "127.0.0.1:8000", [], None, 0.0),
        # It grows with what the host takes, and shrinks again.
        ({}, "a.test", [8.0], None, 8.0),
        ({}, "a.test", [8.0, *[0.01] * 6], None, 1.0),
        ({"host_gap_s": 0.0}, "a.test", [8.0], None, 0.0),
        ({"host_gap_s": 0.0}, "a.test", [8.0], 2.5, 8.0),
        ({"host_gap_s": 0.0}, "a.test", [], 2.5, 2.5),
    ],
)
def test_gap_follows_latency_and_crawl_delay(
    options, host, took_s, crawl_delay_s, gap_s
):
    known = hosts(**options)
    for each in took_s:
        known.note_answer(host, each)
    known.note_crawl_delay(host, crawl_delay_s)
    known.note_answer("b.test", 30.0)
    known.note_crawl_delay("b.test", 30.0)

    assert known.gap_s(host) == gap_s


def test_fetch_does_not_wait_for_a_clock_that_was_set_back():
    known = hosts(host_gap_s=5.0)
    known.begin_fetch("a.test", 9_000.0)

    assert known.begin_fetch("a.test", 100.0) == (100.0, 105.0)
    assert known.begin_fetch("a.test", 101.0) == (105.0, 110.0)


def test_observer_gets_the_gap_whenever_it_may_have_changed():
    gaps = []
    observer = HostObserver()
    observer.gap_changed = lambda *gap: gaps.append(gap)
    known = HostStates(CrawlConfig(("http://a.test/",)), observer)

    known.note_answer("a.test", 8.0)
    known.note_crawl_delay("b.test", 30.0)
    known.note_crawl_delay("c.test", None)

    assert gaps == [("a.test", 8.0), ("b.test", 30.0)]


@pytest.mark.parametrize(
    ("seeds", "options", "limit"),
    [
        (["127.0.0.1:80"], {}, None),
        (["127.0.0.1:80"], {"scope": "any"}, 2),
        (["a.test", "b.test"], {"concurrency": 1}, 1),
        (["a.test"], {"per_host": 7}, 7),
    ],
)
def test_limit_of_fetches_to_one_host(seeds, options, limit):
    assert hosts(**options).limit(seeds) == limit
