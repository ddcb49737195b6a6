"""The progress line: what it says, and how it is rewritten."""

import io
import os
import pty

import pytest

from crawler_app import progress
from crawler_app.config import CrawlConfig
from crawler_app.crawler import Crawler
from crawler_app.frontier.memory import MemoryFrontier
from crawler_app.models import Candidate, Outcome, State
from crawler_app.progress import CLEAR_LINE, Progress
from gencoro import gen
from gencoro.ioloop import IOLoop


class Terminal(io.StringIO):
    """A file that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Virtual seconds, which a test moves on."""

    class Clock:
        now = 1_000.0

    monkeypatch.setattr(progress.time, "monotonic", lambda: Clock.now)
    return Clock


@pytest.fixture
def crawler():
    """A crawler whose frontier holds three done, one failed, one claimed, two queued."""
    frontier = MemoryFrontier()
    frontier.add(Candidate(f"http://a.test/{n}", "a.test") for n in range(7))
    for reason in ("ok", "ok", "ok", "http_404"):
        state = State.DONE if reason == "ok" else State.FAILED
        frontier.finish(frontier.claim(0.0, 60.0), Outcome(state, reason), 1.0)
    frontier.claim(0.0, 60.0)
    return Crawler(CrawlConfig(("http://a.test/",)), frontier, None)


@pytest.fixture
def loop():
    loop = IOLoop(make_current=False)
    yield loop
    loop.close()


def test_line_tells_how_the_crawl_stands(crawler, clock):
    crawler.stats.add("fetched", 4)
    shown = Progress(crawler, io.StringIO())

    clock.now += 2.0

    assert shown.line() == (
        "  0:02  3 done, 2 queued, 1 under way, 1 failed, 2 fetches/s"
    )


def test_rate_is_that_since_the_line_before(crawler, clock):
    shown = Progress(crawler, io.StringIO())
    rates = []

    for fetched in (1_000, 0, 5):
        crawler.stats.add("fetched", fetched)
        clock.now += 0.5
        rates.append(shown.line().rpartition(", ")[2])

    assert rates == ["2,000 fetches/s", "0 fetches/s", "10 fetches/s"]


def test_time_since_the_start_is_in_minutes(crawler, clock):
    shown = Progress(crawler, io.StringIO())

    clock.now += 7_384.9

    assert shown.line().startswith("123:04  ")


def test_line_at_once_is_no_division_by_zero(crawler, clock):
    assert "0 fetches/s" in Progress(crawler, io.StringIO()).line()


def test_file_gets_a_line_each_time(crawler):
    file = io.StringIO()
    shown = Progress(crawler, file)

    shown.show()
    shown.show()

    text = file.getvalue()
    assert text.count("\n") == 2 and text.endswith("\n")
    assert text.replace("\n", "").isprintable()


def test_terminal_is_rewritten_in_place(crawler):
    terminal = Terminal()
    shown = Progress(crawler, terminal)

    shown.show()
    shown.show()

    empty, first, second = terminal.getvalue().split(CLEAR_LINE)
    assert empty == ""
    assert first.isprintable() and second.isprintable()
    assert "3 done" in first and "3 done" in second


def test_real_terminal_is_known_as_one(crawler):
    ours, theirs = pty.openpty()
    with open(theirs, "w") as terminal:
        Progress(crawler, terminal).show()
        text = os.read(ours, 1_000).decode()
    os.close(ours)

    assert text.startswith(CLEAR_LINE)
    assert "\n" not in text


class CountingFile(io.StringIO):
    """Sets an event when so many lines have been written."""

    def __init__(self, lines, event):
        super().__init__()
        self._left = lines
        self._event = event

    def write(self, text):
        self._left -= 1
        if self._left == 0:
            self._event.set_result(None)
        return super().write(text)


@pytest.mark.parametrize("error", [None, ZeroDivisionError])
def test_lines_come_while_it_is_entered_and_no_longer(
    crawler, loop, monkeypatch, error
):
    monkeypatch.setattr(progress, "EVERY_S", 0.001)

    @gen.coroutine
    def main():
        written = gen.Future()
        file = CountingFile(3, written)
        try:
            with Progress(crawler, file) as shown:
                yield written
                if error:
                    raise error
        except ZeroDivisionError:
            pass
        lines = file.getvalue()
        # The timer of another one goes on; ours would write in the meantime.
        others = gen.Future()
        with Progress(crawler, CountingFile(5, others)):
            yield others
        assert file.getvalue() == lines
        return shown

    loop.run_sync(main, timeout=30)


def test_line_is_wiped_from_the_terminal_at_the_end(crawler, loop):
    terminal = Terminal()

    @gen.coroutine
    def main():
        with Progress(crawler, terminal) as shown:
            shown.show()
        yield gen.moment

    loop.run_sync(main)

    assert terminal.getvalue().endswith(CLEAR_LINE)


def test_file_is_left_as_it_is_at_the_end(crawler, loop):
    file = io.StringIO()

    @gen.coroutine
    def main():
        with Progress(crawler, file):
            yield gen.moment

    loop.run_sync(main)

    assert file.getvalue() == ""
