"""The boxes of a site: every URL is in one box, and the boxes fill the area."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.show.report.shape import Shape, UrlCategory
from crawler_app.show.report.treemap import MAX_BOXES, Box, shown, split, treemap

segments = st.one_of(
    st.sampled_from("abc"), st.text(max_size=5), st.text("&<\"'%\u05d0\u202e\x00")
)
paths = st.lists(segments, max_size=8).map("/".join)


def shape_of(*paths, kind=UrlCategory.OK, host="a.test"):
    shape = Shape()
    for path in paths:
        shape.add(f"https://{host}/{path}", kind)
    return shape


def pages(folder, count):
    return [f"{folder}/{n}" for n in range(count)]


def each(outer, inner, count):
    return [path for name in inner for path in pages(f"{outer}/{name}", count)]


def names(boxes):
    return [box.name for box in boxes]


def every(boxes):
    for box in boxes:
        yield box
        yield from box.inner


def test_boxes_are_sorted_by_size():
    site = treemap(shape_of(*pages("b", 10), *pages("a", 30), *pages("c", 10), "x"))

    assert site.folder == "a.test/"
    assert [(box.folder, box.name, box.words) for box in site.boxes] == [
        ("a.test/a/", "a", "30 pages"),
        ("a.test/b/", "b", "10 pages"),
        ("a.test/c/", "c", "10 pages"),
        ("", "1 more", "1 page"),
    ]
    assert site.boxes[0].title == "a.test/a/: 58.8%, 30 pages"
    assert site.boxes[3].title == "the rest of the site: 2.0%, 1 page"
    assert [box.is_rest for box in site.boxes] == [False, False, False, True]


def test_inner_boxes_divide_the_longer_side():
    paths = [f"{outer}/{inner}/" for outer in "abcdef" for inner in "xy"]
    tall, wide, *_ = treemap(shape_of(*paths)).boxes

    assert tuple(tall.area) == pytest.approx((0, 0, 100 / 6, 100))
    assert [tuple(box.area) for box in tall.inner] == [
        (0, 0, 100, 50),
        (0, 50, 100, 50),
    ]
    assert tuple(wide.area) == pytest.approx((100 / 6, 0, 100 / 3, 50))
    assert [tuple(box.area) for box in wide.inner] == [
        (0, 0, 50, 100),
        (50, 0, 50, 100),
    ]


@pytest.mark.parametrize(
    ("paths", "folder", "inner_by_name"),
    [
        # A large folder of several is divided.
        (
            [*each("large", "xy", 40), "large/z", *pages("x/y", 40), *pages("z/y", 4)],
            "a.test/",
            {"large": ["x", "y", "1 more"], "x": [], "z": []},
        ),
        # A small one is not.
        (
            [*pages("large", 90), *pages("other", 30), *each("small", "xy", 4)],
            "a.test/",
            {"large": [], "other": [], "small": []},
        ),
        # One of nearly everything is not one of several.
        (
            ["", *each("docs/en", "ab", 20)],
            "a.test/docs/en/",
            {"a": [], "b": [], "1 more": []},
        ),
        # An inner name says what is skipped.
        (
            [*each("x/only", "ab", 20), *pages("y", 40)],
            "a.test/",
            {"x": ["only/a", "only/b"], "y": []},
        ),
        ([""], "the site", {"a.test": []}),
        (["a", "b"], "the site", {"a.test": []}),
    ],
)
def test_dominant_folder_is_replaced_by_its_subfolders(paths, folder, inner_by_name):
    site = treemap(shape_of(*paths))

    assert site.folder == folder
    assert {box.name: names(box.inner) for box in site.boxes} == inner_by_name


def test_small_folders_share_a_box():
    paths = [path for n in range(200) for path in pages(f"small{n}", 2)]
    site = treemap(shape_of(*pages("big", 600), *paths))

    assert names(site.boxes) == ["big", "400 more"]
    many = treemap(shape_of(*(path for n in range(20) for path in pages(f"{n}", 9))))
    assert len(many.boxes) == MAX_BOXES + 1


def test_categories_fill_a_box_from_the_left():
    shape = shape_of(*pages("a", 2))
    shape.add("https://a.test/a/gone", UrlCategory.BROKEN)
    shape.add("https://a.test/a/old", UrlCategory.REDIRECT)
    site = treemap(shape)

    assert site.boxes[0].style == (
        "left:0%;top:0%;width:100%;height:100%;--broken:25%;--loop:25%;--redirect:50%;--left:50%;"
        "--file:50%;--ok:100%;--share:100"
    )
    assert site.legend == [
        ("ok", "2 pages"),
        ("redirect", "1 redirect"),
        ("broken", "1 broken"),
    ]


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ("caf%C3%A9", "café"),
        ("%E6%97%A5", "日"),
        ("a+b", "a+b"),
        ("%E9", "%E9"),
        ("%1b[2J", "%1b[2J"),
        ("%E2%80%AE", "%E2%80%AE"),  # right-to-left override
    ],
)
def test_name_is_decoded_only_if_readable(segment, text):
    assert shown(segment) == text


def test_right_to_left_path_does_not_move_the_numbers():
    (box,) = treemap(shape_of("", host="%D7%A9%D7%9C%D7%95%D7%9D")).boxes

    assert box.title == "\u2068\u05e9\u05dc\u05d5\u05dd/\u2069: 100.0%, 1 page"


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=40), st.floats(0.1, 10))
def test_parts_are_proportional_to_their_weights(weights, ratio):
    parts = list(split(weights, ratio))

    assert len(parts) == len(weights)
    for weight, part in zip(weights, parts, strict=True):
        assert part.width * part.height / 10_000 == pytest.approx(weight / sum(weights))
        assert -1e-6 <= part.left <= part.left + part.width <= 100 + 1e-6
        assert -1e-6 <= part.top <= part.top + part.height <= 100 + 1e-6
    for at, (left, top, width, height) in enumerate(parts):
        for other in parts[at + 1 :]:
            is_beside = (
                left + width <= other.left + 1e-6
                or other.left + other.width <= left + 1e-6
            )
            is_below = (
                top + height <= other.top + 1e-6
                or other.top + other.height <= top + 1e-6
            )
            assert is_beside or is_below


@given(
    st.lists(
        st.tuples(paths, st.sampled_from(UrlCategory), st.integers(1, 300)), max_size=30
    ),
    st.sampled_from(["a.test", "\u05d0.test", ""]),
)
def test_every_url_is_in_one_box_with_printable_names(added, host):
    shape = Shape()
    for path, kind, times in added:
        for _ in range(times):
            shape.add(f"https://{host}/{path}", kind)

    site = treemap(shape)

    whole = Box("", "", "", shape.totals()[""], inner=site.boxes)
    for box in (whole, *site.boxes):
        columns = zip(*(inner.counts for inner in box.inner), strict=True)
        assert not box.inner or list(map(sum, columns)) == box.counts
    assert bool(site.boxes) == bool(added)
    for box in every(site.boxes):
        assert (box.folder + box.name + box.style).isprintable()
        assert box.title.translate({0x2068: None, 0x2069: None}).isprintable()
