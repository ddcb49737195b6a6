"""The lock on the directory of a crawl: one process crawls into it at a time."""

import contextlib
import fcntl
import os
from collections.abc import Iterable
from pathlib import Path

from crawler_app.errors import ConfigError

__all__ = ["LOCK_NAME", "DirectoryLock"]

LOCK_NAME = "lock"

# Linux lists all locks that are held here.
LOCKS_PATH = Path("/proc/locks")


class DirectoryLock:
    """The lock on one directory.

    Args:
        directory: Where the lock file is, or will be.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._fd: int | None = None

    def acquire(self) -> None:
        """Take the lock, until `release` or the end of the process.

        Raises:
            ConfigError: another process has it, or the directory cannot be written.
        """
        try:
            fd = os.open(self._directory / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as exc:
            raise ConfigError(f"cannot write into {self._directory}: {exc}") from None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.read(fd, 20).decode("ascii", "replace").strip()
            os.close(fd)
            raise ConfigError(
                f"{self._directory} is being crawled by process {owner or 'unknown'}"
            ) from None
        self._fd = fd
        # Only to tell others who we are: a full disk must not stop us here.
        with contextlib.suppress(OSError):
            os.truncate(fd, 0)
            os.write(fd, f"{os.getpid()}\n".encode("ascii"))

    def release(self) -> None:
        """Give the lock back, if we have it."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def owner(self) -> int | None:
        """Return the process that has the lock; None if none has.

        The lock is only looked at: trying to take it, even for a moment, could make a
        crawl fail that begins in that moment.  Where the kernel does not list its locks,
        as on macOS, a dead crawl whose number has gone to another process is taken for
        alive.
        """
        path = self._directory / LOCK_NAME
        try:
            status = path.stat()
            written = path.read_text(encoding="ascii", errors="replace").strip()
        except OSError:
            return None
        pid = int(written) if written.isdecimal() else None
        try:
            lines = LOCKS_PATH.read_text(encoding="ascii").splitlines()
        except OSError:
            return pid if pid is not None and _is_alive(pid) else None
        return _lock_owner(lines, status, pid)


def _lock_owner(
    lines: Iterable[str], status: os.stat_result, written: int | None
) -> int | None:
    """Find who holds the lock on a file, in the lines of ``/proc/locks``.

    The number is as we see it, which from outside a container is not what was written.
    """
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    for line in lines:
        # Who waits for a lock is listed too, with an arrow after the number.
        match line.split():
            case [_, "FLOCK", _, "WRITE", pid, place, *_]:
                its_device, _, inode = place.rpartition(":")
                # Of some file systems the kernel shows another device here.
                is_ours = its_device == device or int(pid) == written
                if inode == str(status.st_ino) and is_ours:
                    return int(pid)
    return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is somebody else's
        return True
    return True
