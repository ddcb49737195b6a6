"""Text of an unknown font: what is cut fits, and says that it is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.report.lettering import cut, width_of
from crawler_app.text.formatting import ELLIPSIS


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [("ill", "abc"), ("abc", "ABC"), ("abc", "日本語"), ("abc", "mmm")],
)
def test_wide_letters_are_wider(narrow, wide):
    assert width_of(narrow, 10.0) < width_of(wide, 10.0)


def test_name_is_not_cut_behind_a_hyphen():
    assert cut("post-2024", width_of("post-2", 10.0), 10.0) == "post" + ELLIPSIS


def test_two_letters_of_a_name_are_none():
    room = width_of("ref" + ELLIPSIS, 10.0)

    assert cut("reference", room + 0.1, 10.0) == "ref" + ELLIPSIS
    assert cut("reference", room - 0.1, 10.0) == ""
    assert cut("re", room, 10.0) == "re"


@given(st.text(), st.floats(-10, 500))
def test_what_is_left_has_room(text, room):
    left = cut(text, room, 10.0)

    assert left == "" or width_of(left, 10.0) <= room
    assert text.startswith(left.removesuffix(ELLIPSIS))
    if width_of(text, 10.0) <= room:
        assert left == text
