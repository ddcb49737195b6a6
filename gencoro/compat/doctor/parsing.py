"""Parses sources, also those of older Pythons as far as possible.

Rule: a source that uses ``async`` or ``await`` as a name is parsed as if the name were
another one; one of Python 2 is refused, with its line.

Pure.  Used by the other modules of the doctor and by the converter.
"""

import ast
import contextlib
import re
import sys
import warnings
from collections.abc import Iterator, Sequence

from gencoro.interpreter import without_garbage_collection

__all__ = ["DEFS", "TOO_DEEP", "all_statements", "parse", "parse_older", "statements"]

# The message for a source whose parentheses are nested too deeply.
TOO_DEEP = "it is nested too deeply"

# What `parse_older` reads instead of ``async`` and ``await``.
_RENAMED = frozenset({"async_", "await_"})

DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)

_KEYWORD_AS_NAME = re.compile(
    rb"\basync\b(?!(?:[ \t]|\\\r?\n)+(?:def|for|with)\b)"
    rb"|(?:(?<=\bdef )|(?<=[.@]))await\b|\bawait(?=\s*=)"
)

# Messages of SyntaxErrors that only Python 2 causes.
_MESSAGES_OF_PYTHON_2 = (
    "Missing parentheses in call to",
    "multiple exception types must be parenthesized",
    "leading zeros in decimal integer literals",
    "inconsistent use of tabs",
    "invalid decimal literal",
    "Lambda expression parameters cannot be parenthesized",
    "Function parameters cannot be parenthesized",
)

# Lines that only Python 2 accepts.
_LINES_OF_PYTHON_2 = (
    re.compile(r"^\s*(print|exec)\s+[^=\s(.]"),
    re.compile(r"^\s*raise\s+[^#('\"]+,"),
    re.compile(r"^\s*except\s+.+,\s*\w+\s*:"),
    re.compile(r"<>|`"),
    re.compile(r"\b(0[0-7]+|\d+L)\b"),
    re.compile(r"\b[uU][rR]['\"]"),
    re.compile(r"^\s*def\s+\w+\(.*\(|\blambda\s*[\w,\s]*\("),
)


def parse(source: str | bytes) -> ast.Module:
    """Parse the source of a module, without its SyntaxWarnings.

    Raises:
        SyntaxError: the source is not valid for this Python.
    """
    # On Python 3.11, `ast.parse` raises SystemError if a finalizer that runs meanwhile calls
    # it too (python/cpython#106905), and formatting a traceback does.
    with warnings.catch_warnings(), without_garbage_collection():
        warnings.simplefilter("ignore")
        try:
            module = ast.parse(source)
        except ValueError as exc:  # the source contains null bytes
            raise SyntaxError(str(exc)) from None
        except (RecursionError, MemoryError):
            raise SyntaxError(TOO_DEEP) from None
    if sys.version_info >= (3, 14):
        _refuse_comma_for_as(module)
    return module


def parse_older(source: bytes) -> tuple[ast.Module, list[int]]:
    """Parse a source of Python 3 in which ``async`` and ``await`` may be names.

    Returns the module, and the lines where they are.

    Raises:
        SyntaxError: the source is not Python 3; the message says so if it is Python 2.

    >>> module, lines = parse_older(b"run(async=True)")
    >>> lines, ast.unparse(module)
    ([1], 'run(async=True)')
    """
    try:
        return parse(source), []
    except SyntaxError as exc:
        error = exc
    renamed, count = _KEYWORD_AS_NAME.subn(rb"\g<0>_", source)
    if count:
        with contextlib.suppress(SyntaxError):
            module = parse(renamed)
            return module, sorted(set(_rename_back(module)))
    if _is_python_2(error):
        error.msg = f"this is Python 2, to be converted first: {error.msg}"
    raise error


def _rename_back(module: ast.Module) -> Iterator[int]:
    """Give names that were changed back, and yield their lines."""
    for node in ast.walk(module):
        for field in ("id", "arg", "attr", "name", "asname"):
            name = getattr(node, field, None)
            if name in _RENAMED:
                setattr(node, field, name.removesuffix("_"))
                yield getattr(node, "lineno", 1)


def _is_python_2(error: SyntaxError) -> bool:
    if (error.msg or "").startswith(_MESSAGES_OF_PYTHON_2):
        return True
    line = error.text or ""
    return any(pattern.search(line) for pattern in _LINES_OF_PYTHON_2)


def _refuse_comma_for_as(module: ast.Module) -> None:
    """Refuse ``except E, e``, which Python 3.14 takes for ``except (E, e)``.

    A second name that is written like a class, or imported or defined in the module, is
    accepted as one.
    """
    for node in ast.walk(module):
        match node:
            case ast.ExceptHandler(
                type=ast.Tuple(elts=[_, ast.Name(id=name) as last]) as caught
            ):
                in_parentheses = _end(last) != _end(caught)
                is_class = name[0].isupper() or name in _bound_in(module)
                if not (in_parentheses or is_class):
                    raise SyntaxError(
                        f"`except ..., {name}` is Python 2; write `except ... as {name}`",
                        ("<unknown>", node.lineno, node.col_offset + 1, None),
                    )


def _end(node: ast.expr) -> tuple[int | None, int | None]:
    return node.end_lineno, node.end_col_offset


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a scope, with those in blocks but not in other scopes."""
    for statement in body:
        yield statement
        if isinstance(statement, (*DEFS, ast.ClassDef)):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from statements(getattr(statement, name, []))
        for arm in (
            *getattr(statement, "handlers", []),
            *getattr(statement, "cases", []),
        ):
            yield from statements(arm.body)


def all_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a scope and of all scopes in it."""
    for statement in statements(body):
        yield statement
        if isinstance(statement, (*DEFS, ast.ClassDef)):
            yield from all_statements(statement.body)


def _bound_in(module: ast.Module) -> set[str]:
    """Return the names that the statements of a module define or import."""
    names: set[str] = set()
    for node in statements(module.body):
        if isinstance(node, (*DEFS, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign):
            names.update(t.id for t in node.targets if isinstance(t, ast.Name))
    return names
