"""Opens files whose names the crawler chooses, without following links.

A crawl directory may come from another person, and ``lock`` or ``report.html`` in it may be
a symbolic link to a file that is worth overwriting, or a pipe that is never written to.

Rule: such a name is opened only if it is a regular file, and a new file replaces any
that has its name.  Names that the user chooses are opened with `open`, as in any program.
"""

import contextlib
import errno
import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

__all__ = [
    "create",
    "create_text",
    "is_disk_fault",
    "is_locked",
    "is_private",
    "line_of",
    "open_regular",
    "read_limited",
    "refusal",
    "replace_text",
    "user_state",
]

# The disk is full or fails, so another directory on it would not help either.
DISK_FAULTS = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


# Of a line that the crawler has written.
MAX_LINE_CHARS = 200

# Of SQLite's files.
LOCKS = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_disk_fault(exc: OSError) -> bool:
    """Return whether an error is the disk's, and not due to the name or its permissions.

    >>> is_disk_fault(OSError(errno.ENOSPC, "")), is_disk_fault(PermissionError())
    (True, False)
    """
    return exc.errno in DISK_FAULTS


def is_locked(exc: BaseException | None) -> bool:
    """Return whether an error, or its cause, shows that another process has locked a file."""
    code = getattr(exc, "sqlite_errorcode", 0) & 0xFF
    return code in LOCKS or (exc is not None and is_locked(exc.__cause__))


def open_regular(path: str | Path, flags: int, mode: int = 0o666) -> int:
    """Open a regular file and return its descriptor; an opener for `open`.

    Raises:
        OSError: it is a link, a pipe, a device or a directory, or cannot be opened.
    """
    # Without O_NONBLOCK, opening a pipe waits for its other end.
    safe_flags = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(path, flags | safe_flags, mode)
    except OSError as exc:
        # "Too many levels of symbolic links", and for a pipe "No such device or address".
        why = f"it is {refusal(path)}" if refusal(path) else exc.strerror
        raise OSError(exc.errno, why, str(path)) from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return fd


def refusal(path: str | Path) -> str:
    """Return why a name must not be opened; empty if it is a regular file or unused.

    For what can only be opened by its name, as by SQLite.
    """
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return ""
    if stat.S_ISREG(mode):
        return ""
    return "a symbolic link" if stat.S_ISLNK(mode) else "not a regular file"


def read_limited(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """Read a file that the user names, which may be a pipe or a link.

    Raises:
        OSError: it has more than ``max_bytes``, as ``/dev/zero`` has, or cannot be read.
    """
    with open(path, "rb") as file:
        octets = file.read(max_bytes + 1)
    if len(octets) > max_bytes:
        raise OSError(errno.EFBIG, f"it has more than {max_bytes} bytes", str(path))
    return octets


def line_of(path: Path) -> str:
    """Return the only line of a file of ours; empty if it cannot be read."""
    try:
        with open(
            path, encoding="ascii", errors="replace", opener=open_regular
        ) as file:
            return file.readline(MAX_LINE_CHARS).strip()
    except OSError:
        return ""


def is_private(path: str | os.PathLike[str]) -> bool:
    """Return whether group and others may do nothing with a file, as libpq wants it for a key.

    Raises:
        OSError: the file cannot be looked at.
    """
    return not os.stat(path).st_mode & (stat.S_IRWXG | stat.S_IRWXO)


def create(path: Path, mode: int = 0o666) -> TextIO:
    """Create a text file, after removing any that has its name."""
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    return open(open_regular(path, flags, mode), "w", encoding="utf-8", newline="\n")


def replace_text(path: Path, text: str, mode: int = 0o666) -> None:
    """Write a file that only one process writes; others see the former one, or all of this.

    Raises:
        OSError: it cannot be written, and is as it was.
    """
    with _written(path, text, mode) as new:
        os.replace(new, path)


def create_text(path: Path, text: str, mode: int = 0o666) -> None:
    """Write a file that is not there yet; others see none, or all of this.

    Raises:
        FileExistsError: it is there.
        OSError: it cannot be written.
    """
    with _written(path, text, mode) as new:
        os.link(new, path)


@contextlib.contextmanager
def _written(path: Path, text: str, mode: int) -> Iterator[Path]:
    """Write a text beside the place where it will be."""
    # Two crawls may be started into one directory at the same moment.
    new = path.with_name(f".{path.name[:60]}.{os.getpid()}.new")
    try:
        with create(new, mode) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        yield new
    finally:
        new.unlink(missing_ok=True)


def user_state(name: str) -> Path:
    """Return the path of a file that is kept for this user, outside of any crawl.

    Raises:
        RuntimeError: the user has no home directory.
    """
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "gencrawl" / name
