"""The command line: exit statuses and messages.

Commands run in this process, unless the test is about processes.
"""

import collections
import contextlib
import os
import random
import signal
import subprocess
import sys

import pytest

from crawler_app.base.models import State
from crawler_app.base.reasons import Reason
from crawler_app.run.directory import CrawlDirectory
from crawler_app.store.frontier.commit_group import MAX_ENDS
from crawler_app.store.index import PageIndex
from tests.helpers.fuzzing import examples
from tests.helpers.scripts import start_gencrawl, wait_until


def test_crawl_prints_a_summary_and_exits_with_0(site, cli):
    site.page("/", "/a", "/missing")
    site.page("/a", title="A")

    done = cli("crawl", "--no-robots")

    assert (done.status, done.err) == (0, "")
    assert "http_404" in done.out
    assert f"found on {site.url}" in done.out


@pytest.mark.parametrize(
    ("path", "status", "complaint"),
    [
        ("missing", 1, "start URL could not be fetched"),
        ("0", 1, "too_many_redirects"),
        ("out", 1, "elsewhere.test"),
        ("4", 0, ""),
    ],
)
def test_start_url_without_a_page_exits_with_1(
    gencrawl, site, directory, path, status, complaint
):
    for i in range(5):
        site.redirect(f"/{i}", to=f"/{i + 1}")
    site.page("/5")
    site.redirect("/out", to="http://elsewhere.test/")

    options = ("--into", directory, "--quiet", "--max-redirects", 3)
    done = gencrawl("crawl", site.url + path, *options)

    assert done.status == status
    assert complaint in done.err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "COMMAND"),
        (["crawl", "http://a.test/"], "--into"),
        (["crawl", "no url", "--into", "{}"], "not an http(s) URL"),
        (["crawl", "http://a.test/", "--into", "/dev/null/x"], "cannot write"),
        (["crawl", "http://a.test/", "--into", "{}", "--tries", "0"], "at least 1"),
        (["resume", "{}"], "does not exist"),
        (["status", "{}"], "does not exist"),
        (["export", "{}"], "does not exist"),
        (["sql", "{}.wacz", "SELECT 1"], ".wacz does not exist"),
        (["status", "s3://a/b"], "by the URL of its frontier in PostgreSQL"),
        (["sql", "s3://a/b.wacz", "SELECT 1"], "download it, and name the copy"),
        (["export", "https://a.test/b.warc.gz"], "download it, and name the copy"),
        (["resume", "s3://a/b"], "continued by `gencrawl postgres work`"),
        (["postgres", "copy", "{}"], "URL is missing"),
        (["postgres", "int", "x"], "there is no command 'int'; did you mean init?"),
        (["postgres", "postgresql://a.test/x"], "such as `gencrawl postgres list"),
        (["report", "{}"], "does not exist"),
    ],
)
def test_invalid_input_exits_with_2_and_leaves_no_files(
    gencrawl, directory, arguments, complaint
):
    done = gencrawl(*[argument.format(directory) for argument in arguments])

    assert done.status == 2
    assert complaint in done.err
    assert "Traceback" not in done.err
    assert not directory.exists()


def test_directory_in_use_is_refused(gencrawl, crawled):
    directory = crawled(queued=1)

    with directory:
        second = gencrawl("resume", directory.path)
        again = gencrawl("crawl", "http://a.test/", "--into", directory.path)

    for refused in (second, again):
        assert refused.status == 2
        assert f"being crawled by process {os.getpid()}" in refused.err


@pytest.mark.parametrize("fault", ["taken port", "short token"])
def test_failing_dashboard_leaves_the_crawl_unchanged(
    gencrawl, site, cli, directory, tmp_path, monkeypatch, fault
):
    site.page("/", "/a")
    site.page("/a")
    cli("crawl", "--no-robots")
    before = gencrawl.json("status", directory, "--json")
    port = "0"
    if fault == "taken port":
        port = site.url.rstrip("/").rpartition(":")[2]
    else:
        monkeypatch.setenv("GENCRAWL_DASHBOARD_TOKEN", "short")

    again = cli("crawl", "--no-robots", "--dashboard", port)
    new = tmp_path / "new"
    anew = gencrawl("crawl", site.url, "--into", new, "--dashboard", port)

    assert (again.status, anew.status) == (2, 2)
    assert before["pages"] == 2
    assert gencrawl.json("status", directory, "--json") == before
    assert not new.exists()


def test_closed_standard_error_is_no_error(directory):
    command = f"{sys.executable} -m crawler_app status {directory} 2>&-"

    done = subprocess.run(
        ["sh", "-c", command], check=False, capture_output=True, text=True, timeout=60
    )

    assert (done.returncode, done.stdout) == (2, "")


def test_page_limit_says_how_to_continue(site, cli, gencrawl, directory):
    site.page("/", "/a", "/b")
    site.pages("/a", "/b")

    first = cli("crawl", "--no-robots", "--max-pages", 2)
    told = gencrawl("status", directory).out
    second = cli("resume", "--max-pages", 9, "--quiet")

    assert (first.status, second.status) == (0, 0)
    assert f"gencrawl resume {directory}" in first.err
    assert f"continue with:\n  gencrawl resume {directory} --max-pages N\n" in told
    assert sorted(site.paths) == ["/", "/a", "/b"]


def test_resume_of_a_finished_crawl_says_so(site, cli):
    site.page("/", "/a")
    site.page("/a")

    crawled = cli("crawl", "--no-robots")
    resumed = cli("resume")

    assert "already finished" not in crawled.err
    assert "already finished" in resumed.err
    assert (resumed.status, resumed.out) == (0, crawled.out)
    assert site.paths == ["/", "/a"]


def test_retry_failed_retries_temporary_failures(gencrawl, site, cli, directory):
    def failed():
        return gencrawl.json("status", directory, "--json")["reasons"]["failed"]

    site.page("/", "/flaky", "/gone")
    site.page("/flaky", status=503, headers={"Retry-After": "0"}, times=3)
    site.page("/flaky", "/found")
    site.page("/found")
    cli("crawl", "--no-robots")
    assert failed() == {"http_503": 1, "http_404": 1}

    plain = cli("resume", "--quiet")
    asked_plainly = len(site.paths)
    again = cli("resume", "--quiet", "--retry-failed")

    assert (plain.status, again.status) == (0, 0)
    assert site.paths[asked_plainly:] == ["/flaky", "/found"]
    assert failed() == {"http_404": 1}


def test_allow_private_fetches_refused_addresses_on_resume(site, cli):
    site.page("/", "/a")
    site.page("/a")

    refused = cli("crawl", "--no-robots", "--deny-private")
    allowed = cli("resume", "--allow-private", "--quiet")

    assert (refused.status, allowed.status) == (1, 0)
    assert refused.err.count("--allow-private") == 1
    assert site.paths == ["/", "/a"]


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_saves_everything_and_exits_with_130(
    gencrawl, site, directory, signal_number
):
    site.page("/", "/slow", "/a")
    site.page("/slow", "/b")
    site.pages("/a", "/b")
    site.hold("/slow")
    running = start_gencrawl("crawl", site.url, "--into", directory, "--quiet")
    wait_until(lambda: "/slow" in site.paths and "/a" in site.paths)
    assert gencrawl.json("status", directory, "--json")["process"] == running.pid

    running.send_signal(signal_number)
    _, complaint = running.communicate(timeout=60)

    assert running.returncode == 130
    assert f"gencrawl resume {directory}" in complaint
    assert "Traceback" not in complaint
    states = gencrawl.json("status", directory, "--json")["states"]
    assert states["queued"] + states["done"] == 3
    site.let_go("/slow")
    assert gencrawl("resume", directory, "--quiet").status == 0
    assert "/b" in site.paths
    assert site.paths.count("/a") <= 2


@pytest.mark.parametrize(
    "words",
    [
        ["status"],
        ["search", "page"],
        ["export"],
        ["export", "--format", "cdxj"],
        ["report", "--output", "-"],
    ],
    ids=" ".join,
)
def test_reading_command_changes_no_file(site, cli, words, directory):
    site.page("/", "/missing", title="Page")
    cli("crawl")
    before = {path: (path.read_bytes(), path.stat()) for path in directory.iterdir()}

    ended = cli(*words)

    assert ended.status == 0
    after = {path: (path.read_bytes(), path.stat()) for path in directory.iterdir()}
    assert after.keys() == before.keys()
    for path, (content, stat) in after.items():
        assert content == before[path][0]
        assert stat.st_mtime_ns == before[path][1].st_mtime_ns


def done_pages(directory):
    """Return the URLs of the pages that the frontier of a crawl records as finished."""
    with contextlib.closing(CrawlDirectory.open(directory).frontier()) as frontier:
        records = frontier.records(State.DONE)
        return {each.url for each in records if each.outcome.reason == Reason.OK}


def found_pages(directory):
    """Return the URLs of all pages that a search finds."""
    with contextlib.closing(CrawlDirectory.open(directory).index()) as index:
        return {hit.url for hit in index.search("title:page", limit=1000).hits}


def test_killed_repeatedly_and_resumed_misses_nothing(
    gencrawl, site, directory, captures
):
    # A tree of pages, with redirects in it; each page links to its children.
    kills = examples(6)
    pages = 40 * kills
    for i in range(pages):
        children = [f"/{c}" for c in range(4 * i + 1, 4 * i + 5) if c < pages]
        if i % 7 == 3:
            site.redirect(f"/{i}", to=f"/r{i}")
        site.page(f"/r{i}" if i % 7 == 3 else f"/{i}", *children, title="Page")
    concurrency = 5
    wanted = [f"/{i}" for i in range(pages)]
    wanted += [f"/r{i}" for i in range(pages) if i % 7 == 3]
    dice = random.Random(1)

    arguments = ["crawl", site.url + "0", "--into", directory]
    for kill in range(kills):
        seen = len(site.paths)
        running = start_gencrawl(*arguments, "--quiet", "--concurrency", concurrency)
        wait_until(lambda seen=seen: len(site.paths) > seen + dice.randrange(35))
        running.kill()
        running.communicate()
        assert running.returncode == -signal.SIGKILL, f"it had ended before kill {kill}"
        assert done_pages(directory) <= found_pages(directory)
        arguments = ["resume", directory]
    last = gencrawl("resume", directory, "--quiet")

    counts = collections.Counter(site.paths)
    assert counts.pop("/robots.txt") <= kills + 1
    assert last.status == 0
    assert set(counts) == set(wanted)
    repeats = sum(counts.values()) - len(counts)
    assert repeats <= kills * (concurrency + MAX_ENDS)
    assert gencrawl.json("status", directory, "--json")["left"] == 0
    assert {each.path for each in captures()} - {"/robots.txt"} == set(wanted)
    with contextlib.closing(PageIndex(directory / "crawl.sqlite")) as index:
        assert len(index) == pages


@pytest.mark.parametrize(
    ("command", "status"), [(["export"], 0), (["check", "--quiet"], 1)]
)
def test_closed_pipe_ends_a_command_quietly(crawled, tmp_path, command, status):
    (tmp_path / "index.html").write_text("<a href=gone>x</a>" * 10_000)
    subject = crawled(queued=3_000).path if command == ["export"] else tmp_path
    running = start_gencrawl(*command, subject)
    running.stdout.readline()
    running.stdout.close()
    with running, running.stderr:
        complaint = running.stderr.read()

    assert (running.returncode, complaint) == (status, "")


def test_installed_command_is_the_same_program(gencrawl):
    installed = os.path.join(os.path.dirname(sys.executable), "gencrawl")
    if not os.path.exists(installed):
        pytest.skip("the project is not installed in this environment")

    version = subprocess.check_output([installed, "--version"], text=True)

    with start_gencrawl("--version") as module:
        assert module.stdout.read() == version
    assert gencrawl("--version").out == version
