"""``gencrawl postgres work``: workers with directories of their own, read as one crawl."""

import json
import shutil
import signal
import subprocess
import zipfile

import pytest

from crawler_app.commands.exit_status import FAILED, INTERRUPTED, OK, USAGE
from crawler_app.store.frontier.postgres.blocking_reader import PostgresReader
from tests.helpers.begun_crawl import PAGES
from tests.helpers.scripts import start_python, wait_until

HELD = "/7"
SQL = """
SELECT (SELECT count(DISTINCT url) FROM pages WHERE words IS NOT NULL),
       (SELECT count(DISTINCT target) FROM links WHERE status = 200),
       (SELECT count(DISTINCT warc_filename) FROM captures WHERE fetch_status = 200)
"""


@pytest.fixture
def work(gencrawl, server):
    """Take part in the crawl with a worker's directory."""
    return lambda into: gencrawl("postgres", "work", *server, "--into", into, "-q")


def test_crawl_of_two_workers_is_read_as_one(
    gencrawl, small_tree, server, work, tmp_path, monkeypatch
):
    small_tree.hold(HELD)
    url, *name = server
    first = start_python(
        *("-m", "crawler_app", "crawl", f"{small_tree.url}0", "--frontier", url, *name),
        *("--into", tmp_path / "a/crawl", "--quiet"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # A commit has recorded the pages before it.
    wait_until(lambda: HELD in small_tree.paths)
    wait_until(lambda: gencrawl.json("status", *server, "--json")["done"] > 5)
    assert gencrawl("postgres", "list", url).out.count("docs  1 worker, ") == 1
    first.send_signal(signal.SIGTERM)
    _, err = first.communicate()
    assert first.returncode == INTERRUPTED, err
    assert f"To go on:\n  gencrawl postgres work '{url}' --crawl docs --into " in err
    small_tree.let_go(HELD)

    second = work(tmp_path / "b/crawl")

    assert second.status == OK and "The crawl has finished." in second.out
    fetched = sorted(path for path in small_tree.paths if path != "/robots.txt")
    assert sorted({*fetched}) == sorted(f"/{n}" for n in range(PAGES))
    assert len(fetched) <= PAGES + 10  # what was under way
    # The second has robots.txt and the cookie of the start page from the first.
    assert small_tree.paths.count("/robots.txt") == 1
    _, headers = small_tree.requests[-1]
    assert headers["Cookie"] == "id=7"
    monkeypatch.chdir(tmp_path)
    status = gencrawl.json("status", *server, "--json")
    assert (status["state"], status["done"]) == ("finished", PAGES)
    assert (status["indexed_pages"], status["archive"]["files"]) == (PAGES, 2)
    assert gencrawl.json("status", "b/crawl", "--json") == status
    assert gencrawl("search", *server, "telescope").out.startswith(f"{PAGES} pages")
    lines = gencrawl("export", *server, "-q").out.splitlines()
    assert len({json.loads(line)["url"] for line in lines}) == PAGES
    report = gencrawl.json("report", *server, "-q", "--format", "json")
    assert report["seeds"] == [f"{small_tree.url}0"]
    assert report == gencrawl.json("report", "a/crawl", "-q", "--format", "json") | {
        "made_at": report["made_at"]
    }
    exported = tmp_path / "whole.wacz"
    gencrawl.into(exported, "export", *server, "--format", "wacz")
    names = zipfile.ZipFile(exported).namelist()
    assert sum(name.endswith(".warc.gz") for name in names) == 2
    answer = gencrawl("sql", *server, "-q", SQL).out.split()[-1]
    assert answer == f"{PAGES},{PAGES - 1},2"


def test_directory_that_is_not_here_is_named(
    gencrawl, begin, server, tmp_path, caplog, monkeypatch
):
    begin(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")

    for command in (
        ["search", *server, "telescope"],
        ["export", *server, "--format=cdxj"],
    ):
        ended = gencrawl(*command)
        assert ended.status == USAGE and "what the workers of docs" in ended.err
    # The frontier suffices for these, of which the first does not read every URL.
    with monkeypatch.context() as patch:
        patch.setattr(PostgresReader, "hosts", None)
        ended = gencrawl("status", *server)
    assert f"{tmp_path / 'a'} on " in caplog.text
    assert f"{PAGES} pages, 0 files" in ended.out and "index" not in ended.out
    exported = gencrawl("export", *server, "-q").out
    assert len(exported.splitlines()) == PAGES
    # Known by its UUID where it lies now, once it takes part again.
    assert begin(tmp_path / "b").status == OK
    assert gencrawl("search", *server, "telescope").status == OK


def test_responses_that_are_lost_are_fetched_again(
    gencrawl, begin, small_tree, tmp_path
):
    begin(tmp_path / "a")
    for lost in (tmp_path / "a").glob("archive*"):
        lost.unlink()
    before = len(small_tree.paths)

    assert gencrawl("resume", tmp_path / "a", "-q").status == OK

    again = [path for path in small_tree.paths[before:] if path != "/robots.txt"]
    assert sorted(again) == sorted(f"/{n}" for n in range(PAGES))


def test_crawl_is_begun_once(begin, work, tmp_path, gencrawl, server):
    assert "there is no crawl docs" in work(tmp_path / "a").err
    gencrawl("postgres", "init", *server)
    assert "has not begun; begin it with" in work(tmp_path / "a").err

    assert begin(tmp_path / "a", "--max-depth", 2).status == OK

    assert "another value of --max-depth" in begin(tmp_path / "b").err
    other_site = ["crawl", "http://a.test/", "--frontier", server[0], *server[1:]]
    assert "other start URLs" in gencrawl(*other_site, "--into", tmp_path / "b").err
    assert "made 0 fetches" in begin(tmp_path / "a", "--max-depth", 2).out
    shutil.copytree(tmp_path / "a", tmp_path / "c")
    other = json.loads((tmp_path / "c/crawl.json").read_text())
    (tmp_path / "c/crawl.json").write_text(json.dumps(other | {"crawl_name": "x"}))
    ended = work(tmp_path / "c")
    assert ended.status == USAGE and "holds another crawl" in ended.err


def test_directory_of_a_crawl_that_was_deleted_is_refused(
    begin, gencrawl, server, tmp_path
):
    begin(tmp_path / "a")
    assert gencrawl("resume", tmp_path / "a", "-q").status == OK
    assert gencrawl("postgres", "drop", *server).status == OK

    ended = begin(tmp_path / "a")

    assert ended.status == USAGE and "holds an earlier crawl of this name" in ended.err
    assert begin(tmp_path / "b").status == OK


def test_start_url_that_cannot_be_fetched_is_reported(begin, small_tree, tmp_path):
    small_tree.answer("/robots.txt", b"User-agent: *\nDisallow: /")

    ended = begin(tmp_path / "a")

    assert ended.status == FAILED
    assert "The start URL could not be fetched: " in ended.err
    assert "robots: 1" in ended.out


def test_failures_are_retried_if_that_is_asked_for(gencrawl, site, server, tmp_path):
    site.page("/", "/flaky")
    site.page("/flaky", status=503, times=1)
    site.page("/flaky")
    into, (url, *name) = tmp_path / "a", server
    options = ["--into", into, "--quiet", "--tries", 1]
    gencrawl("crawl", site.url, "--frontier", url, *name, *options)
    assert gencrawl.json("status", into, "--json")["failed"] == 1

    assert "made 0 fetches" in gencrawl("resume", into, "-q").out
    assert gencrawl("resume", into, "-q", "--retry-failed").status == OK

    assert gencrawl.json("status", into, "--json")["done"] == 2


def test_option_that_is_not_possible_is_refused(
    begin, gencrawl, small_tree, server, tmp_path
):
    gencrawl("crawl", small_tree.url, "--into", tmp_path / "other", "--quiet")
    for into, option, says in (
        ("a", "--soft-404", "--soft-404 is not possible"),
        ("other", "--quiet", "holds another crawl"),
        ("file:///nowhere", "--no-archive", "object storage needs an archive"),
        ("file:///nowhere", "--max-staging-bytes=1MB", "must be at least twice"),
    ):
        ended = begin(into if "://" in into else tmp_path / into, option)
        assert ended.status == USAGE and says in ended.err
    # Nothing was begun that would stay.
    assert "docs " not in gencrawl("postgres", "list", server[0]).out
    for command in (
        ["crawl", small_tree.url, "--crawl", "docs", "--into", tmp_path / "b"],
        ["status", tmp_path / "other", "--crawl", "docs"],
    ):
        assert "is the name of a crawl in PostgreSQL" in gencrawl(*command).err

    begin(tmp_path / "a")
    ended = gencrawl("resume", tmp_path / "a", "--tries", 9)

    assert ended.status == USAGE
    assert "--tries was set for all workers when the crawl began" in ended.err


def test_limit_is_that_of_all_workers(
    begin, work, small_tree, gencrawl, tmp_path, server
):
    first = begin(tmp_path / "a", "--max-pages", 10)
    second = work(tmp_path / "b")

    for ended in (first, second):
        assert ended.status == OK
        assert "The crawl has reached --max-pages" in ended.out
    assert len([path for path in small_tree.paths if path != "/robots.txt"]) == 10

    for named in (["DIR"], [str(tmp_path / "b")]):
        shown = gencrawl("status", *(server if named == ["DIR"] else named)).out
        assert f"  gencrawl resume {named[0]} --max-pages N\n" in shown

    # What all workers have begun before counts.
    raised = gencrawl("resume", tmp_path / "b", "--max-pages", 17, "-q")

    assert "The crawl has reached --max-pages" in raised.out
    assert len([path for path in small_tree.paths if path != "/robots.txt"]) == 17
    assert (
        "has finished"
        in gencrawl("resume", tmp_path / "a", "--max-pages", 99, "-q").out
    )
