"""``gencrawl status``: whether a crawl runs, has stopped, or has finished."""

import contextlib
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


@pytest.mark.parametrize(
    ("done", "queued", "is_locked", "state", "line"),
    [
        (2, 0, False, "finished", " on 2023-11-14 at 22:13:21"),
        (
            1,
            1_234,
            False,
            "stopped",
            " on 2023-11-14 at 22:13:20: 1,234 URLs left{go_on}",
        ),
        (0, 1, False, "stopped", ": 1 URL left{go_on}"),
        # Killed before its first URL.
        (0, 0, False, "stopped", ": 0 URLs left{go_on}"),
        (1, 3, True, "running", ": process {process}; 3 URLs left"),
        (1, 0, True, "running", ": process {process}; 0 URLs left"),
    ],
)
def test_state_is_shown_as_text_and_json(
    crawled, status, local_time, done, queued, is_locked, state, line
):
    directory = crawled(done, queued)

    with directory if is_locked else contextlib.nullcontext():
        what, _, first = status(directory).partition("\ndone ")[0].partition("\n")
        values = json.loads(status(directory, "--json"))

    go_on = f"; continue with:\n  gencrawl resume {directory.path}"
    assert first == state + line.format(go_on=go_on, process=os.getpid())
    assert values["state"] == state
    assert what == "crawl of http://a.test/"
    assert (values["seeds"], values["folders"]) == (["http://a.test/"], [])
    assert values["process"] == (os.getpid() if is_locked else None)
    assert values["left"] == queued
    assert values["last_at"] == (1_700_000_000.0 + done - 1 if done else None)
