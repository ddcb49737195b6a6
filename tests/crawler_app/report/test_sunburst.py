"""The picture of a site: valid, small, safe, and with all that a reader should see."""

import re
import time
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler_app.report.palette import (
    DARK,
    LIGHT,
    NO_SECTION,
    OPACITIES,
    SECTIONS,
)
from crawler_app.report.rings import arc
from crawler_app.report.shape import Kind, Shape
from crawler_app.report.sunburst import MAX_BYTES, MAX_SEGMENTS, sunburst

SVG = "{http://www.w3.org/2000/svg}"
DRAWN = {
    "svg",
    "title",
    "desc",
    "style",
    "rect",
    "circle",
    "g",
    "path",
    "text",
    "textPath",
}

# A dark page and its text.
ON_DARK = ("#1b1f25", "#e6e9ed")

segments = st.one_of(
    st.sampled_from("abc"), st.text(max_size=5), st.text("&<\"'%\u05d0\u202e\x00")
)
paths = st.lists(segments, max_size=10).map("/".join)


def shape_of(paths, kind=Kind.OK, host="a.test"):
    shape = Shape()
    for path in paths:
        shape.add(f"https://{host}/{path}", kind)
    return shape


def svg_of(shape, **options):
    return sunburst(shape, **options).svg


def tree_of(svg):
    return ElementTree.fromstring(svg)


def segments_of(tree):
    return [path for path in tree.iter(f"{SVG}path") if path.get("id")]


def tooltips(tree):
    return [path.findtext(f"{SVG}title") for path in segments_of(tree)]


def labels(tree):
    return ["".join(text.itertext()) for text in tree.iter(f"{SVG}text")]


DOCS = [f"library/{n}" for n in range(45)] + [f"tutorial/{n}" for n in range(10)]


def test_tooltip_has_path_share_and_counts():
    shape = shape_of(DOCS)
    shape.add("https://a.test/library/x", Kind.BROKEN)

    assert tooltips(tree_of(svg_of(shape)))[:2] == [
        "/library/: 82 %, 45 pages, 1 broken",
        "/tutorial/: 18 %, 10 pages",
    ]


def test_numbers_stay_behind_a_path_that_is_written_from_right_to_left():
    path = "%D7%A9%D7%9C%D7%95%D7%9D"

    assert tooltips(tree_of(svg_of(shape_of([path])))) == [
        "\u2068/\u05e9\u05dc\u05d5\u05dd\u2069: 100 %, 1 page"
    ]


def test_center_names_the_site_its_pages_and_what_is_broken():
    shape = shape_of(DOCS)
    shape.add("https://a.test/library/x", Kind.BROKEN)

    assert labels(tree_of(svg_of(shape)))[-4:] == [
        "a.test",
        "55",
        "pages",
        "1 broken",
    ]


def test_picture_is_told_in_words():
    tree = tree_of(svg_of(shape_of(DOCS), prefix="now"))

    named_by = tree.get("aria-labelledby").split()
    text_by_id = {e.get("id"): e.text for e in tree.iter() if e.get("id")}
    assert tree.get("role") == "img"
    assert [text_by_id[name] for name in named_by] == [
        "The shape of a.test",
        "It has 55 pages. The largest parts are /library/ 82 %, /tutorial/ 18 %.",
    ]


def test_what_is_broken_has_a_red_edge_in_proportion():
    shape = shape_of([f"a/{n}" for n in range(50)])
    assert "broken" not in svg_of(shape)

    for n in range(50):
        shape.add(f"https://a.test/b/{n}", Kind.BROKEN)
        shape.add(f"https://a.test/c/{n}", Kind.BROKEN if n < 25 else Kind.OK)
    tree = tree_of(svg_of(shape))

    (edges,) = (p for p in tree.iter(f"{SVG}path") if not p.get("id"))
    ring = [d for d in re.findall("M[^M]+", edges.get("d")) if "A171.2 171.2" in d]
    assert ring == [arc(1 / 3, 2 / 3, 171.2), arc(2 / 3, 5 / 6, 171.2)]


def test_what_is_not_fetched_yet_is_pale():
    shape = shape_of(["a/1", "a/2"])
    for path in ("b/1", "b/2"):
        shape.add(f"https://a.test/{path}", Kind.LEFT)

    groups = tree_of(svg_of(shape)).findall(f"{SVG}g[@stroke-opacity]")
    assert [
        (group.get("stroke-opacity"), [p.findtext(f"{SVG}title")[:4] for p in group])
        for group in groups
    ] == [
        ("1", ["/a/:"]),
        ("0.15", ["/b/:"]),
        ("0.44", ["/a/1", "/a/2"]),
        ("0.15", ["/b/1", "/b/2"]),
    ]


def test_legend_has_what_the_picture_has():
    shape = shape_of(DOCS)
    assert sunburst(shape).legend == []

    looks = []
    for path, kind in (
        ("library/x", Kind.BROKEN),
        ("index.html", Kind.OK),
        ("later", Kind.LEFT),
    ):
        for n in range(5):
            shape.add(f"https://a.test/{path}{n}", kind)
        looks.append([look for look, _ in sunburst(shape).legend])

    assert looks == [["red"], ["red", "gray"], ["red", "gray", "pale"]]


def test_view_ends_where_the_picture_does():
    # Two rings all around; five on the left, from two thirds to five sixths of a turn.
    shape = shape_of([f"a/{n}" for n in range(100)] + [f"z/{n}" for n in range(25)])
    for n in range(25):
        shape.add(f"https://a.test/deep/b/c/d/{n}", Kind.OK)

    tree = tree_of(svg_of(shape))

    two, five, margin = 98 + 76 + 68, 98 + 76 + 68 + 60 + 50 + 42, 6
    x, y = five + margin, two + margin
    assert tree.get("viewBox") == f"{-x} {-y} {2 * x} {2 * y}"
    assert (tree.get("width"), tree.get("height")) == (f"{2 * x}", f"{2 * y}")


def test_number_is_never_cut():
    narrow = [f"{name}/{n}" for name in range(30) for n in range(100)]
    wide = [f"a/{n}" for n in range(30)] + [f"b/{n}" for n in range(270)]

    assert labels(tree_of(svg_of(shape_of(narrow))))[30:] == [
        "a.test",
        "3,000",
        "pages",
    ]
    assert "30 pages" in labels(tree_of(svg_of(shape_of(wide))))


@pytest.mark.parametrize(
    ("paths", "center"),
    [([], ["", "0", "pages"]), ([""], ["a.test", "1", "page"])],
)
def test_site_without_directories_is_an_empty_ring(paths, center):
    tree = tree_of(svg_of(shape_of(paths)))

    assert segments_of(tree) == []
    assert len(tree.findall(f"{SVG}circle")) == 1
    assert labels(tree) == center


def test_only_page_is_a_whole_ring():
    (segment,) = segments_of(tree_of(svg_of(shape_of(["a"]))))

    assert segment.get("d").count("A") == 2


def test_two_pictures_with_prefixes_share_no_id():
    shape = shape_of(DOCS)
    ids = [
        {e.get("id") for e in tree_of(svg_of(shape, prefix=prefix)).iter()} - {None}
        for prefix in ("before", "after")
    ]

    assert len(ids[0]) == len(ids[1]) > 2
    assert ids[0].isdisjoint(ids[1])


@pytest.mark.parametrize(
    "paths",
    [
        [f"{n}" for n in range(1000)],
        [f"{n % 600}/{n}" for n in range(6000)],
        [f"{n % 7}/{n % 49}/{n % 343}/{n}" for n in range(5000)],
        ["/".join(bin(n)[2:]) for n in range(4000)],
        [f"{n}" + "&" * 100 + f"/{m}" for n in range(150) for m in "ab"],
    ],
)
def test_picture_of_a_large_site_is_small(paths):
    svg = svg_of(shape_of(paths))

    assert len(svg.encode()) <= MAX_BYTES
    assert 10 <= len(segments_of(tree_of(svg))) <= MAX_SEGMENTS


def test_fewer_segments_can_be_asked_for():
    shape = shape_of([f"{n % 20}/{n}" for n in range(400)])

    assert 1 <= len(segments_of(tree_of(svg_of(shape, max_segments=10)))) <= 10


def test_flat_site_always_has_a_ring():
    shape = shape_of([f"{n}" for n in range(1000)])

    assert len(segments_of(tree_of(svg_of(shape, max_segments=1)))) == 1


def test_label_across_its_ring_is_upright():
    shape = shape_of([f"section-{n}/{m}" for n in range(25) for m in range(2)])
    tree = tree_of(svg_of(shape))

    turned = [text for text in tree.iter(f"{SVG}text") if text.get("transform")]
    angles = [float(text.get("transform")[len("rotate(") : -1]) for text in turned]
    assert len(angles) == 25
    assert all(-90 <= angle <= 90 for angle in angles)
    # Those of the left half are turned about, and so begin on the left.
    assert [float(text.get("x")) < 0 for text in turned] == [n > 12 for n in range(25)]


def test_what_cannot_be_seen_is_not_drawn():
    shape = shape_of(["", *["a/1", "a/2"] * 3000])

    assert [words[:4] for words in tooltips(tree_of(svg_of(shape)))] == [
        "/a/:",
        "/a/1",
        "/a/2",
    ]


def test_hundred_thousand_urls_are_a_matter_of_a_second():
    paths = [f"{n % 11}/{n % 1013}/{n}" for n in range(100_000)]
    begin = time.process_time()
    svg_of(shape_of(paths))

    # A third of a second on a slow machine; the limit is for a wrong order of growth.
    assert time.process_time() - begin < 5


def test_nothing_in_it_is_run_or_loaded():
    paths = ["<script>alert(1)</script>/a", "\"onload='x'/b", "]]>&lt;/c", "\u202ea/b"]
    tree = tree_of(svg_of(shape_of(paths, host="<b>&")))

    tags = {element.tag.removeprefix(SVG) for element in tree.iter()}
    assert tags <= DRAWN
    for element in tree.iter():
        assert not [name for name in element.attrib if name.startswith("on")]
        assert element.get("href", "#").startswith("#")
    assert "/<script>alert(1)</" in "".join(tooltips(tree))
    assert "url(" not in tree.findtext(f"{SVG}style")


@settings(max_examples=60)
@given(
    st.lists(st.tuples(paths, st.sampled_from(Kind), st.integers(1, 300))),
    st.sampled_from(["a.test", "\u05d0.test", ""]),
    st.integers(0, 400),
)
def test_any_site_gives_one_small_valid_picture(added, host, max_segments):
    shapes = [Shape(), Shape()]
    for shape in shapes:
        for path, kind, times in added:
            for _ in range(times):
                shape.add(f"https://{host}/{path}", kind)

    first, second = (svg_of(shape, max_segments=max_segments) for shape in shapes)

    assert first == second
    assert len(first.encode()) <= MAX_BYTES
    assert len(segments_of(tree_of(first))) <= max(max_segments, 20)


def luminance(color):
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(color, other):
    low, high = sorted((luminance(color), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mixed(color, background, opacity):
    parts = []
    for at in (1, 3, 5):
        above, below = (int(c[at : at + 2], 16) for c in (color, background))
        parts.append(f"{round(above * opacity + below * (1 - opacity)):02x}")
    return "#" + "".join(parts)


@pytest.mark.parametrize(("color", "ink"), [*SECTIONS, NO_SECTION])
def test_labels_can_be_read_on_white_and_on_dark(color, ink):
    assert contrast(color, ink) >= 4.5
    for opacity in OPACITIES[1:]:
        assert contrast(mixed(color, LIGHT, opacity), DARK) >= 4.5
        assert contrast(mixed(color, ON_DARK[0], opacity), ON_DARK[1]) >= 4.5
