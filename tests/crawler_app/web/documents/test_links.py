"""Links with their text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.web.documents.html import parse_html
from crawler_app.web.documents.links import MAX_TEXT_CHARS


def anchors_of(body, content_type=""):
    return parse_html(body, content_type, with_anchors=True).anchors


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


PIECES = [
    "<a href=x",
    "<a href='y?ü'>",
    "<a href=n rel=nofollow>",
    "<a name=x>",
    ">",
    "</a>",
    "<base href=/b/>",
    "<area href=z>",
]
PIECES += ["<!--", "-->", "<script>", "</script>", "text", "\ufffd", "\0", "<table>"]


@given(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.sampled_from(["latin1", "utf-8", "utf-16"]),
)
def test_links_are_those_of_the_crawl(markup, codec):
    body = markup.encode(codec, errors="ignore")
    content_type = f"text/html; charset={codec}"

    page, anchors = parse_html(body, content_type), anchors_of(body, content_type)

    assert list(dict.fromkeys(anchor.href for anchor in anchors)) == page.links
    followed, others = (
        {anchor.href for anchor in anchors if anchor.is_nofollow is is_nofollow}
        for is_nofollow in (False, True)
    )
    assert others - followed == page.nofollow_links
