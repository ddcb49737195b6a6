"""Politeness: gaps, latencies and pauses."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler_app.base.http_headers import MAX_RETRY_AFTER_S
from crawler_app.web.politeness import (
    MAX_CRAWL_DELAY_S,
    MAX_LATENCY_GAP_S,
    OPEN_WEB_GAP_S,
    OPEN_WEB_HOST_LIMIT,
    crawl_delay_s,
    host_gap_s,
    next_gap_s,
    per_host_limit,
    retry_at,
    smoothed_latency_s,
)

TIMES = st.floats(0, 1e10)
WAITS = st.floats(0, 1e6)
TRIES = st.integers(1, 10_000)


@pytest.mark.parametrize(
    ("host", "configured_s", "gap_s"),
    [
        ("a.test", None, OPEN_WEB_GAP_S),
        ("a.test", 0.0, 0.0),
        ("a.test", 2.5, 2.5),
        ("localhost:8000", None, 0.0),
        ("[::1]:8000", None, 0.0),
        ("127.0.0.1", 2.5, 2.5),
        ("127.0.0.1.a.test", None, OPEN_WEB_GAP_S),
    ],
)
def test_gap_between_two_fetches_from_a_host(host, configured_s, gap_s):
    assert host_gap_s(host, configured_s) == gap_s


@pytest.mark.parametrize(
    ("gap_s", "latency_s", "crawl_delay_s", "next_s"),
    [
        (1.0, None, None, 1.0),
        (1.0, 0.1, None, 1.0),
        (1.0, 3.0, None, 3.0),
        (5.0, 3.0, 2.0, 5.0),
        (1.0, 3.0, 10.0, 10.0),
        (0.0, 3.0, None, 0.0),
        (0.0, 3.0, 0.0, 0.0),
        (0.0, 0.1, 2.0, 2.0),
        (0.0, 3.0, 2.0, 3.0),
        (1.0, 1e9, None, MAX_LATENCY_GAP_S),
        (600.0, 0.1, 5.0, 600.0),
    ],
)
def test_gap_is_the_largest_of_all(gap_s, latency_s, crawl_delay_s, next_s):
    assert next_gap_s(gap_s, latency_s, crawl_delay_s) == next_s


@pytest.mark.parametrize(
    ("value", "delay_s"),
    [
        (b"0", 0.0),
        (b" 2.5 ", 2.5),
        (b"60", 60.0),
        (b"86400", MAX_CRAWL_DELAY_S),
        (b"1e300", MAX_CRAWL_DELAY_S),
        (b"inf", None),
        (b"nan", None),
        (b"-5", None),
        (b"5s", None),
        (b"\xb2", None),
        (b"", None),
    ],
)
def test_crawl_delay_is_capped(value, delay_s):
    assert crawl_delay_s(value) == delay_s


@given(WAITS, st.none() | WAITS, st.floats().map(repr) | st.text())
def test_gap_is_at_least_the_configured_one_and_finite(gap, latency, text):
    delay = crawl_delay_s(text.encode("utf-8", "replace"))
    most = max(gap, MAX_CRAWL_DELAY_S, MAX_LATENCY_GAP_S)

    assert gap <= next_gap_s(gap, latency, delay) <= most


@given(WAITS, WAITS)
def test_latency_moves_towards_the_newest(before, took):
    after = smoothed_latency_s(before, took)

    assert min(before, took) <= after <= max(before, took)


@pytest.mark.parametrize(
    ("hosts", "reach", "limit"),
    [
        (["127.0.0.1:8000"], "host", None),
        (["localhost", "localhost"], "prefix", None),
        (["localhost"], "domain", OPEN_WEB_HOST_LIMIT),
        (["localhost"], "any", OPEN_WEB_HOST_LIMIT),
        (["localhost", "localhost:8000"], "host", OPEN_WEB_HOST_LIMIT),
        (["a.test"], "host", OPEN_WEB_HOST_LIMIT),
        (["a.test", "b.test"], "host", OPEN_WEB_HOST_LIMIT),
        ([], "host", OPEN_WEB_HOST_LIMIT),
    ],
)
def test_fetches_from_one_host_at_once(hosts, reach, limit):
    assert per_host_limit(None, hosts, reach, concurrency=10) == limit
    assert per_host_limit(7, hosts, reach, concurrency=10) == 7


@given(st.integers(1, 1000), st.sampled_from(["host", "domain", "prefix", "any"]))
def test_one_of_many_hosts_never_takes_all_workers(concurrency, reach):
    limit = per_host_limit(None, ["a.test", "b.test"], reach, concurrency)

    assert 1 <= limit < max(concurrency, 2)


def test_retry_after_has_precedence_over_our_pause():
    assert retry_at(100.0, 3, first_pause_s=1.0, asked_for_s=2.0) == 102.0
    assert retry_at(100.0, 1, first_pause_s=1.0, asked_for_s=0.0) == 100.0


@given(TIMES, TRIES, WAITS, st.none() | WAITS)
@example(0.0, 10_000, 1.0, None)
def test_retry_is_at_a_finite_time_from_now(now, tries, pause, wish):
    at = retry_at(now, tries, pause, wish)

    assert now <= at < math.inf


@given(TIMES, TRIES, WAITS, WAITS)
def test_pause_grows_with_tries_and_with_the_first_pause(now, tries, pause, more):
    at = retry_at(now, tries, pause)

    assert retry_at(now, tries + 1, pause) >= at
    assert retry_at(now, tries, pause + more) >= at


def test_pause_has_a_maximum():
    assert retry_at(0.0, 100, first_pause_s=1.0) <= MAX_RETRY_AFTER_S
