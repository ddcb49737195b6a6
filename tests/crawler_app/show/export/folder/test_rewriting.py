"""References in pages: each is replaced in its place, and nothing else changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.base.urls import join_or_nothing
from crawler_app.show.export.folder.rewriting import rewritten_css, rewritten_page
from crawler_app.web.documents.xhtml import html_of_xhtml

URL = "http://a.test/d/page"


def refer(base, reference):
    """Move what is on a.test into a folder; leave the rest where it is."""
    url = join_or_nothing(base, reference)
    return url.replace("http://a.test/", "../") or None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<a  HREF = x&amp;y \t>A", '<a  HREF="../d/x&amp;y" \t>A'),
        ("<a title='>' href='/x'>A", "<a title='>' href=\"../x\">A"),
        ("<a = href=x>A", '<a = href="../d/x">A'),
        ("<a href=mailto:a@b.c><a name=x><a href>", None),
        ("<!-- <a href=x> --><script>'<a href=x>'</script>", None),
        ("<a href=//b.test/x>", '<a href="http://b.test/x">'),
        ("<p>\u00fc\U0001f600\n<img src=x>", '<p>\u00fc\U0001f600\n<img src="../d/x">'),
        ("<p>a\r\n<img src=/x>\r\n", '<p>a\r\n<img src="../x">\r\n'),
        (
            "<img srcset='/a,b 1x,/c 2x' sizes=50vw>",
            '<img srcset="../a%2Cb 1x,../c 2x" sizes=50vw>',
        ),
        # Browsers ignore an image with such a descriptor.
        ("<img srcset='/a 2q, /c 2x'>", '<img srcset="/a 2q, ../c 2x">'),
        ("<p style='a: url( /x )'>", '<p style="a: url( ../x )">'),
        (
            "<style>@import '/x';a{b:url(/y)}</style>",
            "<style>@import '../x';a{b:url(../y)}</style>",
        ),
        (
            "<meta http-equiv=refresh content='3;url=/x'>",
            '<meta http-equiv=refresh content="3; url=&#x27;../x&#x27;">',
        ),
        (
            "<base target=_top href=/e/ ><a href=x>",
            '<base target=_top ><a href="../e/x">',
        ),
        (
            "<link rel=stylesheet href=/x integrity=sha256-x crossorigin>",
            '<link rel=stylesheet href="../x">',
        ),
        (
            "<script src=//b.test/x integrity=sha256-x></script>",
            '<script src="http://b.test/x" integrity=sha256-x></script>',
        ),
        (
            "<iframe srcdoc='&lt;img src=/x>'></iframe>",
            '<iframe srcdoc="&lt;img src=&quot;../x&quot;&gt;"></iframe>',
        ),
        ("<noscript><img src=/x></noscript>", '<noscript><img src="../x"></noscript>'),
        ("<svg><a xlink:href=/x /></svg>", '<svg><a xlink:href="../x" /></svg>'),
        (
            "<base href=/e/><svg><use href=#a /><a href=#b></a></svg><p style='a:url(#c)'>",
            "<base><svg><use href=#a /><a href=\"../e/\"></a></svg><p style='a:url(#c)'>",
        ),
        (
            "<form action=/x><button formaction=/y>",
            '<form action="../x"><button formaction="../y">',
        ),
        (
            "<meta http-equiv=Content-Security-Policy content=\"img-src 'none'\">",
            '<meta http-equiv=Content-Security-Policy content="">',
        ),
    ],
)
def test_references_of_a_page_are_replaced(before, after):
    assert rewritten_page(before, URL, refer) == (after or before)


def test_well_formed_xhtml_stays_so():
    page = (
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head>'
        '<script src="/s"/></head><body><a href="/x?a&amp;b"/></body></html>'
    )

    rewritten = rewritten_page(page, URL, refer, is_xml=True)

    assert rewritten == page.replace('"/s', '"../s').replace('"/x', '"../x')
    assert html_of_xhtml(rewritten) is not None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a{b:url( '/x' )}", "a{b:url( '../x' )}"),
        ("a{b:URL(/x\\29 )}", "a{b:URL(../x%29)}"),
        (
            'a{b:image-set("/x" 1x, url(/y) 2x)}',
            'a{b:image-set("../x" 1x, url(../y) 2x)}',
        ),
        ("/* url(/x) */ a{content:'url(/x)'}", None),
        ("a{b:url(data:,x)}", None),
    ],
)
def test_references_of_a_style_sheet_are_replaced(before, after):
    assert rewritten_css(before, lambda reference: refer(URL, reference)) == after


@given(
    st.text(
        st.sampled_from("<>\"'=/ \n\r&ax-!") | st.sampled_from("href src style url("),
        max_size=40,
    ).map(lambda text: f"<a href={text}<img src=x style='{text}'><p>{text}")
)
def test_page_without_targets_is_unchanged(page):
    assert rewritten_page(page, URL, lambda base, reference: None).replace(
        "\r\n", "\n"
    ).replace("\r", "\n") == page.replace("\r\n", "\n").replace("\r", "\n")
