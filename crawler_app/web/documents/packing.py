"""Turns what is read in a sandbox into built-in types there, and back here.

An attacker who takes over a sandbox process chooses what it sends.  A class or a function
in that would be called here, so none may cross; see `crawler_app.web.sandbox`.

Named tuples are packed by column: pickling them one by one takes three times as long.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, Generic, NamedTuple, TypeVar

from crawler_app.web.documents.html import Page
from crawler_app.web.documents.links import Anchor
from crawler_app.web.documents.outline import Outline
from crawler_app.web.documents.references import Mention, Use
from crawler_app.web.documents.refresh import Refresh
from crawler_app.web.documents.sitemap import Sitemap

__all__ = ["OUTLINE", "PAGE", "SITEMAP", "Packing"]

T = TypeVar("T")

# The place of the `Use` in a Mention.
USE_COLUMN = 1

# A tenth of the time of calling `Use` for each of thousands.
_USE_BY_NUMBER = {int(use): use for use in Use}


class Packing(NamedTuple, Generic[T]):
    """How results of one type cross from a sandbox.

    Attributes:
        pack: Returns a result as built-in types; called in the sandbox.
        unpack: Returns the result; called with what was packed, or with anything.
    """

    pack: Callable[[T], Any]
    unpack: Callable[[Any], T]


def _values(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _columns(records: Iterable[Mention]) -> list[tuple[Any, ...]]:
    columns = [*zip(*records, strict=True)]
    if columns:
        columns[USE_COLUMN] = tuple(map(int, columns[USE_COLUMN]))
    return columns


def _mentions(columns: list[Any]) -> list[Mention]:
    if columns:
        columns[USE_COLUMN] = map(_USE_BY_NUMBER.__getitem__, columns[USE_COLUMN])
    return [*map(Mention._make, zip(*columns, strict=True))]


def _pack_page(page: Page) -> Any:
    packed = _values(page)
    packed["refresh"] = page.refresh and tuple(page.refresh)
    packed["anchors"] = [*zip(*page.anchors, strict=True)]
    packed["assets"] = _columns(page.assets)
    packed["outline"] = page.outline and _pack_outline(page.outline)
    return packed


def _unpack_page(packed: Any) -> Page:
    refresh = packed["refresh"]
    packed["refresh"] = Refresh(*refresh) if refresh else None
    packed["anchors"] = [*map(Anchor._make, zip(*packed["anchors"], strict=True))]
    packed["assets"] = _mentions(packed["assets"])
    packed["outline"] = packed["outline"] and _unpack_outline(packed["outline"])
    return Page(**packed)


def _pack_outline(outline: Outline) -> Any:
    return outline.base, _columns(outline.mentions), outline.ids, outline.is_partial


def _unpack_outline(packed: Any) -> Outline:
    base, columns, ids, is_partial = packed
    return Outline(base, _mentions(columns), ids, is_partial)


def _unpack_sitemap(packed: Any) -> Sitemap:
    return Sitemap(**packed)


OUTLINE = Packing(_pack_outline, _unpack_outline)
PAGE = Packing(_pack_page, _unpack_page)
SITEMAP: Packing[Sitemap] = Packing(_values, _unpack_sitemap)
