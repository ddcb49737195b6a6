"""The lock on a crawl directory: only one process at a time crawls into it."""

import contextlib
import fcntl
import os
from collections.abc import Iterable
from pathlib import Path

from crawler_app.base.errors import ConfigError, CrawlerError, StorageError
from crawler_app.base.safe_files import is_disk_fault, open_regular
from crawler_app.base.text.formatting import error_words

__all__ = ["LOCK_NAME", "DirectoryLock", "not_writable"]

LOCK_NAME = "lock"

# Linux lists all locks here.
LOCKS_PATH = Path("/proc/locks")


class DirectoryLock:
    """The lock on one directory.

    Args:
        directory: Where the lock file is, or will be.
        activity: What the process that holds it does, for an error.
    """

    def __init__(self, directory: Path, activity: str = "crawled") -> None:
        self._directory = directory
        self._activity = activity
        self._fd: int | None = None

    def acquire(self) -> None:
        """Acquire the lock, until `release` or the end of the process.

        Raises:
            ConfigError: another process holds it, or the directory is not writable.
        """
        try:
            fd = open_regular(
                self._directory / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o644
            )
        except OSError as exc:
            raise not_writable(self._directory, exc) from None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = _written_in(fd)
            os.close(fd)
            raise ConfigError(
                f"{self._directory} is being {self._activity} by process "
                f"{owner or 'unknown'}"
            ) from None
        self._fd = fd
        # The process id is only for error messages: a full disk must not stop us here.
        with contextlib.suppress(OSError):
            os.truncate(fd, 0)
            os.write(fd, f"{os.getpid()}\n".encode("ascii"))

    def release(self) -> None:
        """Release the lock, if it is held."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def owner(self) -> int | None:
        """Return the id of the process that holds the lock, or None.

        This does not try to acquire the lock: even for a moment, that could make a crawl
        fail that begins at that moment.  Where the kernel does not list its locks, as on
        macOS, a dead crawl whose process id was reused is taken to be alive.
        """
        try:
            fd = open_regular(self._directory / LOCK_NAME, os.O_RDONLY)
        except OSError:
            return None
        try:
            status, written = os.fstat(fd), _written_in(fd)
        except OSError:
            return None
        finally:
            os.close(fd)
        pid = int(written) if written.isdecimal() else None
        try:
            lines = LOCKS_PATH.read_text(encoding="ascii").splitlines()
        except OSError:
            return pid if pid is not None and _is_alive(pid) else None
        return _lock_owner(lines, status, pid)


def not_writable(directory: Path | str, exc: OSError) -> CrawlerError:
    """Return the error for a directory in which a file cannot be written."""
    if is_disk_fault(exc):
        return StorageError(error_words(exc))
    return ConfigError(f"cannot write into {directory}: {error_words(exc, directory)}")


def _written_in(fd: int) -> str:
    return os.read(fd, 20).decode("ascii", "replace").strip()


def _lock_owner(
    lines: Iterable[str], status: os.stat_result, written: int | None
) -> int | None:
    """Return the process that holds the lock on a file, by the lines of ``/proc/locks``.

    The process id is the one of our namespace; one written inside a container differs.
    """
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    for line in lines:
        # Processes that wait for a lock are listed too, with an arrow after the number.
        match line.split():
            case [_, "FLOCK", _, "WRITE", pid, place, *_]:
                its_device, _, inode = place.rpartition(":")
                # For some file systems the kernel shows another device here.
                is_ours = its_device == device or int(pid) == written
                if inode == str(status.st_ino) and is_ours:
                    return int(pid)
    return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it exists, but belongs to another user
        return True
    return True
