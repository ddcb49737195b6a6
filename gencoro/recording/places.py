"""Source files of the program, and places in them."""

import functools
import hashlib
import os
import sysconfig
from types import FrameType
from typing import NamedTuple

import tornado

import gencoro
from gencoro.evidence import id_of
from gencoro.recording.after import position_at

__all__ = ["Position", "SourceFile", "file_of", "position_of"]


class SourceFile(NamedTuple):
    """A source file of the program, as it was when its code first ran."""

    id: str
    path: str
    sha256: str


class Position(NamedTuple):
    """A place in a source file; the column is None where Python keeps none."""

    file: SourceFile
    line: int | None
    column: int | None


def _folder(path: str) -> str:
    return os.path.join(os.path.realpath(path), "")


_LIBRARIES = tuple(_folder(package.__path__[0]) for package in (gencoro, tornado))
_PYTHON = _folder(sysconfig.get_path("stdlib"))

# Where installed packages are, often inside Python's own folder.
_INSTALLED = tuple(f"{os.sep}{x}-packages{os.sep}" for x in ("site", "dist"))


@functools.cache
def file_of(filename: str) -> SourceFile | None:
    """Return the source file of a code object, if it is one of the program.

    Those of installed packages are; those of Python, Tornado and gencoro are not.
    """
    path = os.path.realpath(filename)
    is_installed = any(name in path for name in _INSTALLED)
    if path.startswith(_LIBRARIES) or (path.startswith(_PYTHON) and not is_installed):
        return None
    try:
        with open(path, "rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:  # code without a file, such as that of exec()
        return None
    return SourceFile(id_of(path, sha256), path, sha256)


def position_of(frame: FrameType) -> Position | None:
    """Return the place of a frame's current instruction; None outside of the program."""
    file = file_of(frame.f_code.co_filename)
    if file is None:
        return None
    line, column = position_at(frame.f_code, frame.f_lasti)
    return Position(file, line or frame.f_lineno, column)
