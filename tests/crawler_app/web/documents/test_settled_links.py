"""Links that were settled are no news, on the pages where they mean the same."""

import pytest

from crawler_app.web.documents.settled_links import SettledLinks

PAGE = "http://a.test/docs/x.html"


@pytest.fixture
def settled():
    return SettledLinks(max_settled=100)


def test_settled_link_is_no_news_in_its_directory_and_is_elsewhere(settled):
    settled.add(PAGE, "b.html")

    assert settled.unsettled("http://a.test/docs/y.html?q=/z/", ["b.html", "c"]) == [
        "c"
    ]
    assert settled.unsettled("http://a.test/docs/deep/y.html", ["b.html"]) == ["b.html"]
    assert settled.unsettled("http://a.test/", ["b.html"]) == ["b.html"]


@pytest.mark.parametrize("link", ["http://b.test/x", "https://a.test"])
def test_link_with_a_host_is_settled_everywhere(settled, link):
    settled.add(PAGE, link)

    assert settled.unsettled("https://b.test/", [link, "x"]) == ["x"]


@pytest.mark.parametrize("link", ["", "?page=2", "http:?q", " ?q "])
def test_link_that_is_relative_to_its_page_is_never_settled(settled, link):
    settled.add(PAGE, link)

    assert settled.unsettled("http://a.test/docs/y.html", [link]) == [link]


def test_memory_is_bounded(settled):
    for number in range(1000):
        settled.add(f"http://a.test/{number % 7}/", f"x{number}")
        settled.add(PAGE, f"http://b.test/{number}")

    kept = sum(map(len, settled._links_by_directory.values()))
    kept += len(settled._links_with_host)
    assert 0 < kept <= 100
