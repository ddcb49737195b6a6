"""Asks the user to report a bug that has made URLs fail."""

import platform
import sys

from crawler_app import __version__
from crawler_app.base.reasons import Reason
from crawler_app.base.text.formatting import number

__all__ = ["ask_for_report"]


def ask_for_report(internal_errors: int) -> bool:
    """Print one line if URLs failed by a bug of ours; return whether any did.

    >>> import contextlib
    >>> with contextlib.redirect_stderr(sys.stdout):
    ...     ask_for_report(0), ask_for_report(2)  # doctest: +ELLIPSIS
    gencrawl: 2 URLs failed by a bug in gencrawl (internal_error); please report it, ...
    (False, True)
    """
    if internal_errors:
        print(
            f"gencrawl: {number(internal_errors, 'URL')} failed by a bug in gencrawl "
            f"({Reason.INTERNAL_ERROR}); please report it, with the traceback that was "
            f"logged (gencrawl {__version__}, Python {platform.python_version()})",
            file=sys.stderr,
        )
    return internal_errors > 0
