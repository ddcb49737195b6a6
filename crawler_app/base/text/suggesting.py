"""Suggests corrections of misspelled words.  Pure."""

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean"]

# Of 1.
ALIKE = 0.75


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Return ``; did you mean ...?`` with the most similar word; empty if none is similar.

    >>> did_you_mean("--max-pges", ["--max-pages", "--max-bytes"])
    '; did you mean --max-pages?'
    >>> did_you_mean("zzz", ["crawl", "resume"])
    ''
    """
    # Less is another word: --no-robots is not a misspelled --verbose.
    near = difflib.get_close_matches(word, list(words), n=1, cutoff=ALIKE)
    return f"; did you mean {near[0]}?" if near else ""
