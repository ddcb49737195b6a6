"""Whether a stream is a terminal."""

import os
from typing import TextIO

__all__ = ["is_screen"]

# Terminals whose cursor cannot be moved; Emacs calls its shell so.
DUMB_TERMS = ("", "dumb", "unknown")


def is_screen(file: TextIO) -> bool:
    """Return whether what is written there can be written over."""
    return file.isatty() and os.environ.get("TERM", "").lower() not in DUMB_TERMS
