r"""The user's regular expressions, matched in linear time.

Python's `re` backtracks: with ``(\w+\s?)*$``, a link made for this purpose takes years, and
nothing can stop the search.  RE2 does not backtrack.  In return, its syntax has no
lookarounds and no backreferences.  `include` and `exclude` together can express what
lookarounds express, and the crawler itself skips URLs that repeat a segment.

The package `regex` supports them and has a timeout, but checks it only every 100 ms, and a
page may have a thousand such links.

Source: https://github.com/google/re2/wiki/Syntax
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

import lazy_loader

from crawler_app.base.errors import ConfigError

__all__ = ["any_of"]

# Loaded with the first pattern: it takes 10 ms and 2.5 MB, and most commands need none.
re2 = lazy_loader.load("re2")

# The memory of a compiled pattern and its states; beyond that, RE2 is slower but still linear.
MAX_BYTES = 64 * 2**20

# RE2 takes it as literal text, other engines as ``{0,3}``.
_OPEN_COUNT = re.compile(r"\{,[0-9]+\}")


def any_of(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that returns whether one of the patterns occurs in a text.

    Raises:
        ConfigError: a pattern is invalid.

    >>> is_picture = any_of([r"[.]png$", r"(?i)/img/"])
    >>> is_picture("http://a.test/IMG/1"), is_picture("http://a.test/")
    (True, False)
    """
    patterns = list(patterns)
    if not patterns:
        return lambda text: False
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_BYTES
    for pattern in patterns:
        _check(pattern, options)
    # One search for all, because each takes 3 us.
    search = re2.compile("|".join(f"(?:{each})" for each in patterns), options).search
    return lambda text: search(text) is not None


def _check(pattern: str, options: Any) -> None:
    try:
        re2.compile(pattern, options)
    except (re2.error, UnicodeError) as exc:
        said = exc.args[0]
        said = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(exc)
        raise ConfigError(f"{said}{_cure(pattern)}") from None
    if _OPEN_COUNT.search(pattern):
        raise ConfigError("a count without a minimum; write {0,3} instead of {,3}")


def _cure(pattern: str) -> str:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return ""
    return (
        "; the syntax is that of RE2, without lookaheads and backreferences, but --exclude "
        "takes precedence over --include"
    )
