"""Turns what is read in a sandbox into built-in types there, and back here.

An attacker who takes over a sandbox process chooses what it sends.  A class or a function
in that would be called here, so none may cross; see `crawler_app.web.sandbox`.

Named tuples are packed by column: pickling them one by one takes three times as long.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

from crawler_app.web.documents.html import Page
from crawler_app.web.documents.links import Anchor
from crawler_app.web.documents.outline import Outline
from crawler_app.web.documents.references import Mention, Use
from crawler_app.web.documents.refresh import Refresh
from crawler_app.web.documents.sitemap import Sitemap

__all__ = ["Record", "pack", "unpack"]

Record = TypeVar("Record", bound=Page | Outline | Sitemap)

# The fields that are lists of named tuples, and what these are.
_TUPLE_BY_FIELD: dict[str, Callable[[Any], Any]] = {
    "anchors": Anchor._make,
    "assets": Mention._make,
    "mentions": Mention._make,
}

# The place of the `Use` in a Mention.
USE_COLUMN = 1

# A tenth of the time of calling `Use` for each of thousands.
_USE_BY_NUMBER = {int(use): use for use in Use}


def pack(record: Page | Outline | Sitemap) -> dict[str, Any]:
    """Return the fields of a record as built-in types."""
    packed = {
        each.name: getattr(record, each.name) for each in fields(record) if each.init
    }
    for name in _TUPLE_BY_FIELD.keys() & packed:
        packed[name] = [*zip(*packed[name], strict=True)]
        if name != "anchors" and packed[name]:
            packed[name][USE_COLUMN] = [*map(int, packed[name][USE_COLUMN])]
    if packed.get("refresh"):
        packed["refresh"] = tuple(packed["refresh"])
    if packed.get("outline"):
        packed["outline"] = pack(packed["outline"])
    return packed


def unpack(kind: type[Record], packed: dict[str, Any]) -> Record:
    """Return a record, from what `pack` has returned, or anything else."""
    for name in _TUPLE_BY_FIELD.keys() & packed:
        columns = packed[name]
        if name != "anchors" and columns:
            columns[USE_COLUMN] = map(_USE_BY_NUMBER.__getitem__, columns[USE_COLUMN])
        packed[name] = [*map(_TUPLE_BY_FIELD[name], zip(*columns, strict=True))]
    if packed.get("refresh"):
        packed["refresh"] = Refresh(*packed["refresh"])
    if packed.get("outline"):
        packed["outline"] = unpack(Outline, packed["outline"])
    return kind(**packed)
