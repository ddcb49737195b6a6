"""Lists the legacy names that a code base uses, and whether gencoro.compat serves them.

Rule: the code is read, never run.

This is ``python -m gencoro doctor``.

Inside::

    targets      finds the source files for a path or a name
    scan         finds the uses of legacy names in a module
    eras         for which Tornado the tests of a module were written
    visitor      visits the syntax tree of a module
    findings     what has been found, and how it is printed
    uses         a use of a legacy name
    conversions  what `gencoro.porting` does about it, and what a person writes
    branches     which alternatives of a module count
    conditions   conditions about the version of Python
    arguments    arguments that only legacy Tornado accepts
    differences  what is served, but not in every case as before
    threads      IOLoop.current() in functions that run on another thread
    naming       resolves expressions to names of Tornado
    resolving    resolves names to a program, to Tornado, or to any other module
    files        reads source files, and replaces them, for the converter
    program      the modules of a program, for the converter
    text         changes of a source that leave the rest as it is
    things       what an expression may refer to
    members      what a class defines
    project      the modules of a project, which import each other
    rows         the rows of the table for a name
    known        the names that have rows, and re-exports of them
    python_2     names and forms of Python 2
    removed      what Python has removed and compat does not put back
    today        what the installed Tornado has
    parsing      parses sources, also of older Pythons
"""

import gc
import sys
from collections.abc import Sequence
from typing import TextIO

from gencoro.compat.doctor.findings import Findings, Name, Place, json_of, text_of
from gencoro.compat.doctor.scan import Scanner, without_modern
from gencoro.compat.doctor.targets import BadTarget, files_of
from gencoro.compat.doctor.uses import Use
from gencoro.interpreter import recursion_limit, without_garbage_collection

__all__ = ["ALL_SERVED", "BAD_TARGET", "NOT_SERVED", "doctor"]

# The results of `doctor`.
ALL_SERVED = 0
NOT_SERVED = 1
BAD_TARGET = 2

# The recursion limit while sources are scanned.
DEEPEST = 20_000

# After how many files garbage is collected: each makes very many objects.
FILES_PER_COLLECTION = 200


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
        with recursion_limit(DEEPEST), without_garbage_collection():
            findings = _find(list(files_of(target)))
    except BadTarget as exc:
        print(f"doctor: {exc}", file=sys.stderr)
        return BAD_TARGET
    text = json_of(findings) if as_json else text_of(findings, show_all)
    out = out or sys.stdout
    if out is not None:  # it may be closed
        encoding = out.encoding or "utf-8"
        # The names of files may contain characters that cannot be encoded.
        out.write(text.encode(encoding, "backslashreplace").decode(encoding))
        out.flush()
    return ALL_SERVED if findings.are_all_served else NOT_SERVED


def _find(files: Sequence[str]) -> Findings:
    scanner = Scanner(files)
    uses: dict[Use, list[Place]] = {}
    unreadable = []
    for count, file in enumerate(files, 1):
        if count % FILES_PER_COLLECTION == 0:
            gc.collect()
        try:
            with open(file, "rb") as opened:
                found = scanner.scan(opened.read(), file)
        except OSError as exc:
            unreadable.append((Place(file, 0), exc.strerror or str(exc)))
        except SyntaxError as exc:
            unreadable.append((Place(file, exc.lineno or 0), exc.msg))
        else:
            for use in found:
                uses.setdefault(use._replace(line=0), []).append(Place(file, use.line))
    names = [Name(use, sorted(uses[use])) for use in without_modern(list(uses))]
    return Findings(
        len(files), sorted(names, key=lambda name: name.title), sorted(unreadable)
    )
