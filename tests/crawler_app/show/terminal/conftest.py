"""A sample of a crawl, and a pseudo-terminal."""

import dataclasses
import os
import pty
import re

import pytest

from crawler_app.base.models import State
from crawler_app.run.crawl import Failure
from crawler_app.run.crawl.monitor import Sample

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

MARK = "\0"

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


class Terminal:
    """A pseudo-terminal; what is written there is kept."""

    def __init__(self):
        self.ours, theirs = pty.openpty()
        self.name = os.ttyname(theirs)
        self.file = os.fdopen(theirs, "w", encoding="utf-8")
        self.text = ""

    def read(self):
        """Return all that has been written."""
        # The system hands it on in its own time; what was written last comes last.
        with open(os.open(self.name, os.O_WRONLY | os.O_NOCTTY), "w") as file:
            file.write(MARK)
        self.text = self.read_until(MARK).replace(MARK, "")
        return self.text

    def read_until(self, part):
        """Wait until something has been written, once more than before."""
        begin = len(self.text)
        while part not in self.text[begin:] and self._read_some():
            pass
        return self.text

    def _read_some(self):
        try:
            data = os.read(self.ours, 65_536)
        except OSError:  # closed at the other end
            return False
        # Only whole characters of the table matter here.
        self.text += data.decode("utf-8", "replace")
        return bool(data)

    def close(self):
        self.file.close()
        os.close(self.ours)


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    yield terminal
    terminal.close()
