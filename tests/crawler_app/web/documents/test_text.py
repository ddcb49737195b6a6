"""The visible text of pages."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler_app.base.models import MAX_TEXT_CHARS
from crawler_app.web.documents.html import MAX_TITLE_CHARS, parse_html
from tests.helpers.fuzzing import examples


def read(markup):
    """Read a page with its text."""
    body = markup if isinstance(markup, bytes) else markup.encode()
    return parse_html(body, "text/html; charset=utf-8", with_text=True)


def text(markup):
    return read(markup).text


def test_text_is_extracted_only_on_request():
    page = parse_html(b"<h1>Title</h1><p>Text")

    assert (page.text, page.headings) == ("", "")


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("<p>a</p><p>b</p>", "a b"),
        ("<p>a<p>b", "a b"),
        ("<b>a</b>b", "ab"),
        ("a<br>b<br/>c<hr>d", "a b c d"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><th>c</table>d", "a b c d"),
        ("<table><caption>a</caption><tr><td>b</table>", "a b"),
        ("<ul><li>a</li><li>b</li></ul>c", "a b c"),
        ("x<ol><li>a<li>b</ol>c", "x a b c"),
        ("<dl><dt>a<dd>b<dt>c<dd>d</dl>e", "a b c d e"),
        ("<div>a<div>b</div>c</div>d", "a b c d"),
        ("a<div>b</div>c", "a b c"),
        ("<h1>a</h1>b<h2>c</h2>d", "a b c d"),
        ("<pre>a\n  b</pre>c", "a b c"),
        ("<details><summary>a</summary>b</details>c", "a b c"),
        ("<section>a</section><article>b</article><main>c</main>", "a b c"),
        ("<fieldset><legend>a</legend><label>b</label><input>c</fieldset>", "a b c"),
        ("<figure><figcaption>a</figcaption>b</figure>c", "a b c"),
        ("a<wbr>b <i>c</i>d<x-y>e</x-y>", "ab cde"),
        ("a<!-- no -->b", "ab"),
        ("  a \n\t b\r\n", "a b"),
        ("a", "a"),
        ("<body>a<div>b</div></body></html>c", "a b c"),
        ("<div><p>a<b>b</div>c", "ab c"),
        ("<plaintext>a<b>c", "a<b>c"),
        ("<xmp>a<b>c</xmp>d", "a<b>c d"),
        ("<a href=x><div>a</div></a><a href=y><div>b</div></a>", "a b"),
        ("a<img alt='The  Moon' src=m.png>b<img alt=''>c<img>d", "a The Moon b c d"),
        ("", ""),
    ],
)
def test_only_blocks_separate_words(markup, words):
    assert text(markup) == words


@pytest.mark.parametrize(
    "markup",
    [
        "<script>no</script>",
        "<style>no</style>",
        "<template><p>no</template>",
        "<noscript>no<p>no</noscript>",
        # Without scripts, the rest of the page is inside the elements that these leave open.
        "<noscript><noscript>no</noscript>",
        "<NOSCRIPT><P>no<LI>no</NOSCRIPT>",
        "<noscript><a href=x><img></noscript>",
        "<noscript><p>no</p><br></noscript>",
        "<nav>no<ul><li>no</ul></nav>",
        "<nav>no<nav>no</nav>no</nav>",
        "<nav>no<script>no</script><button>no</button></nav>",
        "<header>no</header>",
        "<div><header><p>no</header></div>",
        "<footer>no</footer>",
        "<aside>no</aside>",
        "<search>no</search>",
        "<dialog open>no</dialog>",
        "<select><option>no<option>no</select>",
        "<textarea>no</textarea>",
        "<button>no</button>",
        "<input value=no>",
        "<datalist><option>no</datalist>",
        "<svg><title>no</title><text>no</text></svg>",
        "<math><mi>no</mi></math>",
        "<iframe>no</iframe>",
        "<object>no</object>",
        "<video>no</video><audio>no</audio><canvas>no</canvas>",
        "<title>no</title>",
        "<div hidden>no<p>no</div>",
        "<span hidden=''>no</span>",
        "<div role=navigation>no</div>",
        "<div role='banner'>no</div>",
        "<ul role='Menu Navigation'><li>no</ul>",
        "<main><div role=navigation>no</div><nav>no</nav></main>",
        "<form role=search>no<input></form>",
        "<div role=contentinfo>no</div>",
        "<head><meta content=no></head>",
        "<p title=no data-x=no aria-label=no></p>",
    ],
)
def test_invisible_text_is_left_out(markup):
    assert text(f"<div><p>yes</p>{markup}<p>yes</div>yes") == "yes yes yes"


@pytest.mark.parametrize(
    "markup",
    [
        "<article><header>yes</header></article>",
        "<main><div><footer>yes</footer></div></main>",
        "<section><aside>yes</aside></section>",
        "<header><div><h1>yes</h1></div></header>",
        "<h2><button>yes</button></h2>",
        "<div hidden=until-found>yes</div>",
        "<div aria-hidden=true>yes</div>",
        "<form>yes</form>",
        "<label>yes</label>",
        "<details><p>yes</details>",
        "<div role=main>yes</div>",
        "<div role=banner><h1>yes</h1></div>",
        "<div role>yes</div>",
        "<p class='nav sidebar hidden'>yes</p>",
        "<span>&#121;es</span>",
        "<img src=no alt=yes>",
        "yes<nav>no",
    ],
)
def test_similar_text_is_kept(markup):
    assert text(f"<p>Oh</p>{markup}") == "Oh yes"


@pytest.mark.parametrize(
    "markup",
    [
        "<nav>yes</nav>",
        "<header>yes</header><script>no</script>",
        "<body hidden>yes",
        "<div hidden><p>yes</div>",
        "<noscript>yes</noscript>",
        "<div role=navigation>yes</div>",
        "<nav><template>no</template><ul><li>yes</ul></nav>",
        "<button>yes</button>",
    ],
)
def test_page_without_main_text_is_read_completely(markup):
    assert text(f"<title>T</title>{markup}") == "yes"


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("a&nbsp;&nbsp;b\u2003c\u3000d", "a b c d"),
        ("co&shy;op x\u200by \ufeffz\u2060z", "coop xy zz"),
        ("a \u200b b", "a b"),
        # Thai and Khmer are written without spaces.
        ("สวัสดี\u200bชาวโลก ភាសា\u200bខ្មែរ", "สวัสดี ชาวโลก ភាសា ខ្មែរ"),
        # These are other words without their joiners.
        ("می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"),
        ("a\x1b[2Jb\x07\x00c\x85d", "a[2Jbc d"),
        ("&#27;&#8;a&#155;", "a\u203a"),
        ("\u202eabc\u202c \u2066x\u2069\u200f", "abc x"),
        ("\U000e0061x \ue001y \U000f0000z", "x y z"),
        ("Heading<a href=#h>\u00b6</a>", "Heading"),
        ("漢<ruby>字<rp>(</rp><rt>じ</rt><rp>)</rp></ruby>だ", "漢字だ"),
        ("&lt;b&gt; &amp;amp; &eacute;&#x4e2d;&#xd800;", "<b> &amp; é中\ufffd"),
        ("שלום <b>עולם</b>, مرحبا", "שלום עולם, مرحبا"),
        ("👩\u200d🚀", "👩\u200d🚀"),
    ],
)
def test_text_has_the_visible_characters(markup, words):
    assert text(markup) == words


@pytest.mark.parametrize("junk", [b"\xff", b"\xef\xbb\xbf", b"", "\ufffd".encode()])
def test_invalid_bytes_hide_nothing(junk):
    page = read(junk + b"<title>T</title><base href=/b/><p>a<a href=x>b</a>")

    assert (page.title, page.base, page.links) == ("T", "/b/", ["x"])
    assert page.text.endswith("ab") and not page.text.startswith("\ufeff")


def test_title_is_not_repeated_in_the_text():
    page = read("<title>T</title><p>x<title>U</title><svg><title>V</title></svg>")

    assert (page.title, page.text) == ("T", "x")


@pytest.mark.parametrize(
    ("markup", "headings"),
    [
        ("<h1>a</h1><h6>b <i>c</i>d</h6><p>e", "a\nb cd"),
        ("<h1>a<br>b\n c</h1>", "a b c"),
        ("<h1></h1><h2> </h2><h3>a</h3>", "a"),
        ("<nav><h2>no</h2></nav><h2>yes</h2>", "yes"),
        ("<h2 hidden>no</h2><h2>yes</h2>", "yes"),
        ("<h1>a<h2>b", "a\nb x"),
        ("<h1>a", "a x"),
        ("<h1><img alt=Logo></h1>", "Logo"),
        ("<h2><button>Why?</button></h2>", "Why?"),
        ("<h2>a<a href=#a>\u00b6</a></h2>", "a"),
        ("<p>a", ""),
    ],
)
def test_headings_are_those_of_the_text(markup, headings):
    assert read(f"{markup}<p>x").headings == headings


@pytest.mark.parametrize(
    "markup",
    [
        "<frameset><frame src=a><noframes>Get <a href=b>a browser</a></noframes>",
        "<frameset></frameset>",
        "<html></html>",
        "<!-- only -->",
        "<script>let x = '<p>no'",
    ],
)
def test_page_without_a_body_has_no_text(markup):
    page = read(f"<title>T</title>{markup}")

    assert (page.title, page.text, page.headings) == ("T", "", "")


def test_text_is_of_limited_length():
    page = read(
        "<h1>" + "worded " * 50_000 + "</h1>" + "<p>x</p>" * 150_000 + "<a href=x>"
    )

    assert len(page.text) == len(page.headings) == MAX_TEXT_CHARS
    assert page.links == ["x"]


@pytest.mark.parametrize(
    "piece",
    ["<header>", "<div><h1>", "<button>", "<nav>", "<div hidden>", "<i role=banner>"],
)
def test_deep_page_takes_linear_time(piece):
    def took_s(markup):
        started_at = time.process_time()
        parse_html(markup, with_text=True)
        took = time.process_time() - started_at
        started_at = time.process_time()
        parse_html(markup)
        # Not counting the time of the tree itself.
        return took - (time.process_time() - started_at)

    assert took_s((piece + "x").encode() * 8_000) < 2


PIECES = (
    "<nav>|</nav>|<div>|</div>|<h1>|</h1>|<header>|<main>|<p hidden>|<i role=banner>"
    "|<script>|</script>|<button>|<table>|<td>|<img alt=x>|<svg>|<title>|<select>|<option>"
    "|<template>|</template>|<frameset>|<body hidden>|<plaintext>|<noscript>|x|&#0;|\x1c"
    "|<a href='?|<base href=|<meta charset=windows-874>|<!--|'>|&#xd800;"
)
BYTES = st.binary(max_size=12) | st.sampled_from(
    [*PIECES.encode().split(b"|"), b"\xff\xfe", b"\xed\xa0\x80"]
)
CHARSETS = ["", "utf-16", "utf-8", "x-user-defined", "iso-8859-8-i", "big5"]


@settings(max_examples=examples(300))
@given(st.lists(BYTES, max_size=30).map(b"".join), st.sampled_from(CHARSETS))
@example(b"\xff\xfe\x00\xd8<\x00", "")
@example(b"<nav><p><nav><p>x<h1 hidden><button>", "")
@example(b"<title>&#xd800;</title><a href='&#xd800;'>", "")
def test_any_bytes_are_a_page(body, charset):
    content_type = f"text/html; charset={charset}"

    page = parse_html(body, content_type, with_text=True)

    assert page.text == " ".join(page.text.split())
    assert page.headings.split("\n") == [
        " ".join(h.split()) for h in page.headings.split("\n")
    ]
    assert not set(page.text) & {chr(code) for code in [*range(32), *range(127, 160)]}
    assert len(page.title) <= MAX_TITLE_CHARS
    assert len(set(page.links)) == len(page.links)
    # The text can be stored: it has no lone surrogates.
    found = "".join([page.text, page.headings, page.title, page.base, *page.links])
    assert found.encode("utf-8") is not None
    # The text is read from the same tree, and changes nothing else.
    bare = parse_html(body, content_type)
    assert (page.title, page.base, page.links) == (bare.title, bare.base, bare.links)
