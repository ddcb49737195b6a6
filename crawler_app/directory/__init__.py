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
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from crawler_app.archive.totals import ArchiveSummary, summary
from crawler_app.config import CrawlConfig
from crawler_app.directory.lock import LOCK_NAME, DirectoryLock
from crawler_app.errors import ConfigError
from crawler_app.frontier import Frontier
from crawler_app.frontier.sqlite import SqliteFrontier
from crawler_app.index import PageIndex
from crawler_app.results.comparison import Comparison, compare

__all__ = ["CrawlDirectory", "Kept"]

CONFIG_NAME = "crawl.json"
FRONTIER_NAME = "frontier.sqlite3"
PREVIOUS_NAME = "previous.sqlite3"
INDEX_NAME = "crawl.sqlite"

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


@dataclass(slots=True, frozen=True)
class Kept:
    """How much is kept besides the frontier.

    Attributes:
        pages: In the index; None if there is none.
    """

    archive: ArchiveSummary
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
        self._lock = DirectoryLock(self.path)

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
    def frontier_path(self) -> Path:
        """The file of the frontier, if the crawl has begun."""
        return self.path / FRONTIER_NAME

    @property
    def previous_path(self) -> Path:
        """The frontier of the crawl before, if there was one."""
        return self.path / PREVIOUS_NAME

    @property
    def index_path(self) -> Path:
        """The file of the full-text index, if there is one."""
        return self.path / INDEX_NAME

    @property
    def is_recrawl(self) -> bool:
        """Whether another crawl into the directory came before this one."""
        return self.previous_path.exists()

    def frontier(self) -> SqliteFrontier:
        """Open the frontier, to look at."""
        if not self.frontier_path.exists():
            raise ConfigError(f"{self.path} holds a crawl that has not begun")
        return SqliteFrontier(self.frontier_path, read_only=True)

    def previous(self) -> SqliteFrontier | None:
        """Open the frontier of the crawl before, to look at; None if there was none."""
        if not self.is_recrawl:
            return None
        return SqliteFrontier(self.previous_path, read_only=True)

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
        return Kept(summary(self.path), pages)

    def owner(self) -> int | None:
        """Return the process that crawls there now; None if none does."""
        return self._lock.owner()

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._lock.release()
