"""Which shapes of URLs are traps, and which sites only have numbers in their paths."""

import pytest

from crawler_app.run.crawl import repeated_pages
from crawler_app.run.crawl.repeated_pages import RepeatedPages

LIMIT = 100
MONTHS = ("January", "May", "July")


def first_trap(urls, text_of, most=5_000, **options):
    """Return how many pages are read before the next one is in a trap; None if none is."""
    repeated = RepeatedPages(LIMIT, **options)
    for number in range(most):
        if repeated.is_trap(url := urls.format(n=number, version=number % 15)):
            return number
        repeated.note(url, text_of(number))
    return None


@pytest.mark.parametrize(
    ("urls", "text_of"),
    [
        ("http://a.test/week/{n}", lambda n: f"Week {n}: no events"),
        ("http://a.test/cal/{n}/7", lambda n: f"{MONTHS[n % 3]} {n}"),
        ("http://a.test/2{n:03}-11/", lambda n: f"{MONTHS[n % 3]} {n}"),
        ("http://a.test/{n:032x}/help", lambda n: "Help"),
        ("http://a.test/{n:032x}/", lambda n: f"Log in, {n:032x}"),
        ("http://a.test/(S(a{n}b{n}c{n}))/help", lambda n: "Help"),
        ("http://a.test/u/{n:08x}-0123-4567-89ab-0123456789ab", lambda n: "Help"),
    ],
)
def test_pages_that_repeat_each_other_are_a_trap(urls, text_of):
    assert LIMIT < first_trap(urls, text_of) < LIMIT + 5


@pytest.mark.parametrize(
    ("urls", "text_of"),
    [
        ("http://a.test/product/{n}", lambda n: "word " * n),
        ("http://a.test/help?page={n}", lambda n: "Help"),  # counted as queries
        ("http://a.test/{n:032x}", lambda n: f"Item {n}"),
        ("http://a.test/2026/{version}/x", lambda n: f"Chapter {'x' * (n // 15)}"),
        ("http://a.test/photo/{n}", lambda n: "Photo"),
        ("http://a.test/photo-{n}.html", lambda n: "Photo"),
        ("http://w{n}.a.test/", lambda n: "Welcome"),  # with the scope "host"
    ],
)
def test_pages_that_differ_are_no_trap(urls, text_of):
    assert first_trap(urls, text_of) is None


def test_subdomains_that_repeat_each_other_are_a_trap_but_for_those_of_the_seeds():
    hosts = ["www.a.test"]

    for words in ("Welcome", "I am shop-of-{}.a.test", "For sale: shop-of-{}"):
        at = first_trap("http://shop-of-{n}.a.test/", words.format, hosts=hosts)
        assert at == LIMIT + 1
    assert first_trap("http://www.a.test/", lambda n: "Welcome", hosts=hosts) is None
    assert first_trap("http://w{n}.a.test/", "I am {}".format, hosts=hosts) is None


def test_memory_of_texts_is_bounded(monkeypatch):
    monkeypatch.setattr(repeated_pages, "MAX_ALL_TEXTS", 300)
    repeated = RepeatedPages(LIMIT)
    for number in range(2_000):
        repeated.note(f"http://a.test/{'x' * (number // 100)}/1", "word " * number)

    assert sum(map(len, repeated._texts_by_shape.values())) <= 300
