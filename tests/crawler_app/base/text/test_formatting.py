"""Formatting: units of numbers, rounding, and shortened text."""

from hypothesis import given
from hypothesis import strategies as st

from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import ELLIPSIS, cut_middle, without_middle


@given(st.text(), st.integers(3, 50))
def test_middle_is_left_out(text, most):
    text = printable(text)

    left = cut_middle(text, most)

    assert len(left) == min(len(text), most)
    if len(text) > most:
        before, after = left[: most // 2], left[most // 2 + 1 :]
        assert left == before + ELLIPSIS + after
        assert text.startswith(before)
        assert text.endswith(after)


@given(st.text(), st.integers(0, 60), st.sampled_from(["…", "..."]))
def test_cut_text_is_as_long_as_allowed(text, columns, mark):
    short = without_middle(text, columns, mark)

    assert len(short) <= columns
    assert (short == text) is (len(text) <= columns) or short == mark
    assert without_middle(short, columns, mark) == short
