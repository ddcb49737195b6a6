"""A crawl in plain lines: what they say, and where they go."""

import io
import os

import pytest

from crawler_app.base.models import State
from crawler_app.show.terminal.lines import clock, line_of
from crawler_app.show.terminal.showing import shown_on


def test_line_tells_how_the_crawl_stands(sample):
    assert line_of(sample()) == (
        "1:02  1,234 done, 10,245 queued, 8 under way, 12 failed, 34 skipped, "
        "52 fetches/s"
    )


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({"phase": "paused"}, ", paused"),
        ({"phase": "stopping"}, ", stopping"),
        ({"phase": "waiting", "waiting_s": 12.4}, ", waiting 12 s"),
    ],
)
def test_line_tells_why_nothing_happens(sample, changes, end):
    assert line_of(sample(**changes)).endswith(end)


def test_time_is_that_of_a_clock():
    assert [clock(s) for s in (0.0, 59.9, 3_599.9, 3_600.0, 90_061.0)] == [
        "0:00",
        "0:59",
        "59:59",
        "1:00:00",
        "25:01:01",
    ]


def test_file_gets_a_line_of_the_first_and_of_the_last_sample(sample):
    stdout, stderr = io.StringIO(), io.StringIO()

    with shown_on(stdout, stderr) as show:
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
        shown_on(io.StringIO(), writer) as show,
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

    with shown_on(stdout, stderr) as show:
        show(sample())

    assert (stdout.getvalue(), stderr.getvalue()) == ("", line_of(sample()) + "\n")


def test_closed_output_is_no_error(sample):
    with shown_on(None, None) as show:
        show(sample())
