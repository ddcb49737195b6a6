"""HostStates: how long to leave each alone, after an answer and after none."""

import pytest

from crawler_app.config import CrawlConfig
from crawler_app.crawl.host_state import HostStates
from crawler_app.crawl.stats import Stats
from crawler_app.models import Outcome, State

REFUSED = Outcome(State.FAILED, "refused")


def hosts(stats=None, **options):
    return HostStates(CrawlConfig(("http://a.test/",), **options), stats)


def test_gap_is_ours_where_nothing_is_known():
    assert hosts().gap_s("a.test") == 1.0
    assert hosts(host_gap_s=0.25).gap_s("a.test") == 0.25
    assert hosts().gap_s("127.0.0.1:8000") == 0.0


def test_gap_grows_with_what_the_host_takes_and_shrinks_again():
    known = hosts()
    known.note_answer("a.test", 8.0)
    slow = known.gap_s("a.test")
    for _ in range(50):
        known.note_answer("a.test", 0.01)

    assert slow == 8.0
    assert known.gap_s("a.test") == 1.0
    assert known.gap_s("b.test") == 1.0


def test_slow_host_without_a_gap_is_not_slowed_down():
    known = hosts(host_gap_s=0.0)
    known.note_answer("a.test", 8.0)

    assert known.gap_s("a.test") == 0.0


def test_crawl_delay_is_kept_even_where_we_have_no_gap():
    known = hosts(host_gap_s=0.0)
    known.note_crawl_delay("a.test", 2.5)
    known.note_crawl_delay("b.test", None)

    assert known.gap_s("a.test") == 2.5
    assert known.gap_s("b.test") == 0.0


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
        (["a.test"], {}, 2),
        (["127.0.0.1:80", "127.0.0.1:81"], {}, 2),
        (["127.0.0.1:80"], {"scope": "any"}, 2),
        (["127.0.0.1:80"], {"per_host": 1}, 1),
        (["a.test"], {"per_host": 7}, 7),
    ],
)
def test_limit_of_fetches_to_one_host(seeds, options, limit):
    assert hosts(**options).limit(seeds) == limit
