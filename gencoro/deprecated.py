"""One warning for each place where a program uses what Tornado has removed.

The line that is named is the user's: frames of gencoro itself do not count.
"""

import sys
import warnings

from gencoro.frames import is_ours

__all__ = ["warn_legacy"]

# `gencoro.compat` sets this while it lets legacy code run: that is what was asked for.
is_quiet = False


def warn_legacy(used: str, instead: str) -> None:
    """Warn that something is legacy, once for each line that uses it.

    Later uses on the same line are silent whatever the filters say, until the filters
    change; only where they turn the warning into an error, every use raises it.

    Args:
        used: What was used, such as ``gen.Task``.
        instead: What to write in its place.
    """
    if is_quiet:
        return
    text = f"{used} is legacy: {instead}"
    frame = sys._getframe(1)
    while frame.f_back and is_ours(frame):
        frame = frame.f_back
    line = frame.f_lineno
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        text,
        DeprecationWarning,
        frame.f_code.co_filename,
        line,
        frame.f_globals.get("__name__", "<unknown>"),
        registry,
    )
    # What the filter "default" notes down; "always" would repeat it for ever.
    registry[(text, DeprecationWarning, line)] = True
