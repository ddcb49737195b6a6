"""Appends lines to the file of a recording, by any number of processes at once.

Rule: one line, one ``write`` to a file that was opened for appending.  The system keeps such
writes apart, so no process has to wait for another, and what is written outlives a crash.
"""

import json
import os
import sys
from typing import Any

from gencoro.evidence import HEADER, records_of

__all__ = ["Recording"]


class Recording:
    """A file to which each line is appended once.

    Raises:
        EvidenceError: the file exists, and is something else.
        OSError: it cannot be read or written.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._is_open = True
        if not os.path.exists(path) or not os.path.getsize(path):
            self._append(HEADER, os.O_CREAT)
        # What earlier runs, or the parent process, have written is not repeated.
        self._written = {_text(record) for record in records_of(path)}
        self._append("")

    def add(self, record: dict[str, Any]) -> None:
        """Append a line, unless it is there already."""
        text = _text(record)
        if text in self._written or not self._is_open:
            return
        self._written.add(text)
        try:
            self._append(text)
        except OSError as exc:  # a full disk, or the program has removed the file
            # Not raised: the program has nothing to do with it.
            self._is_open = False
            print(f"gencoro run --record: {exc}; recording ends here", file=sys.stderr)

    def _append(self, text: str, more_flags: int = 0) -> None:
        # Opened each time: a program may close files that it does not know.
        flags = os.O_WRONLY | os.O_APPEND | more_flags
        file = os.open(self._path, flags, 0o666)
        try:
            os.write(file, f"{text}\n".encode() if text else b"")
        finally:
            os.close(file)


def _text(record: dict[str, Any]) -> str:
    return json.dumps(record)
