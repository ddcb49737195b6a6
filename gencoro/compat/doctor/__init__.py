"""Lists the legacy names that a code base uses, and whether gencoro.compat serves them.

Rule: the code is read, never run.

This is ``python -m gencoro doctor``.

Inside::

    targets    finds the source files for a path or a name
    scan       finds the uses of legacy Tornado in a module
    naming     resolves expressions to names of Tornado
    arguments  arguments that only legacy Tornado accepts
    rows       the rows of the table for a name
    today      what the installed Tornado has
"""

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TextIO

from gencoro.compat.doctor.scan import Use, scan
from gencoro.compat.doctor.targets import BadTarget, files_of
from gencoro.compat.names import INSTEAD

__all__ = ["ALL_SERVED", "BAD_TARGET", "NOT_SERVED", "doctor"]

# The results of `doctor`.
ALL_SERVED = 0
NOT_SERVED = 1
BAD_TARGET = 2

# The recursion limit while sources are scanned.
DEEPEST = 20_000

# How many places of a name are shown, unless all are requested.
FEW = 3

# The indentation of details.
INDENT = "    "


class _Place(NamedTuple):
    """A file and a line, counted from 1; 0 stands for the whole file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class _Name(NamedTuple):
    """A legacy name, and the places where it is used.

    Attributes:
        use: One of its uses, which differ only in their lines.
    """

    use: Use
    places: list[_Place]

    @property
    def title(self) -> str:
        """The name as it is written in code."""
        argument = f"({self.use.argument}=)" if self.use.argument else ""
        return self.use.name + argument

    @property
    def versions(self) -> str:
        """The versions of Tornado that had it, as text."""
        row = self.use.row
        return f"Tornado {row.first} to {row.last}" if row is not None else "unknown"

    @property
    def instead(self) -> str:
        """What to use instead; empty if it is served."""
        if self.use.is_served:
            return ""
        if self.use.row is not None:
            return INSTEAD[self.use.name]
        if self.use.argument:
            return "leave the argument out"
        return "neither today's Tornado nor gencoro.compat has this name"


class _Findings(NamedTuple):
    """The result of a scan.

    Attributes:
        files: How many files were scanned.
        names: The legacy names that are used, sorted.
        unreadable: The places that could not be scanned, and why.
    """

    files: int
    names: list[_Name]
    unreadable: list[tuple[_Place, str]]

    @property
    def unserved(self) -> list[_Name]:
        """The names that do not work with gencoro.compat."""
        return [name for name in self.names if not name.use.is_served]

    @property
    def are_all_served(self) -> bool:
        """Whether everything works with gencoro.compat."""
        return not self.unserved and not self.unreadable


def doctor(
    target: str,
    out: TextIO | None = None,
    *,
    show_all: bool = False,
    as_json: bool = False,
) -> int:
    """Print the legacy names of Tornado that a code base uses.

    Args:
        target: A file; a folder, whose ``*.py`` files are read recursively; or the name of
            an installed module, package or distribution.
        out: Where to print; None for the standard output.
        show_all: Whether to show all places of a name, and not only the first few.
        as_json: Whether to print JSON instead of text.

    Returns 0 if gencoro.compat serves all names; 1 if not, or if a file cannot be read or
    parsed; and 2 if there is no such target, with a message on standard error.
    """
    try:
        with _deep_calls():
            findings = _find(files_of(target))
    except BadTarget as exc:
        print(f"doctor: {exc}", file=sys.stderr)
        return BAD_TARGET
    text = _as_json(findings) if as_json else _as_text(findings, show_all)
    out = out or sys.stdout
    if out is not None:  # it may be closed
        encoding = out.encoding or "utf-8"
        # The names of files may contain characters that cannot be encoded.
        out.write(text.encode(encoding, "backslashreplace").decode(encoding))
        out.flush()
    return ALL_SERVED if findings.are_all_served else NOT_SERVED


@contextlib.contextmanager
def _deep_calls() -> Iterator[None]:
    """Allow deep recursion, for deeply nested sources, which Python itself accepts."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(DEEPEST, before))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _find(files: Iterable[str]) -> _Findings:
    count = 0
    uses: dict[Use, list[_Place]] = {}
    unreadable = []
    for file in files:
        count += 1
        try:
            with open(file, "rb") as opened:
                found = scan(opened.read())
        except OSError as exc:
            unreadable.append((_Place(file, 0), exc.strerror or str(exc)))
        except SyntaxError as exc:
            reason = f"{exc.msg}; if this is Python 2, convert it first"
            unreadable.append((_Place(file, exc.lineno or 0), reason))
        else:
            for use in found:
                uses.setdefault(use._replace(line=0), []).append(_Place(file, use.line))
    names = [_Name(use, sorted(places)) for use, places in uses.items()]
    return _Findings(
        count, sorted(names, key=lambda name: name.title), sorted(unreadable)
    )


def _as_text(findings: _Findings, show_all: bool) -> str:
    served = [name for name in findings.names if name.use.is_served]
    lines: list[str] = []
    for title, names in (("Not served", findings.unserved), ("Served", served)):
        if names:
            lines += [f"{title} by gencoro.compat:", ""]
        for name in names:
            lines += [*_lines_of(name, show_all), ""]
    if findings.unreadable:
        lines.append("Not checked:")
        lines += [
            f"{INDENT}{_printable(str(place))}: {reason}"
            for place, reason in findings.unreadable
        ]
        lines.append("")
    return "\n".join([*lines, _summary(findings), ""])


def _lines_of(name: _Name, show_all: bool) -> Iterator[str]:
    yield f"{name.title}  ({name.versions}, {_counted(len(name.places), 'use')})"
    if name.instead:
        yield f"{INDENT}{name.instead}"
    shown = name.places if show_all else name.places[:FEW]
    for place in shown:
        yield f"{INDENT}{_printable(str(place))}"
    if len(shown) < len(name.places):
        yield f"{INDENT}and {len(name.places) - len(shown)} more"


def _summary(findings: _Findings) -> str:
    files = _counted(findings.files, "file")
    if not findings.names:
        summary = f"{files}: no legacy names found"
    else:
        uses = sum(len(name.places) for name in findings.names)
        names = _counted(len(findings.names), "legacy name")
        summary = f"{files}, {names} in {_counted(uses, 'place')}"
        count = len(findings.unserved)
        summary += f": {count} not served" if count else ": all are served"
    if findings.unreadable:
        summary += f"; {_counted(len(findings.unreadable), 'file')} not checked"
    return summary


def _as_json(findings: _Findings) -> str:
    names: list[dict[str, Any]] = [
        {
            "name": name.use.name,
            "argument": name.use.argument or None,
            "first": name.use.row.first if name.use.row is not None else None,
            "last": name.use.row.last if name.use.row is not None else None,
            "is_served": name.use.is_served,
            "instead": name.instead or None,
            "places": [place._asdict() for place in name.places],
        }
        for name in findings.names
    ]
    unreadable = [
        {**place._asdict(), "reason": reason} for place, reason in findings.unreadable
    ]
    data = {"files": findings.files, "names": names, "unreadable": unreadable}
    return json.dumps(data, indent=2) + "\n"


def _counted(count: int, noun: str) -> str:
    """Return a count and its noun, in the plural if needed.

    >>> _counted(1, "use"), _counted(2, "use")
    ('1 use', '2 uses')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _printable(path: str) -> str:
    r"""Escape the control characters of a path for printing.

    >>> _printable("a\x1b.py")
    'a\\x1b.py'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in path)
