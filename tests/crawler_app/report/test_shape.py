"""The tree of a site's URLs: every URL counts once, and the tree stays small."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.report.shape import Kind, Shape, in_words

segments = st.sampled_from(["a", "b", "c", "", "%2F", "\u202e", "x.html"])
urls = st.one_of(
    st.text(),
    st.builds(
        "http://{}/{}?{}".format,
        st.sampled_from(["a.test", "b.test", ""]),
        st.lists(segments, max_size=12).map("/".join),
        segments,
    ),
)


def shape_of(*urls, kind=Kind.OK, **options):
    shape = Shape(**options)
    for url in urls:
        shape.add(url, kind)
    return shape


def every(node):
    yield node
    for child in node.children():
        yield from every(child)


def test_path_is_a_branch_and_its_query_no_part_of_it():
    shape = shape_of("http://a.test/b/c?d/e", "http://a.test/b/c?", "http://a.test?b/c")

    assert [(node.name, node.url, node.total) for node in every(shape.top)] == [
        ("a.test", "http://a.test", 3),
        ("b", "http://a.test/b", 2),
        ("c", "http://a.test/b/c", 2),
    ]


def test_slash_too_many_is_no_directory():
    shape = shape_of("http://a.test/b", "http://a.test/b/", "http://a.test//b")

    assert [node.total for node in every(shape.top)] == [3, 3]


def test_children_are_largest_first_and_then_by_name():
    shape = shape_of(*(f"http://a.test/{path}" for path in ("c", "b", "a", "a/1")))

    assert [node.name for node in shape.top.children()] == ["a", "b", "c"]


def test_only_host_is_the_top_and_several_are_below_it():
    shape = shape_of("http://a.test/", "https://a.test/")
    assert shape.top.name == "a.test"

    shape.add("http://b.test/", Kind.OK)
    assert [node.name for node in shape.top.children()] == ["a.test", "b.test"]


def test_what_has_no_host_counts_above_the_only_host():
    shape = shape_of("http://a.test/", "nonsense")

    assert shape.top is shape.root
    assert shape.top.total == 2


def test_kinds_are_counted_apart_all_the_way_up():
    shape = Shape()
    shape.add("http://a.test/b/c", Kind.BROKEN)
    shape.add("http://a.test/b", Kind.OK)

    (b,) = shape.top.children()
    assert b.counts == shape.root.counts == [1, 0, 0, 1, 0]


def test_too_deep_counts_to_the_last_directory():
    shape = shape_of("http://a.test/1/2/3/4", "http://a.test/1/2/3", max_depth=2)

    assert [node.total for node in every(shape.root)] == [2, 2, 2, 2]


def test_large_branch_stays_although_its_beginning_was_forgotten():
    shape = Shape(max_nodes=100)
    for number in range(5000):
        shape.add(f"http://a.test/pages/{number}", Kind.OK)
        if number % 5 == 0:
            shape.add(f"http://a.test/late/{number}/x", Kind.OK)

    assert {node.name: node.total for node in shape.top.children()} == {
        "pages": 5000,
        "late": 1000,
    }
    assert len(list(every(shape.root))) <= 101


def test_words_leave_out_what_is_not_there():
    assert in_words([1, 0, 2, 0, 1000]) == "1 page, 2 redirects, 1,000 not fetched yet"
    assert in_words([0] * len(Kind)) == ""


@given(st.lists(st.tuples(urls, st.sampled_from(Kind))), st.integers(0, 20))
def test_every_url_is_counted_once_in_few_nodes(added, max_nodes):
    shape = Shape(max_nodes=max_nodes)
    for url, kind in added:
        shape.add(url, kind)

    assert shape.root.total == shape.top.total == len(added)
    nodes = list(every(shape.root))
    assert len(nodes) <= 1 + max_nodes
    for node in nodes:
        below = [child.counts for child in node.children()]
        assert all(n >= sum(m) for n, *m in zip(node.counts, *below, strict=True))


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_word(kind):
    counts = [0] * len(Kind)
    counts[kind] = 2

    assert in_words(counts).startswith("2 ")
