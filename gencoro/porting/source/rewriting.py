"""Applies changes to a source with LibCST, preserving everything else.

Rule: a change that cannot be made, or that leads to invalid source, is an error; nothing
is made in part.  Used by `gencoro.porting.converting`.
"""

import codecs
import difflib
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from gencoro.compat.doctor.parsing import TOO_DEEP
from gencoro.errors import GencoroError
from gencoro.porting.fixer import Change, Fix

__all__ = ["CannotRewrite", "moved_line", "rewrite"]

# The classes of LibCST whose names differ from those of `ast`.
_KINDS = {
    "AsyncFunctionDef": "FunctionDef",
    "AsyncFor": "For",
    "AsyncWith": "With",
    "YieldFrom": "Yield",
    "Module": "Module",
}

# Nodes that begin at different places, or end at different ones, in the two trees.
_BY_START = frozenset(
    ["ClassDef", "For", "FunctionDef", "If", "Try", "TryStar", "While", "With"]
    + ["SimpleStatementLine", "ExceptHandler"]
)

_DEFINITION = re.compile(r"^\s*(async\s+def|class|def)\s", re.MULTILINE)
_LINE_END = re.compile(r"\r\n|\r|\n")

_Key = tuple[str, int, int, int, int]


class CannotRewrite(GencoroError):
    """A change cannot be made in a source."""


class _Places:
    """Where the nodes of `ast` are, in characters."""

    def __init__(self, text: str) -> None:
        self._lines = _LINE_END.split(text)

    def key_of(self, change: Change) -> _Key:
        node: Any = change.node
        name = type(node).__name__
        kind = change.kind or _KINDS.get(name, name)
        if kind == "Module":
            return (kind, 0, 0, 0, 0)
        start = (node.lineno, self._column(node.lineno, node.col_offset))
        if kind in _BY_START:
            return (kind, *start, 0, 0)
        end = (node.end_lineno, self._column(node.end_lineno, node.end_col_offset))
        return (kind, *start, *end)

    def _column(self, line: int, offset: int) -> int:
        """Return the column for an offset in bytes of UTF-8."""
        text = self._lines[line - 1]
        if text.isascii():
            return offset
        return len(text.encode()[:offset].decode(errors="replace"))


class _Rewriter(cst.CSTTransformer):
    """Makes the changes of the nodes, the inmost first."""

    def __init__(self, by_node: dict[cst.CSTNode, list[Change]]) -> None:
        super().__init__()
        self._by_node = by_node

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        for change in self._by_node.get(original_node, ()):
            updated_node = change.by(updated_node)
        is_line = isinstance(updated_node, cst.SimpleStatementLine)
        if is_line and original_node.body and not updated_node.body:
            return cst.RemoveFromParent()
        return updated_node


def rewrite(source: bytes, fixes: Sequence[Fix]) -> bytes:
    """Return a source with the changes of fixes.

    Raises:
        CannotRewrite: a change cannot be made; nothing is.
    """
    try:
        result = _rewritten(source, fixes)
        compile(result, "<converted>", "exec", dont_inherit=True)
    except cst.ParserSyntaxError as exc:
        raise CannotRewrite(f"LibCST cannot parse it: {exc.message}") from None
    except RecursionError:
        raise CannotRewrite(TOO_DEEP) from None
    except SyntaxError as exc:
        raise CannotRewrite(f"the result would be invalid: {exc.msg}") from None
    return result


def moved_line(line: int, before: bytes, after: bytes) -> int:
    """Return where a line is in another version of its source.

    A line that is not there becomes the one that took its place; 0 stays 0.

    >>> moved_line(2, b"a\\nb\\n", b"import time\\na\\nB\\n")
    3
    """
    if before == after or line < 1:
        return line
    index = line - 1
    for tag, start, end, first, last in _differences(before, after):
        if start <= index < end:
            offset = index - start
            last_offset = max(last - first - 1, 0)
            return first + (offset if tag == "equal" else min(offset, last_offset)) + 1
    return line


@functools.lru_cache(maxsize=64)
def _differences(
    before: bytes, after: bytes
) -> Sequence[tuple[str, int, int, int, int]]:
    old, new = before.splitlines(), after.splitlines()
    return difflib.SequenceMatcher(None, old, new).get_opcodes()


def _rewritten(source: bytes, fixes: Sequence[Fix]) -> bytes:
    mark = codecs.BOM_UTF8 if source.startswith(codecs.BOM_UTF8) else b""
    module = cst.parse_module(source.removeprefix(mark))
    places = _Places(module.code)
    changes = [(places.key_of(c), c) for fix in fixes for c in fix.changes]
    by_node = _find_nodes(module, changes)
    new = module.visit(_Rewriter(by_node))
    if new.body and _has_no_blank_lines(module):
        new = new.with_changes(body=[_without_blank_lines(new.body[0]), *new.body[1:]])
    return mark + _with_additions(new, fixes).bytes


def _has_no_blank_lines(module: cst.Module) -> bool:
    """Return whether the first statement is the first line."""
    first: Any = module.body[0] if module.body else None
    return not module.header and not getattr(first, "leading_lines", ())


def _without_blank_lines(statement: Any) -> Any:
    """Return a statement that has become the first one."""
    lines = list(statement.leading_lines)
    while lines and lines[0].comment is None:
        del lines[0]
    return statement.with_changes(leading_lines=lines)


def _find_nodes(
    module: cst.Module, changes: Iterable[tuple[_Key, Change]]
) -> dict[cst.CSTNode, list[Change]]:
    """Return the changes by the nodes of LibCST that they apply to."""
    wanted: dict[_Key, list[Change]] = {}
    for key, change in changes:
        wanted.setdefault(key, []).append(change)
    kinds = {key[0] for key in wanted}
    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
    found: dict[cst.CSTNode, list[Change]] = {}
    for node, place in wrapper.resolve(PositionProvider).items():
        kind = type(node).__name__
        if kind in kinds and isinstance(place, CodeRange):
            here = wanted.pop(_key(kind, place), None)
            if here is not None:
                found[node] = here
    if wanted:
        line = min(key[1] for key in wanted)
        raise CannotRewrite(f"line {line}: the node to change was not found")
    return found


def _key(kind: str, place: CodeRange) -> _Key:
    if kind == "Module":
        return (kind, 0, 0, 0, 0)
    start = (place.start.line, place.start.column)
    end = (0, 0) if kind in _BY_START else (place.end.line, place.end.column)
    return (kind, *start, *end)


def _with_additions(module: cst.Module, fixes: Sequence[Fix]) -> cst.Module:
    """Add the imports and the helpers that fixes need."""
    changes = [change for fix in fixes for change in fix.changes]
    imports = sorted(
        {i for change in changes for i in change.imports}, key=_import_order
    )
    helpers = dict.fromkeys(helper for change in changes for helper in change.helpers)
    body = list(module.body)
    place = _place_of_imports(body)
    present = set(_codes_before_definitions(module))
    lines = [_statement(i, module) for i in imports if i not in present]
    if lines and place < len(body):
        # The comment above the first statement stays above it, before the imports.
        first = body[place]
        lines[0] = lines[0].with_changes(leading_lines=first.leading_lines)
        body[place] = first.with_changes(leading_lines=())
    body[place:place] = lines
    module = module.with_changes(body=body)
    for helper in helpers:
        module = _with_helper(module, helper)
    return module


def _codes_before_definitions(module: cst.Module) -> Iterator[str]:
    """Return the statements that are executed before any helper can be needed."""
    codes = (module.code_for_node(statement).strip() for statement in module.body)
    return itertools.takewhile(lambda code: not _DEFINITION.search(code), codes)


def _with_helper(module: cst.Module, text: str) -> cst.Module:
    """Define a helper before the first statement that uses it.

    One that an earlier conversion has defined further below is moved.  The modules that a
    helper uses when it is called may be imported below it.
    """
    added = _statement(text, module)
    name = added.name.value
    body = [s for s in module.body if not _defines(s, name)]
    used = re.compile(rf"\b{name}\b")
    place = next(i for i, s in enumerate(body) if used.search(module.code_for_node(s)))
    if any(_defines(s, name) for s in module.body[: place + 1]):
        return module
    lines = _blank_lines(module)
    following = body[place]
    if not isinstance(following, (cst.ClassDef, cst.FunctionDef)):
        lacking = len(lines) - _count_of_blank(following.leading_lines)
        spaced = [*lines[: max(0, lacking)], *following.leading_lines]
        body[place] = following.with_changes(leading_lines=spaced)
    body.insert(place, added.with_changes(leading_lines=lines))
    return module.with_changes(body=body)


def _defines(statement: cst.CSTNode, name: str) -> bool:
    return isinstance(statement, cst.FunctionDef) and statement.name.value == name


def _blank_lines(module: cst.Module) -> list[cst.EmptyLine]:
    """Return as many blank lines as there are before definitions of a module."""
    definitions = (cst.ClassDef, cst.FunctionDef)
    counts = [
        _count_of_blank(statement.leading_lines)
        for statement in module.body
        if isinstance(statement, definitions)
    ]
    count = max(counts, default=2)
    return [cst.EmptyLine(indent=False)] * max(1, count)


def _count_of_blank(lines: Sequence[cst.EmptyLine]) -> int:
    return sum(1 for line in lines if line.comment is None)


def _import_order(text: str) -> tuple[bool, str]:
    return (not text.startswith("import "), text)


def _statement(text: str, module: cst.Module) -> Any:
    return cst.parse_statement(text, config=module.config_for_parsing)


def _place_of_imports(body: Sequence[cst.BaseStatement]) -> int:
    """Return where an import goes: after the docstring and ``__future__``."""
    place = 0
    for index, statement in enumerate(body):
        small = _small(statement)
        is_docstring = index == 0 and isinstance(small, cst.Expr)
        if is_docstring or _is_future(small):
            place = index + 1
        else:
            break
    return place


def _is_future(small: cst.BaseSmallStatement | None) -> bool:
    return (
        isinstance(small, cst.ImportFrom)
        and isinstance(small.module, cst.Name)
        and small.module.value == "__future__"
    )


def _small(statement: cst.BaseStatement) -> cst.BaseSmallStatement | None:
    if isinstance(statement, cst.SimpleStatementLine) and statement.body:
        return statement.body[0]
    return None
