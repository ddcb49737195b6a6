"""References of a page and their places: links, and what a browser loads for it."""

import time

import pytest

from crawler_app.web.documents.references import (
    Use,
    assets_in,
    assets_in_tree,
    noting_ids,
    references_in,
)
from crawler_app.web.documents.start_tags import Lines, attributes_of, tags_in
from crawler_app.web.documents.tree import parsed, tree_of

LOADED = {
    "<img src=a>": ["a"],
    "<img src='a b.png' alt='<img src=x>'>": ["a b.png"],
    "<IMG SRC=a SRCSET='b 1x, c 2x'>": ["a", "b", "c"],
    "<img srcset='a 100w, b 2q, c'>": ["a", "c"],
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
    "<style>@import 'a'; p {background: url(b)}</style>": ["a", "b"],
    "<p style='background: url(&quot;a&quot;)'>": ["a"],
    "<p STYLE\n= 'color: red; background: url(a)'>": ["a"],
    "<p style=color:red><p style=background:url(a)>": ["a"],
    "<p style='background: url&#40;a)'>": ["a"],
    "<p style=\"background: image-set('a' 1x, 'b' 2x)\">": ["a", "b"],
    "<svg><image href=a /><use xlink:href='b#x'/></svg>": ["a", "b#x"],
    "<svg><script href=a /><image href=b /></svg>": ["a", "b"],
    "<image href=a><use href=b>": [],
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


@pytest.mark.parametrize("markup", LOADED)
def test_assets_are_found_in_source_and_in_tree(markup):
    source = markup.encode()

    in_tree = assets_in_tree(parsed(tree_of(source), source, source.lower()))

    assert [found.value for found in assets_in(markup)] == LOADED[markup]
    assert sorted(found.value for found in in_tree) == sorted(LOADED[markup])


@pytest.mark.parametrize(
    ("markup", "uses"),
    [
        ("<iframe src=a></iframe><frame src=b>", [Use.FRAME, Use.FRAME]),
        ("<iframe srcdoc='<img src=a><a href=b>'></iframe>", [Use.ASSET, Use.LINK]),
        ("<base href=/><a href=a><area href=b>", [Use.BASE, Use.LINK, Use.LINK]),
        ("<a><a href><a href=''>", [Use.LINK, Use.LINK]),
        ("<svg><a xlink:href=a></a></svg>", [Use.LINK]),
        ("<noscript><a href=a></a></noscript>", [Use.LINK]),
        ("<link rel=canonical href=a><link rel=next href=b>", [Use.LINK, Use.LINK]),
        ("<meta http-equiv=refresh content='1;url=a'>", [Use.LINK]),
        ("<meta http-equiv=refresh content=300>", []),
    ],
)
def test_reference_has_a_use(markup, uses):
    assert [found.use for found in references_in(markup)] == uses


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
    ],
)
def test_reference_has_the_place_of_its_value(markup, place):
    (at,) = (found.at for found in references_in(markup) if found.value == "X")

    assert markup[at] == "X"
    assert Lines(markup).place(at) == place


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_places_are_found_in_any_order(end):
    text = end.join(["ab", "", "c", "def", ""])
    lines = Lines(text)
    forwards = [lines.place(offset) for offset in range(len(text))]

    backwards = [lines.place(offset) for offset in reversed(range(len(text)))]

    assert backwards[::-1] == forwards
    assert [forwards[text.index(char)] for char in "bcf"] == [(1, 2), (3, 1), (4, 3)]


@pytest.mark.parametrize(
    "attributes",
    [
        ' class="a b" href="x"',
        """ title='href="y"' href="x\"""",
        ' title=" href=y " href="x&amp;y"',
        ' data-href="y" hrefs="y" href="x"',
        ' href="x" href="y"',
        ' href="" href="y"',
        ' href href="y"',
        ' HREF="x" href="y"',
        ' a="1"href="x"',
        ' href = "x" a="y"',
        " href=x/",
        '\xa0href="y" href="x"',
        '\n\ta="1"\f href="x"',
        "",
    ],
)
def test_quick_href_is_that_of_all_attributes(attributes):
    markup = f"<p><a{attributes}>"
    (tag,) = tags_in(markup)
    href = attributes_of(tag).get("href") if tag.name == "a" else None

    found = [(each.value, each.at) for each in references_in(markup)]

    expected = (
        [] if href is None else [(href.value, tag.at if href.at < 0 else href.at)]
    )
    assert found == expected


def test_ids_are_possible_targets_of_fragments():
    markup = "<p ID='a&amp;b'><a name=c><input name=d><!-- <p id=e> --><p data-id=f>"

    ids = []

    list(noting_ids(tags_in(markup), ids))

    assert ids == ["a&b", "c"]


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
        "<!--",
        "<script>",
        "<svg>",
        "&",
        "'",
        '<td style="a: url(b)"\nbackground=c>',
    ],
)
def test_any_markup_is_read_in_linear_time(piece):
    markup = piece * (200_000 // len(piece))
    started_at = time.thread_time()

    list(tags_in(markup))
    places = [found.at for found in references_in(markup)]
    list(map(Lines(markup).place, places))

    assert time.thread_time() - started_at < 3.0
