"""Plain lines of progress, and which streams show color and bold."""

import io

import pytest

from crawler_app.show.terminal.plain_text import clock_time, has_style, line_of


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("variables", "in_terminal", "in_pipe"),
    [
        ({}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": ""}, True, False),
        ({"CLICOLOR_FORCE": "1", "CLICOLOR": "0"}, True, True),
        ({"CLICOLOR_FORCE": "0"}, True, False),
        ({"CLICOLOR_FORCE": ""}, True, False),
        ({"CLICOLOR": "0"}, False, False),
        ({"CLICOLOR": "1"}, True, False),
    ],
    ids=str,
)
def test_variables_decide_about_color(monkeypatch, variables, in_terminal, in_pipe):
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert has_style(Terminal()) is in_terminal
    assert has_style(io.StringIO()) is in_pipe


def test_line_shows_the_counts_and_the_rate(sample):
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
        (
            {"phase": "waiting", "waiting_s": 2.0, "waiting_for": "a.test (429)"},
            ", waiting 2 s for a.test (429)",
        ),
    ],
)
def test_line_shows_the_phase(sample, changes, end):
    assert line_of(sample(**changes)).endswith(end)


def test_clock_time_has_hours_if_needed():
    assert [clock_time(s) for s in (0.0, 59.9, 3_599.9, 3_600.0, 90_061.0)] == [
        "0:00",
        "0:59",
        "59:59",
        "1:00:00",
        "25:01:01",
    ]
