"""Pages as Markdown: what tools write, and what it becomes."""

import time

import pytest

from crawler_app.show.export.markdown.rendering import markdown_of
from crawler_app.web.main_content import main_content


def markdown(markup):
    body, _ = main_content(markup, whole_page=True)
    return markdown_of(body, "http://a.test/docs/b", str).rstrip("\n")


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        # Sphinx, MkDocs, Docusaurus, GitHub, with numbers of lines
        ("<div class='highlight-c notranslate'><div><pre>a</pre></div></div>", "c"),
        ("<div class='language-c highlight'><pre><code>a</code></pre></div>", "c"),
        (
            "<pre class='prism-code language-c'><code><span>a<br></span></code></pre>",
            "c",
        ),
        ("<div class='highlight highlight-source-c'><pre>a</pre></div>", "c"),
        ("<pre><code data-lang=c>a</code></pre>", "c"),
        ("<div class='highlight-default'><pre>a</pre></div>", ""),
        (
            (
                "<div class=highlight-c><table class=highlighttable><tr><td class=linenos>"
                "<pre>1</pre><td class=code><pre>a</pre></table></div>"
            ),
            "c",
        ),
    ],
)
def test_code_keeps_its_language(markup, expected):
    assert markdown(markup) == f"```{expected}\na\n```"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<h2 id=a>A<a class=headerlink href=#a>¶</a></h2>", "## A"),
        ("<p><span class=math>\\(a_b*c\\)</span>", "\\(a_b*c\\)"),
        (
            ("<p><span class=katex><span><math><semantics><mi>x</mi><annotation encoding="
            "'application/x-tex'>x_1</annotation></semantics></math></span><span>x1</span>"
            "</span>"),
            "$x_1$",
        ),
        ("<ul><li><input type=checkbox checked>Done<li><input type=checkbox>Not</ul>",
         "- [x] Done\n- [ ] Not"),
        ("<p><a href=../c?d#e>x</a> <a href=#f>y</a> <a href=mailto:a@b.test>z</a>",
         "[x](http://a.test/c?d#e) [y](#f) [z](mailto:a@b.test)"),
        # What a viewer of Markdown or a terminal could obey
        ("<p><span class=math>a&lt;b &lt;/i> &lt;script></span>", "a< b < /i> < script>"),
        ("<p><x-raw>&lt;script></x-raw>&#27;]0;x&#155;", "\\<script>\\]0;x›"),
        ("<p><a href='Java&#10;Script&#58;x()'>x</a> <img src=vbscript:x alt=y>",
         "[x](<>) ![y](<>)"),
        ("<p>A <img src=i.png alt=Map> <img src='data:image/png,xx' alt=Dot>",
         "A ![Map](http://a.test/docs/i.png) ![Dot](<>)"),
        ("<table><tr><th>A<th>B<tr><td>1<td>2</table>",
         "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        (
            ("<p>So<sup id=r><a class=footnote-ref href=#n>7</a></sup>.<div class=footnote>"
            "<ol><li id=n><p>Why <a class=footnote-backref href=#r>↩</a></ol></div>"),
            "So[^1].\n\n[^1]: Why",
        ),
    ],
)  # fmt: skip
def test_markup_as_markdown(markup, expected):
    assert markdown(markup) == expected


def test_footnotes_by_the_thousand_take_little_time():
    marks = "".join(f"<sup><a href='#fn{i}'>1</a></sup>" for i in range(20_000))
    notes = "".join(f"<li id=fn{i}>n" for i in range(20_000))
    began = time.process_time()

    text = markdown(f"<p>{marks}<ol>{notes}</ol>")

    assert text.endswith("[^20000]: n")
    assert time.process_time() - began < 5  # not a minute
