"""How far a command has come: what is said, when, and where."""

import io
import os
import sys

import pytest

from crawler_app.base.progress import ITEMS_PER_STEP, in_steps
from crawler_app.show.terminal.status_line import CLEAR_LINE
from crawler_app.show.terminal.steps import Steps


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
def test_log_has_a_line_at_first_and_at_last_and_every_half_minute(
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


@pytest.mark.parametrize("count", [0, 1, ITEMS_PER_STEP, 10 * ITEMS_PER_STEP + 1])
def test_items_are_given_as_they_are(file, clock, count):
    with Steps(file, clock=clock) as steps:
        items = list(in_steps("reading pages", iter(range(count)), steps, count))

    assert items == list(range(count))


def test_items_that_were_given_are_counted(file, clock):
    with Steps(file, clock=clock) as steps:
        for given, _ in enumerate(in_steps("reading", range(1_000), steps, 1_000), 1):
            clock.now = given / 500

    counts = [
        int(line.split()[1].replace(",", "")) for line in file.getvalue().splitlines()
    ]
    assert counts == [512, 1_000]
    assert 500 <= counts[0] < 500 + ITEMS_PER_STEP


def test_items_may_be_left_half_way(file, clock):
    with Steps(file, clock=clock) as steps:
        items = in_steps("reading", range(1_000), steps)
        assert next(items) == 0
        items.close()

    assert file.getvalue() == ""


def test_quiet_one_says_nothing(file, clock):
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


def test_terminal_is_rewritten_in_place_and_wiped_at_the_end(terminal, clock):
    with (
        pytest.raises(KeyboardInterrupt),
        Steps(terminal.file, clock=clock) as steps,
    ):
        for done in (1, 2):
            clock.now += 1.0
            steps("reading pages", done, 2)
        raise KeyboardInterrupt
    text = terminal.read()

    assert text.split(CLEAR_LINE) == [
        "",
        "reading pages 1 of 2",
        "reading pages 2 of 2",
        "",
    ]


def test_line_on_a_terminal_is_no_longer_than_it(terminal, monkeypatch, clock):
    monkeypatch.setattr(os, "get_terminal_size", lambda fd: os.terminal_size((20, 5)))
    with Steps(terminal.file, clock=clock) as steps:
        clock.now = 1.0
        steps("reading the pages of a crawl", 1)
    text = terminal.read()

    # The last column stays free: a cursor there may be in the next line.
    assert text.split(CLEAR_LINE)[1] == "reading the pages o"
