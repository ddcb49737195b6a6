"""Suggests corrections of misspelled words.  Pure."""

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Return ``; did you mean ...?`` with the most similar word; empty if none is similar.

    >>> did_you_mean("--max-pges", ["--max-pages", "--max-bytes"])
    '; did you mean --max-pages?'
    >>> did_you_mean("zzz", ["crawl", "resume"])
    ''
    """
    near = difflib.get_close_matches(word, list(words), n=1)
    return f"; did you mean {near[0]}?" if near else ""
