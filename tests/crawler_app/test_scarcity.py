"""A crawl with too few file descriptors or too little disk reports it once, or copes."""

import contextlib
import os
import sqlite3
import subprocess

import pytest

from crawler_app.run.directory import CrawlDirectory
from crawler_app.store import database

LIMITED_CRAWL = """
import resource, sys
from crawler_app.commands.main import main
kind, limit, *arguments = sys.argv[1:]
resource.setrlimit(getattr(resource, kind), (int(limit),) * 2)
sys.exit(main(arguments))
"""


@pytest.fixture
def pages(site):
    paths = [f"/{n}" for n in range(80)]
    site.page("/", *paths)
    for path in paths:
        site.answer(path, b"<title>x</title>" + os.urandom(4000).hex().encode())


@pytest.fixture
def crawl_within(site, pages, start_script, directory):
    def crawl_within(kind, limit):
        process = start_script(
            LIMITED_CRAWL,
            *(kind, limit, "crawl", site.url, "--into", directory, "--quiet"),
            *("--retry-pause", "0.1"),
            stderr=subprocess.PIPE,
        )
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err.splitlines()

    return crawl_within


# The interpreter itself has four or five, and the files of a crawl a dozen.
def test_few_files_are_enough_for_a_summary(crawl_within):
    status, out, errors = crawl_within("RLIMIT_NOFILE", 32)

    assert (status, errors) == (0, [])
    assert "81 pages" in out


def test_locked_file_is_not_called_a_disk_error(site, cli, directory, gencrawl):
    site.page("/")
    cli("crawl")
    path = directory / "frontier.sqlite3"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(database, "PATIENCE_S", 0.1)
            ended = gencrawl("resume", directory)

    assert ended.status == 1
    assert ended.err.startswith("gencrawl: a file is in use by another process: ")
    assert (
        f"once the file is free, continue with `gencrawl resume {directory}`"
        in ended.err
    )


@pytest.mark.usefixtures("pages")
def test_full_disk_names_the_report_that_cannot_be_written(
    cli, directory, start_script
):
    cli("crawl")
    page = directory / "page.html"
    # Enough for what SQLite needs to read, but not for the page.
    arguments = ("RLIMIT_FSIZE", 33_000, "report", directory, "--output", page)
    process = start_script(LIMITED_CRAWL, *map(str, arguments), stderr=subprocess.PIPE)
    _, error = process.communicate(timeout=60)

    assert process.returncode == 1
    assert error.splitlines()[-1] == f"gencrawl: {page}: File too large"
    assert not page.exists()


@pytest.mark.parametrize("files", [16, 20])
def test_too_few_files_are_reported_once(crawl_within, files):
    status, _, errors = crawl_within("RLIMIT_NOFILE", files)

    assert status in (1, 2)
    (error,) = errors
    assert error.startswith("gencrawl: ")
    assert "Too many open files" in error


# The first limits are too low for the configuration, the archive and the frontier.
@pytest.mark.parametrize("limit", [100, 9_000, 60_000, 200_000, 400_000])
def test_full_disk_is_reported_once_with_the_command_to_continue(
    crawl_within, directory, limit
):
    status, _, errors = crawl_within("RLIMIT_FSIZE", limit)

    assert status == 1
    (error,) = errors
    assert error.startswith("gencrawl: disk error: ")
    assert "Errno" not in error
    has_begun = CrawlDirectory.holds_crawl(directory)
    advice = f"continue with `gencrawl resume {directory}`"
    assert error.endswith(advice) == has_begun == (limit > 100)
