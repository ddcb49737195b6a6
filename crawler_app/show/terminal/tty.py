"""Tells whether a stream is a terminal, and whether it is to show color and bold.

Sources: no-color.org, force-color.org, bixense.com/clicolors.
"""

import os
from typing import TextIO

__all__ = ["has_style", "is_screen"]

# Terminals whose cursor cannot be moved; the shell in Emacs is "dumb".
DUMB_TERMS = ("", "dumb", "unknown")


def is_screen(file: TextIO) -> bool:
    """Return whether a stream is a terminal whose lines can be overwritten."""
    return file.isatty() and os.environ.get("TERM", "").lower() not in DUMB_TERMS


def has_style(file: TextIO) -> bool:
    """Return whether to print color and bold to a stream.

    ``NO_COLOR`` turns it off everywhere.  Otherwise ``FORCE_COLOR`` and ``CLICOLOR_FORCE``
    turn it on, also in a pipe, and ``CLICOLOR=0`` turns it off.
    """
    setting = os.environ.get
    if setting("NO_COLOR"):
        return False
    if setting("FORCE_COLOR") or setting("CLICOLOR_FORCE") not in (None, "", "0"):
        return True
    return setting("CLICOLOR") != "0" and is_screen(file)
