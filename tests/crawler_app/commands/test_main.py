"""The command line, as people run it: in processes of its own."""

import collections
import contextlib
import csv
import io
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler_app.commands.main import main
from crawler_app.frontier.group import MAX_ENDS
from crawler_app.index import PageIndex

COMMAND = [sys.executable, "-m", "crawler_app"]


def run(*arguments, **options):
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=60, **options
    )


def start(*arguments):
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_until(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.01)


def archived(directory):
    """Return URL and type of every capture, in order, each digest having been checked."""
    captures = []
    for path in sorted(directory.glob("archive-*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.content_stream().read()
                if record.rec_type in ("response", "revisit"):
                    uri = record.rec_headers.get_header("WARC-Target-URI")
                    captures.append((uri, record.rec_type))
    return captures


def status_of(directory):
    return json.loads(run("status", directory, "--json").stdout)


def test_crawl_writes_a_summary_and_ends_with_0(site, tmp_path):
    site.page("/", "/a", "/missing")
    site.page("/a", title="A")

    done = run("crawl", site.url, "--into", tmp_path / "crawl", "--quiet")

    assert done.returncode == 0
    assert done.stderr == ""
    assert "http_404" in done.stdout
    assert f"found on {site.url}" in done.stdout


def test_start_url_that_fails_ends_with_1(site, tmp_path):
    done = run("crawl", site.url, "--into", tmp_path / "crawl", "--quiet")

    assert done.returncode == 1
    assert "start URL could not be fetched" in done.stderr


def test_start_url_that_redirects_to_a_page_ends_with_0(site, tmp_path):
    site.redirect("/", to="/home")
    site.page("/home")

    done = run("crawl", site.url, "--into", tmp_path / "crawl", "--quiet")

    assert done.returncode == 0


def test_start_url_that_redirects_too_often_ends_with_1(site, tmp_path):
    for i in range(5):
        site.redirect(f"/{i}", to=f"/{i + 1}")

    arguments = ["--into", tmp_path / "crawl", "--quiet", "--max-redirects", 3]
    done = run("crawl", site.url + "0", *arguments)

    assert done.returncode == 1
    assert "too_many_redirects" in done.stderr


def test_start_url_that_redirects_out_of_scope_ends_with_1(site, tmp_path):
    site.redirect("/", to="http://elsewhere.test/")

    done = run("crawl", site.url, "--into", tmp_path / "crawl", "--quiet")

    assert done.returncode == 1
    assert "elsewhere.test" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "COMMAND"),
        (["crawl", "http://a.test/"], "--into"),
        (["crawl", "no url", "--into", "{}"], "not an http(s) URL"),
        (["crawl", "a.test", "--into", "{}"], "did you mean http://a.test"),
        (["crawl", "http://a.test/", "--into", "{}", "--host-gap", "1e308"], "at most"),
        (
            ["crawl", "http://a.test/", "--into", "{}", "--max-redirects", "9" * 25],
            "most",
        ),
        (["crawl", "ftp://a.test/", "--into", "{}"], "not an http(s) URL"),
        (
            ["crawl", "http://a.test/", "--into", "{}", "--concurrency", "0"],
            "at least 1",
        ),
        (["crawl", "http://a.test/", "--into", "{}", "--include", "("], "regular expr"),
        (["crawl", "http://a.test/", "--into", "{}", "--host-gap", "nan"], "seconds"),
        (["resume", "{}"], "holds no crawl"),
        (["status", "{}"], "holds no crawl"),
        (["export", "{}"], "holds no crawl"),
        (["crawl", "http://a.test/", "--into", "/dev/null/x"], "cannot write"),
    ],
)
def test_unusable_input_ends_with_2_and_leaves_nothing(arguments, complaint, tmp_path):
    directory = tmp_path / "crawl"

    done = run(*[argument.format(directory) for argument in arguments])

    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not directory.exists()


def test_directory_in_use_is_refused(site, tmp_path):
    site.page("/")
    site.hold("/")
    first = start("crawl", site.url, "--into", tmp_path / "crawl", "--quiet")
    wait_until(lambda: site.paths)

    second = run("resume", tmp_path / "crawl")
    again = run("crawl", site.url, "--into", tmp_path / "crawl")

    assert (second.returncode, again.returncode) == (2, 2)
    assert f"being crawled by process {first.pid}" in second.stderr
    assert "being crawled" in again.stderr
    site.let_go("/")
    assert first.wait(10) == 0
    first.communicate()


@pytest.mark.parametrize("fault", ["taken port", "short token"])
def test_dashboard_that_cannot_be_leaves_a_crawl_as_it_is(site, tmp_path, fault):
    site.page("/", "/a")
    site.page("/a")
    directory = tmp_path / "docs"
    run("crawl", site.url, "--into", directory)
    before = status_of(directory)
    port, environment = "0", os.environ
    if fault == "taken port":
        port = site.url.rstrip("/").rpartition(":")[2]
    else:
        environment = {**os.environ, "GENCRAWL_DASHBOARD_TOKEN": "short"}

    again = ("crawl", site.url, "--into", directory, "--dashboard", port)
    done = run(*again, env=environment)
    anew = ("crawl", site.url, "--into", tmp_path / "new", "--dashboard", port)
    run(*anew, env=environment)

    assert done.returncode == 2
    assert before["pages"] == 2
    assert status_of(directory) == before
    assert not (tmp_path / "new").exists()


def test_errors_go_nowhere_where_standard_error_is_closed(tmp_path):
    command = " ".join([*COMMAND, "status", str(tmp_path / "none"), "2>&-"])

    done = subprocess.run(
        ["sh", "-c", command], check=False, capture_output=True, text=True, timeout=60
    )

    assert (done.returncode, done.stdout) == (2, "")


def test_progress_is_plain_lines_where_there_is_no_terminal(site, tmp_path):
    site.page("/")
    site.hold("/")
    running = start("crawl", site.url, "--into", tmp_path / "crawl")

    line = running.stderr.readline()
    site.let_go("/")
    running.communicate(timeout=10)

    assert "1 under way" in line
    assert "\r" not in line
    assert "\x1b" not in line


def test_page_limit_tells_how_to_go_on(site, tmp_path):
    site.page("/", "/a", "/b")
    site.page("/a")
    site.page("/b")
    directory = tmp_path / "crawl"

    arguments = ["--into", directory, "--max-pages", 2, "--quiet", "--no-robots"]
    first = run("crawl", site.url, *arguments)
    second = run("resume", directory, "--max-pages", 9, "--quiet")

    assert (first.returncode, second.returncode) == (0, 0)
    assert f"gencrawl resume {directory}" in first.stderr
    assert sorted(site.paths) == ["/", "/a", "/b"]


def test_what_failed_for_a_passing_reason_can_be_tried_again(site, tmp_path):
    site.page("/", "/flaky", "/gone")
    site.page("/flaky", status=503, headers={"Retry-After": "0"}, times=3)
    site.page("/flaky", "/found")
    site.page("/found")
    directory = tmp_path / "crawl"
    run("crawl", site.url, "--into", directory, "--quiet", "--no-robots")
    assert status_of(directory)["reasons"]["failed"] == {"http_503": 1, "http_404": 1}

    plain = run("resume", directory, "--quiet")
    asked_plainly = len(site.paths)
    again = run("resume", directory, "--quiet", "--retry-failed")

    assert (plain.returncode, again.returncode) == (0, 0)
    assert site.paths[asked_plainly:] == ["/flaky", "/found"]
    assert status_of(directory)["reasons"]["failed"] == {"http_404": 1}


def test_what_was_refused_as_private_is_fetched_once_it_is_allowed(site, tmp_path):
    site.page("/", "/a")
    site.page("/a")
    directory = tmp_path / "crawl"
    arguments = ["--into", directory, "--quiet", "--deny-private"]

    refused = run("crawl", site.url, *arguments)
    allowed = run("resume", directory, "--allow-private", "--quiet")

    assert (refused.returncode, allowed.returncode) == (1, 0)
    assert "--allow-private" in refused.stderr
    assert site.paths == ["/robots.txt", "/", "/a"]


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_saves_everything_and_ends_with_130(site, tmp_path, signal_number):
    site.page("/", "/slow", "/a")
    site.page("/slow", "/b")
    site.page("/a")
    site.page("/b")
    site.hold("/slow")
    directory = tmp_path / "crawl"
    running = start("crawl", site.url, "--into", directory, "--quiet")
    wait_until(lambda: "/slow" in site.paths and "/a" in site.paths)

    running.send_signal(signal_number)
    _, complaint = running.communicate(timeout=10)

    assert running.returncode == 130
    assert f"gencrawl resume {directory}" in complaint
    assert "Traceback" not in complaint
    states = status_of(directory)["states"]
    assert states["queued"] + states["done"] == 3
    site.let_go("/slow")
    assert run("resume", directory, "--quiet").returncode == 0
    assert "/b" in site.paths
    assert site.paths.count("/a") <= 2


def test_killed_ten_times_and_resumed_misses_nothing(site, tmp_path):
    # A tree of 400 pages, with redirects in it; each page links to its children.
    pages = 400
    for i in range(pages):
        children = [f"/{c}" for c in range(4 * i + 1, 4 * i + 5) if c < pages]
        if i % 7 == 3:
            site.redirect(f"/{i}", to=f"/r{i}")
        site.page(f"/r{i}" if i % 7 == 3 else f"/{i}", *children)
    directory, concurrency = tmp_path / "crawl", 5
    wanted = [f"/{i}" for i in range(pages)]
    wanted += [f"/r{i}" for i in range(pages) if i % 7 == 3]
    dice = random.Random(1)

    arguments = ["crawl", site.url + "0", "--into", directory]
    for kill in range(10):
        seen = len(site.paths)
        running = start(*arguments, "--quiet", "--concurrency", concurrency)
        wait_until(lambda seen=seen: len(site.paths) > seen + dice.randrange(35))
        running.kill()
        running.communicate()
        assert running.returncode == -signal.SIGKILL, f"it had ended before kill {kill}"
        arguments = ["resume", directory]
    last = run("resume", directory, "--quiet")

    counts = collections.Counter(site.paths)
    assert counts.pop("/robots.txt") <= 11
    assert last.returncode == 0
    assert set(counts) == set(wanted)
    repeats = sum(counts.values()) - len(counts)
    assert repeats <= 10 * (concurrency + MAX_ENDS)
    assert status_of(directory)["left"] == 0
    pages = {f"{site.url}{path[1:]}" for path in wanted}
    assert {uri for uri, _ in archived(directory)} - {site.url + "robots.txt"} == pages
    with contextlib.closing(PageIndex(directory / "crawl.sqlite")) as index:
        assert len(index) == 400


def test_export_gives_every_url_in_both_formats(site, tmp_path):
    site.page("/", "/a", "/old", title="Home, sweet")
    site.page("/a")
    site.redirect("/old", to="/a")
    run("crawl", site.url, "--into", tmp_path / "crawl", "--quiet")

    lines = run("export", tmp_path / "crawl").stdout.splitlines()
    table = run("export", tmp_path / "crawl", "--format", "csv").stdout

    by_url = {row["url"]: row for row in map(json.loads, lines)}
    assert list(by_url) == [site.url, site.url + "a", site.url + "old"]
    assert by_url[site.url]["title"] == "Home, sweet"
    assert by_url[site.url + "old"]["redirect_to"] == site.url + "a"
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [row["url"] for row in rows] == list(by_url)
    assert [row["status"] for row in rows] == ["200", "200", "302"]


def test_export_into_a_closed_pipe_ends_quietly(site, tmp_path):
    site.page("/", *[f"/{i}" for i in range(3000)])
    run("crawl", site.url, "--into", tmp_path / "crawl", "--quiet", "--max-pages", 1)

    command = [*COMMAND, "export", str(tmp_path / "crawl")]
    exporting = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    exporting.stdout.readline()
    exporting.stdout.close()
    complaint = exporting.stderr.read()
    exporting.stderr.close()

    assert exporting.wait(10) == 0
    assert complaint == b""


def test_status_looks_at_a_crawl_that_runs(site, tmp_path):
    site.page("/", "/a", "/b")
    site.page("/a")
    site.page("/b")
    site.hold("/b")
    running = start("crawl", site.url, "--into", tmp_path / "crawl", "--quiet")
    wait_until(lambda: "/b" in site.paths)

    text = run("status", tmp_path / "crawl")
    status = status_of(tmp_path / "crawl")

    assert text.returncode == 0
    assert status["left"] >= 1
    site.let_go("/b")
    running.communicate(timeout=10)
    assert status_of(tmp_path / "crawl")["left"] == 0


def test_demo_crawls_its_own_site(tmp_path):
    done = run("demo", "--into", tmp_path / "demo")

    assert done.returncode == 0
    assert "loops: 1" in done.stdout
    status = status_of(tmp_path / "demo")
    assert status["left"] == 0
    assert status["pages"] == 64
    assert {f["reason"] for f in status["failures"]} == {
        "http_404",
        "http_410",
        "http_500",
    }


def test_curl_client_crawls_too_where_pycurl_is_installed(site, tmp_path):
    pytest.importorskip("pycurl", reason="pycurl is an option")
    site.page("/", "/a")
    site.page("/a")

    arguments = ["--into", tmp_path / "crawl", "--quiet", "--client", "curl"]
    done = run("crawl", site.url, *arguments)

    assert done.returncode == 0
    assert site.paths == ["/robots.txt", "/", "/a"]


def test_help_shows_every_command_and_examples(capsys):
    with pytest.raises(SystemExit) as exit:
        main(["--help"])

    text = capsys.readouterr().out
    assert exit.value.code == 0
    for command in ("crawl", "resume", "status", "export", "demo"):
        assert f"    {command} " in text
    assert "gencrawl crawl https://" in text


def test_installed_command_is_the_same_program():
    gencrawl = os.path.join(os.path.dirname(sys.executable), "gencrawl")
    if not os.path.exists(gencrawl):
        pytest.skip("the project is not installed in this environment")

    version = subprocess.check_output([gencrawl, "--version"], text=True)

    assert version == run("--version").stdout
