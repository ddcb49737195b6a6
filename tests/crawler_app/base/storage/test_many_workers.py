"""Workers that archive to object storage, and readers on other machines."""

import io
import json
import os
import re
import shutil
import signal
import zipfile

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler_app.base.storage.ranges import _block
from crawler_app.commands.exit_status import INTERRUPTED, OK, USAGE
from crawler_app.run.directory import CrawlDirectory
from tests.helpers.begun_crawl import PAGES
from tests.helpers.scripts import start_gencrawl, wait_until

HELD = "/7"


@pytest.fixture
def small_files(tmp_path):
    """Options for an archive of many files."""
    path = tmp_path / "small-files.toml"
    path.write_text("max-archive-file-bytes = 3000")
    return "--config", path


@pytest.fixture
def begin_and_stop(small_tree, server):
    """Begin the crawl with a worker that is stopped in the middle."""

    def begin_and_stop(*options):
        small_tree.hold(HELD)
        url, *name = server
        # One at a time: only the page that is held is fetched twice.
        one = ("--concurrency", 1, *options)
        begin = ("crawl", f"{small_tree.url}0", "--frontier", url, *name, *one)
        worker = start_gencrawl(*begin)
        wait_until(lambda: HELD in small_tree.paths)
        worker.send_signal(signal.SIGTERM)
        worker.communicate()
        assert worker.returncode == INTERRUPTED
        small_tree.let_go(HELD)

    return begin_and_stop


def pages_of(small_tree):
    return sorted(path for path in small_tree.paths if path != "/robots.txt")


def urls_of(wacz, small_tree):
    """Return the paths of the pages in a WACZ file, from its records and its list."""
    package = zipfile.ZipFile(wacz)
    responses = []
    for name in package.namelist():
        if name.endswith(".warc.gz"):
            for record in ArchiveIterator(io.BytesIO(package.read(name))):
                if record.rec_type == "response":
                    responses.append(record.rec_headers["WARC-Target-URI"])
    lines = package.read("pages/pages.jsonl").splitlines()[1:]
    listed = [json.loads(line)["url"] for line in lines]
    pages = [
        url.removeprefix(small_tree.url) for url in responses if "robots" not in url
    ]
    return sorted(pages, key=int), sorted(listed)


def assert_all_is_read(gencrawl, small_tree, server, tmp_path):
    """Check that each page is in the index and in the archive once."""
    assert gencrawl.json("status", *server, "--json")["indexed_pages"] == PAGES
    exported = tmp_path / "whole.wacz"
    gencrawl.into(exported, "export", *server, "-q", "--format", "wacz")
    pages, listed = urls_of(exported, small_tree)
    assert pages == [str(n) for n in range(PAGES)]
    assert listed == sorted(f"{small_tree.url}{n}" for n in range(PAGES))


def test_crawl_of_two_workers_is_read_from_another_machine(
    gencrawl, begin_and_stop, small_files, small_tree, server, s3, tmp_path, monkeypatch
):
    into = ("--into", f"{s3.url}/docs", "--quiet")
    begin_and_stop(*into, *small_files)
    (staging,) = (tmp_path / "cache/gencrawl/staging").iterdir()
    assert not list(staging.glob("*.warc.gz")) and (staging / "crawl.sqlite").exists()
    second = gencrawl("postgres", "work", *server, *into, "--staging", tmp_path / "b")
    assert second.status == OK and "The crawl has finished." in second.out
    names = s3.names()
    assert names.count("archive-00001.warc.gz") == names.count("catalogue.json") == 2

    shutil.rmtree(tmp_path / "b")
    shutil.rmtree(tmp_path / "cache")
    monkeypatch.chdir(tmp_path)

    kept = gencrawl.json("status", *server, "--json")
    assert kept["archive"]["files"] > 4
    assert not (tmp_path / "cache").exists()  # the catalogue has the numbers
    found = gencrawl.json("search", *server, "telescope 12", "--json")
    assert [hit["url"] for hit in found["hits"]] == [f"{small_tree.url}12"]
    report = gencrawl.json("report", *server, "-q", "--format", "json")
    assert report["pages_not_read"] == 0
    lines = gencrawl("export", *server, "-q", "--format", "cdxj").out.splitlines()
    assert len(lines) == kept["archive"]["captures"]
    question = (
        "SELECT count(DISTINCT url), count(DISTINCT warc_filename), "
        "(SELECT count(DISTINCT target) FROM links WHERE status = 200) "
        "FROM captures WHERE fetch_status = 200 AND subset = 'warc'"
    )
    answer = gencrawl("sql", *server, "-q", question).out.split()[-1]
    assert answer == f"{PAGES},{kept['archive']['files']},{PAGES - 1}"
    assert_all_is_read(gencrawl, small_tree, server, tmp_path)


@pytest.mark.parametrize("is_dead", [False, True])
def test_pages_lost_with_a_machine_are_fetched_again(
    gencrawl, begin_and_stop, small_tree, server, tmp_path, is_dead
):
    store, before = tmp_path / "store", tmp_path / "before"
    into = ("--into", f"file://{store}", "--quiet")
    begin_and_stop(*into)
    shutil.copytree(store, before)
    small_tree.requests.clear()
    assert gencrawl("postgres", "work", *server, *into).status == OK
    fetched = pages_of(small_tree)
    (staging,) = (tmp_path / "cache/gencrawl/staging").iterdir()
    key = (staging / "store").read_text().strip()

    # The machine is lost before it has uploaded its latest pages.
    shutil.rmtree(tmp_path / "cache")
    shutil.rmtree(store)
    if not is_dead:
        shutil.copytree(before, store)
    lost = PAGES if is_dead else len(fetched)
    forget = ("postgres", "forget", *server, "--store")
    ended = gencrawl(*forget, key)
    assert ended.status == OK
    what = "had nothing left" if is_dead else "keeps what it has"
    urls = f"{lost} URLs to be fetched again"
    assert ended.out == f"{urls}; file://{store}/{key} {what}\n"
    if not is_dead:
        again = gencrawl(*forget, f"file://{store}/{key}")
        assert again.out.startswith("0 URLs to be fetched again")

    small_tree.requests.clear()
    assert gencrawl("postgres", "work", *server, *into).status == OK

    assert len(pages_of(small_tree)) == lost and (
        is_dead or pages_of(small_tree) == fetched
    )
    found = gencrawl.json("search", *server, "telescope", "--json", "--limit", 99)
    assert sorted(hit["url"] for hit in found["hits"]) == sorted(
        f"{small_tree.url}{n}" for n in range(PAGES)
    )


def test_existing_store_is_not_forgotten(gencrawl, begin, server, faulty):
    begin("faulty://bucket")
    ended = gencrawl("postgres", "forget", *server)
    assert ended.status == USAGE and "--store is missing" in ended.err
    ended = gencrawl("postgres", "forget", *server, "--store", "x")
    assert ended.status == USAGE and "faulty://bucket/" in ended.err
    location = ended.err.split()[-3]
    faulty.is_away = True

    ended = gencrawl("postgres", "forget", *server, "--store", location)

    assert ended.status not in (OK, USAGE) and "the storage is away" in ended.err
    faulty.is_away = False
    assert gencrawl.json("status", *server, "--json")["done"] == PAGES


def test_report_fails_without_storage(gencrawl, begin, server, faulty):
    begin("faulty://bucket")
    report = ("report", *server, "-q", "--format", "json")
    assert gencrawl.json(*report)["pages_not_read"] == 0
    _block.cache_clear()
    faulty.goes_away_at = ".warc.gz"

    ended = gencrawl(*report)

    assert ended.status not in (OK, USAGE) and "the storage is away" in ended.err
    assert not ended.out


SEVERAL = ("--processes", 2, "--concurrency", 4)


@pytest.mark.parametrize("is_killed", [False, True])
def test_process_waiting_for_storage_can_be_stopped_and_killed(
    gencrawl, small_tree, server, tmp_path, monkeypatch, is_killed
):
    monkeypatch.setattr("crawler_app.base.storage.objects.READ_PAUSES_S", ())
    store, away = tmp_path / "store", tmp_path / "away"
    url, *name = server
    into = (*name, "--into", f"file://{store}", "--quiet", *SEVERAL)
    small_tree.hold(HELD)
    begin = ("crawl", f"{small_tree.url}0", "--frontier", url, *into)
    main = start_gencrawl(*begin)
    wait_until(lambda: HELD in small_tree.paths)
    wait_until(lambda: len(list(store.glob("*/catalogue.json"))) == 2)
    store.rename(away)
    store.write_text("a file, below which nothing can be written")
    small_tree.let_go(HELD)
    # Another process may have fetched nothing, and so have ended.
    waiting = re.search("wait in (.*), trying again: ", main.stderr.readline())[1]
    wait_until(lambda: not gencrawl.json("status", *server, "--json")["left"])

    if is_killed:
        os.kill(CrawlDirectory(waiting).owner(), signal.SIGKILL)
        assert any("has died with signal SIGKILL" in line for line in main.stderr)
    else:
        main.send_signal(signal.SIGINT)
        _, err = main.communicate()
        assert main.returncode == INTERRUPTED and "To go on:\n" in err
        assert f"wait for file://{store}; they are uploaded when" in err
    store.unlink()
    away.rename(store)
    if is_killed:
        _, err = main.communicate()
        assert main.returncode == OK, err
    else:
        assert gencrawl("postgres", "work", url, *into).status == OK

    shutil.rmtree(tmp_path / "cache")  # read from another machine
    assert_all_is_read(gencrawl, small_tree, server, tmp_path)
    assert len(pages_of(small_tree)) == PAGES
