"""Trees of hostile, broken and random markup."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler_app.web.documents.html import parse_html
from crawler_app.web.documents.tree import (
    CHEAP_CHARS,
    CHEAP_TAGS,
    MAX_REOPENED,
    tree_of,
)
from tests.helpers.fuzzing import examples
from tests.helpers.hostile_markup import hostile_pages

REOPENED = "".join(f"<p><font a{number}>" for number in range(4000))
# They differ in the case of their values only.
REOPENED_BY_CASE = "".join(f"<p><font face={number:013b}>" for number in range(4000))
REOPENED_BY_CASE = REOPENED_BY_CASE.translate(str.maketrans("01", "aA"))


def element_count(markup):
    (document,) = tree_of(markup).roots
    return sum(1 for _ in document.iter_elements())


@settings(max_examples=examples(60))
@given(st.sampled_from([2_000, 12_000, 60_000]).flatmap(hostile_pages))
@example(REOPENED)
@example(REOPENED.upper())
@example(REOPENED_BY_CASE)
@example(REOPENED.replace(" a", "/a"))
@example(REOPENED.replace("<font ", '<font title=">"'))
@example(REOPENED.replace(">", "><span x='></font>'>"))
@example("<b " + " ".join(f"a{n}" for n in range(500)) + "></p>" + "<p>x" * 20_000)
@example(f'<b =">{REOPENED}">')
@example(f'<script><b a="</script>{REOPENED}">')
@example('<b a="' + "<b " * 40_000 + '"></b>')
@example('<b><span a="' + "<b " * 40_000 + '"></span></b>' + "<p>" * CHEAP_TAGS)
def test_tree_is_of_bounded_size(page):
    started_at = time.thread_time()

    elements = element_count(page)

    assert elements <= 1.5 * MAX_REOPENED + 3 * page.count("<")
    assert time.thread_time() - started_at < 2


@pytest.mark.parametrize("name", ["html", "body", "BODY"])
@pytest.mark.parametrize("count", [1, 20, 20_000])
@pytest.mark.parametrize(
    "start", ["", "<{} {}", '<{} =">', '<{} ="a b=">', '<script><{} a="</script>']
)
def test_attributes_of_repeated_roots_are_merged_in_bounded_time(name, count, start):
    attributes = (
        " ".join(f"a{page}-{number}" for number in range(100_000 // count))
        for page in range(count)
    )
    roots = "".join(f"<{name} {each}>" for each in attributes)
    page = f'{start.format(name, "")}{roots}">'
    started_at = time.thread_time()

    page = parse_html(f"<p>{page}<a href=x>".encode())

    assert page.links == ["x"]
    assert time.thread_time() - started_at < 2


def test_page_that_people_write_keeps_its_elements():
    rows = "<tr><td><b class=a>x</b><code><i>y</i><span>z</span></code>" * 2_000
    page = f"<html lang=en><body id=b><table>{rows}</table><body class=c><html>"

    document = tree_of(page).roots[0]

    assert document.find("body").attrs == {"id": "b", "class": ["c"]}
    assert len(document.find_all("b")) == len(document.find_all("code")) == 2_000


SEEN = [
    "<x-a><template shadowrootmode=open>{}</template></x-a>",
    "<x-a><template shadowrootmode='closed'>{}</template></x-a>",
    "<x-a><template shadowrootmode=open><x-b><template shadowrootmode=open>{}",
    "<noscript>\n{}</noscript>",
    "<noscript a='>'>\n{}</noscript>",
]
UNSEEN = [
    "<template>{}</template>",
    "<x-a><template shadowrootmode=open><template>{}</template></template></x-a>",
    "<x-a><template shadowrootmode=odd>{}</template></x-a>",
    "<template><x-a><template shadowrootmode=open>{}</template></x-a></template>",
    "<noscript><!-- {} --></noscript>",
]


@pytest.mark.parametrize("markup", [*SEEN, *UNSEEN])
def test_link_that_visitors_may_see_is_a_link(markup):
    page = parse_html(markup.format("<a href=x>y</a>").encode())

    assert page.links == ["x"] * (markup in SEEN)


@pytest.mark.parametrize("length", [0, CHEAP_CHARS])
@pytest.mark.parametrize("tags", [0, CHEAP_TAGS])
def test_template_is_left_out_of_a_page_of_any_size(length, tags):
    markup = "<TempLate><a href=x></TEMPLATE><a href=y>" + "<br>" * tags + "." * length

    links = [each.attr("href") for each in tree_of(markup).tags("a")]

    assert links == ["y"]


def test_text_of_shadow_roots_is_the_page_s():
    page = "<p>a<x-a><template shadowrootmode=open>b<slot></slot></template>c</x-a>"

    assert parse_html(page.encode(), with_text=True).text == "abc"


def test_page_in_a_page_has_links_too():
    inner = "<a href=x>X</a><iframe srcdoc='&lt;a href=y>'></iframe>"
    escaped = inner.replace("&", "&amp;").replace("<", "&lt;")

    assert parse_html(f'<iframe srcdoc="{escaped}">'.encode()).links == ["x", "y"]


@pytest.mark.parametrize("base", ["/b/", "http://other.test/"])
def test_page_in_a_page_has_a_base_of_its_own(base):
    inner = f"<base target=x><base href={base}><a href=x>X</a><img src=y><a href=http://[>Z</a>"

    page = parse_html(f'<iframe srcdoc="{inner}"></iframe><a href=x>X</a>'.encode())
    loaded = parse_html(f'<iframe srcdoc="{inner}">'.encode(), with_assets=True).assets

    assert page.links == ["x", f"{base}x", "http://["]
    assert [each.value for each in loaded] == [f"{base}y"]


PIECES = (
    "<a href=1>|</a>|<p>|</p>|<table>|<tr>|<td>|</table>|<b a=1>|</b>|<div>|</div>|<svg>"
    "|</svg>|<foreignObject>|<math>|<mi>|<select>|<option>|<template>|</template>"
    "|<x-a><template shadowrootmode=open>|<noscript>|</noscript>|<html a=1>|<body b=2>"
    "|<frameset>|<frame src=2>|<script>|</script>|<style>a{b:url(3)}|</style>|<!--|-->"
    "|<title>|<textarea>|<plaintext>|<iframe srcdoc='&lt;a href=4>'>|<img src=5 srcset="
    "|'6 2x'|<link rel=icon href=7>|<base href=8>|<meta http-equiv=refresh content='0;9'>"
    "|<h1 hidden>|<header>|<i role=banner>|x|&amp;|&#0;|\0|\r|\n|é|\U0001f600|'|\"|>|<"
)
MARKUP = st.sampled_from(PIECES.split("|")) | st.text(max_size=3)


@settings(max_examples=examples(300))
@given(st.lists(MARKUP, max_size=60).map("".join), st.booleans())
def test_any_markup_is_a_page_with_everything(markup, is_xml):
    content_type = "application/xhtml+xml" if is_xml else "text/html"
    body = markup.encode("utf-8", "replace")

    page = parse_html(
        body,
        content_type,
        with_text=True,
        with_anchors=True,
        with_assets=True,
        with_outline=True,
        with_metadata=True,
    )

    assert not page.is_partial
    bare = parse_html(body, content_type)
    assert (page.title, page.base, page.links) == (bare.title, bare.base, bare.links)
    # All ways to look at the references see the same ones.
    mentioned = {mention.value for mention in page.outline.mentions}
    assert {asset.value for asset in page.assets} <= mentioned
    assert {anchor.href for anchor in page.anchors} <= mentioned
    lines = markup.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for mention in page.outline.mentions:
        assert 1 <= mention.line <= len(lines)
        assert 1 <= mention.column <= len(lines[mention.line - 1]) + 1
