"""The rings of a sunburst: all of a sector is shared by what is in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.report.sectors import NEUTRAL, PAGES, divide, every, shown
from crawler_app.report.shape import Kind, Shape

LEAST = 0.005

paths = st.lists(st.sampled_from("abc"), max_size=11).map("/".join)
urls = st.builds("http://{}.test/{}".format, st.sampled_from("ab"), paths)


def divided(paths, least_turns=LEAST, **options):
    shape = Shape(**options)
    for path in paths:
        shape.add(f"http://a.test/{path}", Kind.OK)
    return divide(shape, least_turns)


def names(sector):
    return [child.name for child in sector.children]


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ("caf%C3%A9", "café"),
        ("%E6%97%A5", "日"),
        ("a+b", "a+b"),
        ("a%2Fb", "a%2Fb"),  # or it would be two
        ("%E9", "%E9"),
        ("%1b[2J", "%1b[2J"),
        ("%E2%80%AE", "%E2%80%AE"),  # right-to-left override
        ("\u202ea", "\\u202ea"),
        ("\ud800", "\\ud800"),
        ("%EF%BF%BE", "%EF%BF%BE"),  # not allowed in XML
    ],
)
def test_segment_is_shown_decoded_only_where_that_can_be_read(segment, text):
    assert shown(segment) == text


def test_sections_have_numbers_and_pages_between_them_have_none():
    whole, first_ring = divided(["a/1", "a/2", "b/1", "b/2", "page"])

    assert [(s.path, s.section) for s in whole.children] == [
        ("/a/", 0),
        ("/b/", 1),
        ("/page", NEUTRAL),
    ]
    assert {child.section for child in whole.children[1].children} == {1}
    assert first_ring == 0


def test_directory_of_nearly_everything_is_not_the_first_to_be_divided():
    paths = [f"docs/en/{section}/{n}" for section in "ab" for n in range(20)]
    whole, first_ring = divided(["", *paths])

    assert first_ring == 2
    assert [(s.name, s.section) for s in every(whole) if s.ring < 2] == [
        ("docs", NEUTRAL),
        ("and 1 more", NEUTRAL),
        ("en", NEUTRAL),
    ]
    assert [s.section for s in every(whole) if s.ring == 2] == [0, 1]


def test_no_more_than_five_rings_are_divided():
    whole, first_ring = divided(
        [f"only/{side}/2/3/4/5/6/7" for side in "ab"], max_depth=8
    )

    assert first_ring == 1
    assert max(sector.ring for sector in every(whole)) == 5


def test_years_are_in_order_and_other_names_by_size():
    whole, _ = divided(["9/a", "10/a", "10/b", "2/a"])
    assert names(whole) == ["2", "9", "10"]

    whole, _ = divided(["x/a", "10/a", "10/b", "2/a"])
    assert names(whole) == ["10", "2", "x"]


def test_small_pages_beside_a_section_are_together():
    whole, _ = divided([f"big/{n}" for n in range(1000)] + list("abc"), 0.01)

    assert names(whole) == ["big", "and 3 more"]
    assert whole.children[1].path == "/a … c"
    assert whole.children[1].is_group
    assert whole.children[1].total == 3


def test_one_small_page_alone_keeps_its_name():
    whole, _ = divided([f"big/{n}" for n in range(1000)] + ["a"], 0.01)

    assert names(whole) == ["big", "a"]


def test_page_of_a_directory_itself_is_the_rest_of_it():
    whole, _ = divided(["", "a", "b"])

    assert [(s.path, s.total) for s in whole.children] == [
        ("/a", 1),
        ("/b", 1),
        ("the rest of /", 1),
    ]


def test_flat_site_is_a_ring_of_groups_by_the_alphabet():
    whole, _ = divided([f"{n:03}" for n in range(600)])

    assert [s.path for s in whole.children[:2]] == ["/000 … 049", "/050 … 099"]
    assert [s.total for s in whole.children] == [50] * 12
    assert {s.section for s in whole.children} == {PAGES}


def test_ring_of_a_narrow_sector_is_left_out():
    paths = [f"big/{n}" for n in range(1000)] + [f"small/{n}" for n in range(11)]
    whole, _ = divided(paths, 0.01)

    assert [len(s.children) for s in whole.children] == [11, 0]


def test_hosts_are_the_first_ring():
    shape = Shape()
    for host in "ab":
        shape.add(f"http://{host}.test/docs/", Kind.OK)
    whole, _ = divide(shape, LEAST)

    assert whole.name == "2 hosts"
    assert [s.path for s in every(whole)] == [
        "a.test/",
        "b.test/",
        "a.test/docs",
        "b.test/docs",
    ]


def test_no_urls_have_no_rings():
    whole, first_ring = divide(Shape(), LEAST)

    assert (whole.total, whole.children, first_ring) == (0, [], 0)


@given(
    st.lists(st.tuples(urls, st.sampled_from(Kind))),
    st.floats(0.001, 2),
    st.integers(0, 30),
)
def test_sectors_share_all_of_the_sector_that_they_are_in(added, least, max_nodes):
    shape = Shape(max_nodes=max_nodes)
    for url, kind in added:
        shape.add(url, kind)
    whole, _ = divide(shape, least)

    for sector in [whole, *every(whole)]:
        if not sector.children:
            continue
        edges = [edge for s in sector.children for edge in (s.start, s.end)]
        assert edges == sorted(edges)
        assert edges[1:-1:2] == edges[2::2]
        assert (edges[0], edges[-1]) == (sector.start, sector.end)
        sums = [sum(n) for n in zip(*(s.counts for s in sector.children), strict=True)]
        assert sums == list(sector.counts)
        for child in sector.children:
            assert child.turns == pytest.approx(child.total / shape.root.total)
