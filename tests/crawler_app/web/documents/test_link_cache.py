"""Links in the cache are skipped on the pages where they mean the same."""

import pytest

from crawler_app.base.urls import directory_of
from crawler_app.web.documents.link_cache import LinkCache

PAGE = "http://a.test/docs/x.html"


@pytest.fixture
def cache():
    return LinkCache(max_links=100)


def test_cached_link_is_skipped_in_its_directory_only(cache):
    cache.add(directory_of(PAGE), "b.html")

    assert [*cache.unseen("http://a.test/docs/y.html?q=/z/", ["b.html", "c"])] == ["c"]
    assert [*cache.unseen("http://a.test/docs/deep/y.html", ["b.html"])] == ["b.html"]
    assert [*cache.unseen("http://a.test/", ["b.html"])] == ["b.html"]


def test_link_into_a_directory_above_is_skipped_in_the_directories_below_it(cache):
    cache.add("http://a.test/docs/a/x.html", "../style/b.html")

    assert [*cache.unseen("http://a.test/docs/y.html", ["style/b.html"])] == []
    for page in ("http://a.test/docs/b/y", "http://a.test/docs/b/z"):
        assert [*cache.unseen(page, ["../style/b.html", "../c"])] == ["../c"]
    assert [*cache.unseen("http://a.test/b/y", ["../style/b.html"])] != []
    assert [*cache.unseen("http://a.test/b/c/y", ["../../docs/style/b.html"])] != []


@pytest.mark.parametrize("link", ["http://b.test/x", "https://a.test"])
def test_link_with_a_host_is_skipped_everywhere(cache, link):
    cache.add(PAGE, link)

    assert [*cache.unseen("https://b.test/", [link, "x"])] == ["x"]


@pytest.mark.parametrize("link", ["/x", "//b.test/x"])
def test_link_from_the_root_is_skipped_on_its_site(cache, link):
    cache.add(PAGE, link)

    assert [*cache.unseen("http://a.test/other/y.html", [link, "x"])] == ["x"]
    assert [*cache.unseen("https://a.test/docs/y.html", [link])] == [link]


@pytest.mark.parametrize("link", ["", "?page=2", "http:?q", " ?q "])
def test_link_relative_to_its_page_is_never_skipped(cache, link):
    for page in (PAGE, directory_of(PAGE)):
        cache.add(page, link)

    assert [*cache.unseen("http://a.test/docs/y.html", [link])] == [link]


def test_memory_is_bounded(cache):
    for number in range(1000):
        cache.add(f"http://a.test/{number % 7}/", f"x{number}")
        cache.add(PAGE, f"http://b.test/{number}")

    kept = sum(map(len, cache._links_by_place.values()))
    assert 0 < kept <= 100
