"""Renders a page as Markdown, or as text.  Pure; the renderer is the parser's own."""

import re
from collections.abc import Callable

from turbohtml import Element

from crawler_app.base.urls import join_or_nothing
from crawler_app.show.export.markdown.preparing import prepare, restored

__all__ = ["LinkOf", "markdown_of", "text_lines"]

# Returns what a link to a URL is written as.
LinkOf = Callable[[str], str]

# An image as long as a book, or a script that runs in the viewer.
_UNWANTED = ("data:", "javascript:", "vbscript:")
# As in a scheme, where browsers do not see them; and what a terminal obeys.
_UNSEEN = re.compile(r"[\x00-\x20]+")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]+")

_BLANK_LINES = re.compile(r"\n{3,}")


def markdown_of(body: Element, base: str, link_of: LinkOf) -> str:
    """Return a page as Markdown (GitHub's), which ends in a line break; changes the tree.

    Args:
        base: The URL that its links are relative to.
        link_of: Gets their targets as absolute URLs, with fragments.

    >>> from turbohtml import parse
    >>> page = parse("<h1>News</h1><p>See <a href='b#c'>b</a> and <code>c</code>.").root[1]
    >>> print(markdown_of(page, "http://a.test/", str.upper), end="")
    # News
    <BLANKLINE>
    See [b](HTTP://A.TEST/B#C) and `c`.
    """
    texts = prepare(body)

    def rewritten(reference: str) -> str | None:
        if _UNSEEN.sub("", reference[:99]).lower().startswith(_UNWANTED):
            return ""
        path, mark, fragment = reference.partition("#")
        url = join_or_nothing(base, path) if path or not mark else base
        if not url:  # such as mailto:
            return None
        return reference if mark and not path else link_of(url + mark + fragment)

    body.rewrite_links(rewritten)
    return _CONTROLS.sub("", restored(body.to_markdown(), texts)).strip() + "\n"


def text_lines(body: Element) -> str:
    """Return the text of a page in its lines, with a blank line between paragraphs.

    >>> from turbohtml import parse
    >>> text_lines(parse("<h1>News</h1><p>One<br>two</p><pre>a\\n  b</pre>").root[1])
    'News\\n\\nOne\\ntwo\\n\\na\\n  b'
    """
    lines = (line.rstrip() for line in body.to_text().split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()
