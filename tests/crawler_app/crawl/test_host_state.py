"""HostStates: how long to leave each alone, after an answer and after none."""

import pytest

from crawler_app.config import CrawlConfig
from crawler_app.crawl.host_state import HostStates
from crawler_app.crawl.stats import Stats
from crawler_app.models import Outcome, State

REFUSED = Outcome(State.FAILED, "refused")


def hosts(stats=None, **options):
    return HostStates(CrawlConfig(("http://a.test/",), **options), stats)


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
def test_gap_follows_from_what_is_known_of_the_host(
    options, host, took_s, crawl_delay_s, gap_s
):
    known = hosts(**options)
    for each in took_s:
        known.note_answer(host, each)
    known.note_crawl_delay(host, crawl_delay_s)
    known.note_answer("b.test", 30.0)
    known.note_crawl_delay("b.test", 30.0)

    assert known.gap_s(host) == gap_s


def test_host_that_never_answered_has_no_outage():
    assert hosts().outage_ends_at("a.test", REFUSED, now=0.0) is None


@pytest.mark.parametrize("reason", ["timeout", "http_503", "ok", "tls"])
def test_fault_of_a_url_is_no_outage(reason):
    known = hosts()
    known.note_answer("a.test", 0.1)

    outcome = Outcome(State.FAILED, reason)

    assert known.outage_ends_at("a.test", outcome, now=0.0) is None


def test_outage_is_waited_out_longer_each_time_until_it_is_given_up():
    stats = Stats()
    known = hosts(stats, retry_pause_s=1.0)
    known.note_answer("a.test", 0.1)
    now, ends = 0.0, []
    while (end := known.outage_ends_at("a.test", REFUSED, now)) is not None:
        ends.append(end - now)
        now = end

    assert ends == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    assert stats["outages"] == 7


def test_fetches_that_began_before_the_outage_was_known_are_one_outage():
    stats = Stats()
    known = hosts(stats)
    known.note_answer("a.test", 0.1)

    ends = [known.outage_ends_at("a.test", REFUSED, now) for now in (0.0, 0.1, 0.2)]

    assert ends == [1.0, 1.0, 1.0]
    assert stats["outages"] == 1


def test_answer_ends_the_outage():
    known = hosts()
    known.note_answer("a.test", 0.1)
    known.outage_ends_at("a.test", REFUSED, now=0.0)
    known.note_answer("a.test", 0.1)

    assert known.outage_ends_at("a.test", REFUSED, now=5.0) == 6.0


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
