"""One line that is rewritten in place on a terminal.

Rule: before anything else is printed, the line is cleared.
"""

import os
from typing import TextIO

from crawler_app.terminal.tty import is_screen

__all__ = ["CLEAR_LINE", "StatusLine"]

CLEAR_LINE = "\r\x1b[K"


class StatusLine:
    """The line; elsewhere than on a terminal, nothing is shown.

    Args:
        file: The terminal; None shows nothing.
    """

    def __init__(self, file: TextIO | None) -> None:
        self._file = file if file is not None and is_screen(file) else None
        self._is_shown = False

    def show(self, text: str) -> None:
        """Show a text in place of the last one, cut to the width of the terminal."""
        if self._file is not None:
            self._file.write(CLEAR_LINE + text[: self._columns() - 1])
            self._file.flush()
            self._is_shown = True

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
