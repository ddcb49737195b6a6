"""Pages that are nested too deeply for a tree."""

import collections
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.flatparser import MAX_ATTRIBUTES, MAX_DEPTH, is_too_hard, tags_of
from crawler_app.parser import parse_html

LINK = '<a class=x href="/found">x</a>'


@pytest.mark.parametrize(
    "nested",
    [
        "<div>",
        "<ul><li>",
        "<b><div>",
        "<span></div>",
        "<x></x-y>",
        "<DIV>",
        "<a href=/f>",
    ],
)
def test_million_open_elements_do_not_stop_the_crawl(nested):
    page = nested * (5_000_000 // len(nested)) + LINK

    # A tree of it would take a quarter of an hour.
    assert is_too_hard(page)
    assert "/found" in parse_html(page.encode()).links


@pytest.mark.parametrize(
    "shallow",
    ["<p></p>", "<br>", "<li>x</li>", "<tr><td>x", "<p>x", "<div></div>", "a < b "],
)
def test_long_page_is_not_taken_for_a_deep_one(shallow):
    assert not is_too_hard(shallow * (2 * MAX_DEPTH))


@pytest.mark.parametrize("attribute", ["a{}=b ", "a{} ", 'a{}="b"\n'])
def test_tag_of_a_hundred_thousand_attributes_does_not_stop_the_crawl(attribute):
    attributes = "".join(attribute.format(i) for i in range(100_000))

    # A tree of it would take more than fifteen seconds.
    assert is_too_hard(f"<p {attributes}>")
    assert "/found" in parse_html(f"<p {attributes}>{LINK}".encode()).links


@pytest.mark.parametrize("offset", [0, 1, 5_000, MAX_ATTRIBUTES - 1])
def test_tag_of_too_many_attributes_is_seen_wherever_it_stands(offset):
    before = "<p>" * 40_000 + "x" * offset

    assert is_too_hard(f"{before}<p{' a' * (MAX_ATTRIBUTES + 1)}>")
    assert not is_too_hard(f"{before}<p{' a' * (MAX_ATTRIBUTES - 1)}>")


def test_long_data_url_is_not_taken_for_attributes():
    assert not is_too_hard('<img src="data:image/png;base64,' + "A" * 1_000_000 + '">')


def test_depth_is_the_most_that_is_open_at_once():
    half = MAX_DEPTH // 2

    assert not is_too_hard("<div>" * half + "</div>" * half + "<div>" * half)
    assert is_too_hard("<div>" * half + "<i>" * half + "<b>" + "</div>" * half)


@pytest.mark.parametrize(
    ("page", "tags"),
    [
        ("<a href=x>", [("a", "x")]),
        ("<A HREF = 'x y'>", [("a", "x y")]),
        ('<a\nid=1 href="x&amp;y">', [("a", "x&y")]),
        ("<a data-href=x>", []),
        ("<a name=x>", []),
        ("<abbr href=x>", []),
        ("<!-- <a href=x> -->", []),
        ("<script>'<a href=x>'</script><a href=y>", [("a", "y")]),
        ("<style><a href=x>", []),
        ("<!-- <a href=x>", []),
        ("<base href=/b/><area href=c>", [("base", "/b/"), ("area", "c")]),
        ("<title>A &lt; B</title>", [("title", "A < B")]),
    ],
)
def test_tags_are_read_as_from_a_tree(page, tags):
    assert list(tags_of(page)) == tags


@given(st.text(alphabet="<>/!-=\"' ahrefscipttl\n", max_size=200))
def test_any_text_gives_tags_and_no_error(text):
    assert all(len(pair) == 2 for pair in tags_of(text))


@pytest.mark.parametrize(
    "piece",
    ["<!--", "<script", "<a ", "<title", "<a href=", "<textarea><", '<a href="'],
)
def test_time_grows_with_the_length_and_not_its_square(piece):
    def took_s(text):
        started_at = time.process_time()
        collections.deque(tags_of(text), maxlen=0)
        return time.process_time() - started_at

    text = piece * 2_000
    took_s(text)

    # Sixteen times the text: a square would take 256 times as long.
    assert took_s(text * 16) < 100 * max(took_s(text), 0.002)
