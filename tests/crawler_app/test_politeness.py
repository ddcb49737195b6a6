"""Politeness: waits are never negative, and grow as they should."""

import math
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler_app.politeness import (
    MAX_RETRY_AFTER_S,
    OPEN_WEB_GAP_S,
    host_gap_s,
    retry_after_s,
    retry_at,
)


@pytest.fixture
def far_from_greenwich(monkeypatch):
    """Put this process into another time zone for a while."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


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


def test_pause_grows_with_the_tries():
    pauses = [retry_at(100.0, tries, first_pause_s=0.5) - 100.0 for tries in (1, 2, 3)]

    assert pauses == [0.5, 2.0, 8.0]


def test_wish_of_the_server_comes_before_our_own_pause():
    assert retry_at(100.0, 3, first_pause_s=1.0, asked_for_s=2.0) == 102.0
    assert retry_at(100.0, 1, first_pause_s=1.0, asked_for_s=0.0) == 100.0


@given(TIMES, TRIES, WAITS, st.none() | WAITS)
@example(0.0, 10_000, 1.0, None)
def test_retry_is_never_before_now_and_at_a_time_that_comes(now, tries, pause, wish):
    at = retry_at(now, tries, pause, wish)

    assert now <= at < math.inf


@given(TIMES, TRIES, WAITS, WAITS)
def test_pause_is_never_shorter_after_more_tries_or_from_a_longer_one(
    now, tries, pause, more
):
    at = retry_at(now, tries, pause)

    assert retry_at(now, tries + 1, pause) >= at
    assert retry_at(now, tries, pause + more) >= at


def test_pause_ends_where_nobody_would_wait_for_it():
    assert retry_at(0.0, 100, first_pause_s=1.0) <= MAX_RETRY_AFTER_S


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [
        ("0", 0.0),
        ("120", 120.0),
        (" 7 ", 7.0),
        ("000000000000120", 120.0),
        ("86401", MAX_RETRY_AFTER_S),
        ("9" * 5_000, MAX_RETRY_AFTER_S),
        ("Thu, 01 Jan 1970 00:03:20 GMT", 100.0),
        ("Thursday, 01-Jan-70 00:03:20 GMT", 100.0),
        ("Thu Jan  1 00:03:20 1970", 100.0),
        ("Thu, 01 Jan 1970 00:03:20 -0000", 100.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Thu, 01 Jan 2970 00:00:00 GMT", MAX_RETRY_AFTER_S),
        ("Thu, 41 Jan 1970 00:00:00 GMT", None),
        ("Thu, 01 Jan 1970 25:00:00 GMT", None),
        ("-5", None),
        ("1.5", None),
        ("1e3", None),
        ("soon", None),
        ("\u0663", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_header(header, wait_s, far_from_greenwich):
    assert retry_after_s(header, now=100.0) == wait_s


@given(
    st.one_of(
        st.text(),
        st.text(st.sampled_from("0123456789:, -+GMTJanhu")),
        st.tuples(st.integers(), st.integers(), st.integers()).map(
            lambda n: f"Thu, {n[0]} Jan {n[1]} 00:{n[2]}:00 GMT"
        ),
    ),
    TIMES,
)
@example("Thu, 01 Jan 9999 00:00:00 -9999999999", 0.0)
@example("1 Jan 1 0:0:0 +2359", 0.0)
def test_any_header_gives_no_wait_or_one_that_comes(header, now):
    wait_s = retry_after_s(header, now)

    assert wait_s is None or 0.0 <= wait_s <= MAX_RETRY_AFTER_S


@given(WAITS, WAITS)
def test_later_date_is_never_a_shorter_wait(seconds, more):
    def wait_s(at):
        return retry_after_s(f"{int(at)}", now=0.0)

    assert wait_s(seconds + more) >= wait_s(seconds)
