"""Writing the index of a crawl, while it runs."""

import contextlib
import time

import pytest

from crawler_app.base.errors import SearchIndexError
from crawler_app.store.index import PageIndex, index_writer
from crawler_app.store.index.columns import columns_of
from crawler_app.store.index.index_writer import IndexWriter
from gencoro import gen

PATIENCE_S = 60.0


@pytest.fixture
def path(tmp_path):
    return tmp_path / "crawl.sqlite"


@pytest.fixture
def index(path):
    with contextlib.closing(IndexWriter(path)) as index:
        yield index


def url(name):
    return f"http://a.test/{name}"


def put(index, *names):
    for name in names:
        index.put(url(name), columns_of(name, "", f"mill {name}"), 0.0)


def seen(path):
    """Return what another process would find: the number of pages, and of those found."""
    with contextlib.closing(PageIndex(path, read_only=True)) as reader:
        return len(reader), reader.search("mill").total


@gen.coroutine
def test_flushed_pages_are_in_the_file_and_soon_found(index, path, monkeypatch):
    monkeypatch.setattr(index_writer, "WORDS_AGE_S", 0.0)
    put(index, "a", "b")
    yield index.flushed()
    index.remove(url("b"))
    yield index.flushed()
    assert seen(path)[0] == 1

    end_at = time.monotonic() + PATIENCE_S
    while seen(path) != (1, 1):
        assert time.monotonic() < end_at
        yield gen.moment


@gen.coroutine
def test_words_are_added_when_there_are_enough(index, path, monkeypatch):
    put(index, "a")
    yield index.flushed()
    index._thread.wait()
    before = seen(path)

    monkeypatch.setattr(index_writer, "WORDS_CHARS", 1)
    put(index, "b")
    yield index.flushed()
    index._thread.wait()

    assert before == (1, 0)
    assert seen(path) == (2, 2)


def test_words_that_are_missing_after_a_kill_are_added_once(path):
    killed = PageIndex(path)
    for name in ("a", "b", "c"):
        killed.put(url(name), columns_of(name, "", "mill"), 0.0)
    killed.flush(with_words=False)
    killed.remove(url("b"))
    killed.flush(with_words=False)
    before = seen(path)

    PageIndex(path).close()
    after = seen(path)
    killed.flush()
    killed.remove(url("a"))
    killed.close()

    assert (before, after) == ((2, 0), (2, 2))
    assert seen(path) == (1, 1)


@gen.coroutine
def test_error_of_the_thread_is_raised_by_every_later_call(path):
    index = IndexWriter(path)
    put(index, "a")
    yield index.flushed()
    index._index._db.execute("PRAGMA max_page_count = 1")
    put(index, *(f"{number}" * 9000 for number in range(9)))

    with pytest.raises(SearchIndexError, match="full.*not in the index"):
        yield index.flushed()
    with pytest.raises(SearchIndexError, match="full"):
        put(index, "b")
    with pytest.raises(SearchIndexError, match="full"):
        index.flush()
    with pytest.raises(SearchIndexError, match="full"):
        index.close()

    assert seen(path)[0] == 1
