"""Recognizes a page that a script makes in the browser: what the server sends is a shell.

Pure.
"""

from turbohtml import Text

from crawler_app.web.documents.references import is_script
from crawler_app.web.documents.tree import Tree, is_within

__all__ = ["is_made_by_script"]

# "Loading ..." in several languages.
MAX_TEXT_BYTES = 60

_HIDDEN = frozenset(("noscript", "script", "style", "svg", "title"))

# A page with one of these shows something without a script.
_SHOWN = (
    *("audio", "button", "embed", "form", "frame", "iframe", "img", "input", "object"),
    *("picture", "table", "video"),
)


def is_made_by_script(tree: Tree) -> bool:
    """Return whether a page without links has scripts, and nothing to show without them.

    >>> from crawler_app.web.documents.tree import tree_of
    >>> is_made_by_script(tree_of("<title>App</title><div></div><script src=a.js></script>"))
    True
    >>> is_made_by_script(tree_of("<p>The offices are closed until the end of the month, and "
    ...     "the phone is answered in the morning only.<script>count()</script>"))
    False
    """
    document = tree.roots[0]
    if not any(map(is_script, document.iter_elements(("script",)))):
        return False
    if any(map(tree.tags, _SHOWN)):
        return False
    shown_bytes = 0
    for node in document.descendants:
        if isinstance(node, Text) and not is_within(node, _HIDDEN):
            shown_bytes += len(" ".join(node.data.split()).encode("utf-8", "replace"))
            if shown_bytes > MAX_TEXT_BYTES:
                return False
    return True
