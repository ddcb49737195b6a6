"""Output files of commands: complete, or unchanged.

Rule: if a command fails or is interrupted, the file that it was to write is as it was before.
"""

import contextlib
import fcntl
import glob
import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TextIO, cast

from crawler_app.base.errors import ConfigError
from crawler_app.base.safe_files import is_disk_fault
from crawler_app.commands.arguments import STDOUT

__all__ = [
    "format_of",
    "opened_output",
    "replacing",
    "require_writable",
    "standard_output",
]


def format_of(
    given: str | None, output: str, default: str, format_by_ending: Mapping[str, str]
) -> str:
    """Return the format that is given, or else the one that the output is named after.

    Args:
        default: That of standard output, and of what exists and is not a file.
        format_by_ending: The endings of names, in lower case; the longest counts.

    Raises:
        ConfigError: the name has none of these endings.

    >>> format_of(None, "Texts.JSONL", "csv", {".jsonl": "jsonl", "texts.jsonl": "texts"})
    'texts'
    """
    if given:
        return given
    path = Path(output)
    if output == STDOUT or (path.exists() and not path.is_file()):
        return default
    found = [each for each in format_by_ending if path.name.lower().endswith(each)]
    if not found:
        raise ConfigError(
            f"the format cannot be told from the name of {output}, which ends in none of "
            f"{', '.join(format_by_ending)}; choose --format"
        )
    return format_by_ending[max(found, key=len)]


def require_writable(output: str) -> None:
    """Raise ConfigError if the output cannot be written, before the long work."""
    if output == STDOUT:
        return
    path = Path(output)
    if path.is_dir():
        raise ConfigError(f"{output} is a directory; --output names a file")
    if not path.absolute().parent.is_dir():
        raise ConfigError(
            f"cannot write {output}: there is no directory {path.absolute().parent}"
        )


def opened_output(output: str, mode: str = "w") -> AbstractContextManager[Any]:
    """Open an output file that the user has named, or standard output for STDOUT.

    A link is followed.

    Args:
        mode: ``w`` or ``wb``.
    """
    if output == STDOUT:
        return standard_output(mode)
    path = Path(output)
    if path.exists() and not path.is_file():  # such as /dev/stdout
        return open(path, mode, encoding=_encoding(mode))
    return replacing(path.resolve(), mode)


@contextlib.contextmanager
def replacing(path: Path, mode: str = "w") -> Iterator[Any]:
    """Open a file that replaces another when it is complete.

    What a run that was killed has left beside it is deleted.
    """
    prefix = f".{path.name[:60]}.gencrawl-"
    _delete_leavings(path.parent, prefix)
    try:
        new_fd, name = tempfile.mkstemp(dir=path.parent, prefix=prefix)
    except OSError as exc:
        raise ConfigError(
            f"cannot write {path}: {exc.strerror}; --output names another file"
        ) from None
    with contextlib.suppress(OSError):  # where files cannot be locked, leavings stay
        fcntl.flock(new_fd, fcntl.LOCK_EX)
    try:
        with open(new_fd, mode, encoding=_encoding(mode)) as file:
            yield file
        # mkstemp makes the file readable by its owner only; set the usual mode.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException as exc:
        os.unlink(name)
        # An error of a write names no file.
        if isinstance(exc, OSError) and is_disk_fault(exc) and exc.filename is None:
            raise OSError(exc.errno, exc.strerror, str(path)) from None
        raise


def _delete_leavings(directory: Path, prefix: str) -> None:
    """Delete the temporary files that no process is writing, as their locks tell."""
    for left in directory.glob(f"{glob.escape(prefix)}*"):
        with contextlib.suppress(OSError), left.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


@contextlib.contextmanager
def standard_output(mode: str = "w") -> Iterator[Any]:
    """Yield standard output; an error truncates a file that it is written to."""
    with _taken_back(sys.stdout):
        if "b" in mode:
            yield sys.stdout.buffer
        else:
            # Always UTF-8: the output may be read on another machine.
            cast(io.TextIOWrapper, sys.stdout).reconfigure(encoding="utf-8")
            yield sys.stdout
        sys.stdout.flush()


@contextlib.contextmanager
def _taken_back(file: TextIO) -> Iterator[None]:
    """On an error, truncate a file to its former size, so that no partial output remains.

    Output that went into a pipe cannot be taken back; nothing more is written to it.
    """
    try:
        fd = file.fileno()
    except OSError:  # not a real file, in a test
        yield
        return
    before = os.fstat(fd)
    try:
        yield
    except BaseException:  # Ctrl-C in particular
        if stat.S_ISREG(before.st_mode):
            os.ftruncate(fd, before.st_size)
        # Python flushes its buffers at exit; let them go to /dev/null.
        os.dup2(os.open(os.devnull, os.O_WRONLY), fd)
        raise


def _encoding(mode: str) -> str | None:
    return None if "b" in mode else "utf-8"
