"""The directory of one crawl: what is where, and who may write there::

    DIR/crawl.json               the configuration: ``resume DIR`` needs no options
    DIR/frontier.sqlite3         every URL and what became of it
    DIR/previous.sqlite3         the same of the crawl before, if there was one
    DIR/archive-00001.warc.gz    what went over the wire; more are 00002, ...
    DIR/archive.sqlite3          where in them each capture is
    DIR/archive.cdxj             the same as other programs read it, once a run has ended
    DIR/crawl.sqlite             the words of every page
    DIR/lock                     held by the process that crawls

Beside a database SQLite's own ``-wal`` and ``-shm`` may lie.

Rule: the frontier is written last.  What it knows to be finished is in the archive and in
the index; what it does not know yet is fetched again.
"""

import contextlib
import dataclasses
import fcntl
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from crawler_app import archive as archives
from crawler_app.archive import Archive
from crawler_app.config import CrawlConfig
from crawler_app.errors import ConfigError
from crawler_app.frontier import Frontier
from crawler_app.frontier.sqlite import SqliteFrontier
from crawler_app.index import PageIndex
from crawler_app.models import State
from crawler_app.results.comparison import Comparison, compare
from crawler_app.text.escaping import printable

__all__ = ["CrawlDirectory", "Kept", "Stores"]

CONFIG_NAME = "crawl.json"
FRONTIER_NAME = "frontier.sqlite3"
PREVIOUS_NAME = "previous.sqlite3"
INDEX_NAME = "crawl.sqlite"
LOCK_NAME = "lock"

# Of Linux: all locks that are held.
LOCKS_PATH = Path("/proc/locks")

# What a crawl writes besides its configuration and the numbered files of the archive.
OWN_NAMES = (
    "archive.cdxj",
    "archive.sqlite3",
    FRONTIER_NAME,
    INDEX_NAME,
    LOCK_NAME,
    PREVIOUS_NAME,
)

# For the owner alone.
SECRET_DIRECTORY_MODE = 0o700
SECRET_FILE_MODE = 0o600


@dataclass(slots=True)
class Stores:
    """All that a crawl writes to; None for what the configuration does not want."""

    frontier: Frontier
    archive: Archive | None
    index: PageIndex | None


@dataclass(slots=True, frozen=True)
class Kept:
    """How much is kept besides the frontier.

    Attributes:
        pages: In the index; None if there is none.
    """

    archive: archives.ArchiveSummary
    pages: int | None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, for ``status --json``."""
        return {
            "archive": {
                "captures": self.archive.captures,
                "revisits": self.archive.revisits,
                "files": self.archive.files,
                "bytes": self.archive.size_bytes,
            },
            "indexed_pages": self.pages,
        }


class CrawlDirectory:
    """A crawl on disk.  As a context manager it locks the directory against others.

    Raises:
        ConfigError: on entering, if another process crawls into it, or it cannot be
            written.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._lock_fd: int | None = None

    @classmethod
    def create(cls, path: Path | str, config: CrawlConfig) -> Self:
        """Prepare a directory for a new crawl.

        Raises:
            ConfigError: it holds a crawl already, or cannot be written.
        """
        directory = cls(path)
        if directory.path.exists() and not directory.path.is_dir():
            raise ConfigError(f"{path} is no directory")
        directory._refuse_files_of_others()
        try:
            directory.path.mkdir(parents=True, exist_ok=True)
            directory._keep_secrets(config)
            # Whole or not at all, and never over another's.
            new = directory._write_new(config)
            try:
                os.link(new, directory._config_path)
            finally:
                new.unlink()
        except FileExistsError:
            raise ConfigError(
                f"{path} holds a crawl already; choose another directory"
            ) from None
        except OSError as exc:
            raise ConfigError(f"cannot write into {path}: {exc}") from None
        return directory

    @classmethod
    def holds_crawl(cls, path: Path | str) -> bool:
        """Return whether a crawl was begun there."""
        return cls(path)._config_path.exists()

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Return the directory of a crawl that was begun.

        Raises:
            ConfigError: there is none.
        """
        directory = cls(path)
        if not directory._config_path.is_file():
            raise ConfigError(
                f"{path} holds no crawl: {directory._config_path} is missing"
            )
        return directory

    @property
    def _config_path(self) -> Path:
        return self.path / CONFIG_NAME

    def config(self) -> CrawlConfig:
        """Return the configuration that the crawl was begun with.

        Raises:
            ConfigError: the file is damaged, or cannot be read.
        """
        try:
            text = self._config_path.read_text(encoding="utf-8", errors="replace")
        except OSError as exc:
            raise ConfigError(f"cannot read {self._config_path}: {exc}") from None
        try:
            saved = CrawlConfig.from_json(text)
        except ConfigError as exc:
            raise ConfigError(f"{self._config_path}: {exc}") from None
        return dataclasses.replace(saved, into=str(self.path))

    def save(self, config: CrawlConfig) -> None:
        """Keep a changed configuration, for this run and the later ones.

        Raises:
            ConfigError: it cannot be written.
        """
        try:
            self._keep_secrets(config)
            self._write_new(config).replace(self._config_path)
        except OSError as exc:
            raise ConfigError(f"cannot write into {self.path}: {exc}") from None

    def _refuse_files_of_others(self) -> None:
        """Refuse a directory in which we would write over what is not of a crawl."""
        if self._config_path.exists() or not self.path.is_dir():
            return
        for name in sorted(path.name for path in self.path.iterdir()):
            if name in OWN_NAMES or (name.startswith("archive") and ".warc" in name):
                raise ConfigError(
                    f"{self.path} holds {name}, but no crawl that it is of; choose "
                    "another directory"
                )

    def _keep_secrets(self, config: CrawlConfig) -> None:
        """Let nobody else in, if there are secrets: the requests in the archive hold them."""
        if config.has_secrets:
            self.path.chmod(SECRET_DIRECTORY_MODE)

    def _write_new(self, config: CrawlConfig) -> Path:
        new = self._config_path.with_suffix(".new")
        try:
            new.unlink(missing_ok=True)
            if config.has_secrets:
                new.touch(SECRET_FILE_MODE)
            new.write_text(config.to_json() + "\n", encoding="utf-8")
        except OSError:
            new.unlink(missing_ok=True)
            raise
        return new

    @property
    def _frontier_path(self) -> Path:
        return self.path / FRONTIER_NAME

    @property
    def _previous_path(self) -> Path:
        return self.path / PREVIOUS_NAME

    @property
    def index_path(self) -> Path:
        """The file of the full-text index, if there is one."""
        return self.path / INDEX_NAME

    @property
    def is_recrawl(self) -> bool:
        """Whether another crawl into the directory came before this one."""
        return self._previous_path.exists()

    @contextlib.contextmanager
    def stores(self, config: CrawlConfig) -> Iterator[Stores]:
        """Open what a crawl writes to, and close it in the right order.

        The directory must be locked.

        Raises:
            ConfigError: something in it is of another version, or of another program.
        """
        with contextlib.ExitStack() as cleanup:
            archive: Archive | None = None
            index: PageIndex | None = None
            if config.archive:
                archive = self._open_archive(config)
                cleanup.callback(archive.close)
            if config.index:
                index = PageIndex(self.index_path)
                cleanup.callback(index.close)

            def flush() -> None:
                if archive is not None:
                    archive.flush()
                if index is not None:
                    index.flush()

            frontier = SqliteFrontier(self._frontier_path, before_commit=flush)
            cleanup.callback(frontier.close)
            yield Stores(frontier, archive, index)

    def _open_archive(self, config: CrawlConfig) -> Archive:
        info = {
            "software": config.user_agent,
            "isPartOf": printable(self.path.resolve().name),
            "operator": config.contact,
            "robots": "obey" if config.robots else "ignore",
        }
        return Archive(
            self.path,
            info={name: value for name, value in info.items() if value},
            max_file_bytes=config.max_archive_file_bytes,
        )

    def frontier(self) -> SqliteFrontier:
        """Open the frontier, to look at."""
        if not self._frontier_path.exists():
            raise ConfigError(f"{self.path} holds a crawl that has not begun")
        return SqliteFrontier(self._frontier_path, read_only=True)

    def previous(self) -> SqliteFrontier | None:
        """Open the frontier of the crawl before, to look at; None if there was none."""
        if not self.is_recrawl:
            return None
        return SqliteFrontier(self._previous_path, read_only=True)

    def comparison(self, frontier: Frontier) -> Comparison | None:
        """Compare what is in the frontier with the crawl before; None if there was none."""
        previous = self.previous()
        if previous is None:
            return None
        with contextlib.closing(previous):
            return compare(previous, frontier)

    def index(self) -> PageIndex:
        """Open the full-text index, to search in."""
        return PageIndex(self.index_path, read_only=True)

    def kept(self) -> Kept:
        """Return how much is kept besides the frontier, also while it is written to."""
        pages = None
        if self.index_path.exists():
            with contextlib.closing(self.index()) as index:
                pages = len(index)
        return Kept(archives.summary(self.path), pages)

    def begin_recrawl(self, config: CrawlConfig) -> bool:
        """Make what was crawled the previous crawl, and begin with an empty frontier.

        Returns whether that crawl had come to its end, or not begun.  If it had not and
        there is a previous one, it is dropped: the whole one is better to compare with.
        The directory must be locked.

        Args:
            config: Of the crawl to come, whose stores are opened before anything is
                changed.

        Raises:
            ConfigError: as of `stores`.
        """
        if not self._frontier_path.exists():
            return True
        with self.stores(config) as stores:
            frontier = stores.frontier
            assert isinstance(frontier, SqliteFrontier)
            is_whole = frontier.is_drained() and frontier.count(State.DONE) > 0
            is_empty = not any(map(frontier.count, State))
            if is_whole or not (is_empty or self.is_recrawl):
                # Not the file itself: while somebody looks at it, a part of it may still
                # be in its log.
                new = self._previous_path.with_suffix(".new")
                new.unlink(missing_ok=True)
                frontier.copy_to(new)
                new.replace(self._previous_path)
        for suffix in ("", "-wal", "-shm"):
            path = self._frontier_path.with_name(self._frontier_path.name + suffix)
            path.unlink(missing_ok=True)
        return is_whole

    def owner(self) -> int | None:
        """Return the process that crawls there now; None if none does.

        The lock is only looked at: to try it, even for a moment, could make a crawl fail
        that begins in that moment.  Where the kernel does not list its locks, as on
        macOS, a dead crawl whose number has gone to another process is taken for alive.
        """
        try:
            path = self.path / LOCK_NAME
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

    def __enter__(self) -> Self:
        try:
            lock_fd = os.open(self.path / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as exc:
            raise ConfigError(f"cannot write into {self.path}: {exc}") from None
        try:
            fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.read(lock_fd, 20).decode("ascii", "replace").strip()
            os.close(lock_fd)
            raise ConfigError(
                f"{self.path} is being crawled by process {owner or 'unknown'}"
            ) from None
        self._lock_fd = lock_fd
        # Only to tell others who we are: a full disk must not stop us here.
        with contextlib.suppress(OSError):
            os.truncate(lock_fd, 0)
            os.write(lock_fd, f"{os.getpid()}\n".encode("ascii"))
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._lock_fd is not None:
            os.close(self._lock_fd)
            self._lock_fd = None


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
