"""One line that is rewritten in place on a terminal; few plain lines elsewhere.

Rule: before anything else is printed, the line is cleared.
"""

import os
import time
from collections.abc import Callable
from typing import TextIO

from crawler_app.show.terminal.log_lines import LogLines
from crawler_app.show.terminal.tty import is_screen

__all__ = ["CLEAR_LINE", "StatusLine"]

CLEAR_LINE = "\r\x1b[K"


class StatusLine:
    """The line.

    Args:
        file: The terminal, or another file; None shows nothing.
        clock: Returns the time in seconds.
    """

    def __init__(
        self, file: TextIO | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._file = self._log = None
        if file is not None and is_screen(file):
            self._file = file
        elif file is not None:
            self._log = LogLines(file, clock)
        self._is_shown = False

    def show(self, text: str) -> None:
        """Show a text in place of the last one, cut to the width of the terminal."""
        if self._file is not None:
            self._file.write(CLEAR_LINE + text[: self._columns() - 1])
            self._file.flush()
            self._is_shown = True
        elif self._log is not None:
            self._log.show(text)

    def end(self) -> None:
        """Clear the line, or write the last text where nothing can be cleared."""
        self.clear()
        if self._log is not None:
            self._log.end()

    def clear(self) -> None:
        """Clear the line, if it is shown."""
        if self._is_shown and self._file is not None:
            self._file.write(CLEAR_LINE)
            self._file.flush()
            self._is_shown = False

    def _columns(self) -> int:
        assert self._file is not None
        try:
            return os.get_terminal_size(self._file.fileno()).columns or 80
        except OSError:  # claims to be a terminal, but has no size
            return 80
