"""Evidence: what ``python -m gencoro run --record FILE`` has seen a program do.

Rule: evidence speaks of the source as it was recorded.  That of a file which has changed
since, or which cannot be told from another one, is ignored, and `Evidence.ignored` says so.

**The file** is UTF-8 text, one JSON object a line.  Each process appends a line as soon as
it sees something for the first time, by one ``write``: lines of several runs, processes and
threads add up in any order, may be repeated, and survive a crash.  It holds places and the
words of `USES` and `KINDS`, and no values of the program::

    {"gencoro evidence": 1}
    {"file": "3fa9c1d2e4b5", "path": "/srv/shop/app.py", "sha256": "9f86d0..."}
    {"call": ["3fa9c1d2e4b5", 12, "Client.fetch"], "use": "awaited", "at": ["3fa9c1d2e4b5", 40, 15]}
    {"yield": ["3fa9c1d2e4b5", 40, 8], "kind": "coroutine"}

``file``   a source file, by an id that other lines refer to; a changed file has another id.
``call``   file, line and qualified name of a coroutine (``@gen.coroutine``) that was called;
           the line is that of its first decorator.  ``use`` is what became of the Future, and
           ``at`` the place of the call: file, line and column of its expression; for other
           uses than `AT_ONCE` that of the use.  ``at`` is null outside of the program.
``yield``  file, line and column of a ``yield`` in a coroutine, and in ``kind`` a kind of value
           that it got.

Columns count as in `ast`: bytes of UTF-8, from 0; null where Python keeps none (``-X
no_debug_ranges``).

**Awaited at once** means that a bare ``async def``, whose body starts when it is awaited, does
the same as the coroutine, whose body starts when it is called.  So nothing runs between the
return of the call and the wait: the very next instruction yields or awaits the Future, or
returns it from a plain function, to whose caller the same applies.  A ``with`` block or a
``finally`` that is left by that ``return`` runs in between, as does a decorator that stores
the Future in a variable.  In a list or dict, other elements are evaluated in between, and
nothing else: the call is an element of a display or comprehension that is yielded as it is.

**Asking**::

    evidence = Evidence.load(["evidence.json"], {path: source, ...})
    uses = evidence.of(path, line, "Client.fetch")     # None: it was never called
    uses.at_once, uses.places["kept"]
    evidence.yielded(path, line, column)               # {"coroutine"}; empty: never reached

Pure but for reading the recorded files.  `gencoro.recording` writes them, and takes the words
from here.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

__all__ = [
    "AT_ONCE",
    "AWAITABLE",
    "HEADER",
    "KINDS",
    "USES",
    "Evidence",
    "EvidenceError",
    "Ignored",
    "SeenPlace",
    "SeenUses",
    "id_of",
    "records_of",
]

# The first line of a file.  Another version means another meaning of some line.
HEADER = '{"gencoro evidence": 1}'

# What became of the Future that a call of a coroutine returned.
USES = {
    "awaited": "yielded or awaited at once",
    "together": "yielded at once in a list or dict",
    "dispatched": "returned at once to Tornado or gencoro, which waits for the result of a "
    "handler, a callback, a test or the function of run_sync",
    "passed": "passed to another function, or a method of it was looked up",
    "kept": "stored, or waited for after something else ran",
    "dropped": "never waited for: the call is a statement",
    "reused": "waited for more than once",
    "cancelled": "cancelled by the program",
    "inspected": "one of its methods, such as result or add_done_callback, was called",
}

# The uses for which a bare `async def` does the same.
AT_ONCE = frozenset({"awaited", "together", "dispatched"})

# What a `yield` got.  For each kind of element there is also "list of KIND" and "dict of KIND".
KINDS = {
    "coroutine": "the Future of a call of a coroutine",
    "future": "another Future of asyncio, or a Task",
    "awaitable": "a native coroutine, or another object with `__await__`",
    "concurrent": "a Future of concurrent.futures",
    "none": "None",
    "moment": "gen.moment",
    "list": "a list",
    "dict": "a dict",
    "legacy": "a YieldPoint, such as gen.Task, gen.Callback or gen.Wait",
    "other": "another object: one with a registered converter, or a mistake",
}

# The kinds that `await` takes as they are.
AWAITABLE = frozenset({"coroutine", "future", "awaitable"})


class EvidenceError(Exception):
    """A file cannot be read as evidence; the text says why, and what to do."""


class SeenPlace(NamedTuple):
    """A place in a source file; the column is None where Python keeps none."""

    path: str
    line: int
    column: int | None = None


class SeenUses(NamedTuple):
    """What became of the Futures of one coroutine.

    Attributes:
        places: The places of each use that was seen; none for a use outside of the
            program.  The path of a file that is not being converted is the recorded one.
    """

    places: Mapping[str, tuple[SeenPlace, ...]]

    @property
    def at_once(self) -> bool:
        """Whether each Future was waited for at once."""
        return self.places.keys() <= AT_ONCE


class Ignored(NamedTuple):
    """A file whose evidence is ignored, and why."""

    path: str
    reason: str


class _File(NamedTuple):
    path: str
    sha256: str


class Evidence:
    """The evidence of any number of runs about the sources of one program.

    Attributes:
        ignored: The files whose evidence is ignored.
    """

    def __init__(self, ignored: Iterable[Ignored] = ()) -> None:
        self.ignored = list(ignored)
        self._uses: dict[tuple[str, int, str], dict[str, set[SeenPlace]]] = {}
        self._kinds: dict[SeenPlace, set[str]] = {}

    @classmethod
    def load(
        cls, recordings: Iterable[str | os.PathLike[str]], sources: Mapping[str, bytes]
    ) -> "Evidence":
        """Read recordings and relate them to the sources that are to be converted.

        A recorded file is found again by its content and the longest common end of its
        path, wherever the program was installed.

        Args:
            recordings: The files that ``--record`` has written.
            sources: The content of each source file, by its path.  Pass the whole program,
                also what is not converted: two equal files are told apart by it.

        Raises:
            EvidenceError: a file is not a recording, or is damaged.
            OSError: a file cannot be read.
        """
        records = [record for path in recordings for record in records_of(path)]
        files = {
            record["file"]: _File(record["path"], record["sha256"])
            for record in records
            if "file" in record
        }
        path_by_id, ignored = _related(files, sources)
        evidence = cls(ignored)
        for record in records:
            evidence._add(record, files, path_by_id)
        return evidence

    def of(self, path: str, line: int, qualname: str) -> SeenUses | None:
        """Return the uses of a coroutine's Futures; None if it was never called.

        Args:
            line: The line of its first decorator.
        """
        places = self._uses.get((path, line, qualname))
        if places is None:
            return None
        return SeenUses({use: _in_order(found) for use, found in places.items()})

    def yielded(self, path: str, line: int, column: int) -> frozenset[str]:
        """Return the kinds of values that a ``yield`` got; empty if it was never reached."""
        found = self._kinds.get(SeenPlace(path, line, column), set())
        return frozenset(found | self._kinds.get(SeenPlace(path, line), set()))

    def _add(
        self,
        record: dict[str, Any],
        files: Mapping[str, _File],
        path_by_id: Mapping[str, str],
    ) -> None:
        if "call" in record:
            file, line, qualname = record["call"]
            if file in path_by_id:
                uses = self._uses.setdefault((path_by_id[file], line, qualname), {})
                places = uses.setdefault(record["use"], set())
                if record["at"] is not None:
                    at, *position = record["at"]
                    places.add(SeenPlace(path_by_id.get(at, files[at].path), *position))
        elif "yield" in record:
            file, *position = record["yield"]
            if file in path_by_id:
                place = SeenPlace(path_by_id[file], *position)
                self._kinds.setdefault(place, set()).add(record["kind"])


def _in_order(places: Iterable[SeenPlace]) -> tuple[SeenPlace, ...]:
    return tuple(sorted(places, key=lambda place: (*place[:2], place.column or 0)))


def id_of(path: str, sha256: str) -> str:
    """Return the id of a source file, which is the same in every process."""
    return hashlib.sha256(f"{path}\n{sha256}".encode()).hexdigest()[:12]


# What each kind of line must look like.
_SHAPES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "gencoro evidence": lambda record: record == json.loads(HEADER),
    "file": lambda record: _are(str, record["file"], record["path"], record["sha256"]),
    "call": lambda record: (
        _are(str, record["call"][0], record["call"][2])
        and type(record["call"][1]) is int
        and record["use"] in USES
        and (record["at"] is None or _is_position(record["at"]))
    ),
    "yield": lambda record: (
        _is_position(record["yield"])
        and record["kind"].removeprefix("list of ").removeprefix("dict of ") in KINDS
    ),
}


def _are(cls: type, *values: object) -> bool:
    return all(type(value) is cls for value in values)


def _is_position(value: Any) -> bool:
    file, line, column = value
    return _are(str, file) and _are(int, line) and type(column) in (int, type(None))


def records_of(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the lines of a recording, each checked.

    Raises:
        EvidenceError: the file is not a recording, or is damaged.
        OSError: it cannot be read.
    """
    lines = Path(path).read_bytes().splitlines()
    header = lines[0].decode(errors="replace") if lines else ""
    if header != HEADER:
        if header.startswith('{"gencoro evidence":'):
            raise EvidenceError(
                f"{path} was recorded by another version of gencoro ({header[:60]}); "
                "record it again"
            )
        raise EvidenceError(
            f"{path} is not a recording: its first line is not {HEADER}; make one with "
            "`python -m gencoro run --record FILE ...`"
        )
    records = []
    files = set()
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            (kind,) = _SHAPES.keys() & record.keys()
            if not _SHAPES[kind](record):
                raise ValueError(line)
        except (ValueError, TypeError, LookupError, AttributeError) as exc:
            raise EvidenceError(
                f"{path}:{number} is damaged; delete the file, or this line, and record "
                "again"
            ) from exc
        records.append(record)
        files |= {record["file"]} if kind == "file" else set()
        if not _files_named_in(record) <= files:
            raise EvidenceError(
                f"{path}:{number} names a file that no line before it describes; delete "
                "the file and record again"
            )
    return records


def _files_named_in(record: dict[str, Any]) -> set[str]:
    named = (record.get("call"), record.get("yield"), record.get("at"))
    return {place[0] for place in named if place}


def _related(
    files: Mapping[str, _File], sources: Mapping[str, bytes]
) -> tuple[dict[str, str], list[Ignored]]:
    """Return the source path of each recorded file that is one of the sources."""
    hashes = {path: hashlib.sha256(text).hexdigest() for path, text in sources.items()}
    path_by_id: dict[str, str] = {}
    ignored: dict[str, str] = {}
    changed = []
    for file_id, file in files.items():
        same = [path for path, sha256 in hashes.items() if sha256 == file.sha256]
        best = _best(file.path, same or hashes)
        if same and len(best) == 1:
            path_by_id[file_id] = best[0]
        elif same and best:
            reason = f"it is equal to {' and '.join(best)}, and may be any of them"
            ignored[file.path] = reason
        # One common part is a name such as utils.py, which other packages have too.
        elif len(best) == 1 and (
            _common(file.path, best[0]) > 1 or file.path == best[0]
        ):
            changed.append(best[0])
    # Of several equal recorded files, a source is the one with the most similar path.
    for path in set(path_by_id.values()):
        theirs = [file_id for file_id in path_by_id if path_by_id[file_id] == path]
        nearest = max(_common(files[file_id].path, path) for file_id in theirs)
        for file_id in theirs:
            if _common(files[file_id].path, path) < nearest:
                del path_by_id[file_id]
    for path in changed:
        if path not in path_by_id.values():
            ignored[path] = "it has changed since it was recorded; record it again"
    return path_by_id, [Ignored(*item) for item in sorted(ignored.items())]


def _best(path: str, candidates: Iterable[str]) -> list[str]:
    """Return the paths with the longest common end with a path, of one part at least."""
    lengths = {candidate: _common(path, candidate) for candidate in candidates}
    longest = max(lengths.values(), default=0)
    return [found for found, length in lengths.items() if length == longest > 0]


def _common(path: str, other: str) -> int:
    """Return how many parts at the end of two paths are the same.

    >>> _common("/srv/shop/app.py", "/home/me/shop/app.py")
    2
    """
    ends = zip(reversed(_parts(path)), reversed(_parts(other)), strict=False)
    count = 0
    for part, other_part in ends:
        if part != other_part:
            break
        count += 1
    return count


def _parts(path: str) -> tuple[str, ...]:
    return Path(os.path.abspath(path)).parts
