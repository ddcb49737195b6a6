"""References in style sheets."""

import time

import pytest

from crawler_app.web.documents.css import decode_css, references_in_css

FOUND = {
    "a {x: url(b)}": ["b"],
    "a {x: url( 'b c' )}": ["b c"],
    'a {x: URL("b\\22 c")}': ['b"c'],
    "a {x: url(b\\)c)}": ["b)c"],
    "a {x: u\\72l(b); y: \\75\\52 l(c)}": ["b", "c"],
    "a {x: url(b c) url(d)}": ["d"],
    "a {x: url(b}": ["b}"],
    "a {x: myurl(b) --url(c) url (d)}": [],
    "a {x: src('b')}": ["b"],
    "/* url(a) */ b {content: 'url(c)'}": [],
    "a {content: 'it\\'s url(b)'; x: url(c)}": ["c"],
    "@import 'a'; @import url(b) screen; @IMPORT url('c');": ["a", "b", "c"],
    "@charset 'x'; @layer a; @import 'b' supports(x: url(c));": ["b"],
    "a {} @import 'b';": [],
    "@namespace url(http://www.w3.org/1999/xhtml); @namespace x 'y'; a {x: url(b)}": [
        "b"
    ],
    "@font-face {src: url(a) format('woff2'), local('b'), url(c?#d)}": ["a", "c?#d"],
    "a {x: image-set('b' type('image/png') 1x, url(c) 2x, url('d') 3x) url(e)}": [
        "b",
        "c",
        "d",
        "e",
    ],
    "a {x: -webkit-image-set(url(b) 1x)}": ["b"],
    "a {mask: url(#b)}": ["#b"],
    "@media print {a {x: url(b)}}": ["b"],
    "a {x: url()}": [""],
}


@pytest.mark.parametrize("text", FOUND)
def test_references_of_a_style_sheet(text):
    found = list(references_in_css(text))

    assert [reference.value for reference in found] == FOUND[text]
    for reference in found:
        if "\\" not in text:
            assert text[reference.at :].startswith(reference.value)


def test_style_attribute_has_no_rules():
    found = references_in_css("@import 'a'; x: url(b)", is_attribute=True)

    assert [reference.value for reference in found] == ["b"]


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"\xe9", "text/css; charset=latin1"),
        (b'@charset "latin1";\xe9', "text/css"),
        (b"\xff\xfe\xe9\x00", "text/css; charset=latin1"),
        ("é".encode(), "text/css"),
    ],
)
def test_charset_of_a_style_sheet(body, content_type):
    assert decode_css(body, content_type)[-1] == "é"


@pytest.mark.parametrize(
    "piece", ["url(", "'", "\\", "/*", "@import", "image-set(", "u", "(", "url(a b"]
)
def test_any_style_sheet_is_read_in_linear_time(piece):
    started_at = time.thread_time()

    list(references_in_css("url" + piece * (200_000 // len(piece))))

    assert time.thread_time() - started_at < 3.0
