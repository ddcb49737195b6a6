"""What a crawl stores: every exchange in the archive, the words of every page."""

import collections
import contextlib
import gzip
import io
import json
import pathlib
import re
import threading
import time
import zipfile

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ArchiveError
from crawler_app.run.directory import CrawlDirectory
from crawler_app.store import checkpoints
from crawler_app.store.archive.recorder import Recorder
from crawler_app.store.archive.store import Archive
from crawler_app.store.checkpoints import Checkpoints
from crawler_app.store.index import PageIndex, index_writer
from crawler_app.store.index.texts import PageTexts
from crawler_app.web.documents import reader
from tests.helpers.scripts import start_python


def test_every_request_is_captured_and_counted_by_status(site, cli, captures):
    site.page("/", "/a", "/old", "/missing", "/busy")
    site.answer("/a", b"\x00\xff binary", headers={"Content-Type": "image/x"})
    site.redirect("/old", to="/a")
    site.answer("/busy", status=503, headers={"Retry-After": "0"}, times=1)
    site.page("/busy")

    cli("crawl")

    assert sorted((each.path, each.status) for each in captures()) == [
        ("/", 200),
        ("/a", 200),
        ("/busy", 200),
        ("/busy", 503),
        ("/missing", 404),
        ("/old", 302),
        ("/robots.txt", 404),
    ]
    assert len(site.paths) == 7
    assert ("/a", 200, b"\x00\xff binary", "") in captures()
    _, text, _ = cli("status")
    assert re.search(r"archive +7 +captures", text)
    assert re.search(r"index +2 +pages", text)
    values = json.loads(cli("status", "--json")[1])
    assert (values["archive"]["captures"], values["indexed_pages"]) == (7, 2)


def test_page_that_cannot_be_read_is_in_the_archive(site, captures, cli, monkeypatch):
    def fail(*args, **options):
        raise RuntimeError("a bug")

    site.page("/", "/a")
    monkeypatch.setattr(reader, "parse_html", fail)

    status, _, complaint = cli("crawl")

    assert status == 1
    assert "internal_error" in complaint
    assert [each.path for each in captures()] == ["/robots.txt", "/"]


def test_archive_that_cannot_be_written_ends_the_crawl(
    site, captures, cli, monkeypatch
):
    def fail(self, fetched, now, elsewhere):
        raise ArchiveError("the disk is full")

    site.page("/", "/a")
    monkeypatch.setattr(Archive, "write", fail)

    status, _, complaint = cli("crawl", "--no-robots")

    assert status == 1
    assert "disk error: the disk is full" in complaint
    monkeypatch.undo()
    site.page("/a")
    assert cli("resume", "--quiet")[0] == 0
    assert [each.path for each in captures()] == ["/", "/a"]


@pytest.mark.parametrize(("store", "step"), [(Recorder, "commit"), (PageTexts, "add")])
def test_disk_that_fails_in_a_thread_ends_the_crawl(
    site, captures, cli, monkeypatch, store, step
):
    def fail(*args, **options):
        raise OSError("the disk is full")

    site.page("/", *(f"/{number}" for number in range(40)))
    for number in range(40):
        site.page(f"/{number}", title="Page")
    monkeypatch.setattr(store, step, fail)

    status, _, complaint = cli("crawl", "--no-robots")

    assert status == 1
    assert complaint.count("disk is full") == 1
    assert "disk error: " in complaint
    assert "Traceback" not in complaint
    assert json.loads(cli("status", "--json")[1])["states"]["done"] == 0
    monkeypatch.undo()
    assert cli("resume", "--quiet")[0] == 0
    assert len({each.path for each in captures()}) == 41
    assert "40 pages found" in cli("search", "page")[1]


def test_checkpoints_are_made_in_other_threads(site, cli, monkeypatch):
    threads = collections.defaultdict(set)
    make = Checkpoints.make

    def made(checkpoints):
        make(checkpoints)
        name = pathlib.Path(checkpoints._path).name
        threads[name].add(threading.current_thread())

    site.page("/", *(f"/{number}" for number in range(60)))
    site.pages(*(f"/{number}" for number in range(60)))
    monkeypatch.setattr(checkpoints, "DUE_ROWS", 30)
    monkeypatch.setattr(index_writer, "WORDS_CHARS", 1)
    monkeypatch.setattr(Checkpoints, "make", made)

    assert cli("crawl", "--no-robots")[0] == 0

    assert set(threads) == {"frontier.sqlite3", "archive.sqlite3", "crawl.sqlite"}
    assert threading.main_thread() not in set().union(*threads.values())


def test_archive_of_a_crawl_that_begins_is_empty(cli, directory):
    CrawlDirectory.create(directory, CrawlConfig(("http://a.test/",)))

    status, _, err = cli("export", "--format", "wacz")

    assert status == 2
    assert "the archive of the crawl is empty" in err


@pytest.mark.parametrize(
    ("option", "missing", "command", "complaint"),
    [
        (None, "frontier.sqlite3-", None, ""),  # files of a running database
        ("--no-index", "crawl.sqlite", ("search", "mill"), "no index"),
        ("--no-archive", "archive", ("export", "--format", "wacz"), "has no archive"),
        ("--no-archive", "archive", ("export", "--format", "cdxj"), "has no archive"),
    ],
)
def test_archive_and_index_can_be_turned_off(
    site, cli, directory, option, missing, command, complaint
):
    site.page("/", "/a")
    site.page("/a")

    status, *_ = cli("crawl", *filter(None, [option]))

    assert status == 0
    assert site.paths == ["/robots.txt", "/", "/a"]
    kept = ["archive-00001.warc.gz", "archive.sqlite3", "crawl.json"]
    kept += ["crawl.sqlite", "frontier.sqlite3", "lock"]
    names = sorted(path.name for path in directory.iterdir())
    assert names == [name for name in kept if not name.startswith(missing)]
    if command:
        status, _, err = cli(*command)
        assert status == 2
        assert complaint in err


def test_index_has_the_words_of_pages_only(site, cli):
    site.answer(
        "/", "<title>Gruß</title><h1>Über uns</h1><a href=/t>Wörter</a>".encode()
    )
    site.answer("/t", b"plainwords", headers={"Content-Type": "text/plain"})

    cli("crawl")

    assert cli("search", "uber", "worter")[0] == 0
    assert cli("search", "title:gruss")[0] == 0
    assert cli("search", "plainwords")[0] == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"body": b"<meta name=robots content=noindex>secretword"},
        {"body": b"secretword", "headers": {"X-Robots-Tag": "noindex"}},
    ],
)
def test_page_that_asks_for_it_is_taken_out_of_the_index(site, cli, answer):
    site.answer("/", b"secretword", times=1)
    site.answer("/", **answer)

    cli("crawl")
    found = cli("search", "secretword")[0]
    cli("crawl")

    assert found == 0
    assert cli("search", "secretword")[0] == 1


def test_search_prints_json(site, cli):
    site.answer("/", b"<title>The mill</title><p>By the river it stands.")
    cli("crawl")

    # The exclusion need not be quoted where the shell leaves it alone.
    status, text, _ = cli("search", "river", "-water", "--json")

    (hit,) = json.loads(text)["hits"]
    assert status == 0
    assert (hit["url"], hit["title"]) == (site.url, "The mill")
    assert [hit["snippet"][a:b] for a, b in hit["highlights"]] == ["river"]


def test_title_of_a_hostile_page_does_not_reach_the_terminal(site, cli):
    site.answer("/", b"<title>\x1b[2Jmill\x07</title>mill \x1b]0;owned\x07")
    cli("crawl")

    _, text, _ = cli("search", "mill")

    assert "mill" in text
    assert text.replace("\n", "").isprintable()


def test_export_as_wacz_goes_through_a_pipe(site, cli, directory):
    site.page("/", "/a", "/b", "/c", title="Home")
    site.page("/a", title="Bare", headers={"Content-Type": "unknown"})
    site.page("/b", headers={"Content-Type": ""})
    site.answer("/c", b"text", headers={"Content-Type": ""})
    cli("crawl")

    exporting = ("-m", "crawler_app", "export", directory, "--format", "wacz")
    with start_python(*exporting, text=False) as process:
        exported = process.stdout.read()

    assert process.returncode == 0
    with zipfile.ZipFile(io.BytesIO(exported)) as wacz:
        assert wacz.testzip() is None
        names = wacz.namelist()
        pages = wacz.read("pages/pages.jsonl").decode().splitlines()
        index = gzip.decompress(wacz.read("indexes/index.cdx.gz")).decode()
    assert "archive/archive-00001.warc.gz" in names
    assert "datapackage.json" in names
    assert cli("export", "--format", "cdxj")[:2] == (0, index)
    titles = {(page["url"], page.get("title")) for page in map(json.loads, pages[1:])}
    assert titles == {
        (site.url, "Home"),
        (f"{site.url}a", "Bare"),
        (f"{site.url}b", None),
    }


def test_index_can_be_searched_during_the_crawl(site, cli, directory):
    site.page("/", "/slow", title="Home")
    site.page("/slow")
    site.hold("/slow")
    running = start_python("-m", "crawler_app", "crawl", site.url, "--into", directory)
    try:
        while "/slow" not in site.paths or cli("search", "home")[0] != 0:
            assert running.poll() is None
            time.sleep(0.1)
        assert cli("status")[0] == 0
    finally:
        site.let_go("/slow")
        running.communicate(timeout=60)
    with contextlib.closing(PageIndex(directory / "crawl.sqlite")) as index:
        assert len(index) == 2
