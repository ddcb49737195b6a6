"""Parses ``srcset`` and ``imagesrcset``, according to WHATWG HTML, 4.8.4.2.4.  Pure."""

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["ImageCandidate", "candidates_in"]

_SPACE = " \t\n\f\r"
_URL = re.compile(rf"[{_SPACE},]*+([^{_SPACE}]++)")
# A possessive group ends in "|(?!)": before Python 3.11.5 the rest of the pattern starts
# where its last try failed (python/cpython#106052).
_DESCRIPTORS = re.compile(r"(?:[^(),]++|\([^)]*+(?:\)|\Z)|\)|(?!))*+,?")
_WIDTH, _HEIGHT = "[0-9]+w", "[0-9]+h"
_DENSITY = r"-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?x"
# A width, a width and a height, a density, or nothing.
_VALID = re.compile(
    rf"[{_SPACE}]*+(?:{_WIDTH}(?:[{_SPACE}]++{_HEIGHT})?"
    rf"|{_HEIGHT}[{_SPACE}]++{_WIDTH}|{_DENSITY})?[{_SPACE}]*+"
)


class ImageCandidate(NamedTuple):
    """An image in a srcset.

    Attributes:
        at: The offset of its URL in the value.
        is_valid: Whether browsers accept its descriptors; they ignore it otherwise.
    """

    url: str
    at: int
    is_valid: bool = True


def candidates_in(value: str) -> Iterator[ImageCandidate]:
    """Yield the images of a srcset, in order.

    >>> [found.url for found in candidates_in("a.png, b.png 2x, data:,x 3x")]
    ['a.png', 'b.png', 'data:,x']
    """
    at = 0
    while (found := _URL.match(value, at)) is not None:
        url, at = found[1], found.end()
        if url.endswith(","):
            yield ImageCandidate(url.rstrip(","), found.start(1))
            continue
        descriptors = _DESCRIPTORS.match(value, at)
        assert descriptors is not None
        at = descriptors.end()
        is_valid = _VALID.fullmatch(descriptors[0].removesuffix(",")) is not None
        yield ImageCandidate(url, found.start(1), is_valid)
