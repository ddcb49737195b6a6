"""Changes of a text."""

import ast

import pytest

from gencoro.compat.doctor.text import Edit, SourceText, apply, joined


def test_edits_of_one_place_are_made_in_their_order():
    text = SourceText(b"abc")

    assert apply(text, [Edit(1, 1, "1"), Edit(1, 1, "2"), Edit(2, 3)]) == b"a12b"


def test_overlapping_edits_are_a_mistake_of_ours():
    with pytest.raises(AssertionError):
        apply(SourceText(b"abc"), [Edit(0, 2, "x"), Edit(1, 3, "y")])


def test_overlapping_deletions_are_joined():
    assert joined([Edit(4, 6), Edit(0, 2), Edit(1, 3)]) == [Edit(0, 3), Edit(4, 6)]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_spans_are_those_of_ast(newline):
    source = f"x = 'ä'{newline}y = ('ö', z){newline}".encode()
    text = SourceText(source)

    [_, second] = ast.parse(source).body

    assert text.of(second.value) == "('ö', z)"
    assert text.encoded(text.data) == source


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1"])
def test_encoding_is_kept(encoding):
    mark = "# coding: latin-1\n" if encoding == "latin-1" else ""
    source = f"{mark}x = 'ä'\n".encode(encoding)
    text = SourceText(source)

    assert text.encoded(text.data) == source


def test_strings_of_several_lines_are_not_aligned():
    source = b'f("""a\n  b""",\n  c)\n'

    assert apply(SourceText(source), [Edit(0, 0, "await ")]) == (
        b'await f("""a\n  b""",\n        c)\n'
    )
