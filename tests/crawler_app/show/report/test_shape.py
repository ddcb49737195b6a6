"""The folders of a site: every URL counts once, in a limited number of folders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.show.report.shape import (
    MAX_FOLDER_CHARS,
    Shape,
    UrlCategory,
    folder_of,
    in_words,
    parent_of,
)

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


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("http://a.test/", "a.test/"),
        ("http://a.test/b/c?d/e", "a.test/b/"),
        ("http://a.test//b///c", "a.test/b/"),
        (f"http://a.test/b/{'c' * MAX_FOLDER_CHARS}/d", "a.test/b/"),
        (f"http://a.test/{'b/' * 500}c", f"a.test/{'b/' * 56}"),
        ("http://a.test/\u202e\ud800/", "a.test/\\u202e\\ud800/"),
        ("nonsense", ""),
        ("http://a.test?b/c", ""),
    ],
)
def test_folder_of_a_url(url, folder):
    assert folder_of(url) == folder


def test_categories_are_counted_in_each_parent():
    shape = Shape()
    shape.add("http://a.test/b/c", UrlCategory.BROKEN)
    shape.add("http://a.test/b", UrlCategory.OK)

    assert shape.totals() == {
        "": [1, 0, 0, 0, 1, 0],
        "a.test/": [1, 0, 0, 0, 1, 0],
        "a.test/b/": [0, 0, 0, 0, 1, 0],
    }


def test_url_in_one_folder_too_many_counts_for_its_parent():
    shape = Shape(max_folders=2)
    for path in ("b/1", "c/d/2", "b/e/3", "f/g/4"):
        shape.add(f"http://a.test/{path}", UrlCategory.OK)

    totals = {
        folder: counts[UrlCategory.OK] for folder, counts in shape.totals().items()
    }
    assert totals == {
        "": 4,
        "a.test/": 3,
        "a.test/b/": 2,
        "a.test/c/": 1,
        "a.test/c/d/": 1,
    }


@given(st.lists(st.tuples(urls, st.sampled_from(UrlCategory))), st.integers(0, 20))
def test_every_url_is_counted_once(added, max_folders):
    shape = Shape(max_folders=max_folders)
    for url, kind in added:
        shape.add(url, kind)

    totals = shape.totals()
    assert totals[""] == [sum(k is kind for _, k in added) for kind in UrlCategory]
    # Each of those kept, and what is around it.
    kept = totals.keys() - {parent_of(folder) for folder in totals}
    assert len(kept) <= max(1, max_folders)
    for folder, counts in totals.items():
        inner = [totals[each] for each in totals if each and parent_of(each) == folder]
        assert all(n >= sum(m) for n, *m in zip(counts, *inner, strict=True))


def test_words_omit_empty_categories():
    assert in_words([1, 0, 2, 0, 0, 1000]) == "1 page, 2 redirects, 1,000 not fetched"
    assert in_words([0] * len(UrlCategory)) == ""
    assert in_words([2] * len(UrlCategory)).count("2 ") == len(UrlCategory)
