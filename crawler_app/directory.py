"""The directory of one crawl: what is where, and who may write there::

    DIR/crawl.json          the configuration, so that ``resume DIR`` needs no options
    DIR/frontier.sqlite3    every URL and what became of it
    DIR/lock                held by the process that crawls

While the frontier is open, SQLite's own ``-wal`` and ``-shm`` lie beside it.
"""

import contextlib
import fcntl
import os
from pathlib import Path
from typing import Self

from crawler_app.config import CrawlConfig
from crawler_app.errors import ConfigError
from crawler_app.frontier.sqlite import SqliteFrontier

__all__ = ["CrawlDirectory"]


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
        try:
            directory.path.mkdir(parents=True, exist_ok=True)
            # Whole or not at all, and never over another's.
            new = directory._write_new(config)
            try:
                os.link(new, directory._config_path)
            finally:
                new.unlink()
        except FileExistsError:
            raise ConfigError(
                f"{path} holds something already; continue a crawl with "
                f"`resume {path}`, or choose another directory"
            ) from None
        except OSError as exc:
            raise ConfigError(f"cannot write into {path}: {exc}") from None
        return directory

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
        return self.path / "crawl.json"

    def config(self) -> CrawlConfig:
        """Return the configuration that the crawl was begun with.

        Raises:
            ConfigError: the file is damaged, or cannot be read.
        """
        try:
            text = self._config_path.read_text(encoding="utf-8", errors="replace")
        except OSError as exc:
            raise ConfigError(f"cannot read {self._config_path}: {exc}") from None
        return CrawlConfig.from_json(text)

    def save(self, config: CrawlConfig) -> None:
        """Keep a changed configuration, for this run and the later ones.

        Raises:
            ConfigError: it cannot be written.
        """
        try:
            self._write_new(config).replace(self._config_path)
        except OSError as exc:
            raise ConfigError(f"cannot write into {self.path}: {exc}") from None

    def _write_new(self, config: CrawlConfig) -> Path:
        new = self._config_path.with_suffix(".new")
        try:
            new.write_text(config.to_json() + "\n", encoding="utf-8")
        except OSError:
            new.unlink(missing_ok=True)
            raise
        return new

    def frontier(self, *, read_only: bool = False) -> SqliteFrontier:
        """Open the frontier; it must be read-only unless the directory is locked."""
        path = self.path / "frontier.sqlite3"
        if read_only and not path.exists():
            raise ConfigError(f"{self.path} holds a crawl that has not begun")
        return SqliteFrontier(path, read_only=read_only)

    def __enter__(self) -> Self:
        try:
            lock_fd = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
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
