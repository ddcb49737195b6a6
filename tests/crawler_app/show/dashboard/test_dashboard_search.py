"""Searching the index of a running crawl."""

import itertools
import threading
import time

import pytest

from crawler_app.base.errors import SearchError
from crawler_app.show.dashboard import searcher
from crawler_app.show.dashboard.handlers import SearchHandler
from crawler_app.show.dashboard.searcher import Searcher
from crawler_app.store.index import PageIndex
from gencoro import gen

pytestmark = pytest.mark.usefixtures("no_socket_is_left")

# Enough hits to count and sort for SQLite to call the progress handler.
PAGES = 10_000
EXPENSIVE = "mill OR wheel"


@gen.coroutine
def test_pages_are_found_while_the_crawl_goes_on(watched):
    run = yield watched.run_to(20)
    watched.index.flush()

    code, result = yield watched.json("/search?q=lonely+mill")
    assert code == 200
    assert result["total"] == 20
    assert len(result["hits"]) == 10
    hit = result["hits"][0]
    assert hit["url"].startswith(watched.site.url)
    (start, end), *_ = hit["highlights"]
    assert hit["snippet"][start:end] == "lonely"

    watched.site.let_go("/20")
    yield run
    watched.index.flush()
    code, result = yield watched.json("/search?q=title:%22page+39%22")
    assert [hit["title"] for hit in result["hits"]] == ["Page 39"]

    urls = set()
    for offset in (0, 10, 20, 30):
        _, result = yield watched.json(f"/search?q=mill&offset={offset}")
        assert result["offset"] == offset
        urls.update(hit["url"] for hit in result["hits"])
    assert len(urls) == 40


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("%22open", "is not closed"),
        ("a&offset=-1", ""),
        ("a&offset=x", ""),
        ("a&offset=1000001", ""),
        (f"a&offset={'9' * 30}", ""),
        ("a&offset=1.5", ""),
        ("a&offset=", ""),
    ],
)
@gen.coroutine
def test_invalid_query_is_refused(watched, query, text):
    answer = yield watched.ask(f"/search?q={query}")

    assert answer.code == 400
    assert text in answer.body.decode()


@gen.coroutine
def test_search_without_an_index_is_an_error(watch):
    with watch(index=False) as watched:
        code, answer = yield watched.json("/search?q=mill")

        assert code == 404
        assert "no index to search" in answer["error"]


@gen.coroutine
def test_missing_index_is_an_error(watched, tmp_path):
    (tmp_path / "index.sqlite").unlink()
    code, answer = yield watched.json("/search?q=mill")

    assert code == 503
    assert "has no index" in answer["error"]


@gen.coroutine
def test_search_of_a_disconnected_browser_ends(watch, monkeypatch, caplog):
    asked, gone, answered = gen.Future(), gen.Future(), gen.Future()
    leave = SearchHandler.on_connection_close

    def find(self, query, offset, is_wanted):
        asked.set_result(is_wanted)
        return answered

    def on_connection_close(self):
        leave(self)
        gone.set_result(None)

    monkeypatch.setattr(Searcher, "find", find)
    monkeypatch.setattr(SearchHandler, "on_connection_close", on_connection_close)
    with watch() as watched:
        stream = yield watched.send("/search?q=mill")
        is_wanted = yield asked
        assert is_wanted()

        stream.close()
        yield gone
        assert not is_wanted()
        answered.set_exception(SearchError("canceled"))
        yield watched.ask("/state")

    assert caplog.records == []


@pytest.fixture(scope="module")
def large_index(tmp_path_factory):
    """Return the path of an index that takes long to search."""
    path = tmp_path_factory.mktemp("large") / "index.sqlite"
    index = PageIndex(path)
    for number in range(PAGES):
        index.add(f"http://a.test/{number}", f"Page {number}", "", "Mill, wheel.", 0.0)
    index.close()
    return path


@pytest.fixture
def make_searcher(large_index, monkeypatch):
    """Return a function that makes a searcher with an event for the begin of its search."""
    made = []

    def make(limit_s):
        monkeypatch.setattr(searcher, "LIMIT_S", limit_s)
        made.append(Searcher([large_index]))
        return made[0]

    yield make
    made[0].close()


@gen.coroutine
def test_search_is_interrupted_after_its_limit(make_searcher):
    finder = make_searcher(limit_s=0.0)

    with pytest.raises(SearchError, match="longer than 0 seconds; use rarer words"):
        yield finder.find(EXPENSIVE, 0, lambda: True)
    found = yield finder.find('title:"page 7"', 0, lambda: True)

    assert found.total == 1


@gen.coroutine
def test_unwanted_search_is_interrupted(make_searcher):
    finder = make_searcher(limit_s=60.0)
    answers = iter([True, True])

    with pytest.raises(SearchError):
        yield finder.find(EXPENSIVE, 0, lambda: next(answers, False))


@gen.coroutine
def test_unwanted_search_is_not_begun(make_searcher, monkeypatch):
    finder = make_searcher(limit_s=60.0)
    monkeypatch.setattr(PageIndex, "search", lambda *_: pytest.fail("it is begun"))

    with pytest.raises(SearchError, match="was canceled"):
        yield finder.find("page", 0, lambda: False)


@gen.coroutine
def test_close_interrupts_the_running_search(make_searcher):
    finder = make_searcher(limit_s=60.0)
    begun = threading.Event()
    calls = itertools.count()

    def is_wanted():
        if next(calls):  # in the search, and not before it
            begun.set()
            deadline = time.monotonic() + 60
            while not finder._is_closed and time.monotonic() < deadline:
                time.sleep(0.001)
        return True

    search = finder.find(EXPENSIVE, 0, is_wanted)
    assert begun.wait(60)
    finder.close()

    with pytest.raises(SearchError):
        yield search
