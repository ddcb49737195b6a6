"""Opens the SQLite files of a crawl, and checks their schema.

Rule: an opened file has all tables of its schema; a file with other tables is refused and
not modified.

Used by the frontier, the archive and the index, which define the tables and control the
transactions.
"""

import contextlib
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from crawler_app.base.errors import ConfigError, CrawlerError, StorageError
from crawler_app.base.safe_files import is_disk_fault, is_locked, refusal

__all__ = [
    "Schema",
    "connect",
    "copy_database",
    "is_created",
    "is_damage",
    "open_database",
    "unusable",
]

# How long to wait for another process's commit or checkpoint, which takes milliseconds, or for a
# person who has locked the file with a tool.
PATIENCE_S = 30.0

# Reached while many seeds are added, or if something is written during each checkpoint.
LOG_PAGES = 20_000

CONTENTS = """
SELECT user_version, type, name FROM pragma_user_version LEFT JOIN sqlite_master
"""

DISK_FAULTS = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL)
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@dataclass(slots=True, frozen=True)
class Schema:
    """The schema of one kind of file.

    Attributes:
        name: What such a file is, with its article: "a frontier".
        version: Stored in the file; a file with another version is refused, not misread.
        tables: The required tables; a file without them belongs to another program.
        statements: The SQL that creates them.
        log_pages: Pages in the write-ahead log after which SQLite makes a checkpoint by
            itself, if `crawler_app.store.checkpoints` made none.
        cure: What to do if a file is broken, or of another version: how to rebuild it.
    """

    name: str
    version: int
    tables: frozenset[str]
    statements: str
    log_pages: int = LOG_PAGES
    cure: str = ""

    def with_cure(self, text: str) -> str:
        """Return an error message, with what to do."""
        return f"{text}; {self.cure}" if self.cure else text

    def explain(self, text: str, exc: BaseException) -> str:
        """Return the message of an error, with what to do if it shows a damaged file."""
        return self.with_cure(text) if is_damage(exc) else text


def is_damage(exc: BaseException | None) -> bool:
    """Return whether an error, or its cause, shows that a file is damaged."""
    code = getattr(exc, "sqlite_errorcode", 0) & 0xFF
    return code in DAMAGE or (exc is not None and is_damage(exc.__cause__))


def open_database(
    path: Path | str, schema: Schema, *, read_only: bool, any_thread: bool = False
) -> sqlite3.Connection:
    """Open or create a file; the caller controls transactions.

    Args:
        path: The file, or ``:memory:``; empty for a temporary file, which SQLite deletes.
        read_only: Open it for reading only, without a trace, even while another process
            writes, or on a read-only medium.
        any_thread: Whether several threads may use it, though only one at a time.

    Raises:
        ConfigError: it holds something else, or has another version, or is not a database,
            or cannot be opened.
        StorageError: the disk is full, or has failed.

    >>> notes = Schema("a notebook", 1, frozenset({"note"}), "CREATE TABLE note (text);")
    >>> db = open_database(":memory:", notes, read_only=False)
    >>> db.execute("SELECT count(*) FROM note").fetchone()
    (0,)
    >>> db.close()
    """
    try:
        return connect(path, schema, read_only=read_only, any_thread=any_thread)
    except (sqlite3.Error, OSError) as exc:
        raise unusable(path, schema, exc) from exc


def is_created(path: Path) -> bool:
    """Return whether a file is there with its tables: SQLite makes an empty one before."""
    journal = path.with_name(f"{path.name}-journal")
    if journal.exists() and not (refusal(path) or refusal(journal)):
        # Its tables are being made, or were when their process was killed: then SQLite empties
        # the file as soon as it is read.
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(_connect(path, "mode=rw", any_thread=False)) as db,
        ):
            db.execute("PRAGMA user_version")
    return path.exists() and not (path.is_file() and path.stat().st_size == 0)


def unusable(
    path: Path | str, schema: Schema, exc: sqlite3.Error | OSError
) -> CrawlerError:
    """Return the error for a file that cannot be opened: a wrong file, or a failing disk."""
    if isinstance(exc, sqlite3.Error):
        has_failed = getattr(exc, "sqlite_errorcode", 0) & 0xFF in DISK_FAULTS
    else:
        has_failed = is_disk_fault(exc)
    if has_failed or is_locked(exc):
        return StorageError(f"{path or 'a temporary file'}: {exc}")
    words = f"{path} cannot be used as {schema.name}: {exc}"
    return ConfigError(schema.explain(words, exc))


def connect(
    path: Path | str, schema: Schema, *, read_only: bool, any_thread: bool = False
) -> sqlite3.Connection:
    """Open a file as `open_database` does, but leave SQLite's errors to the caller.

    Raises:
        ConfigError: it holds something else, or has another version.
        sqlite3.Error: it is not a database, or cannot be opened.
        OSError: too many files are open.
    """
    path = Path(path)
    if path.name:
        _refuse_links(path)
    try:
        return _opened(path, schema, read_only, any_thread)
    except sqlite3.OperationalError:
        _require_descriptors()
        raise


def copy_database(source: Path, target: Path) -> None:
    """Copy a file as of its last commit, also while another connection writes to it.

    The copy has no ``-wal`` file.

    Raises:
        ConfigError: a file is not a regular file.
        sqlite3.Error, OSError: it cannot be read, or the copy cannot be written.
    """
    _refuse_links(source)
    with (
        contextlib.closing(_connect(source, "mode=ro", any_thread=False)) as db,
        contextlib.closing(_connect(target, "", any_thread=False)) as copy,
    ):
        db.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")


def _opened(
    path: Path, schema: Schema, read_only: bool, any_thread: bool
) -> sqlite3.Connection:
    # A connection with mode=ro would leave the files -shm and -wal behind.
    db = _connect(path, "mode=rw" if read_only else "", any_thread)
    try:
        if read_only and not _is_readable(db):
            db.close()
            db = _connect(path, _without_log(path), any_thread)
        if read_only:
            db.execute("PRAGMA query_only = ON")
        _prepare(db, path, schema, read_only)
    except BaseException:
        db.close()
        raise
    return db


def _refuse_links(path: Path) -> None:
    """Refuse a file, or one of SQLite's own beside it, that is not a regular file.

    SQLite follows a link in the name of a database, and has no option against it in
    Python.  So a process that writes into the directory at this moment can still place one;
    a directory that was copied or unpacked cannot.
    """
    for suffix in ("", "-wal", "-shm", "-journal"):
        each = path.with_name(path.name + suffix)
        if why := refusal(each):
            raise ConfigError(f"{each} is {why}, and is not opened")


def _connect(path: Path, mode: str, any_thread: bool) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}" if mode else path.name and str(path),
        uri=bool(mode),
        timeout=PATIENCE_S,
        isolation_level=None,
        check_same_thread=not any_thread,
    )


def _is_readable(db: sqlite3.Connection) -> bool:
    """Return whether SQLite could create its ``-shm`` file, which readers need too."""
    try:
        db.execute("PRAGMA user_version")
    except sqlite3.OperationalError as exc:
        # On a read-only medium, and in a directory without write permission.
        _require_descriptors()
        if exc.sqlite_errorcode & 0xFF in (
            sqlite3.SQLITE_CANTOPEN,
            sqlite3.SQLITE_READONLY,
        ):
            return False
        raise
    return True


def _require_descriptors() -> None:
    """Raise OSError if too many files are open, which SQLite does not report.

    It opens three files for one database.
    """
    with contextlib.ExitStack() as opened:
        try:
            for _ in range(3):
                opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        except OSError as exc:
            why = f"{exc.strerror}; raise the limit with `ulimit -n`"
            raise OSError(exc.errno, why) from None


def _without_log(path: Path) -> str:
    """Return the mode for a file on a read-only medium, such as a CD.

    It cannot change, so no lock is needed; but SQLite then ignores the ``-wal`` file.
    """
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise ConfigError(
            f"{path} was not closed, and cannot be read in a read-only directory; copy it "
            f"and {log.name} to another directory"
        )
    return "mode=ro&immutable=1"


def _prepare(
    db: sqlite3.Connection, path: Path, schema: Schema, read_only: bool
) -> None:
    version, tables = 0, set[str]()
    # In one statement: between two, another process could create the tables.
    for version, kind, name in db.execute(CONTENTS):
        if kind == "table":
            tables.add(name)
        elif kind not in ("index", None):
            # SQL from another person, which would run with our statements.
            raise ConfigError(f"{path} cannot be used: it holds the {kind} {name}")
    if not tables and version == 0 and not read_only:
        # Atomic, because a crash in between would leave a file that is always refused.
        # Before WAL, which would make the file longer than empty; see `is_created`.
        db.executescript(
            f"BEGIN IMMEDIATE; {schema.statements} "
            f"PRAGMA user_version = {schema.version}; COMMIT;"
        )
    elif not tables >= schema.tables:
        words = (
            f"{path} cannot be used as {schema.name}: it holds other tables, or none"
        )
        raise ConfigError(schema.with_cure(words))
    elif version != schema.version:
        age = "an older" if version < schema.version else "a newer"
        words = (
            f"{path} holds {schema.name} of version {version}, but this gencrawl reads "
            f"version {schema.version}: use {age} one"
        )
        raise ConfigError(f"{words}, or {schema.cure}" if schema.cure else words)
    if not read_only:
        db.execute("PRAGMA journal_mode = WAL")
    # What is lost in a power failure is fetched again; a crash of the process loses nothing.
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute(f"PRAGMA wal_autocheckpoint = {schema.log_pages}")
