"""The directory of one crawl: its files, and who may write there::

    DIR/crawl.json               the configuration: ``resume DIR`` needs no options
    DIR/frontier.sqlite3         every URL and its outcome
    DIR/archive-00001.warc.gz    the HTTP exchanges; 00002 and up follow
    DIR/archive.sqlite3          where each capture lies in them
    DIR/crawl.sqlite             the full-text index
    DIR/lock                     locked by the process that crawls

SQLite's own ``-wal`` and ``-shm`` files may lie beside a database.

`lock` is the lock; `stores` opens what a crawl writes to, and closes it in order; `losses`
finds what was lost since the last run.

Rule: the frontier is written last.  The response of a URL that it records as finished is in
the archive, and its text is in the index; any other URL is fetched again.
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
from crawler_app.errors import ConfigError, SearchIndexError
from crawler_app.frontier.sqlite import SqliteFrontier
from crawler_app.index import PageIndex
from crawler_app.safe_files import create, open_regular

__all__ = ["CrawlDirectory", "Kept"]

CONFIG_NAME = "crawl.json"
FRONTIER_NAME = "frontier.sqlite3"
PROBES_NAME = "external.sqlite3"
INDEX_NAME = "crawl.sqlite"

# The files of a crawl, except its configuration and the numbered files of the archive.
OWN_NAMES = (
    "archive.sqlite3",
    FRONTIER_NAME,
    INDEX_NAME,
    LOCK_NAME,
)

# A hundred thousand start URLs; the file may come from another person.
MAX_CONFIG_CHARS = 16 * 2**20

# Accessible to the owner only.
SECRET_DIRECTORY_MODE = 0o700
SECRET_FILE_MODE = 0o600


@dataclass(slots=True, frozen=True)
class Kept:
    """What a crawl keeps besides the frontier, in numbers.

    Attributes:
        pages: Pages in the index; None if there is no index.
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
    """A crawl on disk.  As a context manager it locks the directory.

    Raises:
        ConfigError: on entering, if another process crawls into it, or it is not
            writable.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._lock = DirectoryLock(self.path)

    @classmethod
    def create(cls, path: Path | str, config: CrawlConfig) -> Self:
        """Prepare a directory for a new crawl.

        Raises:
            ConfigError: it already holds a crawl, or is not writable.
        """
        directory = cls(path)
        if directory.path.exists() and not directory.path.is_dir():
            raise ConfigError(f"{path} is not a directory")
        directory._refuse_files_of_others()
        try:
            directory.path.mkdir(parents=True, exist_ok=True)
            directory._keep_secrets(config)
            # A link appears complete or not at all, and never replaces a file.
            new = directory._write_new(config)
            try:
                os.link(new, directory._config_path)
            finally:
                new.unlink()
        except FileExistsError:
            raise ConfigError(
                f"{path} already holds a crawl; choose another directory"
            ) from None
        except OSError as exc:
            raise ConfigError(f"cannot write into {path}: {exc}") from None
        return directory

    @classmethod
    def holds_crawl(cls, path: Path | str) -> bool:
        """Return whether a directory holds a crawl."""
        return cls(path)._config_path.exists()

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Return the directory of an existing crawl.

        Raises:
            ConfigError: there is no crawl in it.
        """
        directory = cls(path)
        if not directory._config_path.is_file():
            raise ConfigError(
                f"{path} is not a crawl directory: {directory._config_path} is missing"
            )
        return directory

    @property
    def _config_path(self) -> Path:
        return self.path / CONFIG_NAME

    def config(self) -> CrawlConfig:
        """Return the saved configuration.

        Raises:
            ConfigError: the file is damaged, or cannot be read.
        """
        try:
            with open(
                self._config_path,
                encoding="utf-8",
                errors="replace",
                opener=open_regular,
            ) as file:
                text = file.read(MAX_CONFIG_CHARS)
        except OSError as exc:
            raise ConfigError(f"cannot read {self._config_path}: {exc}") from None
        try:
            saved = CrawlConfig.from_json(text)
        except ConfigError as exc:
            raise ConfigError(f"{self._config_path}: {exc}") from None
        return dataclasses.replace(saved, into=str(self.path))

    def save(self, config: CrawlConfig) -> None:
        """Save a changed configuration, for this run and later ones.

        Raises:
            ConfigError: it cannot be written.
        """
        try:
            self._keep_secrets(config)
            self._write_new(config).replace(self._config_path)
        except OSError as exc:
            raise ConfigError(f"cannot write into {self.path}: {exc}") from None

    def _refuse_files_of_others(self) -> None:
        """Refuse a directory with files of other programs that we would overwrite."""
        if self._config_path.exists() or not self.path.is_dir():
            return
        for name in sorted(path.name for path in self.path.iterdir()):
            if name in OWN_NAMES or (name.startswith("archive") and ".warc" in name):
                raise ConfigError(
                    f"{self.path} contains {name}, which is not part of a crawl; choose "
                    "another directory"
                )

    def _keep_secrets(self, config: CrawlConfig) -> None:
        """Make the directory private if there are secrets: archived requests hold them."""
        if config.has_secrets:
            self.path.chmod(SECRET_DIRECTORY_MODE)

    def _write_new(self, config: CrawlConfig) -> Path:
        new = self._config_path.with_suffix(".new")
        try:
            with create(new, SECRET_FILE_MODE if config.has_secrets else 0o666) as file:
                file.write(config.to_json() + "\n")
        except OSError:
            new.unlink(missing_ok=True)
            raise
        return new

    @property
    def frontier_path(self) -> Path:
        """The file of the frontier, which exists once the crawl has begun."""
        return self.path / FRONTIER_NAME

    @property
    def index_path(self) -> Path:
        """The file of the full-text index, if there is one."""
        return self.path / INDEX_NAME

    @property
    def probes_path(self) -> Path:
        """The file of the URLs outside the scope that exist, if there is one."""
        return self.path / PROBES_NAME

    def frontier(self) -> SqliteFrontier:
        """Open the frontier for reading."""
        if not self.frontier_path.exists():
            raise ConfigError(f"the crawl in {self.path} has not begun yet")
        return SqliteFrontier(self.frontier_path, read_only=True)

    def index(self) -> PageIndex:
        """Open the full-text index for searching; add words that are missing since a kill."""
        index = PageIndex(self.index_path, read_only=True)
        if index.is_complete() or self.owner() is not None:
            return index
        index.close()
        # In a read-only directory that is not possible.
        with contextlib.suppress(ConfigError, SearchIndexError):
            PageIndex(self.index_path).close()
        return PageIndex(self.index_path, read_only=True)

    def kept(self) -> Kept:
        """Return the size of the archive and of the index, also during a crawl."""
        pages = None
        if self.index_path.exists():
            with contextlib.closing(self.index()) as index:
                pages = len(index)
        return Kept(summary(self.path), pages)

    def owner(self) -> int | None:
        """Return the id of the process that crawls into it now, or None."""
        return self._lock.owner()

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._lock.release()
