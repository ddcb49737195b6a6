"""The blocks of a page: its paragraphs, headings, items and cells, and what is around them.

Pure.  A block is an element that begins a new line, with the text directly in it.  What its
ancestors say of it, such as ``<nav>`` or ``class="sidebar"``, are its *signs*: one bit each, so
that a child's signs are its parent's and its own.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

from turbohtml import Element, Text

from crawler_app.web.main_content.signs import HIDDEN, SIGN_BY_TAG, SIGN_BY_WORD

__all__ = ["UNSEEN", "Block", "blocks_of"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Not shown, or not text.
UNSEEN = _names(
    "audio canvas datalist iframe math noembed noframes noscript object option script select"
    " style svg template textarea title video"
)

_BLOCKS = _names(
    "address article aside blockquote body button caption center dd details dialog dir div dl"
    " dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr label"
    " legend li listing main menu nav ol optgroup p plaintext pre search section summary table"
    " tbody td tfoot th thead tr ul xmp"
)

# Without content.
_VOID = _names("area br col embed img input source track wbr")

# The words of a class or an id, which may be written in camel case.
_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")

# A longer paragraph is prose.
PROSE_CHARS = 80

_NOT_DISPLAYED = re.compile(r"display\s*:\s*none")


@dataclass(slots=True, eq=False)
class Block:
    """A block, and the sums over the blocks in it.

    Attributes:
        parent: The block that it is in; None for the body.
        signs: What its tags, classes and roles say, and those of its ancestors.
        text: Its own text, without that of the blocks in it; joined later.
        linked: Characters of that in links and buttons.
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
    pieces: list[str] = field(default_factory=list)
    text: str = ""
    linked: int = 0
    all_chars: int = 0
    all_linked: int = 0
    all_prose: int = 0
    all_blocks: int = 0
    score: float = 0.0
    all_score: float = 0.0


def blocks_of(body: Element) -> list[Block]:
    """Return the blocks of a page, in document order, empty ones too.

    >>> from turbohtml import parse
    >>> page = parse("<div>Hello, <b>you</b><nav><a href=b>Home</a></nav></div>")
    >>> [(each.text, each.linked) for each in blocks_of(page.root[1])]
    [('', 0), ('Hello, you', 0), ('Home', 4)]
    """
    root = Block(body, None, 0)
    found = [root]
    # Not recursive: elements may be nested by the thousand.
    open_elements = [(iter(body), root, 0, False)]
    while open_elements:
        nodes, block, signs, in_link = open_elements[-1]
        pieces = block.pieces
        for node in nodes:
            if type(node) is Text:
                data = node.data
                if pieces or not data.isspace():
                    pieces.append(data)
                    if in_link:
                        block.linked += len(data.strip())
            elif type(node) is Element and (tag := node.tag) not in UNSEEN:
                is_block = tag in _BLOCKS
                if pieces and (is_block or tag == "br"):
                    pieces.append(" ")
                if tag in _VOID:
                    continue
                own = signs | _signs_of(node, tag)
                if is_block:
                    block = Block(node, block, own)
                    found.append(block)
                link = in_link or tag == "a" or tag == "button"
                open_elements.append((iter(node), block, own, link))
                break
        else:
            open_elements.pop()
    _add_up(found)
    return found


def _signs_of(element: Element, tag: str) -> int:
    signs = SIGN_BY_TAG.get(tag, 0)
    attr = element.attr
    if words := attr("class"):
        signs |= _signs_in(words)
    if words := attr("id"):
        signs |= _signs_in(words)
    if role := attr("role"):
        signs |= SIGN_BY_WORD.get(f"role={role.lower()}", 0)
    # Most styles are rejected by the first, in a tenth of the time.
    style = attr("style")
    if style and "none" in style and _NOT_DISPLAYED.search(style):
        signs |= HIDDEN
    if attr("hidden") is not None or attr("aria-hidden") == "true":
        signs |= HIDDEN
    return signs


@lru_cache(maxsize=10_000)
def _signs_in(words: str) -> int:
    signs = 0
    for word in _WORD.findall(words[:1000]):
        signs |= SIGN_BY_WORD.get(word.lower(), 0)
    return signs


def _add_up(blocks: list[Block]) -> None:
    for block in reversed(blocks):
        if block.pieces:
            block.text = " ".join("".join(block.pieces).split())
        if block.text:
            chars = len(block.text)
            block.linked = min(block.linked, chars)
            block.all_chars += chars
            block.all_linked += block.linked
            block.all_blocks += 1
            if chars > PROSE_CHARS and block.element.tag == "p":
                block.all_prose += chars
        if block.all_chars and (parent := block.parent) is not None:
            parent.all_chars += block.all_chars
            parent.all_linked += block.all_linked
            parent.all_blocks += block.all_blocks
            parent.all_prose += block.all_prose
