"""Text from servers: no control character reaches a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.base.text.escaping import printable, without_controls

ANY_TEXT = st.text(st.characters(codec=None))


@pytest.mark.parametrize(
    ("text", "escaped", "dropped"),
    [
        ("", "", ""),
        ("caf\u00e9 \u677e", "caf\u00e9 \u677e", "caf\u00e9 \u677e"),
        ("a\x1b[2Jb", "a\\x1b[2Jb", "a[2Jb"),
        ("a\r\nb", "a\\r\\nb", "ab"),
        ("\x9b1m", "\\x9b1m", "1m"),
        ("\u202edoc", "\\u202edoc", "doc"),
        ("\ud800", "\\ud800", ""),
    ],
)
def test_control_characters_are_escaped_or_dropped(text, escaped, dropped):
    assert printable(text) == escaped
    assert without_controls(text) == dropped


@pytest.mark.parametrize("function", [printable, without_controls])
@given(text=ANY_TEXT)
def test_any_text_becomes_printable_and_stays_so(function, text):
    once = function(text)

    assert once.isprintable()
    assert function(once) == once
