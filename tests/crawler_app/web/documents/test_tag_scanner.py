"""Scanning a page tag by tag."""

import collections
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.web.documents.tag_scanner import (
    tags_of,
    tags_of_head,
    text_of,
)

LINK = '<a class=x href="/found">x</a>'


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
        ("<a rel='x NoFollow' href=a>", [("a", "a"), ("nofollow", "a")]),
        ("<area href=a rel=nofollow>", [("area", "a"), ("nofollow", "a")]),
        ("<a rel=ugc href=nofollow data-rel=nofollow>", [("a", "nofollow")]),
        ("<a rel=nofollow><base rel=nofollow href=b>", [("base", "b")]),
        ("<svg><base href=b><a xlink:href=x></svg><a xlink:href=y>", [("a", "x")]),
        ("<svg/><svg><title>t</title><a href=x xlink:href=y></svg>", [("a", "x")]),
        ("<template><a href=x></template><noframes><a href=y>", []),
    ],
)
def test_tags_are_read_as_from_a_tree(page, tags):
    assert list(tags_of(page)) == tags


@pytest.mark.parametrize(
    ("head", "tags"),
    [
        ("<META NAME=Robots CONTENT='NoIndex'>", [("robots", "NoIndex")]),
        ("<meta content=none name='bot'>", [("robots", "none")]),
        ("<meta name=robots>", [("robots", "")]),
        ("<meta name=otherbot content=none>", []),
        ("<meta property=robots content=none><meta data-name=robots content=x>", []),
        ('<link rel="x Canonical" href="?a&amp;b">', [("canonical", "?a&b")]),
        (
            "<link href=/a rel=canonical /><link rel=canonical href=/b>",
            [("canonical", "/a"), ("canonical", "/b")],
        ),
        ("<link rel=canonical><link rel=canonical href=''>", []),
        ("<link rel=canonicals href=x><link rel=next href=canonical>", []),
        ("<!-- <link rel=canonical href=x> -->", []),
        ("<script>'<link rel=canonical href=x>'</script>", []),
        ("<noscript><meta name=robots content=none></noscript>", []),
        ("<title><meta name=robots content=none></title>", []),
        ("<style>p > a {}</style><meta name=bot content=x>", [("robots", "x")]),
        # It ends the head in a tree, but not in a browser that runs scripts.
        ("<noscript><img></noscript><meta name=bot content=x>", [("robots", "x")]),
        ("</head><link rel=canonical href=x>", []),
        ("<body><link rel=canonical href=x>", []),
        ("<linkrel=canonical href=x><link rel=canonical href=x", [("canonical", "x")]),
    ],
)
def test_head_is_read_for_robots(head, tags):
    assert list(tags_of_head(head, "Bot")) == tags


@given(st.text(alphabet="<>/!-=\"' metalinkrobsch1tyfgv\n", max_size=200))
def test_any_text_is_scanned(text):
    assert all(len(pair) == 2 for pair in tags_of(text))
    assert all(len(pair) == 2 for pair in tags_of_head(text, "bot"))
    assert isinstance(text_of(text), str)


READERS = {
    "tags": lambda text: collections.deque(tags_of(text), maxlen=0),
    "head": lambda text: collections.deque(tags_of_head(text, "bot"), maxlen=0),
    "text": text_of,
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    "piece",
    [
        *("<!--", "<script", "<a ", "<title", "<a href=", "<textarea><", '<a href="'),
        *(
            "<nav>",
            "<h1 ",
            "<p",
            "</",
            "&amp;",
            "<link rel=canonical ",
            "<noscript></n",
        ),
        *("<meta name=robots content='", '<meta robots="', "<style></", "<link  "),
    ],
)
def test_scanning_takes_linear_time(read, piece):
    def took_s(text):
        started_at = time.process_time()
        read(text)
        return time.process_time() - started_at

    text = piece * 2_000
    took_s(text)

    # Sixteen times the text: a square would take 256 times as long.
    assert took_s(text * 16) < 100 * max(took_s(text), 0.002)
