"""References of a page and their places: links, and what a browser loads for it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turbohtml import parse

from crawler_app.web.documents import references
from crawler_app.web.documents.html import parse_html
from crawler_app.web.documents.outline import outline_of
from crawler_app.web.documents.references import Use
from crawler_app.web.documents.tree import Lines

LOADED = {
    "<img src=a>": ["a"],
    "<img src='a b.png' alt='<img src=x>'>": ["a b.png"],
    "<IMG SRC=a SRCSET='b 1x, c 2x'>": ["a", "b", "c"],
    "<img srcset='a 100w, b 2q, c'>": ["a", "c"],
    "<img srcset='a 1w  2h, b 2h 1w, c 2h, d 1w 1x, e 1w2h, f -.5e1x '>": [
        "a",
        "b",
        "f",
    ],
    "<picture><source srcset='a, b 2x'><img src=c></picture>": ["a", "b", "c"],
    "<image src=a>": ["a"],
    "<input type=Image src=a><input src=b>": ["a"],
    "<video src=a poster=b><source src=c><track src=d></video>": ["a", "b", "c", "d"],
    "<audio src=a></audio>": ["a"],
    "<embed src=a><object data=b></object>": ["a", "b"],
    "<body background=a><table background=b><td background=c>": ["a", "b", "c"],
    "<script src=a></script><script type=module src=b></script>": ["a", "b"],
    "<script type='text/template' src=a><img src=b></script>": [],
    "<script><!-- <script> '<img src=a>' </script> --></script><img src=b>": ["b"],
    "<link rel=stylesheet href=a><link rel='Shortcut ICON' href=b>": ["a", "b"],
    "<link rel=preload as=image href=a imagesrcset='b 2x'>": ["a", "b"],
    "<link rel=manifest href=a><link rel=modulepreload href=b>": ["a", "b"],
    "<link rel=stylesheet href=a disabled><link rel=dns-prefetch href=//b>": [],
    "<link rel=canonical href=a><link rel=alternate href=b hreflang=de>": [],
    "<link rel=prefetch href=a><link rel=prefetch href='b.js?x'>": ["b.js?x"],
    "<style>@import 'a'; p {background: url(b)}</style>": ["a", "b"],
    "<p style='background: url(&quot;a&quot;)'>": ["a"],
    "<p STYLE\n= 'color: red; background: url(a)'>": ["a"],
    "<p style=color:red><p style=background:url(a)>": ["a"],
    "<p style='background: url&#40;a)'>": ["a"],
    "<p style=\"background: image-set('a' 1x, 'b' 2x)\">": ["a", "b"],
    "<svg><image href=a /><use xlink:href='b#x'/></svg>": ["a", "b#x"],
    "<svg><script href=a /><image href=b /></svg>": ["a", "b"],
    "<image href=a><use href=b>": [],
    "<link rel=stylesheet type=text/x-scss href=a><script language=vbscript src=b></script>": [],
    "<script language=JavaScript1.2 src=a></script><script type language=x src=b></script>": [
        "a",
        "b",
    ],
    "<x-a><template shadowrootmode=open><img src=a></template><img src=b></x-a>": [
        "a",
        "b",
    ],
    "<!-- <img src=a> --><!--> <img src=b> --!> <img src=c>": ["b", "c"],
    "<textarea><img src=a></textarea><title><img src=b></title>": [],
    "<template><img src=a><template></template><img src=b></template>": [],
    "<noscript><img src=a></noscript><img src=b>": ["b"],
    "<img src=a alt='": [],
    "<img\nsrc\n=\n'a'/><img/src=b>": ["a", "b"],
    "<img src=a src=b>": ["a"],
    "<img src='a?x=1&amp;copy=2&copy=3&#38;'>": ["a?x=1&copy=2&copy=3&"],
    "<?php '<img src=a' ?><img src=b>": ["b"],
}


def mentions_in(markup, content_type="text/html; charset=utf-8"):
    return outline_of(markup.encode(), content_type).mentions


@pytest.mark.parametrize("markup", LOADED)
def test_assets_are_found_with_and_without_places(markup):
    page = parse_html(markup.encode(), with_assets=True, with_outline=True)

    assert sorted(found.value for found in page.assets) == sorted(LOADED[markup])
    assert [found.value for found in page.outline.loaded()] == LOADED[markup]


@pytest.mark.parametrize(
    ("markup", "uses"),
    [
        ("<iframe src=a></iframe>", [Use.FRAME]),
        ("<frameset><frame src=b></frameset>", [Use.FRAME]),
        ("<iframe srcdoc='<img src=a><a href=b>'></iframe>", [Use.LINK, Use.ASSET]),
        ("<a href=a><area href=b>", [Use.LINK, Use.LINK]),
        ("<a><a href><a href=''>", [Use.LINK, Use.LINK]),
        ("<svg><a xlink:href=a></a></svg>", [Use.LINK]),
        ("<noscript><base href=b><a href=a></a></noscript>", [Use.LINK]),
        ("<noscript><img src=a><style>p{x:url(b)}</style></noscript>", [Use.LINK] * 2),
        ("<noscript><img src=a></noscript><p style='x:url(b)'>", [Use.LINK, Use.ASSET]),
        ("<link rel=canonical href=a><link rel=next href=b>", [Use.NAMED, Use.NAMED]),
        ("<meta http-equiv=refresh content='1;url=a'>", [Use.LINK]),
        ("<meta http-equiv=refresh content=300>", []),
        ("<p><a href=a>once<p>twice in the tree</a>", [Use.LINK]),
        ("<base href=/>", []),
    ],
)
def test_reference_has_a_use(markup, uses):
    assert [found.use for found in mentions_in(markup)] == uses


@pytest.mark.parametrize(
    ("markup", "place"),
    [
        ("<a href=X>", (1, 9)),
        ('<a class="b c"\n data-d="" href="X" title=e>\n', (2, 18)),
        ("<a\u0130><a href=X>", (1, 13)),
        ("<p>\r\n<a\n  href = 'X'>", (3, 11)),
        ("é<img alt='\n' srcset='a 2x, X 3x'>", (2, 17)),
        ("<style>\np {x: url( 'X' )}</style>", (2, 13)),
        ("<p style='x: url(X)'>", (1, 18)),
        ("<meta content='1; url=X' http-equiv=refresh>", (1, 23)),
        ("<noscript>\n <a href=X>", (2, 10)),
        ("<svg><a href=' ' xlink:href=Y></a><a xlink:href=X>", (1, 49)),
        ("<table>\n<a href=X><tr>", (2, 9)),
        ("<x-a><template shadowrootmode=closed><a href=X>", (1, 46)),
        ("<iframe srcdoc='<a href=X>'>", (1, 17)),
    ],
)
def test_reference_has_the_place_of_its_value(markup, place):
    (found,) = (found for found in mentions_in(markup) if found.value == "X")

    assert (found.line, found.column) == place


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_places_are_those_of_any_line_ends(end):
    markup = end.join(["<p>", "", "<a href=X>", "", "<a href=Y>"])

    found = [(each.value, each.line, each.column) for each in mentions_in(markup)]

    assert found == [("X", 3, 9), ("Y", 5, 9)]


ATTRIBUTE = st.lists(
    st.sampled_from([*" \n/='\"<&axé\xa0", "href", "HREF", "=", "data-href", '="b"']),
    max_size=12,
).map("".join)


@given(st.lists(ATTRIBUTE.map("<a {}>x</a>".format), max_size=3).map("".join))
def test_place_is_where_the_parser_saw_the_attribute(markup):
    spans = [
        (each.source_location.attrs["href"], each.attr("href"))
        for each in parse(markup, source_locations=True).iter_elements("a")
        if each.attr("href") is not None
    ]

    found = mentions_in(markup)

    lines = Lines(markup)
    assert len(found) == len(spans)
    for (span, value), mention in zip(spans, found, strict=True):
        first, end = lines.place(span.start_offset), lines.place(span.end_offset)
        place = mention.line, mention.column
        assert mention.value == value
        assert first < place <= end or not value


def test_ids_are_possible_targets_of_fragments():
    markup = (
        "<p ID='a&amp;b'><a name=c><input name=d><!-- <p id=e> --><p data-id=f>"
        "<template><p id=g></template><x-a><template shadowrootmode=open><p id=h>"
    )

    assert outline_of(markup.encode(), "text/html").ids == ["a&b", "c"]


@pytest.mark.parametrize("piece", ["<a href=x>", "<area href=x>", "<img src=x>"])
def test_references_of_one_kind_are_limited(piece, monkeypatch):
    monkeypatch.setattr(references, "MAX_LINKS", 2)

    assert len(mentions_in(piece * 3)) == 2


@pytest.mark.parametrize(
    "piece",
    [
        '<p class="',
        '<p class="x" ',
        '<a b="c" ',
        "</p",
        "</p ",
        "<",
        "<a",
        "<a ",
        "<a =",
        "<a b='",
        "<a href=x ",
        "<svg><a href=x>y",
        "<!--",
        "<script>",
        "<svg>",
        "&",
        "'",
        '<td style="a: url(b)"\nbackground=c>',
        '<table><td style="a: url(b)"\nbackground=c>',
        "<noscript><a href=x>",
        "<iframe srcdoc='<a href=x>'></iframe>",
    ],
)
def test_any_markup_is_read_in_linear_time(piece):
    markup = piece * (200_000 // len(piece))
    started_at = time.thread_time()

    mentions_in(markup)

    assert time.thread_time() - started_at < 3.0
