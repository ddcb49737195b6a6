"""The dashboard stays open after the crawl where a person can close it, and only there."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import urllib.request

import pytest

from tests.helpers.scripts import IMPORTS

TOKEN = "a-token-of-enough-characters"
STAYS = "The dashboard stays open"


@contextlib.contextmanager
def crawling(site, into, *options, is_terminal):
    """Run a crawl with a dashboard; give its process, and what it writes to a terminal."""
    ours, theirs = pty.openpty()
    streams = {"stdin": theirs, "stderr": theirs} if is_terminal else {}
    command = ("crawl", site.url, "--into", into, "--quiet", "--dashboard")
    process = subprocess.Popen(
        [sys.executable, "-m", "crawler_app", *map(str, command), *options],
        **({"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE} | streams),
        stdout=subprocess.PIPE,
        env=os.environ | IMPORTS | {"GENCRAWL_DASHBOARD_TOKEN": TOKEN},
    )
    os.close(theirs)
    with open(ours, encoding="utf-8") as terminal, process:
        yield process, terminal if is_terminal else process.stderr
        process.kill()


def text_until(words, file):
    """Read until a text is written."""
    text = ""
    while words not in text:
        line = file.readline()
        assert line, text
        text += line if isinstance(line, str) else line.decode()
    return text


def ask(text, path, method="GET"):
    """Ask the dashboard, whose URL is in a text."""
    base = text.partition("dashboard is at ")[2].partition("/?")[0]
    headers = {"Authorization": f"Bearer {TOKEN}"}
    request = urllib.request.Request(base + path, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


@pytest.mark.parametrize(
    ("options", "is_terminal", "end"),
    [
        ([], True, "close"),
        (["--stay"], False, signal.SIGTERM),
        (["--stay"], False, signal.SIGINT),
    ],
)
def test_dashboard_stays_until_it_is_told_to_go(
    site, directory, options, is_terminal, end
):
    site.page("/", "/gone", title="The mill")

    with crawling(site, directory, *options, is_terminal=is_terminal) as (
        process,
        written,
    ):
        text = text_until(STAYS, written)
        assert "/gone" in ask(text, "/report")
        if end == "close":
            ask(text, "/close", "POST")
        else:
            process.send_signal(end)
        out = process.stdout.read().decode()
        assert process.wait() == 0

    assert "1 page" in out
    assert not (directory / "report.html").exists()


@pytest.mark.parametrize(
    ("options", "is_terminal"), [([], False), (["--no-stay"], True)]
)
def test_crawl_without_a_terminal_or_with_no_stay_does_not_wait(
    site, directory, options, is_terminal
):
    site.page("/")

    with crawling(site, directory, *options, is_terminal=is_terminal) as (process, _):
        assert process.wait(60) == 0
