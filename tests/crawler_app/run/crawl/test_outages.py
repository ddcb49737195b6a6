"""Outages: a host that is down is waited for, a URL that fails is not."""

from collections import Counter

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Outcome, State
from crawler_app.run.crawl.outages import Outages
from crawler_app.store.frontier.sqlite import SqliteFrontier

CONFIG = CrawlConfig(("http://a.test/",), retry_pause_s=1.0)
A, B, C = "http://a.test/", "http://a.test/b", "http://a.test/c"
REFUSED = Outcome(State.FAILED, "refused")
CLOSED = Outcome(State.FAILED, "connection_closed")


@pytest.fixture
def frontier():
    return SqliteFrontier()


@pytest.fixture
def stats():
    return Counter()


@pytest.fixture
def outages(stats, frontier):
    return Outages(CONFIG, frontier, stats)


@pytest.fixture(params=["this run", "an earlier run"])
def known(request, outages, stats, frontier):
    """Return the outages of a crawl in which http://a.test has responded."""
    outages.note_response(A)
    return outages if request.param == "this run" else Outages(CONFIG, frontier, stats)


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        # Origins that have never responded.
        ("http://b.test/", REFUSED),
        ("https://a.test/", REFUSED),
        (B, CLOSED),
        (B, Outcome(State.FAILED, "timeout")),
        (B, Outcome(State.FAILED, "http_503", 503)),
        (B, Outcome(State.FAILED, "tls")),
    ],
)
def test_fault_of_a_url_is_no_outage(known, url, outcome):
    assert known.ends_at(url, outcome, now=0.0) is None


def test_outage_pauses_grow_until_the_host_is_given_up(known, stats):
    now, ends = 0.0, []
    while (end := known.ends_at(B, REFUSED, now)) is not None:
        ends.append(end - now)
        now = end

    assert ends == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    assert stats["outages"] == 7


def test_fetches_begun_before_an_outage_belong_to_it(known, stats):
    urls = enumerate([A, B, C])

    assert [known.ends_at(url, REFUSED, i / 10) for i, url in urls] == [1.0] * 3
    assert stats["outages"] == 1


def test_response_ends_the_outage(known):
    known.ends_at(B, REFUSED, now=0.0)
    known.note_response(A)

    assert known.ends_at(C, REFUSED, now=5.0) == 6.0


def test_url_that_fails_while_others_get_through_is_to_blame(known):
    assert known.ends_at(B, REFUSED, now=0.0) == 1.0
    known.note_response(A)

    assert known.ends_at(B, REFUSED, now=5.0) is None


def test_known_url_decides_after_two_failures_in_a_row(known):
    assert [known.url_to_probe(url, 0.0) for url in (B, B, C)] == ["", "", A]
    assert known.ends_at(B, CLOSED, now=0.0) is None

    known.note_down(A)

    assert known.ends_at(B, CLOSED, now=0.0) == 1.0
    assert known.url_to_probe(C, 0.5) == "", "it is known already"
    assert known.url_to_probe(C, 1.0) == A
    known.note_response(A)
    known.note_down(A)  # which was noticed too late
    assert known.url_to_probe(C, 1.0) == ""
    assert known.ends_at(C, CLOSED, now=1.0) is None
