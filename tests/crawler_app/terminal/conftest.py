"""A sample to be shown, and a terminal to show it on."""

import dataclasses
import re

import pytest

from crawler_app.crawl import Failure
from crawler_app.crawl.monitor import Sample
from crawler_app.models import State

COUNTS = dict(zip(State, (10_245, 8, 1_234, 12, 34), strict=True))
SAMPLE = Sample(
    at=1_700_000_000.0,
    elapsed_s=62.9,
    phase="running",
    waiting_s=None,
    fetched=1_345,
    size_bytes=45_600_000,
    fetches_per_s=52.3,
    bytes_per_s=1_200_000.0,
    count_by_state=COUNTS,
    under_way_by_host=[("a.test", 5), ("b.test", 3)],
    failures=[Failure(0.0, "http://a.test/gone", "http_404", "")],
)

PART = re.compile(
    r"\x1b\[(?P<number>\d*)(?P<end>[AK])|\x1b\[[?\d;]*[a-zA-Z]|[\r\n]|[^\x1b\r\n]+"
)


@pytest.fixture
def sample():
    """Return a function that makes a sample which differs from an ordinary one."""
    return lambda **changes: dataclasses.replace(SAMPLE, **changes)


@pytest.fixture
def screen_of():
    """Return a function that tells what a terminal would show of what was written."""

    def screen_of(written):
        rows, row, column = [""], 0, 0
        for part in PART.finditer(written):
            text = part.group()
            if part["end"] == "A":
                row = max(row - int(part["number"] or 1), 0)
            elif part["end"] == "K":
                rows[row] = "" if part["number"] == "2" else rows[row][:column]
            elif text == "\r":
                column = 0
            elif text == "\n":
                row, column = row + 1, 0
                rows += [""] * (row + 1 - len(rows))
            elif not text.startswith("\x1b"):
                line = rows[row].ljust(column)
                rows[row] = line[:column] + text + line[column + len(text) :]
                column += len(text)
        return "\n".join(rows).rstrip()

    return screen_of
