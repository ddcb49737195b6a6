"""The dashboard stays open after the crawl only in a terminal, or with --stay."""

import os
import pty
import signal
import sys
import threading
import urllib.request

import pytest

TOKEN = "a-token-of-enough-characters"
STAYS = "The dashboard stays open"
END = "The end of what was written"


@pytest.fixture
def crawl(gencrawl, site, directory, monkeypatch):
    """Return a function that crawls with a dashboard, in a terminal or without one.

    When the dashboard says that it stays, a thread calls a function with what was written.
    """
    monkeypatch.setenv("GENCRAWL_DASHBOARD_TOKEN", TOKEN)
    monkeypatch.setattr(sys, "stdin", None)

    def crawl(*options, is_terminal, at_end=None):
        ours, theirs = pty.openpty() if is_terminal else os.pipe()
        with open(ours) as written, open(theirs, "w", buffering=1) as file:
            thread = threading.Thread(target=read, args=[written, at_end])
            thread.start()
            try:
                with monkeypatch.context() as patch:
                    patch.setattr(sys, "stderr", file)
                    if is_terminal:
                        patch.setattr(sys, "stdin", file)
                    crawl = ("crawl", site.url, "--into", directory, "--quiet")
                    ended = gencrawl(*crawl, "--dashboard", *options)
            finally:  # the thread must not outlive the file that it reads
                print(END, file=file, flush=True)
                thread.join()
        return ended

    def read(file, at_end):
        text = ""
        while END not in text:
            text += file.readline()
            if STAYS in text and at_end is not None:
                at_end(text)
                at_end = None

    return crawl


def ask(text, path, method="GET"):
    """Ask the dashboard, whose URL is in a text."""
    base = text.partition("dashboard is at ")[2].partition("/?")[0]
    headers = {"Authorization": f"Bearer {TOKEN}"}
    request = urllib.request.Request(base + path, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def close(text):
    ask(text, "/close", "POST")


def interrupt(_):
    os.kill(os.getpid(), signal.SIGINT)


def terminate(_):
    assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL, "would end the tests"
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize(
    ("options", "is_terminal", "end"),
    [([], True, close), (["--stay"], False, terminate), (["--stay"], False, interrupt)],
)
def test_dashboard_stays_until_it_is_closed(
    crawl, site, directory, options, is_terminal, end
):
    site.page("/", "/gone", title="The mill")
    reports = []

    def at_end(text):
        reports.append(ask(text, "/report"))
        end(text)

    ended = crawl(*options, is_terminal=is_terminal, at_end=at_end)

    assert ended.status == 0
    assert "/gone" in reports[0]
    assert "1 page" in ended.out
    assert not (directory / "report.html").exists()


@pytest.mark.parametrize(
    ("options", "is_terminal"), [([], False), (["--no-stay"], True)]
)
def test_crawl_without_a_terminal_or_with_no_stay_does_not_wait(
    crawl, site, options, is_terminal
):
    site.page("/")

    assert crawl(*options, is_terminal=is_terminal).status == 0
