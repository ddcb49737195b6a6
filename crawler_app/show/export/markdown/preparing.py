"""Changes a tree so that its rendering as Markdown loses nothing.

Pure.  The renderer knows the elements of HTML, but not how tools write code with colors,
formulas or footnotes.  What is to be in the Markdown as it is becomes a mark in the text, which
`restored` replaces.  Not a converter of the renderer: with any of these it cannot see what is
beside bold text, and writes tags.
"""

import html
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from turbohtml import Element, Node, Text

from crawler_app.web.main_content.pruning import FOOTNOTE_LINKS

__all__ = ["prepare", "restored"]

# Takes what is to be in the Markdown as it is, and returns its mark.
_Raw = Callable[[str], Text]

# Marks, of characters that no text has: what is raw, the end of a term, and the start of what it
# means, which is an item of a list to the renderer.
_RAW = re.compile("\ufdd0([0-9]{1,9})\ufdd1")
_TERM, _MEANING = "\ufdd2", "\ufdd3"
_AFTER_TERM = re.compile(f"{_TERM}\n*")
_BEFORE_MEANING = re.compile(rf"[-*+] {_MEANING}\s*")

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
_BACK_LINKS = (
    '[role="doc-backlink"], a.footnote-backref, a.fn-backref, a[data-footnote-backref]'
)

# The titles of notes and warnings: of Sphinx and MkDocs, GitHub, VitePress, and Docusaurus.
_BOX_TITLES = (
    ".admonition-title, .markdown-alert-title, .custom-block-title,"
    " .theme-admonition > [class*=admonitionHeading]"
)


def prepare(body: Element) -> list[str]:
    """Change a tree for the renderer; return what `restored` needs.

    >>> from turbohtml import parse
    >>> page = parse("<h2>A<a href=#a>#</a></h2><div class=highlight-c><pre>x</pre></div>")
    >>> prepare(page.root[1])
    []
    >>> page.root[1].inner_html
    '<h2>A</h2><div class="highlight-c"><pre class="language-c">x</pre></div>'
    """
    texts: list[str] = []

    def raw(text: str) -> Text:
        texts.append(text)
        return Text(f"\ufdd0{len(texts) - 1}\ufdd1")

    _number_footnotes(body, raw)
    _take_anchors(body)
    _show_code(body)
    _show_formulas(body, raw)
    _show_boxes(body)
    _show_folds(body, raw)
    _show_definitions(body)
    for label in body.select("label"):  # of tabs, one beside the other
        label.insert_after(Text(" "))
    for element in body.select("sub, sup"):
        # Markdown has no signs for these, and shows the tags as browsers do.
        element.insert(0, raw(f"<{element.tag}>"))
        element.append(raw(f"</{element.tag}>"))
    for box in list(body.select('li input[type="checkbox" i]')):
        is_checked = box.attr("checked") is not None
        box.replace_with(raw("[x]" if is_checked else "[ ]"), Text(" "))
    return texts


def restored(markdown: str, texts: Sequence[str]) -> str:
    """Replace the marks in the Markdown of a tree that was prepared.

    Args:
        texts: What `prepare` has returned; a mark of the page itself has none.
    """
    markdown = _BEFORE_MEANING.sub(": ", _AFTER_TERM.sub("\n", markdown))

    def text_of(mark: re.Match[str]) -> str:
        number = int(mark[1])
        return texts[number] if number < len(texts) else ""

    return _RAW.sub(text_of, markdown)


def _formula(source: str) -> str:
    """Return a formula as it is, but without a tag, which a Markdown viewer could obey."""
    return _TAG_START.sub("< ", source.strip())


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


def _show_formulas(body: Element, raw: _Raw) -> None:
    for formula in list(body.select(".katex-display, .katex, math")):
        tex = formula.select_one(_TEX)
        source = tex.text if tex is not None else formula.attr("alttext")
        if source and formula.parent is not None:
            is_block = (
                formula.has_class("katex-display") or formula.attr("display") == "block"
            )
            mark = "$$" if is_block else "$"
            formula.replace_with(raw(_formula(f"{mark}{source.strip()}{mark}")))
    # Sphinx and MkDocs leave TeX in the page, for MathJax.
    for formula in list(body.select(".math, .arithmatex")):
        if formula.parent is not None:
            formula.replace_with(
                Element(formula.tag, None, [raw(_formula(formula.text))])
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


def _show_folds(body: Element, raw: _Raw) -> None:
    """Keep what can be folded, with a summary in which Markdown has no meaning."""
    for summary in list(body.select("summary")):
        text = html.escape(" ".join(summary.text.split()), quote=False)
        summary.replace_with(Element("p", None, [raw(f"<summary>{text}</summary>")]))
    for details in body.select("details"):
        details.insert(0, Element("p", None, [raw("<details>")]))
        details.append(Element("p", None, [raw("</details>")]))


def _show_definitions(body: Element) -> None:
    """Mark terms and their meanings, to be written as in PHP Markdown Extra.

    Tools for documentation read that; GitHub shows it as text.
    """
    for term in body.select("dl dt"):
        term.append(Text(_TERM))
    for meaning in list(body.select("dl dd")):
        meaning.insert(0, Text(_MEANING))
        meaning.tag = "li"
        meaning.wrap(Element("ul"))


def _number_footnotes(body: Element, raw: _Raw) -> None:
    """Turn links to footnotes into ``[^1]``, and the notes into ``[^1]: ...``."""
    links = list(body.select(FOOTNOTE_LINKS))
    if not links:
        return
    elements = list(body.select("[id]"))
    ids = {each.attr("id") for each in elements}
    label_by_id: dict[str, str] = {}
    for link in links:
        target = (link.attr("href") or "").partition("#")[2]
        if target in ids:
            label = label_by_id.setdefault(target, str(len(label_by_id) + 1))
            parent = link.parent
            is_alone = isinstance(parent, Element) and parent.tag == "sup"
            (parent if is_alone and parent else link).replace_with(raw(f"[^{label}]"))
    body.remove("#footnote-label")  # a heading for screen readers
    for link in list(body.select(_BACK_LINKS)):
        before = link.previous_sibling
        if isinstance(before, Text):
            before.data = before.data.rstrip()  # with a no-break space
        link.decompose()
    lists: dict[Node, None] = {}
    for note in elements:
        number = label_by_id.get(note.attr("id") or "")
        if number is not None:
            _show_note(note, raw(f"[^{number}]:"))
            if note.parent is not None:
                lists[note.parent] = None
    for around in lists:
        if isinstance(around, Element) and around.tag in ("ol", "ul"):
            items = (each for each in around if isinstance(each, Element))
            if all(item.tag == "div" for item in items):
                around.tag = "div"


def _show_note(note: Element, label: Text) -> None:
    note.remove("span.label")  # Sphinx writes the number there
    found = note.find(["p", "dd"])
    first = note if found is None else found
    first.insert(0, Text(" "))
    first.insert(0, label)
    if note.tag == "li":
        note.tag = "div"
