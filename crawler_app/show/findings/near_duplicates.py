"""Finds pages with nearly the same text.

Pure.  Each text gets a sketch, which is equal in about as many places as the texts have runs
of words in common: one-permutation MinHash (Li, Owen and Zhang, 2012).  Two sketches are
compared only if one of their bands is equal, so the time grows with the number of pages, not of
pairs.
"""

from array import array
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

__all__ = ["MIN_SHARE", "Sketch", "bands_of", "groups_of", "sketch_of"]

Sketch = bytes

# Places of a sketch, four bytes each: a power of two.  A band has eight of them.  Texts that
# share 90 % of their runs have an equal band in 98 of 100 cases, those that share half in 3.
PLACES = 64
BAND = 8

# Of the places, in texts that are nearly the same.
MIN_SHARE = 0.9

# Words of a run; and the fewest runs that tell one text from another.
RUN = 3
MIN_RUNS = 40


def sketch_of(text: str) -> Sketch:
    """Return the sketch of a text; empty if the text is too short to be compared.

    >>> sketch_of("Page not found")
    b''
    """
    words = text.lower().split()
    runs = set(map(hash, zip(*(words[at:] for at in range(RUN)), strict=False)))
    if len(runs) < MIN_RUNS:
        return b""
    # The least of each place is the last one.  Of a long text the least runs are enough, as
    # in ten of them for each place hardly any place has none.
    limit = -(2**63) + 2**64 * 10 * PLACES // len(runs)
    ordered = sorted([run for run in runs if run < limit], reverse=True)
    least = dict(zip(map((PLACES - 1).__and__, ordered), ordered, strict=True))
    return array("I", map(_start_of, map(least.get, range(PLACES)))).tobytes()


def _start_of(run: int | None) -> int:
    """Return the first 32 bits of the hash of a run."""
    return 0xFFFF_FFFF if run is None else run >> 32 & 0xFFFF_FFFF


def bands_of(sketch: Sketch) -> Iterator[int]:
    """Yield what at least two sketches must have in common to be compared."""
    size = BAND * array("I").itemsize
    for at in range(0, len(sketch), size):
        yield hash((at, sketch[at : at + size]))


def groups_of(rows: Iterable[tuple[int, int, Sketch]]) -> list[list[int]]:
    """Return the documents that are nearly the same, in groups.

    Args:
        rows: A band, a document and its sketch, sorted by band.

    >>> same = sketch_of(" ".join(map(str, range(99))))
    >>> groups_of([(5, 1, same), (5, 2, same), (6, 3, same)])
    [[1, 2]]
    """
    first_by_document: dict[int, int] = {}

    def first_of(document: int) -> int:
        while (first := first_by_document.get(document, document)) != document:
            document = first
        return document

    for _, band in groupby(rows, key=itemgetter(0)):
        (_, first, sketch), *others = band
        for _, document, other in others:
            if _share(sketch, other) >= MIN_SHARE:
                ends = sorted((first_of(first), first_of(document)))
                first_by_document[ends[1]] = ends[0]
    groups: dict[int, list[int]] = {}
    for document in sorted(first_by_document.keys() | first_by_document.values()):
        groups.setdefault(first_of(document), []).append(document)
    return [group for group in groups.values() if len(group) > 1]


def _share(one: Sketch, other: Sketch) -> float:
    equal = sum(map(int.__eq__, array("I", one), array("I", other)))
    return equal / PLACES
