"""A crawl directory that has lost files: `resume` restores their contents."""

import contextlib
import os

import pytest

from crawler_app.store.archive.totals import summary
from crawler_app.store.index import PageIndex

PATHS = [f"/{n}" for n in range(12)]
DONE = 9  # when it is damaged, the seed included


@pytest.fixture
def crawled(site, gencrawl, directory):
    site.page("/", *PATHS)
    for path in PATHS:
        site.answer(path, b"<title>x</title>" + os.urandom(600).hex().encode())

    def crawled(*options):
        ended = gencrawl(
            *("crawl", site.url, "--into", directory, "--quiet", *options),
            *("--max-pages", DONE),
        )
        assert ended.status == 0
        site.requests.clear()

    return crawled


def cut_archive(directory):
    path = directory / "archive-00001.warc.gz"
    os.truncate(path, path.stat().st_size // 2)


def lose_table(directory):
    (directory / "archive.sqlite3").unlink()


def lose_archive(directory):
    for path in directory.glob("archive*"):
        path.unlink()


def lose_index(directory):
    (directory / "crawl.sqlite").unlink()


def lose_part_of_index(directory):
    with contextlib.closing(PageIndex(directory / "crawl.sqlite")) as index:
        for url in index._texts.urls()[::2]:
            index.remove(url)


@pytest.mark.parametrize(
    ("losses", "min_again"),
    [
        ([], 0),
        ([lose_table], 0),
        ([cut_archive], 2),
        ([cut_archive, lose_table], 2),
        ([lose_archive], DONE),
        ([lose_index], 0),
        ([lose_part_of_index], 0),
        ([lose_index, cut_archive], 2),
        ([lose_index, lose_archive], DONE),
    ],
)
def test_lost_files_are_restored(
    crawled, gencrawl, site, directory, captures, losses, min_again, caplog
):
    crawled()
    for lose in losses:
        lose(directory)

    assert gencrawl("resume", directory, "--quiet", "--max-pages", 99).status == 0

    kept = gencrawl.json("status", directory, "--json")
    assert kept["indexed_pages"] == len(PATHS) + 1
    assert {capture.path for capture in captures()} >= {"/", *PATHS}
    assert kept["archive"]["captures"] == summary(directory).captures == len(captures())
    new = len(PATHS) + 1 - DONE + 1  # and robots.txt
    again = len(site.requests) - new
    assert again == 0 if not min_again else min_again <= again <= DONE
    assert ("fetched again" in caplog.text) == bool(min_again)
    is_lost = not {lose_index, lose_part_of_index}.isdisjoint(losses)
    is_rebuilt = is_lost and lose_archive not in losses
    assert ("read again from the archive" in caplog.text) == is_rebuilt


def test_lost_index_without_an_archive_is_reported(
    crawled, gencrawl, site, directory, caplog
):
    crawled("--no-archive")
    lose_index(directory)

    gencrawl("resume", directory, "--quiet")

    assert f"the index lacks {DONE} pages that were crawled" in caplog.text
    assert site.requests == []


def test_page_that_must_not_be_found_is_not_lost(gencrawl, site, directory, caplog):
    site.page("/", "a")
    site.answer("/a", b"<meta name=robots content=noindex>")
    assert gencrawl("crawl", site.url, "--into", directory, "--quiet").status == 0

    assert gencrawl("resume", directory, "--quiet").status == 0

    assert gencrawl.json("status", directory, "--json")["indexed_pages"] == 1
    assert "the index lacks" not in caplog.text
