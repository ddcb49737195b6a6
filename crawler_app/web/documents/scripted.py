"""Recognizes a page that a script makes in the browser: what the server sends is a shell.

Pure.
"""

from turbohtml import Text

from crawler_app.web.documents.tree import Tree, is_within

__all__ = ["shows_nothing"]

# "Loading ..." in several languages.
MAX_TEXT_BYTES = 60

_HIDDEN = frozenset(("noscript", "script", "style", "svg", "title"))

# A page with one of these shows something without a script.
_SHOWN = (
    *("audio", "button", "embed", "form", "frame", "iframe", "img", "input", "object"),
    *("picture", "table", "video"),
)


def shows_nothing(tree: Tree) -> bool:
    """Return whether a page has nothing to show without its scripts.

    >>> from crawler_app.web.documents.tree import tree_of
    >>> shows_nothing(tree_of("<title>App</title><div></div><script src=a.js></script>"))
    True
    >>> shows_nothing(tree_of("<p>The offices are closed until the end of the month, and "
    ...     "the phone is answered in the morning only.<script>count()</script>"))
    False
    """
    if any(map(tree.tags, _SHOWN)):
        return False
    shown_bytes = 0
    for node in tree.roots[0].descendants:
        if isinstance(node, Text) and not is_within(node, _HIDDEN):
            shown_bytes += len(" ".join(node.data.split()).encode("utf-8", "replace"))
            if shown_bytes > MAX_TEXT_BYTES:
                return False
    return True
