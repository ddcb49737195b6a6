"""Rewrites the references of pages and style sheets, and nothing else.

Pure.  References are found as a check finds them (`crawler_app.web.documents.references`),
and edited in the source by their places, so that the rest stays as the author has written it.

A few attributes would keep a page from working without its server: ``integrity`` and
``crossorigin`` of what is a file now, which has no origin; ``<base href>``; and the policies
of a ``<meta http-equiv=Content-Security-Policy>``.
"""

import html
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from turbohtml import Element

from crawler_app.base.urls import join_or_nothing
from crawler_app.web.documents.css import references_in_css
from crawler_app.web.documents.references import (
    MAX_DEPTH,
    Reference,
    Use,
    references_of,
    refresh_in,
)
from crawler_app.web.documents.refresh import parse_refresh
from crawler_app.web.documents.tree import START_TAG, Tree, attribute_finder, tree_of

__all__ = ["Refer", "rewritten_css", "rewritten_page"]

# Takes the URL that a reference is relative to, and the reference; returns what to write
# instead, or None to leave it.
Refer = Callable[[str, str], str | None]
_Replace = Callable[[str], str | None]

_IN_STRING = re.compile(r"""(?:[^"'\\\n\r\f]|\\(?:\r\n|[\s\S]))*""")
_IN_URL = re.compile(r"""(?:[^)\\\s"'(]|\\(?:[0-9a-fA-F]{1,6}\s?|[^\n\r\f]))*""")
_NOT_IN_CSS = re.compile(r"""[\s"'()\\]""")
_NOT_IN_SRCSET = re.compile(r"[\s,()]")

# What a form leads to, which no folder has.
_ACTIONS = {"form": "action", "button": "formaction", "input": "formaction"}

_SRCSETS = ("srcset", "imagesrcset")


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


def rewritten_page(
    markup: str, url: str, refer: Refer, *, is_xml: bool = False, depth: int = 0
) -> str:
    """Return a page with other references.

    Args:
        url: Its own, or that which the references in an attribute's page are relative to.
        depth: The number of pages that contain this one.

    >>> rewritten_page("<a class=b href=b>B</a>", "http://a.test/", lambda base, x: "c&d")
    '<a class=b href="c&amp;d">B</a>'
    """
    is_dos = "\r\n" in markup and markup.count("\r\n") == markup.count("\n")
    # Without scripts, what is in a <noscript> has its places too.
    tree = tree_of(markup, is_xml=is_xml, scripting=False)
    edits = {edit.start: edit for edit in _edits(tree, url, refer, depth)}
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits.values()):
        if edit.start >= at:
            pieces += tree.source[at : edit.start], edit.text
            at = edit.end
    text = "".join((*pieces, tree.source[at:]))
    return text.replace("\n", "\r\n") if is_dos else text


def rewritten_css(
    text: str, replace: _Replace, *, is_attribute: bool = False
) -> str | None:
    """Return a style sheet with other references; None if nothing changes.

    >>> rewritten_css("@import 'a'; b { c: url(d) }", lambda reference: reference + "2")
    "@import 'a2'; b { c: url(d2) }"
    """
    pieces: list[str] = []
    at = 0
    for found in references_in_css(text, is_attribute=is_attribute):
        # A fragment alone is in the page itself, whatever its base is.
        new = None if found.value.startswith("#") else replace(found.value)
        if new is not None:
            is_quoted = text[found.at - 1] in "\"'"
            old = (_IN_STRING if is_quoted else _IN_URL).match(text, found.at)
            assert old is not None
            pieces += text[at : found.at], _escaped(_NOT_IN_CSS, new)
            at = old.end()
    return "".join((*pieces, text[at:])) if pieces else None


def _edits(tree: Tree, url: str, refer: Refer, depth: int) -> Iterator[_Edit]:
    references = list(references_of(tree, depth=depth))
    bases = [each.value for each in references if each.use is Use.BASE]
    base = join_or_nothing(url, bases[0]) if bases else ""
    replace = partial(refer, base or url)
    places: dict[tuple[int, str], tuple[Element, list[Reference]]] = {}
    for each in references:
        place = tree.offset_of(each.element), each.attribute
        places.setdefault(place, (each.element, []))[1].append(each)
    for name, attribute in _ACTIONS.items():
        for element in tree.tags(name):
            places.setdefault((tree.offset_of(element), attribute), (element, []))
    for (_, attribute), (element, found) in places.items():
        yield from _edits_of(tree, element, attribute, found, replace, depth)
    for element in tree.tags("meta"):
        if (element.attr("http-equiv") or "").lower() == "content-security-policy":
            at = tree.offset_of(element)
            if policy := attribute_finder("content")(tree.source, at):
                yield _Edit(policy.start("name"), policy.end(), 'content=""')


def _edits_of(
    tree: Tree,
    element: Element,
    name: str,
    found: list[Reference],
    replace: _Replace,
    depth: int,
) -> Iterator[_Edit]:
    """Yield the edits of an attribute or a style sheet, for the references found in it."""
    at = tree.offset_of(element)
    if not name:
        tag, text = START_TAG.match(tree.source, at), element.text
        new = rewritten_css(text, replace)
        if tag and new is not None and tree.source.startswith(text, tag.end()):
            yield _Edit(tag.end(), tag.end() + len(text), new)
        return
    place, value = attribute_finder(name)(tree.source, at), element.attr(name)
    if place is None or value is None:
        return
    if element.tag == "base":
        yield _Edit(*place.span(1), "")
        return
    new = _new_value(element, name, value, found, replace, depth)
    if new is None or new == value:
        return
    edited = f'{place["name"]}="{html.escape(new)}"'
    yield _Edit(place.start("name"), place.end(), edited)
    if "://" not in new:
        for other in ("integrity", "crossorigin"):
            if useless := attribute_finder(other)(tree.source, at):
                yield _Edit(*useless.span(1), "")


def _new_value(
    element: Element,
    name: str,
    value: str,
    found: list[Reference],
    replace: _Replace,
    depth: int,
) -> str | None:
    if name == "style":
        return rewritten_css(value, replace, is_attribute=True)
    if name in _SRCSETS:
        return _rewritten_srcset(value, found, replace)
    if name == "srcdoc":
        if depth >= MAX_DEPTH:
            return None
        return rewritten_page(
            value, "", lambda _, reference: replace(reference), depth=depth + 1
        )
    if value.startswith("#") and element.tag not in ("a", "area"):
        return None
    if element.tag == "meta":
        return _rewritten_refresh(element, replace)
    return replace(value)


def _rewritten_srcset(value: str, images: list[Reference], replace: _Replace) -> str:
    pieces: list[str] = []
    at = 0
    for image in images:
        new = replace(image.value)
        if new is not None:
            pieces += value[at : image.offset], _escaped(_NOT_IN_SRCSET, new)
            at = image.offset + len(image.value)
    return "".join((*pieces, value[at:]))


def _rewritten_refresh(element: Element, replace: _Replace) -> str | None:
    content = refresh_in(element) or ""
    refresh = parse_refresh(content)
    new = replace(refresh.reference) if refresh else None
    if refresh is None or new is None:
        return None
    return f"{refresh.after_s}; url='{_escaped(_NOT_IN_CSS, new)}'"


def _escaped(illegal: re.Pattern[str], reference: str) -> str:
    """Return a reference without some characters, which would end it."""
    return illegal.sub(lambda found: f"%{ord(found[0]):02X}", reference)
