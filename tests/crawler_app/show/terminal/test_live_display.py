"""The progress table on a pseudo-terminal: drawn, redrawn and erased."""

import asyncio
import contextlib
import io
import logging
import os
import re
import signal
import subprocess
import sys

import pytest
from rich.console import Console

from crawler_app.show.terminal.live_display import _Live
from crawler_app.show.terminal.progress_display import show_crawl
from tests.helpers.scripts import IMPORTS

STOP_HINT = "Ctrl-C stops the crawl; results are kept"

# Crawls a site whose host may be asked once a minute, and shows it.
CRAWL = """
import contextlib, sys
from crawler_app.run.crawl import monitor
from crawler_app.commands.interruptible import run_interruptible
from crawler_app.base.config import CrawlConfig
from crawler_app.run.crawler import Crawler
from crawler_app.commands.demo_site import DemoSite
from crawler_app.show.terminal.progress_display import show_crawl
from gencoro import gen

monitor.EVERY_S = 0.05

@contextlib.contextmanager
def watch(crawl):
    looking = monitor.Monitor(crawl)
    with show_crawl(sys.stdout, sys.stderr) as show, looking:
        looking.listen(show)
        yield
        {error}

@gen.coroutine
def main():
    site = DemoSite()
    site.start()
    try:
        config = CrawlConfig(
            (site.url,), host_gap_s={gap_s}, robots=False, max_pages=60
        )
        yield Crawler(config, watch=watch).run()
        print("The summary.")
        return 0
    finally:
        yield site.stop()

sys.exit(run_interruptible(main))
"""


@pytest.fixture
def on_terminal(terminal, monkeypatch):
    """Run a function on a loop while both outputs go to the terminal."""

    def run(function):
        async def main():
            function()

        monkeypatch.setattr(sys, "stdout", terminal.file)
        monkeypatch.setattr(sys, "stderr", terminal.file)
        try:
            asyncio.run(main())
        finally:
            monkeypatch.undo()
        return terminal.read()

    return run


def show_once(sample, *texts):
    with show_crawl(sys.stdout, sys.stderr) as show:
        show(sample)
        for text in texts:
            print(text)
        show(sample)


def test_table_is_drawn_and_redrawn_in_place(on_terminal, screen_of, sample, terminal):
    seen = []

    def show_twice():
        with show_crawl(sys.stdout, sys.stderr) as show:
            for fetched in (1, 2):
                show(sample(fetched=fetched))
                seen.append(screen_of(terminal.read()))

    on_terminal(show_twice)

    first, second = seen
    assert "in 1 fetches" in first
    assert second == first.replace("in 1 fetches", "in 2 fetches").replace(" █ ", " ██")


@pytest.mark.parametrize(("no_color", "is_styled"), [("", True), ("1", False)])
def test_no_color_leaves_no_style_at_all(
    on_terminal, screen_of, sample, monkeypatch, no_color, is_styled
):
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm-256color")

    text = on_terminal(lambda: show_once(sample(), "one"))

    assert bool(re.search(r"\x1b\[[\d;]*m", text)) is is_styled
    assert "running" in text
    assert screen_of(text) == "one"


def test_table_is_erased_and_the_cursor_visible(on_terminal, screen_of, sample):
    text = on_terminal(lambda: show_once(sample()))

    assert STOP_HINT in text
    assert screen_of(text) == ""
    # The cursor is visible before the first table, and not only at the end.
    assert text.rindex("\x1b[?25h") > text.rfind("\x1b[?25l")
    assert text.index("\x1b[?25h") < text.index("running")


def test_printed_lines_stay_above_the_table(on_terminal, screen_of, sample):
    long = "[b]no markup[/b] :smile: " + "x" * 200

    text = on_terminal(lambda: show_once(sample(), "one", long))

    # In one line, for the terminal to break: so it can be copied.
    assert screen_of(text) == f"one\n{long}"


# Without a handler, what is logged goes to the last resort of logging.
@pytest.mark.parametrize("made", ["before", "meanwhile", "never"])
def test_logs_stand_above_the_table_too(on_terminal, screen_of, sample, made):
    root = logging.getLogger()
    others = root.handlers[:]

    def log_and_show():
        root.handlers[:] = [logging.StreamHandler()] if made == "before" else []
        with show_crawl(sys.stdout, sys.stderr) as show:
            if made == "meanwhile":
                root.handlers[:] = [logging.StreamHandler()]
            show(sample())
            logging.getLogger("crawler_app").warning("while")
            show(sample())
        logging.getLogger("crawler_app").warning("after")
        assert all(handler.stream is sys.stderr for handler in root.handlers)

    try:
        text = on_terminal(log_and_show)
    finally:
        root.handlers[:] = others

    assert screen_of(text) == "while\nafter"


def test_errors_that_go_to_a_file_stay_there(
    terminal, monkeypatch, tmp_path, screen_of, sample
):
    async def main():
        with show_crawl(sys.stdout, sys.stderr) as show:
            show(sample())
            print("an error", file=sys.stderr)

    with (tmp_path / "errors").open("w+") as file, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal.file)
        patch.setattr(sys, "stderr", file)
        asyncio.run(main())
        file.seek(0)

        assert file.read() == "an error\n"
    assert screen_of(terminal.read()) == ""


def test_wrapped_rows_are_erased_after_narrowing(sample):
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    with _Live(console=console, auto_refresh=False) as live:
        live.update("x" * 70 + "\nyy", refresh=True)
        console.width = 24
        with console.capture() as captured:
            live.update("z", refresh=True)
        with console.capture() as again:
            live.update("z", refresh=True)

    # Two lines were broken into three rows each, for all that we know; one of them needs
    # no step up.
    assert captured.get().count("\x1b[1A") == 5
    assert again.get().count("\x1b[1A") == 0


@contextlib.contextmanager
def crawling(terminal, *, gap_s=60.0, error=""):
    with subprocess.Popen(
        [sys.executable, "-c", CRAWL.format(gap_s=gap_s, error=error)],
        env=os.environ | IMPORTS | {"COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        stdout=terminal.file,
        stderr=terminal.file,
    ) as process:
        terminal.file.close()
        try:
            yield process
        finally:  # a test that fails would wait for its end otherwise
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_crawl_leaves_the_terminal_clean(terminal, screen_of, number):
    with crawling(terminal) as process:
        terminal.read_until(STOP_HINT)
        process.send_signal(number)
        text = terminal.read_until("never written")
        assert process.wait() == 130

    assert screen_of(text) == "Stopped."


@pytest.mark.parametrize(
    ("error", "status", "left"),
    [("", 0, "The summary."), ("raise SystemExit('broken')", 1, "broken")],
)
def test_ended_crawl_leaves_the_terminal_clean(
    terminal, screen_of, error, status, left
):
    # One after another, and none of them waits.
    with crawling(terminal, gap_s=0.001, error=error) as process:
        text = terminal.read_until("never written")
        assert process.wait() == status

    assert STOP_HINT in text
    assert screen_of(text) == left


def test_suspended_crawl_erases_and_redraws_the_table(terminal, screen_of):
    with crawling(terminal) as process:
        terminal.read_until(STOP_HINT)
        process.send_signal(signal.SIGTSTP)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        assert screen_of(terminal.read()) == ""

        process.send_signal(signal.SIGCONT)
        assert STOP_HINT in screen_of(terminal.read_until(STOP_HINT) + "\n")
        process.send_signal(signal.SIGINT)
        text = terminal.read_until("never written")
        assert process.wait() == 130

    assert screen_of(text) == "Stopped."
