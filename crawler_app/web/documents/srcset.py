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
_DESCRIPTOR = re.compile(rf"(?:[^{_SPACE}(]|\([^)]*+(?:\)|\Z)|(?!))++")
_VALID = re.compile(
    r"[0-9]+[wh]|-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?x"
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
        words = _DESCRIPTOR.findall(descriptors[0].removesuffix(","))
        yield ImageCandidate(url, found.start(1), _are_valid(words))


def _are_valid(descriptors: list[str]) -> bool:
    """Return whether descriptors are a width, a width and a height, or a density."""
    kinds = sorted(word[-1] for word in descriptors)
    return all(map(_VALID.fullmatch, descriptors)) and kinds in (
        [],
        ["w"],
        ["h", "w"],
        ["x"],
    )
