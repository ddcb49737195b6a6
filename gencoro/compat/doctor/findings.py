"""The doctor's findings, and their text and JSON output.

Pure.  Used by `gencoro.compat.doctor`.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from gencoro.compat.doctor.conversions import by_hand, conversion_of
from gencoro.compat.doctor.known import ADVICE
from gencoro.compat.doctor.removed import ASYNC
from gencoro.compat.doctor.threads import ON_THREAD
from gencoro.compat.doctor.uses import Use

__all__ = ["Findings", "Name", "Place", "counted", "json_of", "text_of"]

# How many places of a name are shown, unless all are requested.
FEW = 3

# The indentation of details.
INDENT = "    "


class Place(NamedTuple):
    """A file and a line, counted from 1; 0 stands for the whole file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class Name(NamedTuple):
    """A legacy name, and the places where it is used.

    Attributes:
        use: One of its uses, which differ only in their lines.
    """

    use: Use
    places: list[Place]

    @property
    def title(self) -> str:
        """The name as it is written in code."""
        if self.use.name == ASYNC:
            return "async or await as a name"
        if self.use.argument == "type":
            return f"type(...) is {self.use.name}"
        if self.use.argument == ON_THREAD:
            return f"{self.use.name}() {ON_THREAD}"
        argument = f"({self.use.argument}=)" if self.use.argument else ""
        return self.use.name.removeprefix("builtins.") + argument

    @property
    def versions(self) -> str:
        """The versions of Tornado or Python that had it, as text."""
        row = self.use.row
        if row is None:
            return "unknown"
        owner = "Tornado" if self.use.name.startswith("tornado.") else "Python"
        return (
            f"{owner} {row.first} to {row.last}"
            if row.first
            else f"{owner} to {row.last}"
        )

    @property
    def conversion(self) -> str:
        """What ``convert`` does about it; empty if it does nothing."""
        code = conversion_of(self.use)
        return f"convert: {code}, where it is certain" if code else ""

    @property
    def by_hand(self) -> str:
        """What a person writes instead; empty if that is not described."""
        return by_hand(self.use)

    @property
    def instead(self) -> str:
        """What to use instead; empty if it is served."""
        if self.use.is_served:
            return ""
        if self.use.row is not None:
            return ADVICE[self.use.name]
        if self.use.argument:
            return "leave the argument out"
        return "neither today's Tornado nor gencoro.compat has this name"


class Findings(NamedTuple):
    """The result of a scan.

    Attributes:
        files: How many files were scanned.
        names: The legacy names that are used, sorted.
        unreadable: The places that could not be scanned, and why.
    """

    files: int
    names: list[Name]
    unreadable: list[tuple[Place, str]]

    @property
    def different(self) -> list[Name]:
        """The names that work with gencoro.compat, but not quite as in Tornado 4.5."""
        return [name for name in self.names if name.use.is_served and name.use.note]

    @property
    def served(self) -> list[Name]:
        """The other names that work with gencoro.compat."""
        return [name for name in self.names if name.use.is_served and not name.use.note]

    @property
    def unserved(self) -> list[Name]:
        """The names that do not work with gencoro.compat."""
        return [name for name in self.names if not name.use.is_served]

    @property
    def are_all_served(self) -> bool:
        """Whether everything works with gencoro.compat."""
        return not self.unserved and not self.unreadable


def text_of(findings: Findings, show_all: bool) -> str:
    lines: list[str] = []
    for title, names in (
        ("Not served by gencoro.compat:", findings.unserved),
        ("Served by gencoro.compat, with a difference:", findings.different),
        ("Served by gencoro.compat:", findings.served),
    ):
        if names:
            lines += [title, ""]
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


def _lines_of(name: Name, show_all: bool) -> Iterator[str]:
    yield f"{name.title}  ({name.versions}, {counted(len(name.places), 'use')})"
    for text in filter(
        None, (name.instead, name.use.note, name.by_hand, name.conversion)
    ):
        yield f"{INDENT}{text}"
    shown = name.places if show_all else name.places[:FEW]
    for place in shown:
        yield f"{INDENT}{_printable(str(place))}"
    if len(shown) < len(name.places):
        yield f"{INDENT}and {len(name.places) - len(shown)} more"


def _summary(findings: Findings) -> str:
    files = counted(findings.files, "file")
    if not findings.names:
        summary = f"{files}: no legacy names found"
    else:
        uses = sum(len(name.places) for name in findings.names)
        names = counted(len(findings.names), "legacy name")
        summary = f"{files}, {names} in {counted(uses, 'place')}"
        count = len(findings.unserved)
        summary += f": {count} not served" if count else ": all are served"
    if findings.unreadable:
        summary += f"; {counted(len(findings.unreadable), 'file')} not checked"
    return summary


def json_of(findings: Findings) -> str:
    names: list[dict[str, Any]] = [
        {
            "name": name.use.name,
            "argument": name.use.argument or None,
            "first": name.use.row.first if name.use.row is not None else None,
            "last": name.use.row.last if name.use.row is not None else None,
            "is_served": name.use.is_served,
            "instead": name.instead or None,
            "note": name.use.note or None,
            "convert": conversion_of(name.use) or None,
            "by_hand": name.by_hand or None,
            "places": [place._asdict() for place in name.places],
        }
        for name in findings.names
    ]
    unreadable = [
        {**place._asdict(), "reason": reason} for place, reason in findings.unreadable
    ]
    data = {"files": findings.files, "names": names, "unreadable": unreadable}
    return json.dumps(data, indent=2) + "\n"


def counted(count: int, noun: str) -> str:
    """Return a count and its noun, in the plural if needed.

    >>> counted(1, "use"), counted(2, "use")
    ('1 use', '2 uses')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _printable(path: str) -> str:
    r"""Escape the control characters of a path for printing.

    >>> _printable("a\x1b.py")
    'a\\x1b.py'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in path)
