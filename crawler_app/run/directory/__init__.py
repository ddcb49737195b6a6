"""The directory of one crawl: its files, and who may write there::

    DIR/crawl.json               the configuration: ``resume DIR`` needs no options
    DIR/frontier.sqlite3         every URL and its outcome
    DIR/archive-00001.warc.gz    the HTTP exchanges; 00002 and up follow
    DIR/archive.sqlite3          where each capture lies in them
    DIR/crawl.sqlite             the full-text index
    DIR/cookies.json             the cookies that servers have set, if one process crawls
    DIR/store                    its id, if its frontier is on a server
    DIR/crawl-id                 the id of the crawl there
    DIR/storage.url              where the files of the archive go, if to object storage
    DIR/uploads.json             which of them are there
    DIR/signature                of its frontier, cookies and proxy, by this user
    DIR/lock                     locked by the process that crawls
    DIR/part-0                   the archive and the index of a process, and part-1 and up, if
                                 several processes crawl
    DIR/postgres                 their frontier, unless it is on a server of others

SQLite's own ``-wal`` and ``-shm`` files may lie beside a database.

`lock` is the lock, `signature` has the settings that a user must trust; `stores` opens what a
crawl writes to, and closes it in order; `losses` finds what was lost since the last run, and
`kept_cookies` keeps cookies for `resume`, and
`left_pages` removes from the indexes of processes what is no longer theirs;
`stored` is read access to a crawl, `union` searches the indexes of several processes, and
`server_crawl` the directories of workers on many machines; `moving` turns a directory into
that of a worker; `archived` reads the archived responses, and `foreign` the WARC and WACZ
files of other programs, whose records `foreign_files` finds.

A worker may keep what it fetches in object storage: `staging` is its directory then,
`uploading` empties it, `table_snapshot` copies its tables, `remote` reads the storage, and
`lost_store` requeues URLs whose responses were lost with a machine or disk.

Rule: the frontier is written last.  The response of a URL that it records as finished is in
the archive, and its text is in the index; any other URL is fetched again.
"""

import contextlib
import dataclasses
import re
import uuid
from collections.abc import Collection
from pathlib import Path
from typing import Self

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError, SearchIndexError
from crawler_app.base.ownership import is_signature, signature_of
from crawler_app.base.postgres_driver import postgres_module
from crawler_app.base.safe_files import (
    create_text,
    line_of,
    open_regular,
    replace_text,
)
from crawler_app.base.storage.objects import is_url
from crawler_app.base.text.formatting import error_words
from crawler_app.run.directory.lock import LOCK_NAME, DirectoryLock, not_writable
from crawler_app.run.directory.signature import settings_to_trust, signed_settings
from crawler_app.run.directory.stored import CrawlSizes, StoredCrawl, resume_command
from crawler_app.store.archive.captures import database_path
from crawler_app.store.archive.totals import summary
from crawler_app.store.database import is_created
from crawler_app.store.frontier import FrontierReader
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.store.index import PageIndex

__all__ = ["CrawlDirectory", "CrawlSizes"]

CONFIG_NAME = "crawl.json"
FRONTIER_NAME = "frontier.sqlite3"
EXTERNAL_CACHE_NAME = "external.sqlite3"
COOKIES_NAME = "cookies.json"
SERVER_NAME = "postgres"
INDEX_NAME = "crawl.sqlite"
STORE_NAME = "store"
CRAWL_ID_NAME = "crawl-id"
SIGNATURE_NAME = "signature"

# The files of a crawl, except its configuration and the numbered files of the archive.
OWN_NAMES = (
    "archive.sqlite3",
    FRONTIER_NAME,
    INDEX_NAME,
    LOCK_NAME,
)

_PART_NAME = re.compile(r"part-(0|[1-9][0-9]*)")

# A hundred thousand start URLs; the file may come from another person.
MAX_CONFIG_CHARS = 16 * 2**20

# Accessible to the owner only.
SECRET_DIRECTORY_MODE = 0o700
SECRET_FILE_MODE = 0o600


class CrawlDirectory(StoredCrawl):
    """A crawl on disk.  As a context manager it locks the directory.

    Attributes:
        path: The directory.
        name: Its name in the archive; a part has that of the whole.

    Raises:
        ConfigError: on entering, if another process crawls into it, or it is not
            writable.
    """

    def __init__(self, path: Path | str, name: str = "") -> None:
        self.path = Path(path)
        self.name = name or self.path.resolve().name
        self._lock = DirectoryLock(self.path)

    @classmethod
    def create(cls, path: Path | str, config: CrawlConfig) -> Self:
        """Prepare a directory for a new crawl.

        Raises:
            ConfigError: it already holds a crawl, or is not writable.
            StorageError: the disk is full, or has failed.
        """
        directory = cls(path)
        if directory.path.exists() and not directory.path.is_dir():
            raise ConfigError(f"{path} is not a directory")
        directory._refuse_files_of_others(config.processes)
        try:
            directory.path.mkdir(parents=True, exist_ok=True)
            directory._keep_secrets(config)
            if config.processes > 1:
                directory.make_parts(config.processes)
            directory._sign(config)
            create_text(directory._config_path, *_content_of(config))
        except FileExistsError:
            raise ConfigError(
                f"{path} already holds a crawl; choose another directory"
            ) from None
        except OSError as exc:
            raise not_writable(path, exc) from None
        return directory

    @classmethod
    def holds_crawl(cls, path: Path | str) -> bool:
        """Return whether a directory holds a crawl."""
        return cls(path)._config_path.exists()

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Return the directory of an existing crawl.

        Raises:
            ConfigError: there is no crawl in it, or it is the URL of object storage.
        """
        if is_url(str(path)):  # not shown, as it may hold a password
            raise ConfigError(
                "a crawl in object storage is read by the URL of its frontier in PostgreSQL "
                "with --crawl NAME, and continued by `gencrawl postgres work`"
            )
        directory = cls(path)
        if not directory.path.exists():
            raise ConfigError(f"{path} does not exist")
        if not directory._config_path.is_file():
            raise ConfigError(
                f"{path} is not a crawl directory: {directory._config_path} is missing"
            )
        return directory

    @property
    def _config_path(self) -> Path:
        return self.path / CONFIG_NAME

    def config(self) -> CrawlConfig:
        try:
            with open(
                self._config_path,
                encoding="utf-8",
                errors="replace",
                opener=open_regular,
            ) as file:
                text = file.read(MAX_CONFIG_CHARS)
        except OSError as exc:
            why = error_words(exc, self._config_path)
            raise ConfigError(f"cannot read {self._config_path}: {why}") from None
        try:
            saved = CrawlConfig.from_json(text)
        except ConfigError as exc:
            raise ConfigError(f"{self._config_path}: {exc}") from None
        return dataclasses.replace(saved, into=str(self.path))

    def save(self, config: CrawlConfig) -> None:
        """Save a changed configuration, for this run and later ones.

        Raises:
            ConfigError: it cannot be written.
            StorageError: the disk is full, or has failed.
        """
        try:
            self._keep_secrets(config)
            self._sign(config)
            replace_text(self._config_path, *_content_of(config))
        except OSError as exc:
            raise not_writable(self.path, exc) from None

    def _refuse_files_of_others(self, processes: int) -> None:
        """Refuse a directory with files of other programs that we would overwrite."""
        if self._config_path.exists() or not self.path.is_dir():
            return
        for name in sorted(path.name for path in self.path.iterdir()):
            is_archive = name.startswith("archive") and ".warc" in name
            is_part = _PART_NAME.fullmatch(name) and not self._is_free(name, processes)
            if name in (*OWN_NAMES, SERVER_NAME) or is_archive or is_part:
                raise ConfigError(
                    f"{self.path} contains {name}, which is not part of a crawl; choose "
                    "another directory"
                )

    def _is_free(self, name: str, processes: int) -> bool:
        """Return whether the directory of a part is one that a killed `create` has left."""
        path = self.path / name
        is_wanted = processes > 1 and int(name.partition("-")[2]) < processes
        return is_wanted and path.is_dir() and not any(path.iterdir())

    def _keep_secrets(self, config: CrawlConfig) -> None:
        """Make the directory private if there are secrets: archived requests hold them."""
        if config.has_secrets:
            self.path.chmod(SECRET_DIRECTORY_MODE)

    def _sign(self, config: CrawlConfig) -> None:
        if settings_to_trust(config):
            signature = signature_of(signed_settings(config))
            self._write_line(SIGNATURE_NAME, signature)

    def require_own(self, config: CrawlConfig, given: Collection[str] = ()) -> None:
        """Refuse settings that another person may have chosen.

        Args:
            config: As saved in this directory.
            given: The names of those that the user has given now.

        Raises:
            ConfigError: there are others, and this user has not made the directory here.
        """
        flags = [
            f for name, f in settings_to_trust(config).items() if name not in given
        ]
        signature = line_of(self.path / SIGNATURE_NAME)
        if flags and not is_signature(signature, signed_settings(config)):
            raise ConfigError(
                f"{self.path} was not made by you on this machine, and its {CONFIG_NAME} "
                f"has {' and '.join(flags)}; give what you trust on the command line"
            )

    def part(self, number: int) -> "CrawlDirectory":
        """Return the directory of a part of the crawl."""
        return CrawlDirectory(self.path / f"part-{number}", self.name)

    def make_parts(self, count: int) -> None:
        """Make the directories of parts, unless they are there.

        Raises:
            ConfigError: they cannot be made.
            StorageError: the disk is full, or has failed.
        """
        try:
            for number in range(count):
                self.part(number).path.mkdir(exist_ok=True)
        except OSError as exc:
            raise not_writable(self.path, exc) from None

    def parts(self) -> "list[CrawlDirectory]":
        """Return the directories of all parts; empty if one process crawls."""
        if not self.part(0).path.is_dir():
            return []
        names = (path.name for path in self.path.iterdir())
        found = [match for name in names if (match := _PART_NAME.fullmatch(name))]
        parts = [self.part(number) for number in sorted(int(each[1]) for each in found)]
        for part in parts:
            if part.path.is_symlink():
                raise ConfigError(f"{part.path} is a symbolic link, and is not opened")
        return parts

    def directories(self) -> "list[CrawlDirectory]":
        return self.parts() or [self]

    @property
    def frontier_path(self) -> Path:
        """The file of the frontier, which exists once the crawl has begun."""
        return self.path / FRONTIER_NAME

    @property
    def index_path(self) -> Path:
        """The file of the full-text index, if there is one."""
        return self.path / INDEX_NAME

    @property
    def external_cache_path(self) -> Path:
        """The file of the external URLs that exist, if there is one."""
        return self.path / EXTERNAL_CACHE_NAME

    @property
    def cookies_path(self) -> Path:
        """The file of the cookies that servers have set, if there is one."""
        return self.path / COOKIES_NAME

    def frontier(self) -> FrontierReader:
        self.require_current()
        if (self.path / SERVER_NAME).is_dir():
            driver = "crawler_app.store.frontier.postgres."
            reader = postgres_module(f"{driver}blocking_reader").PostgresReader
            server = postgres_module(f"{driver}private_server").PrivateLocation
            found: FrontierReader = reader(server(self.path))
            return found
        if not is_created(self.frontier_path):
            raise ConfigError(f"the crawl in {self.path} has not begun yet")
        return SqliteFrontier(self.frontier_path, read_only=True)

    def require_current(self) -> None:
        """Raise ConfigError if an earlier version has made the frontier of several processes."""
        if any(part.frontier_path.exists() for part in self.parts()):
            raise ConfigError(
                f"the crawl in {self.path} was begun with --processes by an earlier version, "
                "which alone can read and continue it; crawl into another directory, or "
                "use that version"
            )

    def store_key(self) -> str:
        """Return the UUID of the directory for a frontier on a server; empty if it has none."""
        try:
            return str(uuid.UUID(line_of(self.path / STORE_NAME)))
        except ValueError:
            return ""

    def make_store_key(self) -> str:
        """Return the store key, creating it if missing.

        Raises:
            ConfigError: it cannot be written.
            StorageError: the disk is full, or has failed.
        """
        if not self.store_key():
            self._write_line(STORE_NAME, str(uuid.uuid4()))
        return self.store_key()

    def belong_to(self, crawl_id: str) -> None:
        """Note which crawl on a server the directory belongs to.

        Raises:
            ConfigError: it belongs to another one, of the same name, which was deleted; or it
                cannot be written.
            StorageError: the disk is full, or has failed.
        """
        if not line_of(self.path / CRAWL_ID_NAME):
            self._write_line(CRAWL_ID_NAME, crawl_id)
        if line_of(self.path / CRAWL_ID_NAME) != crawl_id:
            raise ConfigError(
                f"{self.path} holds an earlier crawl of this name, which was deleted on the "
                "server; choose another directory"
            )

    def leave_crawl(self) -> None:
        """Forget which crawl on a server the directory belongs to."""
        (self.path / CRAWL_ID_NAME).unlink(missing_ok=True)

    def _write_line(self, name: str, line: str) -> None:
        try:
            replace_text(self.path / name, f"{line}\n")
        except OSError as exc:
            raise not_writable(self.path, exc) from None

    def index_paths(self) -> list[Path]:
        """Return the files of the full-text index: one, or one for each part."""
        return [each.index_path for each in self.directories()]

    def own_index(self) -> PageIndex:
        """Open the index of this directory; add words that are missing since a kill."""
        index = PageIndex(self.index_path, read_only=True, any_thread=True)
        if index.is_complete() or self.owner() is not None:
            return index
        index.close()
        # In a read-only directory that is not possible.
        with contextlib.suppress(ConfigError, SearchIndexError):
            PageIndex(self.index_path).close()
        return PageIndex(self.index_path, read_only=True, any_thread=True)

    def has_index(self) -> bool:
        """Return whether this directory has an index."""
        return is_created(self.index_path)

    def own_kept(self) -> CrawlSizes:
        """Return the size of the archive and of the index of this directory."""
        if not self.has_index():
            return CrawlSizes(summary(self.path), None)
        with contextlib.closing(PageIndex(self.index_path, read_only=True)) as index:
            return CrawlSizes(summary(self.path), len(index))

    def has_archive(self) -> bool:
        """Return whether this directory has a table of captures."""
        return is_created(database_path(self.path))

    def archive_path(self) -> Path:
        """Return the directory with its table of captures."""
        return self.path

    def crawlers(self) -> list[str]:
        owner = self.owner()
        return [] if owner is None else [f"process {owner}"]

    def how_to_continue(self, *, with_more_pages: bool = False) -> str:
        return resume_command(self.path, with_more_pages=with_more_pages)

    def owner(self) -> int | None:
        """Return the id of the process that crawls into it now, or None."""
        return self._lock.owner()

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._lock.release()


def _content_of(config: CrawlConfig) -> tuple[str, int]:
    """Return the text of a configuration file, and its mode."""
    return config.to_json() + "\n", SECRET_FILE_MODE if config.has_secrets else 0o666
