"""The text of a source, and changes of it that leave everything else as it is.

Rule: a change replaces a range; nothing is printed anew.  Lines that were aligned with a
bracket follow it when it moves.

Pure.  Used by `gencoro.compat.doctor.program`, and by the converter, which makes the changes.
"""

import ast
import bisect
import codecs
import functools
import io
import re
import tokenize
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

__all__ = ["Edit", "SourceText", "apply", "joined"]

_LINE_END = re.compile(rb"\r\n|\r|\n")


class Edit(NamedTuple):
    """The replacement of a range, in bytes of UTF-8."""

    start: int
    end: int
    new: str = ""


class SourceText:
    """A source as UTF-8, where `ast` has its positions.

    Attributes:
        data: The bytes of its text, as UTF-8.
    """

    def __init__(self, source: bytes) -> None:
        self._encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        self._mark = codecs.BOM_UTF8 if source.startswith(codecs.BOM_UTF8) else b""
        text = source.removeprefix(self._mark).decode(self._encoding)
        self.data = text.encode()
        ends = [match.end() for match in _LINE_END.finditer(self.data)]
        self._starts = [0, *ends]
        self.newline = "\r\n" if b"\r\n" in self.data else "\n"

    def encoded(self, data: bytes) -> bytes:
        """Return a changed text in the encoding of the source."""
        encoding = "utf-8" if self._mark else self._encoding
        return self._mark + data.decode().encode(encoding)

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a position of `ast`."""
        return self._starts[line - 1] + column

    def span(self, node: Any) -> tuple[int, int]:
        """Return the range of a node."""
        start = self.offset(node.lineno, node.col_offset)
        return start, self.offset(node.end_lineno, node.end_col_offset)

    def of(self, node: ast.AST) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def line_at(self, offset: int) -> tuple[int, int]:
        """Return the range of the line with an offset, with its end."""
        place = bisect.bisect_right(self._starts, offset)
        ends = [*self._starts[place : place + 1], len(self.data)]
        return self._starts[place - 1], ends[0]

    def line(self, number: int) -> bytes:
        """Return a line, from 1 on, without its end."""
        start = self._starts[number - 1]
        found = _LINE_END.search(self.data, start)
        return self.data[start : found.start() if found else len(self.data)]

    @functools.cached_property
    def brackets(self) -> dict[int, tuple[int, int]]:
        """The line and the column of the bracket with which each line is aligned."""
        found: dict[int, tuple[int, int]] = {}
        opened: list[tuple[int, int]] = []
        seen = 0
        for token in _tokens(self.data.decode()):
            line, column = token.start
            if line != seen and opened and _is_aligned(column, opened[-1]):
                found[line] = opened[-1]
            # The following lines of a string are no code.
            seen = token.end[0]
            if token.type == tokenize.OP:
                if token.string in "([{":
                    opened.append((line, column))
                elif token.string in ")]}" and opened:
                    opened.pop()
        return found


def _tokens(text: str) -> Iterable[tokenize.TokenInfo]:
    skipped = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        if token.type not in skipped:
            yield token


def _is_aligned(column: int, bracket: tuple[int, int]) -> bool:
    return column == bracket[1] + 1


def joined(edits: Iterable[Edit]) -> list[Edit]:
    """Return edits in order, with overlapping deletions as one."""
    result: list[Edit] = []
    for edit in sorted(edits, key=lambda e: e[:2]):
        if result and edit.start < result[-1].end:
            assert not edit.new and not result[-1].new, "only deletions overlap"
            last = result.pop()
            edit = Edit(last.start, max(last.end, edit.end))
        result.append(edit)
    return result


def apply(text: SourceText, edits: Iterable[Edit]) -> bytes:
    """Return the text after some edits; edits of one place are made in their order.

    >>> apply(SourceText(b"f(a,\\n  b)"), [Edit(0, 1, "await g")])
    b'await g(a,\\n        b)'
    """
    ordered = sorted(edits, key=lambda edit: edit[:2])
    ordered += _alignment(text, ordered)
    parts, done = [], 0
    for edit in sorted(ordered, key=lambda edit: edit[:2]):
        assert edit.start >= done, f"two edits of the same place: {edit}"
        parts += [text.data[done : edit.start], edit.new.encode()]
        done = edit.end
    return b"".join([*parts, text.data[done:]])


def _alignment(text: SourceText, edits: Sequence[Edit]) -> list[Edit]:
    """Return the changes of the indentation of lines that were aligned with a bracket."""
    if not edits:
        return []
    edits_by_line: dict[int, list[Edit]] = {}
    for edit in edits:
        edits_by_line.setdefault(text.line_at(edit.start)[0], []).append(edit)
    shifts: dict[int, int] = {}
    found = []
    for number, (line, column) in text.brackets.items():
        start = text.offset(line, 0)
        place = start + len(text.line(line).decode()[:column].encode())
        shift = shifts.get(line, 0) + sum(
            len(edit.new) - (edit.end - edit.start)
            for edit in edits_by_line.get(start, ())
            if edit.start <= place and edit.end <= place and "\n" not in edit.new
        )
        if shift:
            shifts[number] = shift
            begin = text.offset(number, 0)
            indent = " " * max(0, column + 1 + shift)
            found.append(Edit(begin, begin + column + 1, indent))
    return [
        edit
        for edit in found
        if not text.data[edit.start : edit.end].strip(b" ")
        and not any(other.start <= edit.start < other.end for other in edits)
    ]
