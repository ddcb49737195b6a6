"""Pages that are cheap enough to be parsed on the event loop."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler_app.web.documents.cost import MAX_ELEMENTS, MAX_SQUARES, MAX_WORK, is_cheap
from crawler_app.web.documents.tree import tree_of
from tests.helpers.fuzzing import examples
from tests.helpers.hostile_markup import hostile_pages

# A tree of this many elements takes about ten milliseconds.
MAX_NODES = 10_000

REOPENED = "".join(f"<p><font a{number}>" for number in range(200))


@settings(max_examples=examples(100))
@given(st.sampled_from([2_000, 12_000, 60_000]).flatmap(hostile_pages))
@example(REOPENED)
@example("<b " + " ".join(f"a{n}" for n in range(500)) + "></p>" + "<p>x" * 200)
def test_cheap_page_makes_a_small_tree_of_few_attributes(page):
    body = page.encode()
    if not is_cheap(body):
        return

    nodes = tree_of(body).tags("*")

    assert len(nodes) <= MAX_NODES
    step = len(nodes) // 100 + 1
    attributes = [len(node.attributes) for node in nodes[::step]]
    # An attribute takes at least two bytes.
    assert max(attributes) ** 2 <= MAX_SQUARES / 4
    assert step * sum(attributes) <= MAX_WORK / 2


@pytest.mark.parametrize(
    ("page", "cheap"),
    [
        (
            b"<p>" + b"<a href=/docs/page.html>a <b>link</b></a> in a text<br>" * 200,
            True,
        ),
        (b"<p>x" * MAX_ELEMENTS, True),
        (b"<p>x" * (MAX_ELEMENTS + 1), False),
        (b"<p>" + b"text " * 50_000, True),
        (b"<p " + b"a " * 2_300 + b">", False),
        (b"<p " + b"\xff " * 2_300 + b">", False),
        (b"<p a='>" + b"\xff " * 2_300 + b"'>", False),
        ((b"<p " + b"a " * 1_000 + b">") * 10, False),
        (b"".join(b"<p><b a%d>x</b>" % number for number in range(1000)), True),
        (b"".join(b"<p><b a%d><span>x</b>" % number for number in range(1000)), True),
        (b"".join(b"<p><b a%d><i>x</i></b>" % number for number in range(1000)), True),
        (b"".join(b"<p><b a%d><i>x</b></i>" % number for number in range(1000)), False),
        (b"".join(b"<p><b a= '>%d'>x</b>" % number for number in range(500)), False),
        (REOPENED.encode(), False),
        (REOPENED.upper().encode(), False),
        (REOPENED.replace(" a", "/a").encode(), False),
        (REOPENED.replace("<font ", '<font title=">"').encode(), False),
        (b"<font x='>" + b" a b c" * 300 + b"'></p>" + b"<p>x" * 500, False),
        (b"<p>short, but in UTF-16?\0", False),
        (b"<\x1b(Bb>", False),
    ],
)
def test_what_is_cheap(page, cheap):
    assert is_cheap(page) is cheap
