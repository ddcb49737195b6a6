"""Tells whether a stream is a terminal."""

import os
from typing import TextIO

__all__ = ["is_screen"]

# Terminals whose cursor cannot be moved; the shell in Emacs is "dumb".
DUMB_TERMS = ("", "dumb", "unknown")


def is_screen(file: TextIO) -> bool:
    """Return whether a stream is a terminal whose lines can be overwritten."""
    return file.isatty() and os.environ.get("TERM", "").lower() not in DUMB_TERMS
