"""Makes text from servers safe to print: a terminal obeys control characters.

Pure.  Use `printable` where the reader should see that something was there, as in a URL
or an error; `without_controls` where only the words count, as in a title.
"""

__all__ = ["one_line", "printable", "without_controls"]


def printable(text: str) -> str:
    """Return a text with its control characters escaped, as in Python source.

    >>> printable("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def without_controls(text: str) -> str:
    """Return a text without its control characters.

    >>> without_controls("a\\x1b[2Jb")
    'a[2Jb'
    """
    return text if text.isprintable() else "".join(filter(str.isprintable, text))


def one_line(text: str, most: int) -> str:
    """Return a text as one line of at most `most` characters, without controls.

    >>> one_line(" The\\n  Mill\\x07 of old", 8)
    'The Mill'
    """
    # Split only what may be shown: some sites put a whole page into a title.
    line = " ".join(text[: 4 * most].split())
    return without_controls(line)[:most]
