"""Changes a tree so that its rendering as Markdown loses nothing.

Pure.  The renderer knows the elements of HTML, but not how tools write code with colors,
formulas or footnotes.  What is to be in the Markdown as it is becomes a `RAW` element.
"""

import itertools
import re
from collections.abc import Iterable, Iterator

from turbohtml import Element, Node, Text

__all__ = ["RAW", "prepare"]

RAW = "x-raw"

# In a formula, a blank between them changes nothing, and the renderer escapes all others.
_TAG_START = re.compile(r"<(?=[A-Za-z/!?])")

# "highlight-python" is Sphinx's, "highlight-source-python" GitHub's, "sourceCode" pandoc's.
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:highlight-source-|highlight-|language-|lang-|brush:\s*|sourceCode )"
    r"([A-Za-z0-9_+#-]+)"
)
_NO_LANGUAGES = ("default", "fallback", "none", "notranslate", "plaintext", "text")

# Blocks of code whose language is looked for; no page for people has more.
MAX_CODE_BLOCKS = 10_000

# Around a block of code, elements may say its language.
MAX_STEPS = 3

# Around the lines of a block of code: their numbers, its language, and buttons.
_NOT_CODE = (
    ".linenos, .linenodiv, .lineno, .gutter, .line-numbers-rows, .line-numbers-wrapper,"
    " pre .ln, pre .lnt, [class*=language-] > .lang, pre button,"
    " [class*=language-] button"
)
_CODE_TABLE = "table.highlighttable, table.rouge-table, table.lntable"
_TEX = 'annotation[encoding="application/x-tex"]'
_FOOTNOTE_LINKS = (
    'a[role="doc-noteref"], a.footnote-ref, a.footnote-reference, a[data-footnote-ref],'
    ' sup > a[href^="#fn"]'
)
_BACK_LINKS = (
    '[role="doc-backlink"], a.footnote-backref, a.fn-backref, a[data-footnote-backref]'
)

# The titles of notes and warnings: of Sphinx and MkDocs, GitHub, VitePress, and Docusaurus.
_BOX_TITLES = (
    ".admonition-title, .markdown-alert-title, .custom-block-title,"
    " .theme-admonition > [class*=admonitionHeading]"
)


def prepare(body: Element) -> None:
    """Change a tree for the renderer.

    >>> from turbohtml import parse
    >>> page = parse("<h2>A<a href=#a>#</a></h2><div class=highlight-c><pre>x</pre></div>")
    >>> prepare(page.root[1])
    >>> page.root[1].inner_html
    '<h2>A</h2><div class="highlight-c"><pre class="language-c">x</pre></div>'
    """
    body.strip_tags(RAW)  # of the page itself
    _number_footnotes(body)
    _take_anchors(body)
    _show_code(body)
    _show_formulas(body)
    _show_boxes(body)
    for box in list(body.select('li input[type="checkbox" i]')):
        is_checked = box.attr("checked") is not None
        box.replace_with(_raw("[x]" if is_checked else "[ ]"), Text(" "))


def _raw(text: str) -> Element:
    return Element(RAW, None, [Text(text)])


def _raw_formula(source: str) -> Element:
    """Return a formula as it is, but without a tag, which a Markdown viewer could obey."""
    return _raw(_TAG_START.sub("< ", source.strip()))


def _take_anchors(body: Element) -> None:
    """Take out the links of headings to themselves, such as a pilcrow."""
    for link in list(body.select('a[href*="#"]')):
        if not any(map(str.isalnum, link.text)) and not link.find("img"):
            link.decompose()


def _show_code(body: Element) -> None:
    body.remove(_NOT_CODE)
    for table in list(body.select(_CODE_TABLE)):
        if columns := table.find_all("pre"):
            table.replace_with(columns[-1].extract())
    for code in list(body.find_all("pre", limit=MAX_CODE_BLOCKS)):
        # Only its first children: thousands of elements may be nested in it.
        inner = [
            each
            for each in itertools.islice(code, MAX_STEPS)
            if isinstance(each, Element)
        ]
        language = _language_of([code, *inner, *_around(code)])
        for each in (code, *inner):  # such as "language-text"
            if not language and _LANGUAGE.search(each.attr("class") or ""):
                del each.attrs["class"]
        if language and not _LANGUAGE.search(code.attr("class") or ""):
            code.attrs["class"] = f"language-{language}"


def _language_of(nearest: Iterable[Element]) -> str:
    """Return the language that the first of some elements says; empty for plain text."""
    for element in nearest:
        found = _LANGUAGE.search(element.attr("class") or "")
        said = element.attr("data-lang") or element.attr("data-language")
        name = said or (found[1] if found else "")
        if name and name not in _NO_LANGUAGES:
            return name
    return ""


def _around(element: Element) -> Iterator[Element]:
    node: Node | None = element.parent
    for _ in range(MAX_STEPS):
        if not isinstance(node, Element) or len(node.find_all("pre", limit=2)) > 1:
            return
        yield node
        node = node.parent


def _show_formulas(body: Element) -> None:
    for formula in list(body.select(".katex-display, .katex, math")):
        tex = formula.select_one(_TEX)
        source = tex.text if tex is not None else formula.attr("alttext")
        if source and formula.parent is not None:
            is_block = (
                formula.has_class("katex-display") or formula.attr("display") == "block"
            )
            mark = "$$" if is_block else "$"
            formula.replace_with(_raw_formula(f"{mark}{source.strip()}{mark}"))
    # Sphinx and MkDocs leave TeX in the page, for MathJax.
    for formula in list(body.select(".math, .arithmatex")):
        if formula.parent is not None:
            formula.replace_with(
                Element(formula.tag, None, [_raw_formula(formula.text)])
            )


def _show_boxes(body: Element) -> None:
    """Turn notes and warnings into quotes, so that one sees where they end."""
    for title in list(body.select(_BOX_TITLES)):
        box, text = title.parent, " ".join(title.text.split())
        if isinstance(box, Element) and box.tag in ("div", "aside", "section") and text:
            box.tag = "blockquote"
            title.replace_with(
                Element("p", None, [Element("strong", None, [Text(text)])])
            )


def _number_footnotes(body: Element) -> None:
    """Turn links to footnotes into ``[^1]``, and the notes into ``[^1]: ...``."""
    label_by_id: dict[str, str] = {}
    for link in list(body.select(_FOOTNOTE_LINKS)):
        target = (link.attr("href") or "").partition("#")[2]
        if target:
            label = label_by_id.setdefault(target, str(len(label_by_id) + 1))
            parent = link.parent
            is_alone = isinstance(parent, Element) and parent.tag == "sup"
            (parent if is_alone and parent else link).replace_with(_raw(f"[^{label}]"))
    if not label_by_id:
        return
    body.remove("#footnote-label")  # a heading for screen readers
    for link in list(body.select(_BACK_LINKS)):
        before = link.previous_sibling
        if isinstance(before, Text):
            before.data = before.data.rstrip()  # with a no-break space
        link.decompose()
    lists: dict[Node, None] = {}
    for note in list(body.select("[id]")):
        number = label_by_id.get(note.attr("id") or "")
        if number is not None:
            _show_note(note, number)
            if note.parent is not None:
                lists[note.parent] = None
    for around in lists:
        if isinstance(around, Element) and around.tag in ("ol", "ul"):
            items = (each for each in around if isinstance(each, Element))
            if all(item.tag == "div" for item in items):
                around.tag = "div"


def _show_note(note: Element, label: str) -> None:
    note.remove("span.label")  # Sphinx writes the number there
    found = note.find(["p", "dd"])
    first = note if found is None else found
    first.insert(0, Text(" "))
    first.insert(0, _raw(f"[^{label}]:"))
    if note.tag == "li":
        note.tag = "div"
