"""Text in a picture of which nobody knows the font: how wide it is, and how it is cut.

Pure.  Widths are estimates, rather too wide than too narrow.
"""

import unicodedata

from crawler_app.text.formatting import ELLIPSIS

__all__ = ["cut", "width_of"]

# Of the size of the font, as in the usual fonts without serifs.
NARROW, USUAL, CAPITAL, WIDE = 0.36, 0.62, 0.72, 1.05

# Less than this of a name tells nothing.
LEAST_CHARS = 3


def width_of(text: str, font_size: float) -> float:
    """Return how wide a text is, in the unit of the font size.

    >>> width_of("ill", 10.0) < width_of("wow", 10.0) < width_of("WOW", 10.0)
    True
    """
    return sum(map(_width_of_char, text)) * font_size


def _width_of_char(char: str) -> float:
    if char in "fijlrt.,:;'|!()[]/ ":
        return NARROW
    if char in "mwMW@%" or unicodedata.east_asian_width(char) in "WF":
        return WIDE
    return CAPITAL if char.isupper() else USUAL


def cut(text: str, room: float, font_size: float) -> str:
    """Return as much of a text as there is room for; nothing if that is too little.

    >>> cut("reference", 100.0, 10.0), cut("reference", 30.0, 10.0)
    ('reference', 'refer\u2026')
    >>> cut("reference", 15.0, 10.0)
    ''
    """
    if width_of(text, font_size) <= room:
        return text
    room -= width_of(ELLIPSIS, font_size)
    # No text that fits has more characters than this.
    most = min(len(text) - 1, int(max(0.0, room) / (NARROW * font_size)))
    for chars in range(most, LEAST_CHARS - 1, -1):
        if width_of(text[:chars], font_size) <= room:
            return text[:chars].rstrip(" .-_") + ELLIPSIS
    return ""
