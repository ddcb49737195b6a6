"""Reads the sources of a program, and replaces all files that changed, or none.

Rule: everything is written to temporary files beside the originals first; a file that has
changed since it was read is not replaced.  Used by `gencoro.porting.command`.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping

from gencoro.compat.doctor.targets import files_of
from gencoro.errors import GencoroError

__all__ = ["FileChanged", "read_sources", "replace_files"]


class FileChanged(GencoroError):
    """A file has been changed by another program."""


def read_sources(targets: Iterable[str]) -> dict[str, bytes]:
    """Return the sources of the files of targets, by file.

    Raises:
        BadTarget: a target does not exist.
    """
    sources: dict[str, bytes] = {}
    for target in targets:
        for path in files_of(target):
            with open(path, "rb") as opened:
                sources.setdefault(os.path.normpath(path), opened.read())
    return sources


def replace_files(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
    """Replace files, keeping their modes; all of them, or none if one cannot be.

    A symbolic link stays one: the file that it points to is replaced.

    Args:
        before: What was read.
        after: The files to replace, and their new contents.

    Raises:
        FileChanged: a file is not what was read.
        OSError: a file cannot be written.
    """
    prepared: list[tuple[str, str]] = []
    try:
        for path, source in after.items():
            real = os.path.realpath(path)
            prepared.append((_write_beside(real, source), real))
        for path in after:
            with open(path, "rb") as opened:
                if opened.read() != before[path]:
                    raise FileChanged(f"{path} has been changed meanwhile")
        _replace_all(prepared, {os.path.realpath(p): before[p] for p in after})
    finally:
        for temporary, _ in prepared:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)


def _write_beside(path: str, source: bytes) -> str:
    """Write a temporary file with the mode of another, and return its path."""
    folder, name = os.path.split(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(source)
            opened.flush()
            os.fsync(opened.fileno())
        shutil.copymode(path, temporary)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def _replace_all(prepared: list[tuple[str, str]], before: Mapping[str, bytes]) -> None:
    """Replace files; if that fails, put back those that were replaced."""
    done: list[str] = []
    try:
        for temporary, path in prepared:
            os.replace(temporary, path)
            done.append(path)
    except BaseException:
        for path in done:
            os.replace(_write_beside(path, before[path]), path)
        raise
