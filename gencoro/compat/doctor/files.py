"""Reads source files, and replaces all changed files or none.

Rule: everything is written to temporary files beside the originals first; a file that has
changed since it was read is not replaced.  Used by `gencoro.porting.command`.
"""

import contextlib
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gencoro.compat.doctor.targets import files_of
from gencoro.errors import GencoroError

__all__ = ["FileChanged", "Sources", "read_sources", "replace_files"]


class FileChanged(GencoroError):
    """A file has been changed by another program."""


class Sources(NamedTuple):
    """What was read.

    Attributes:
        by_file: The source of each file.
        unread: Why others could not be read, by file.
    """

    by_file: dict[str, bytes]
    unread: dict[str, str]


def read_sources(targets: Iterable[str]) -> Sources:
    """Return the sources of the files of targets.

    A file that has several paths, such as a symbolic link to it, is read once.

    Raises:
        BadTarget: a target does not exist.
        OSError: a file that is named itself cannot be read.
    """
    found = Sources({}, {})
    seen: set[str] = set()
    for path, is_named in _paths_of(targets):
        real = os.path.realpath(path)
        if real in seen:
            continue
        seen.add(real)
        try:
            with open(path, "rb") as opened:
                found.by_file[os.path.normpath(path)] = opened.read()
        except OSError as exc:  # such as a lock of Emacs, which is a link to nothing
            if is_named:
                raise
            found.unread[os.path.normpath(path)] = exc.strerror or str(exc)
    return found


def _paths_of(targets: Iterable[str]) -> list[tuple[str, bool]]:
    """Return the paths of targets, and whether they are named; symbolic links come last."""
    found = [(path, path == target) for target in targets for path in files_of(target)]
    return sorted(found, key=lambda one: os.path.islink(one[0]))


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
    _check_writable(after)
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


def _check_writable(paths: Iterable[str]) -> None:
    """Raise PermissionError for a read-only file, which a rename would replace."""
    for path in paths:
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


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
        _copy_owner(path, temporary)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def _copy_owner(path: str, temporary: str) -> None:
    """Give a file to the owner of another, as far as that is allowed."""
    if sys.platform == "win32":
        return
    status = os.stat(path)
    with contextlib.suppress(PermissionError):
        os.chown(temporary, status.st_uid, status.st_gid)


def _replace_all(prepared: list[tuple[str, str]], before: Mapping[str, bytes]) -> None:
    """Replace files; if that fails, put back those that were replaced."""
    done: list[str] = []
    try:
        for temporary, path in prepared:
            # First, because a Ctrl-C may come between the two.
            done.append(path)
            os.replace(temporary, path)
    except BaseException:
        for path in done:
            os.replace(_write_beside(path, before[path]), path)
        raise
