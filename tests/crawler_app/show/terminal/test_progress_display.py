"""Progress of commands, on terminals and in logs."""

import io
import os
import sys
import threading

import pytest

from crawler_app.base.models import State
from crawler_app.base.progress import ITEMS_PER_STEP, in_steps
from crawler_app.base.reasons import never_checked
from crawler_app.run.crawl import monitor
from crawler_app.show.terminal.plain_text import line_of
from crawler_app.show.terminal.progress_display import Steps, show_crawl


@pytest.fixture
def file():
    return io.StringIO()


@pytest.mark.parametrize(
    ("seconds", "lines"),
    [
        (0, []),
        (1, [10]),
        (2, [10, 20]),
        (31, [10, 310]),
        (75, [10, 310, 610, 750]),
    ],
)
def test_log_has_first_and_last_line_and_one_each_half_minute(
    file, clock, seconds, lines
):
    with Steps(file, clock=clock) as steps:
        for done in range(1, 10 * seconds + 1):
            clock.now = done / 10
            steps("reading pages", done * 1_000, 900_000)

    said = [f"reading pages {done},000 of 900,000" for done in lines]
    assert file.getvalue().splitlines() == said


def test_total_may_be_unknown(file, clock):
    with Steps(file, clock=clock) as steps:
        clock.now = 1.0
        steps("reading pages", 1_234)

    assert file.getvalue() == "reading pages 1,234\n"


def test_items_that_were_given_are_counted(file, clock):
    with Steps(file, clock=clock) as steps:
        items = enumerate(in_steps("reading", range(1_000), steps, 1_000))
        for number, item in items:
            assert item == number
            clock.now = (number + 1) / 500

    counts = [
        int(line.split()[1].replace(",", "")) for line in file.getvalue().splitlines()
    ]
    assert counts == [512, 1_000]
    assert 500 <= counts[0] < 500 + ITEMS_PER_STEP


def test_quiet_steps_print_nothing(file, clock):
    with Steps(file, quiet=True, clock=clock) as steps:
        clock.now = 10.0
        steps("reading pages", 1)
        assert list(in_steps("reading pages", [1, 2], steps)) == [1, 2]

    assert file.getvalue() == ""


def test_closed_output_is_no_error(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", None)

    with Steps(clock=clock) as steps:
        clock.now = 10.0
        steps("reading pages", 1)


def test_bar_is_redrawn_in_place_and_erased_at_the_end(terminal, screen_of, clock):
    seen = []
    with (
        pytest.raises(KeyboardInterrupt),
        Steps(terminal.file, clock=clock) as steps,
    ):
        for done in (1, 2):
            clock.now += 1.0
            steps("reading pages", done, 4)
            seen.append(screen_of(terminal.read()))
        raise KeyboardInterrupt
    text = terminal.read()

    quarter, half = seen
    assert "reading pages 1 of 4 ━━━━━" in quarter
    assert "reading pages 2 of 4 ━━━━━━━━━━" in half
    assert "\n" not in half
    assert screen_of(text) == ""
    # The cursor is visible while the line is, and not only at the end.
    assert text.index("\x1b[?25h") < text.index("reading pages 1")


@pytest.mark.parametrize("columns", [5, 20, 40, 60])
def test_line_on_a_terminal_is_no_longer_than_it(
    terminal, screen_of, monkeypatch, clock, columns
):
    monkeypatch.setenv("COLUMNS", str(columns))
    with Steps(terminal.file, clock=clock) as steps:
        clock.now = 1.0
        steps("reading the pages of a crawl", 1, 1_000_000)
        shown = screen_of(terminal.read())

    assert shown.startswith("reading the pages"[: columns - 2])
    assert len(shown) <= columns
    assert "\n" not in shown


def test_file_has_lines_for_first_and_last_sample(sample):
    stdout, stderr = io.StringIO(), io.StringIO()

    with show_crawl(stdout, stderr) as show:
        show(sample())
        for number in range(8):
            show(sample(count_by_state=dict.fromkeys(State, number)))

    first, second = stderr.getvalue().splitlines()
    assert "1,234 done" in first
    assert "7 done" in second
    assert stderr.getvalue().replace("\n", "").isprintable()
    assert stdout.getvalue() == ""


def test_line_is_in_a_pipe_at_once(sample):
    reading, writing = os.pipe()
    with (
        open(reading) as reader,
        open(writing, "w") as writer,
        show_crawl(io.StringIO(), writer) as show,
    ):
        show(sample())

        assert reader.readline() == line_of(sample()) + "\n"


@pytest.mark.parametrize("term", ["dumb", ""])
def test_terminal_that_cannot_move_its_cursor_gets_lines(sample, monkeypatch, term):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", term)
    stdout, stderr = Terminal(), Terminal()

    with show_crawl(stdout, stderr) as show:
        show(sample())

    assert (stdout.getvalue(), stderr.getvalue()) == ("", line_of(sample()) + "\n")


def test_crawl_with_closed_output_is_no_error(sample):
    with show_crawl(None, None) as show:
        show(sample())


@pytest.fixture
def held_site(site, monkeypatch):
    """Return a site with a broken link, whose last page is held."""
    monkeypatch.setattr(monitor, "EVERY_S", 0.01)
    site.page("/", "gone", "held")
    site.page("/held")
    site.hold("/held")
    return site


def test_progress_of_a_check_is_erased_at_the_end(
    held_site, gencrawl, terminal, screen_of, monkeypatch
):
    monkeypatch.setattr(sys, "stderr", terminal.file)
    monkeypatch.setattr(sys, "stdout", terminal.file)

    def let_go():
        terminal.read_until("2 URLs checked, 1 to go, 1 finding")
        held_site.let_go("/held")

    letting_go = threading.Thread(target=let_go)
    letting_go.start()
    ended = gencrawl("check", held_site.url)
    letting_go.join()

    assert ended.status == 3
    url = held_site.url
    assert screen_of(terminal.read()).splitlines() == [
        f'{url}:1:40: "x" -> {url}gone  404 Not Found',
        "",
        "1 finding: 1 broken",
        "Checked: 2 references in 2 documents, to 3 URLs.",
        f"Not checked: {never_checked()}.",
    ]


@pytest.mark.parametrize("option", ["--quiet", "--verbose"])
def test_check_shows_no_progress(held_site, gencrawl, terminal, monkeypatch, option):
    monkeypatch.setattr(sys, "stderr", terminal.file)
    held_site.let_go("/held")

    ended = gencrawl("check", held_site.url, option)

    assert ended.status == 3
    assert "checked" not in terminal.read()


@pytest.mark.parametrize(
    ("command", "words"), [("check", " checked, "), ("crawl", " under way, ")]
)
def test_log_has_few_lines_of_progress(
    held_site, gencrawl, directory, monkeypatch, command, words
):
    reading, writing = os.pipe()
    lines = []

    def read(reader):
        for line in reader:
            lines.append(line)
            held_site.let_go("/held")

    with open(reading) as reader, open(writing, "w", buffering=1) as writer:
        thread = threading.Thread(target=read, args=[reader])
        thread.start()
        monkeypatch.setattr(sys, "stderr", writer)
        gencrawl(command, held_site.url, "--into", directory)
        writer.close()
        thread.join()

    progress = [line.rstrip("\n") for line in lines if words in line]
    assert 1 <= len(progress) <= 2
    assert all(line.isprintable() for line in progress)
