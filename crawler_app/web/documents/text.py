"""The visible text and the headings of a page, for a full-text index.

Lexbor parses a page into a tree.  A page that makes too large a tree is read tag by tag, see
`crawler_app.web.documents.tag_scanner`.
"""

import itertools
import re
from collections.abc import Callable
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler_app.base.models import MAX_TEXT_CHARS
from crawler_app.web.documents.elements import (
    AROUND,
    BLOCKS,
    BOXES,
    HEADINGS,
    ROW_HOLDERS,
    ROWS,
    UNSEEN,
)
from crawler_app.web.documents.tag_scanner import HEADING_END, HEADING_START, text_of
from crawler_app.web.documents.tree import (
    MAX_STEPS,
    Parsed,
    is_within,
    parsed,
    tag_ids,
    tree_of,
)

__all__ = ["flat_marked_text", "headings_and_text", "marked_text_of_tree"]

# Of markup, which takes some tenths of a second if it is nothing but tags.
MAX_FLAT_CHARS = 1_000_000

# "until-found" content can be found by the browser's search, so it counts as visible.
_HIDDEN = 'body [hidden]:not([hidden="until-found" i])'

# A zero-width space is the only space between words in Khmer, Lao, Burmese and Thai.
# Elsewhere it marks where a long word may be broken.
_BETWEEN_WORDS = re.compile("(?<=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])\u200b")

# Control characters, soft hyphens and optional breaks, bidirectional marks, private-use
# characters, surrogates.  Not joiners: they change words.
_NOT_SEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\uf8ff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\U000f0000-\U0010ffff]"
)

# For text only, without finding out first what is inserted, which takes half of the time.
_insert_before = LexborNode.insert_before[str]  # type: ignore[index]
_insert_after = LexborNode.insert_after[str]  # type: ignore[index]

# Python translates ASCII faster than it does anything else with single characters.
_WITHOUT_CONTROLS = {code: chr(code) for code in range(128)} | dict.fromkeys(
    (*range(0x20), 0x7F)
)


def flat_marked_text(markup: str) -> str:
    """Return the text of a page that is read tag by tag, with heading marks."""
    markup = markup[:MAX_FLAT_CHARS]
    text = text_of(markup)
    return text if text.strip() else text_of(markup, is_bare=True)


def marked_text_of_tree(page: Parsed) -> str:
    """Return the same as `text_of`, from a tree; the tree is destroyed."""
    text = _text_in_tree(page)
    if text.strip():
        return text
    # For example, the whole page is in a <nav>.
    again = parsed(tree_of(page.source), page.source, page.lowered)
    return _text_in_tree(again, is_bare=True)


def headings_and_text(text: str) -> tuple[str, str]:
    """Return the headings, one per line, and the whole text, in one line."""
    text = text[: 4 * MAX_TEXT_CHARS]
    parts = [part.partition(HEADING_END)[0] for part in text.split(HEADING_START)[1:]]
    headings = "\n".join(filter(None, map(_as_read, parts)))
    return headings[:MAX_TEXT_CHARS].rstrip(), _as_read(text)[:MAX_TEXT_CHARS].rstrip()


def _as_read(text: str) -> str:
    """Return a text in one line, without invisible characters.

    >>> _as_read("Hel\\u00adlo,\\n wo\\u200brld\\u00a0\\x1b[2J \\u00b6")
    'Hello, world [2J'
    """
    # A pilcrow at the end of a heading is a link to it, not text.
    text = " ".join(text.replace("\N{PILCROW SIGN}", " ").split())
    if text.isascii():
        # A quarter of the time of `isprintable`.
        if len(text.translate(_WITHOUT_CONTROLS)) == len(text):
            return text
    elif text.isprintable():
        return text
    text = _BETWEEN_WORDS.sub(" ", text)
    return " ".join(_NOT_SEEN.sub("", text).split())


def _text_in_tree(page: Parsed, is_bare: bool = False) -> str:
    """Return the text of a tree, with marks around the headings.

    The tree is modified: invisible elements are removed, and separators between blocks are
    inserted, so that `text()` returns the result.  Removing the tags from the tree's HTML
    takes up to twice as long; walking from node to node takes as long, and does not show
    where elements end.
    """
    rule_by_tag = _RULES_OF_BARE_PAGE if is_bare else _RULES
    left_out: list[LexborNode] = []
    for tag_id, nodes in page.elements_by_tag.items():
        rule = rule_by_tag.get(tag_id)
        if rule is None:
            continue
        if rule.before:
            for node in nodes:
                _insert_before(node, rule.before)
        if rule.after:
            for node in nodes:
                _insert_after(node, rule.after)
        if rule.is_left_out is not None:
            left_out += filter(rule.is_left_out, nodes)
    for node in page.tags("img"):
        _put_words_for_picture(node)
    # Now that it is known what is in them: a header may have its title in a <nav>.
    for node in left_out:
        _leave_out(node)
    if not is_bare:
        _leave_out_by_attribute(page.tree, page.lowered)
    body = page.tree.body
    return "" if body is None else body.text()


def _leave_out_by_attribute(tree: LexborHTMLParser, lowered: bytes) -> None:
    # Searching the text first takes a third of the time of a selection.
    if b"hidden" in lowered:
        for node in tree.css(_HIDDEN):
            _leave_out(node)
    if b"role" in lowered:
        for node in tree.css("body [role]"):
            for role in node.attrs.sget("role").lower().split():
                if role in _LEFT_OUT_BY_ROLE and _LEFT_OUT_BY_ROLE[role](node):
                    _leave_out(node)


def _leave_out(node: LexborNode) -> None:
    # Not recursively, which takes longer: its descendants are not visited any more.
    node.decompose(recursive=False)


def _always(_node: LexborNode) -> bool:
    return True


def _is_of_page(node: LexborNode) -> bool:
    """Return whether a header, footer or aside is not that of a part, and has no title.

    Source: WAI-ARIA in HTML, "header", "footer", "aside".
    """
    return not is_within(node, _CONTENT) and not _has_title(node)


def _is_in_no_heading(node: LexborNode) -> bool:
    # A heading may contain the button of its section.
    return not is_within(node, _HEADINGS)


def _put_words_for_picture(node: LexborNode) -> None:
    # The alternative text may be the only description of the image.
    words = node.attrs.sget("alt")
    if words:
        node.insert_before(words)


def _has_title(node: LexborNode) -> bool:
    nodes = itertools.islice(node.traverse(), MAX_STEPS)
    return any(each.tag_id in _FIRST_HEADING for each in nodes)


class _Rule(NamedTuple):
    """What is done with an element.

    Attributes:
        before: The text that is inserted before it.
        is_left_out: Whether it is removed; None for never.
    """

    before: str
    after: str
    is_left_out: Callable[[LexborNode], bool] | None = None


def _rules(rule: _Rule, names: str) -> dict[int, _Rule]:
    return dict.fromkeys(tag_ids(names), rule)


_RULES_OF_BARE_PAGE = {
    **_rules(_Rule(" ", " "), f"{BLOCKS}|{AROUND}"),
    **_rules(_Rule(" ", ""), ROWS),
    **_rules(_Rule("", " "), ROW_HOLDERS),
    **_rules(_Rule(HEADING_START, HEADING_END), HEADINGS),
    **_rules(_Rule(" ", " "), "img"),
    **_rules(_Rule(" ", "", _always), BOXES),
    **_rules(_Rule("", "", _always), UNSEEN),
}
_RULES = {
    **_RULES_OF_BARE_PAGE,
    **_rules(_Rule(" ", "", _always), AROUND),
    **_rules(_Rule(" ", " ", _is_of_page), "aside|footer|header"),
    **_rules(_Rule(" ", " ", _is_in_no_heading), "button"),
}
_LEFT_OUT_BY_ROLE = {
    "banner": _is_of_page,
    "contentinfo": _is_of_page,
    "navigation": _always,
    "search": _always,
}
_CONTENT = tag_ids("article|main|section")
_HEADINGS = tag_ids(HEADINGS)
_FIRST_HEADING = tag_ids("h1")
