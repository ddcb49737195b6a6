"""The visible text and the headings of a page, for a full-text index.

Pure.  The parser can turn a tree into text.  Before it does so, here, what is not part of the
text is taken out of the tree, and whatever else stands for itself becomes a ``<div>``: tables
and lists would be drawn with blanks, bullets and numbers.
"""

import itertools
import re

from turbohtml import Element, ShadowRoot, Text

from crawler_app.base.models import MAX_TEXT_CHARS
from crawler_app.web.documents.tree import MAX_STEPS, Tree, is_within

__all__ = ["headings_and_text", "text_of"]


def _names(alternatives: str) -> tuple[str, ...]:
    return tuple(alternatives.split("|"))


# Invisible elements.  An "rt" is visible (it gives the pronunciation of the characters
# before it), but it would split the word that they are part of.
_UNSEEN = _names("datalist|noembed|noframes|rp|rt|script|style|title")

# Images, video and form fields: visible, but not text.  The letters of a formula are not
# words either.
_BOXES = _names("audio|canvas|iframe|math|object|select|svg|textarea|video")

# The parts around the main text, which are the same on every page.
_AROUND = _names("dialog|nav|noscript|search")

# Parts that are around the main text only in some places.
_PARTS = _names("aside|button|footer|header")

# Roles of elements like these.
_AROUND_ROLES = frozenset(("navigation", "search"))
_PART_ROLES = frozenset(("banner", "contentinfo"))

# Their text is separated from the text before and after.
_BLOCKS = _names(
    "address|article|blockquote|caption|center|details|dd|dir|dl|dt|fieldset|figcaption"
    "|figure|form|hgroup|legend|li|listing|main|marquee|menu|ol|optgroup|option|plaintext"
    "|pre|section|summary|table|td|th|tr|ul|xmp"
)
_BREAKS = _names("hr|img|input")
_HEADINGS = _names("h1|h2|h3|h4|h5|h6")

# The elements that are changed in a tree.
_CHANGED = (*_UNSEEN, *_BOXES, *_BLOCKS, *_BREAKS, *_HEADINGS, "div", "p")

# Headings, headers and so on that are examined, of each name; people write fewer.
MAX_EXAMINED = 10_000

# In these, the parser begins a line before and after a block; elsewhere, only before it.
_WITH_LINES = frozenset(("body", "div", "p", *_HEADINGS))

_CONTENT = frozenset(("article", "main", "section"))

# Mark a heading in a text.  Python treats them as white space, so str.split removes them.
_HEADING_START, _HEADING_END = "\x1c", "\x1d"

# A zero-width space is the only space between words in Khmer, Lao, Burmese and Thai.
# Elsewhere it marks where a long word may be broken.
_BETWEEN_WORDS = re.compile(
    "\u200b(?<=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]\u200b)"
)

# Control characters, soft hyphens and optional breaks, bidirectional marks, private-use
# characters, surrogates.  Not joiners: they change words.
_NOT_SEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\uf8ff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\U000f0000-\U0010ffff]"
)

# Python translates ASCII faster than it does anything else with single characters.
_WITHOUT_CONTROLS = {code: chr(code) for code in range(128)} | dict.fromkeys(
    (*range(0x20), 0x7F)
)


def text_of(tree: Tree, *, is_bare: bool = False) -> str:
    """Return the text of a page, with marks around the headings; the tree is destroyed.

    Args:
        is_bare: Whether to read the parts around the main text too; with a tree for
            browsers without scripts, ``<noscript>`` as well.
    """
    bodies = tree.tags("body")
    if not bodies:  # frames, mostly
        return ""
    _show_shadow(tree)
    left_out = [] if is_bare else _parts_around(tree)
    # Before they change: each change of the tree makes the parser index it again.
    tags = {name: tree.tags(name) for name in _CHANGED}
    for name in _HEADINGS:
        for element in tags[name][:MAX_EXAMINED]:
            element.insert(0, Text(_HEADING_START))
            element.append(Text(_HEADING_END))
    # The alternative text may be the only description of an image.
    for element in tags["img"]:
        if words := element.attr("alt"):
            element.insert_before(Text(f" {words}"))
    for names, name in ((_BLOCKS, "div"), (_BREAKS, "br")):
        for each in names:
            for element in tags[each]:
                element.tag = name
    # Now that it is known what is in them: a header may have its title in a <nav>.
    for element in left_out:
        _leave_out(element)
    for name in _BOXES:
        for element in tags[name]:
            _leave_out(element)
    for name in _UNSEEN:
        for element in tags[name]:
            element.decompose()
    for name in (*_BLOCKS, *_HEADINGS, "div", "p"):
        for element in tags[name]:
            parent = element.parent
            if isinstance(parent, Element) and parent.tag not in _WITH_LINES:
                element.insert_after(Text(" "))
    return bodies[0].to_text()


def headings_and_text(text: str) -> tuple[str, str]:
    """Return the headings, one per line, and the whole text, in one line."""
    text = text[: 4 * MAX_TEXT_CHARS]
    parts = [part.partition(_HEADING_END)[0] for part in text.split(_HEADING_START)[1:]]
    headings = "\n".join(filter(None, map(_as_read, parts)))
    return headings[:MAX_TEXT_CHARS].rstrip(), _as_read(text)[:MAX_TEXT_CHARS].rstrip()


def _as_read(text: str) -> str:
    """Return a text in one line, without invisible characters.

    >>> _as_read("Hel\\u00adlo,\\n wo\\u200brld\\u00a0\\x1b[2J \\u00b6")
    'Hello, world [2J'
    """
    if "\u200b" in text:
        text = _BETWEEN_WORDS.sub(" ", text).replace("\u200b", "")
    # A pilcrow at the end of a heading is a link to it, not text.
    text = " ".join(text.replace("\N{PILCROW SIGN}", " ").split())
    if text.isascii():
        # A quarter of the time of `isprintable`.
        if len(text.translate(_WITHOUT_CONTROLS)) == len(text):
            return text
    elif text.isprintable():
        return text
    return " ".join(_NOT_SEEN.sub("", text).split())


def _show_shadow(tree: Tree) -> None:
    """Put what is in the shadow roots into the elements that they belong to."""
    for root in reversed(tree.roots[1:]):
        assert isinstance(root, ShadowRoot)
        host = root.host
        for at, node in enumerate(list(root)):
            host.insert(at, node)


def _parts_around(tree: Tree) -> list[Element]:
    """Return the elements that are not part of the main text."""
    found = [element for name in _AROUND for element in tree.tags(name)]
    for name in _PARTS:
        is_around = _is_in_no_heading if name == "button" else _is_of_page
        found += filter(is_around, tree.tags(name)[:MAX_EXAMINED])
    marked = tree.select("body [hidden], body [role]")
    found += filter(_is_hidden_or_around, itertools.islice(marked, MAX_EXAMINED))
    return found


def _leave_out(element: Element) -> None:
    """Replace an element by a line break."""
    element.clear()
    element.tag = "br"


def _is_hidden_or_around(element: Element) -> bool:
    """Return whether an attribute says that an element is no part of the main text."""
    hidden = element.attr("hidden")
    # "until-found" content can be found by the browser's search, so it counts as visible.
    if hidden is not None and hidden.lower() != "until-found":
        return True
    roles = (element.attr("role") or "").lower().split()
    return not _AROUND_ROLES.isdisjoint(roles) or (
        not _PART_ROLES.isdisjoint(roles) and _is_of_page(element)
    )


def _is_of_page(element: Element) -> bool:
    """Return whether a header, footer or aside is not that of a part, and has no title.

    Source: WAI-ARIA in HTML, "header", "footer", "aside".
    """
    return not is_within(element, _CONTENT) and not _has_title(element)


def _is_in_no_heading(element: Element) -> bool:
    # A heading may contain the button of its section.
    return not is_within(element, _HEADINGS)


def _has_title(element: Element) -> bool:
    nodes = itertools.islice(element.iter_elements(), MAX_STEPS)
    return any(each.tag == "h1" for each in nodes)
