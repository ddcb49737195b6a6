"""Decides whether a fragment names a place on a page, and whether the page has it.

Pure.  Ids are given as their hashes, which take less memory.
"""

import re
from array import array
from bisect import bisect_left
from collections.abc import Collection, Container
from urllib.parse import unquote

from crawler_app.web.documents.references import Mention, Use

__all__ = ["Ids", "fragment_of", "has_name", "has_place", "is_scripted", "names_place"]

_LINES = re.compile("L[0-9]+(-L?[0-9]+)?")


class Ids:
    """The hashes of the ids on a page, in eight bytes each.

    >>> hash("top") in Ids(["top", "end"]), hash("x") in Ids([])
    (True, False)
    """

    __slots__ = ("_hashes",)

    def __init__(self, ids: Collection[str]) -> None:
        self._hashes = array("q", sorted(map(hash, ids)))

    def to_bytes(self) -> bytes:
        """Return them in a form that `from_bytes` reads, in this process only."""
        return self._hashes.tobytes()

    @classmethod
    def from_bytes(cls, hashes: bytes) -> "Ids":
        """Return the ids that `to_bytes` has written."""
        ids = cls(())
        ids._hashes.frombytes(hashes)
        return ids

    def __contains__(self, hashed: object) -> bool:
        assert isinstance(hashed, int)
        place = bisect_left(self._hashes, hashed)
        return place < len(self._hashes) and self._hashes[place] == hashed


def fragment_of(mention: Mention) -> str:
    """Return the fragment of a reference, without "#"; empty if it has none."""
    return mention.value.partition("#")[2].strip()


def names_place(mention: Mention, fragment: str) -> bool:
    """Return whether a reference leads to a place on a page, or a part of another image.

    Scripts put images into a page, so that nothing is known of its own.
    """
    if mention.use is Use.ASSET:
        is_part = mention.element == "use" and not mention.value.startswith("#")
        return is_part and has_name(fragment)
    return mention.is_place or has_name(fragment)


def has_name(fragment: str) -> bool:
    """Return whether a fragment names an id.

    Source: WHATWG HTML, 7.4.6.4; a text fragment follows ":~:".  What begins with "/" or "!"
    is the state of a script.

    >>> has_name("install"), has_name("Top"), has_name(":~:text=a"), has_name("/route")
    (True, False, False, False)
    """
    name = fragment.partition(":~:")[0]
    return bool(name) and name.lower() != "top" and name[0] not in "/!"


def has_place(ids: Container[int], fragment: str) -> bool:
    """Return whether the id that a fragment names is one of these.

    >>> has_place({hash("a b")}, "a%20b:~:text=c")
    True
    """
    name = fragment.partition(":~:")[0]
    return hash(name) in ids or hash(unquote(name)) in ids


def is_scripted(ids: Container[int], fragment: str) -> bool:
    """Return whether a script of a code host handles a fragment that is not an id.

    Headings have the id "user-content-name", and lines of files none: "L10", "L10-L20".
    """
    return hash(f"user-content-{unquote(fragment)}") in ids or bool(
        _LINES.fullmatch(fragment)
    )
