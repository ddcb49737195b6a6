"""The blocks of a page: its paragraphs, headings, items and cells, and what is around them.

Pure.  A block is an element that begins a new line, with the text directly in it.  What its
ancestors say of it, such as ``<nav>`` or ``class="sidebar"``, are its *signs*: one bit each, so
that a child's signs are its parent's and its own.

Most elements of a page have no text.  So only its texts are visited, and from each the elements
around it that are not known yet.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase
from typing import Any, NamedTuple, cast

from turbohtml import Element, Node, NodeFilter, NodeIterator, Text

from crawler_app.web.main_content.signs import HIDDEN, LINK, SIGN_BY_TAG, SIGN_BY_WORD

__all__ = ["BLOCK_TAGS", "MAX_ELEMENTS", "UNSEEN", "Block", "Page", "page_of"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Not shown, or not text.
UNSEEN = _names(
    "audio canvas datalist iframe math noembed noframes noscript object option script select"
    " style svg template textarea title video"
)

BLOCK_TAGS = _names(
    "address article aside blockquote body button caption center dd details dialog dir div dl"
    " dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr label"
    " legend li listing main menu nav ol optgroup p plaintext pre search section summary table"
    " tbody td tfoot th thead tr ul xmp"
)

# The words of a class or an id.  Where all is in lower case, as nearly always, they are what is
# between other characters; a pattern, which takes longer, finds those of camel case.
_SPACE_FOR_OTHERS = bytes(
    byte if chr(byte) in ascii_lowercase else ord(" ") for byte in range(256)
)
_SIGN_BY_LOWER = {word.encode(): sign for word, sign in SIGN_BY_WORD.items()}
_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")

# With text in them.  A page of more is left whole: what is around its content is little.
MAX_ELEMENTS = 50_000

# A longer paragraph is prose.
PROSE_CHARS = 80

# Attributes that few elements have, beside their classes; most styles say nothing of it.
_MARKED = '[id], [role], [hidden], [aria-hidden="true"], [style*="none"]'
_NOT_DISPLAYED = re.compile(r"display\s*:\s*none")


@dataclass(slots=True, eq=False)
class Block:
    """A block, and the sums over the blocks in it.

    Attributes:
        parent: The block that it is in; None for the body.
        signs: What its tags, classes and roles say, and those of its ancestors.
        classes: Its class attribute, as it is written.
        chars: The length of its own text, without that of the blocks in it.
        linked: Characters of that in links and buttons.
        end: The last piece of its own text.
        key: A number for its own text; blocks of one text have the same.
        all_chars: The length of its text and of that of the blocks in it.
        all_linked: How many of these are in links.
        all_prose: How many of these are in long paragraphs.
        all_blocks: Blocks with text among them.
        score: The probability that it belongs to the main content.
        all_score: The sum of these for it and the blocks in it, each times its length.
    """

    element: Element
    parent: "Block | None"
    signs: int
    tag: str
    classes: str = ""
    chars: int = 0
    linked: int = 0
    end: str = ""
    key: int = 0
    all_chars: int = 0
    all_linked: int = 0
    all_prose: int = 0
    all_blocks: int = 0
    score: float = 0.0
    all_score: float = 0.0


# Where a text is: the nearest block around it, and the signs of the element that it is in.
_Place = tuple[Block, int]


class Page(NamedTuple):
    """The blocks of a page that have text, or have such blocks in them.

    Attributes:
        blocks: In document order; the first is the body, also without text.
        with_text: The elements in which there is text.
    """

    blocks: list[Block]
    with_text: Collection[Node | None]


def page_of(body: Element) -> Page:
    """Return the blocks of a page, in document order; of those after `MAX_ELEMENTS` none.

    Args:
        body: Without the `UNSEEN` elements.

    >>> from turbohtml import parse
    >>> page = parse("<div>Hello, <b>you</b><nav><a href=b>Home</a></nav></div>")
    >>> [(each.tag, each.chars, each.linked) for each in page_of(page.root[1]).blocks]
    [('body', 0, 0), ('div', 9, 0), ('nav', 4, 4)]
    """
    root = Block(body, None, 0, body.tag)
    blocks = [root]
    places: dict[Node | None, _Place] = {body: (root, 0)}
    marked = set(body.select(_MARKED))
    texts = cast(Iterator[Text], NodeIterator(body, NodeFilter.SHOW_TEXT))
    for node in texts:
        text = node.data.strip()
        if not text:
            continue
        if "\n" in text:
            text = " ".join(text.split())
        parent = node.parent
        place = places.get(parent)
        if place is None:
            if len(places) > MAX_ELEMENTS:
                break
            place = _place_of(parent, places, blocks, marked)
        block, signs = place
        block.chars += len(text)
        block.end = text
        block.key = hash((block.key, text))
        if signs & LINK:
            block.linked += len(text)
    _add_up(blocks)
    return Page(blocks, places.keys())


def _place_of(
    node: Any,  # an element in the body, where all ancestors are elements too
    places: dict[Node | None, _Place],
    blocks: list[Block],
    marked: set[Element],
) -> _Place:
    """Find out where an element is, and what is around it."""
    # Not recursive: elements may be nested by the thousand.
    path = []
    while (place := places.get(node)) is None:
        path.append(node)
        node = node.parent
    block, signs = place
    for element in reversed(path):
        tag = element.tag
        if tag in SIGN_BY_TAG:
            signs |= SIGN_BY_TAG[tag]
        if classes := element.attr("class") or "":
            signs |= _signs_in(classes)
        if element in marked:
            signs |= _signs_of(element)
        if tag in BLOCK_TAGS:
            block = Block(element, block, signs, tag, classes)
            blocks.append(block)
        places[element] = place = (block, signs)
    return place


def _signs_of(marked: Element) -> int:
    """Return what an element's attributes say, beside its classes."""
    signs = _signs_in(marked.attr("id") or "")
    if role := marked.attr("role"):
        signs |= SIGN_BY_WORD.get(f"role={role.lower()}", 0)
    if (
        marked.attr("hidden") is not None
        or marked.attr("aria-hidden") == "true"
        or _NOT_DISPLAYED.search(marked.attr("style") or "")
    ):
        signs |= HIDDEN
    return signs


@lru_cache(maxsize=10_000)
def _signs_in(words: str) -> int:
    signs = 0
    words = words[:1000]
    if not words.islower():
        words = " ".join(_WORD.findall(words)).lower()
    lower = words.encode("ascii", "replace").translate(_SPACE_FOR_OTHERS)
    for word in _SIGN_BY_LOWER.keys() & lower.split():
        signs |= _SIGN_BY_LOWER[word]
    return signs


def _add_up(blocks: list[Block]) -> None:
    for block in reversed(blocks):
        if chars := block.chars:
            block.all_chars += chars
            block.all_linked += block.linked
            block.all_blocks += 1
            if chars > PROSE_CHARS and block.tag == "p":
                block.all_prose += chars
        if (parent := block.parent) is not None:
            parent.all_chars += block.all_chars
            parent.all_linked += block.all_linked
            parent.all_blocks += block.all_blocks
            parent.all_prose += block.all_prose
