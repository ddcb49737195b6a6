"""Finds the main content of a page, and leaves out what is around it.

`main_content` is the way in; the rest is pure::

    embedded   text that a page made by a script carries as JSON
    pruning    takes everything else out of the tree
    scoring    how probably a block is main content
      blocks   the blocks of a page, and sums over them
      signs    what tags, roles and classes say, and their points

It looks at one page only.  How well it works was measured with the Web Content Extraction
Benchmark, whose other pages set the points; docs/markdown.rst has the figures.
"""

from turbohtml import Element

from crawler_app.web.documents.tree import tree_of
from crawler_app.web.main_content.blocks import MAX_ELEMENTS, UNSEEN, page_of
from crawler_app.web.main_content.embedded import embedded_text
from crawler_app.web.main_content.pruning import keep_only
from crawler_app.web.main_content.scoring import main_blocks

__all__ = ["main_content"]

# With fewer characters than this to be seen, the text is probably elsewhere.
MIN_CHARS = 200

# Formulas stay: they are no text, but content.
_UNSEEN = ", ".join(UNSEEN - {"math"})


def main_content(
    markup: str, *, is_xml: bool = False, whole_page: bool = False
) -> tuple[Element | None, str]:
    """Return the body of a page with its main content only, and its ``<base href>``.

    Without text the body is None, and so for frames.

    Args:
        is_xml: Whether to read it as XHTML, if it is well-formed.
        whole_page: Whether to leave in what is around the main content.

    >>> body, base = main_content(
    ...     "<nav><a href=/>Home</a></nav><main><h1>News</h1><p>It is a long story, but this"
    ...     " is all of it that will ever be told.</main><footer>Imprint</footer>"
    ... )
    >>> body.text
    'NewsIt is a long story, but this is all of it that will ever be told.'
    """
    tree = tree_of(markup, is_xml=is_xml)
    base = next((each.attr("href") or "" for each in tree.tags("base")), "")
    body = next(iter(tree.tags("body")), None)
    if body is None:
        return None, base
    body.remove(_UNSEEN)
    page = page_of(body)
    if page.blocks[0].all_chars < MIN_CHARS:
        pieces = embedded_text(tree.source)
        if not pieces:  # browsers without scripts may see more
            tree = tree_of(markup, is_xml=is_xml, scripting=False)
            body = tree.tags("body")[0]
            body.strip_tags("noscript")
        for piece in pieces:
            body.append(piece)
        body.remove(_UNSEEN)
        page = page_of(body)
    if not whole_page and len(page.with_text) <= MAX_ELEMENTS:
        keep_only(main_blocks(page.blocks), page)
    return (body if page.blocks[0].all_chars else None), base
