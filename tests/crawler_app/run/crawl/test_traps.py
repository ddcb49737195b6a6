"""Traps: endless URL spaces are refused, large ones are not."""

import contextlib
import dataclasses
import gc
import tracemalloc
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Candidate
from crawler_app.run.crawl.admission import Admission
from crawler_app.run.crawl.traps import QueryCounter, trap_in
from crawler_app.store.frontier.sqlite import SqliteFrontier

CONFIG = CrawlConfig(("http://a.test/",))


def with_parameters(*names):
    return "http://a.test/list?" + "&".join(f"{name}=1" for name in names)


@pytest.mark.parametrize(
    ("url", "trap"),
    [
        ("http://a.test/" + "x" * 1986, None),
        ("http://a.test/" + "x" * 1987, "url_too_long"),
        ("http://a.test/?" + "x" * 1986, "url_too_long"),
        ("http://a.test/a/a/a/a", None),
        ("http://a.test/a/a/a/a/a", "path_repeats"),
        ("http://a.test/a/b/a/b/a/b/a/b/", None),
        ("http://a.test/a/b/a/b/a/b/a/b/a", "path_repeats"),
        ("http://a.test/x/css/css/css/css/css/main.css", "path_repeats"),
        ("http://a.test/1/2/3/4/5/6/7/8", None),
        ("http://a.test//////////", None),
        ("http://a.test/?/a/a/a/a/a/a", None),
        ("http://a.test/" + "/".join(map(str, range(40))), None),
        ("http://a.test/" + "/".join(map(str, range(41))), "path_too_deep"),
        ("http://a.test/?" + "/".join(map(str, range(41))), None),
        (with_parameters(*range(40)), None),
        (with_parameters(*range(41)), "too_many_parameters"),
        ("http://a.test/" + "&" * 41, None),
        (with_parameters(*["tag"] * 10, "a", "b"), None),
        (with_parameters(*["tag"] * 11), "parameter_repeats"),
        # Ordinary ones.
        ("http://a.test/", None),
        ("http://a.test/org/apache/commons/org/apache/commons/lang3/index.html", None),
        ("http://a.test/2024/01/01/", None),
        ("http://a.test/web/20200101000000/https://a.test/a/b/c/d.html", None),
        ("http://a.test/search?q=a&q=b&q=c&lang=en&lang=de&page=2", None),
    ],
)
def test_limits(url, trap):
    assert trap_in(url, CONFIG) == trap


@pytest.mark.parametrize(
    ("limit", "url"),
    [
        ("max_url_chars", "http://a.test/" + "x" * 5000),
        ("max_segment_repeats", "http://a.test/" + "a/" * 20),
        ("max_path_segments", "http://a.test/" + "/".join(map(str, range(100)))),
    ],
)
def test_each_limit_can_be_moved_and_turned_off(limit, url):
    assert trap_in(url, CONFIG) is not None
    assert trap_in(url, dataclasses.replace(CONFIG, **{limit: 5_100})) is None
    assert trap_in(url, dataclasses.replace(CONFIG, **{limit: None})) is None


URLS = st.text(st.sampled_from("ab/?&=#.%"), max_size=200).map("http://a.test/".__add__)


@given(URLS | st.text())
def test_any_text_is_judged(url):
    assert trap_in(url, CONFIG) in (
        None,
        "url_too_long",
        "path_repeats",
        "path_too_deep",
        "too_many_parameters",
        "parameter_repeats",
    )


@given(URLS)
def test_precheck_agrees_with_counting(url):
    config = dataclasses.replace(CONFIG, max_segment_repeats=2)
    segments = url.partition("?")[0].split("/")[3:]

    repeats = any(segments.count(each) > 2 for each in segments if each)

    assert (trap_in(url, config) == "path_repeats") is repeats


def month(number, path="calendar"):
    return f"http://a.test/{path}?month={number}"


def test_each_path_is_counted_separately():
    counter = QueryCounter(max_queries=1)

    assert all(counter.admit("http://a.test/calendar") for _ in range(5))
    assert counter.admit(month(1))
    assert counter.admit("http://a.test/calendar")
    assert counter.admit(month(2, path="events"))
    assert counter.admit("http://b.test/calendar?month=3")
    assert not counter.admit(month(2))


def test_parameters_of_the_last_segment_count_as_a_query():
    counter = QueryCounter(max_queries=2)
    urls = [f"http://a.test/x;v={number}?a/b;c" for number in range(3)]

    assert [counter.admit(url) for url in urls] == [True, True, False]
    assert all(counter.admit(f"http://a.test/x;v=1/{number}") for number in range(9))


@pytest.mark.parametrize("month", [month, "http://a.test/calendar;month={}".format])
def test_resumed_crawl_goes_on_counting(month):
    urls = [*map(month, range(3)), "http://a.test/"]
    config = dataclasses.replace(CONFIG, max_queries_per_path=4)
    with contextlib.closing(SqliteFrontier()) as frontier:
        frontier.add(Candidate(url, "a.test") for url in urls)
        admission = Admission(config, frontier, Counter())
        admission.remember()

        assert admission.check(month(3), depth=1) is None
        assert admission.check(month(4), depth=1) == "too_many_queries"


@given(st.lists(st.integers(0, 20)), st.integers(1, 5))
def test_only_the_first_queries_of_a_path_pass(numbers, limit):
    counter = QueryCounter(max_queries=limit)

    passed = [counter.admit(month(number)) for number in numbers]

    first = list(dict.fromkeys(numbers))[:limit]
    assert passed == [number in first for number in numbers]


def test_memory_is_bounded():
    counter = QueryCounter(max_queries=100, max_bytes=500_000)
    tracemalloc.start()
    try:
        for number in range(20_000):
            counter.admit(month(number, path=number // 2))
        size_bytes = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()

    assert size_bytes < 1_000_000


def test_paths_with_one_query_are_no_work_for_the_garbage_collector():
    counter = QueryCounter(max_queries=9)
    before = len(gc.get_objects())

    for number in range(1000):
        counter.admit(month(number, path=number))

    assert len(gc.get_objects()) - before < 100


def test_trap_is_remembered_when_other_paths_are_evicted():
    counter = QueryCounter(max_queries=1, max_bytes=10_000)
    counter.admit(month(0))

    for number in range(1000):
        assert counter.admit(month(number, path=number))
        assert not counter.admit(month(number + 1))
