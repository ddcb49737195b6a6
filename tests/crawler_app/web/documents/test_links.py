"""Links with their text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.web.documents.html import parse_html
from crawler_app.web.documents.links import MAX_TEXT_CHARS, Anchor


def anchors_of(body, content_type="", **options):
    return parse_html(body, content_type, with_anchors=True, **options).anchors


def texts_of(markup):
    return [anchor.text for anchor in anchors_of(markup.encode())]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<a href=x>Two\n <b>words</b> </a>", "Two words"),
        ("<a href=x><img alt=' a picture '></a>", "a picture"),
        ("<a href=x><img alt=''><img alt=second></a>", "second"),
        ("<a href=x aria-label=Close>\n</a>", "Close"),
        ("<a href=x title=Hint></a>", "Hint"),
        ("<map><area href=x alt=North></map>", "North"),
        ("<a href=x></a>", ""),
        ("<a href=x>a\x1b[2J\u202eb</a>", "a[2Jb"),
        (f"<a href=x>{'w' * 999}</a>", "w" * MAX_TEXT_CHARS),
    ],
)
def test_text_of_a_link_is_the_visible_text(markup, text):
    assert texts_of(markup) == [text]


def test_anchor_without_href_is_ignored():
    page = b"<a name=x>A name</a><a href=y>A link</a><a>Nothing</a>"

    assert anchors_of(page) == [Anchor("y", "A link")]


def test_nofollow_is_recognized():
    page = b"<a href=1 rel='me NOFOLLOW'>x</a><a href=2 rel=nofollower>x</a>"

    assert [anchor.is_nofollow for anchor in anchors_of(page)] == [True, False]


@pytest.mark.parametrize(
    ("codec", "href"), [("latin1", "/ü?%FC"), ("utf-8", "/ü?ü"), ("utf-16", "/ü?ü")]
)
def test_link_is_read_in_the_charset_of_the_page(codec, href):
    page = "<a href='/ü?ü'>ü</a>".encode(codec)

    found = anchors_of(page, f"text/html; charset={codec}")

    assert found == [Anchor(href, "ü")]


PIECES = [
    "<a href=x",
    "<a href='y?ü'>",
    ">",
    "</a>",
    "<base href=/b/>",
    "<area href=z>",
]
PIECES += ["<!--", "-->", "<script>", "</script>", "text", "\ufffd", "\0", "<table>"]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_links_are_those_of_the_crawl(markup):
    body = markup.encode()

    page, anchors = parse_html(body), anchors_of(body)

    assert list(dict.fromkeys(anchor.href for anchor in anchors)) == page.links
