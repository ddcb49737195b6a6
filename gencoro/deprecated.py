"""Deprecation warnings for legacy names, once per line of the user's code.

The warning names the user's line: gencoro's own frames are skipped.
"""

import sys
import warnings

from gencoro.frames import is_ours

__all__ = ["warn_legacy"]

# Set while `gencoro.compat` is installed, since the user has chosen to run legacy code.
is_quiet = False


def warn_legacy(used: str, instead: str) -> None:
    """Warn that a name is legacy, once for each line that uses it.

    Later uses on the same line are silent until the warning filters change; only if a
    filter turns the warning into an error does every use raise it.

    Args:
        used: The legacy name, such as ``gen.Task``.
        instead: What to write instead.
    """
    if is_quiet:
        return
    text = f"{used} is legacy: {instead}"
    # Not by warn(stacklevel=), which counts frames: there is no fixed number of ours.
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
    # As the filter "default" does; with "always" the warning would repeat forever.
    registry[(text, DeprecationWarning, line)] = True
