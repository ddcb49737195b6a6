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
        ("<pre><code class=language-text data-lang=text>a</code></pre>", ""),
        # VitePress, and Hugo with its two ways of numbering lines
        (
            (
                "<div class=language-c><button>Copy</button><span class=lang>c</span>"
                "<pre><code>a</code></pre><div class=line-numbers-wrapper>1</div></div>"
            ),
            "c",
        ),
        (
            "<pre><code class=language-c><span class=ln>1</span>a</code></pre>",
            "c",
        ),
        (
            (
                "<table class=lntable><tr><td><pre><code><span class=lnt>1</span></code>"
                "</pre><td><pre><code class=language-c>a</code></pre></table>"
            ),
            "c",
        ),
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
        ("<p>H<sub>2</sub>O, m<sup>2</sup>", "H<sub>2</sub>O, m<sup>2</sup>"),
        ("<div class='admonition tip'><p class=admonition-title>Tip</p><p>A</div><p>B",
         "> **Tip**\n>\n> A\n\nB"),
        ("<div class='markdown-alert'><p class=markdown-alert-title>Tip</p><p>A</div>",
         "> **Tip**\n>\n> A"),
        ("<div class='tip custom-block'><p class=custom-block-title>TIP</p><p>A</div>",
         "> **TIP**\n>\n> A"),
        ("<div class=theme-admonition><div class=admonitionHeading_x>tip</div><p>A</div>",
         "> **tip**\n>\n> A"),
        ("<details open><summary>More &lt;<b>x</b></summary><p>In</details>",
         "<details>\n\n<summary>More &lt;x</summary>\n\nIn\n\n</details>"),
        ("<dl><dt>T<dt>U<dd><p>D<pre>a\n  b</pre><dd>E<dt>V<dd><dl><dt>W<dd>F</dl></dl>",
         "T\nU\n: D\n\n  ```\n  a\n    b\n  ```\n\n: E\n\nV\n: W\n  : F"),
        ("<p><b>So:</b> a (<b>b</b>) \ufdd07\ufdd1", "**So:** a (**b**)"),
        ("<div><label>npm</label><label>yarn</label></div>", "npm yarn"),
        ("<table><tr><th>A<th>B<tr><td>1<td>2</table>",
         "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        (
            ("<p>So<sup id=r><a class=footnote-ref href=#n>7</a></sup>.<div class=footnote>"
            "<ol><li id=n><p>Why <a class=footnote-backref href=#r>↩</a></ol></div>"),
            "So[^1].\n\n[^1]: Why",
        ),
        ("<p>So <a role=doc-noteref href=#gone>7</a>", "So [7](#gone)"),
        (  # GitHub
            ("<p>So<sup><a href=#n data-footnote-ref>7</a></sup>.<section data-footnotes>"
            "<h2 id=footnote-label class=sr-only>Footnotes</h2><ol><li id=n><p>Why&nbsp;"
            "<a href=#r data-footnote-backref>↩</a></ol></section>"),
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
    assert (
        time.process_time() - began < 2
    )  # 0.2, or 3.5 with a copy of the rest for each
