"""``gencrawl status``: whether a crawl runs, has stopped, or has finished."""

import json
import os
import time

import pytest


@pytest.fixture
def status(gencrawl):
    """Return what is printed of a directory."""
    return lambda directory, *options: gencrawl("status", directory.path, *options).out


@pytest.fixture
def local_time():
    """The time zone in which the tests read times."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


def test_finished_crawl_says_when(crawled, status, local_time):
    out = status(crawled(done=2))

    assert out.splitlines()[0] == "finished on 2023-11-14 at 22:13:21"


def test_stopped_crawl_says_how_to_go_on(crawled, status, local_time):
    directory = crawled(done=1, queued=1_234)

    out = status(directory)

    assert out.splitlines()[0] == (
        "stopped on 2023-11-14 at 22:13:20: 1,234 URLs left; "
        f"continue with `gencrawl resume {directory.path}`"
    )


def test_running_crawl_names_its_process(crawled, status):
    directory = crawled(done=1, queued=3)

    with directory:
        out = status(directory)

    assert out.splitlines()[0] == (
        f"running: process {os.getpid()} crawls; 3 URLs left"
    )


def test_crawl_that_was_killed_before_its_first_url_has_not_finished(crawled, status):
    assert status(crawled()).startswith("stopped: 0 URLs left; continue with")


@pytest.mark.parametrize(
    ("done", "queued", "is_locked", "state"),
    [
        (1, 0, False, "finished"),
        (1, 1, False, "stopped"),
        (0, 1, False, "stopped"),
        (1, 1, True, "running"),
        (1, 0, True, "running"),
    ],
)
def test_state_is_told_to_programs_too(crawled, status, done, queued, is_locked, state):
    directory = crawled(done, queued)

    if is_locked:
        with directory:
            values = json.loads(status(directory, "--json"))
    else:
        values = json.loads(status(directory, "--json"))

    assert values["state"] == state
    assert values["process"] == (os.getpid() if is_locked else None)
    assert values["left"] == queued
    assert values["last_at"] == (1_700_000_000.0 if done else None)
