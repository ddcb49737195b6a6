"""The SQLite files of a crawl: opened in one way, and refused in the same words.

Rule: a file that is opened has all tables of its schema; one that has others is refused
and left as it was.

Used by the frontier, the archive and the index, which know what a row means; so are
transactions theirs.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from crawler_app.errors import ConfigError

__all__ = ["Schema", "connect", "open_database"]

# For another process to end its commit or its checkpoint, which take milliseconds.
PATIENCE_S = 10.0


@dataclass(slots=True, frozen=True)
class Schema:
    """What files of one kind hold.

    Attributes:
        name: What such a file is, with its article: "a frontier".
        version: Written into the file; one of another version is refused rather than
            misread.
        tables: Those without which a file is another program's.
        statements: The SQL that makes them.
        log_pages: How many are in the write-ahead log before it is carried into the
            file; SQLite's default is 1000.
    """

    name: str
    version: int
    tables: frozenset[str]
    statements: str
    log_pages: int = 1000


def open_database(
    path: Path | str, schema: Schema, *, read_only: bool
) -> sqlite3.Connection:
    """Open a file, or make one; transactions are the caller's.

    Args:
        path: The file; ``:memory:`` is one that is gone when it is closed.
        read_only: Only look, also while another process writes, and where nobody can.

    Raises:
        ConfigError: it holds something else, or is of another version, or is no
            database, or cannot be opened.

    >>> notes = Schema("a notebook", 1, frozenset({"note"}), "CREATE TABLE note (text);")
    >>> db = open_database(":memory:", notes, read_only=False)
    >>> db.execute("SELECT count(*) FROM note").fetchone()
    (0,)
    >>> db.close()
    """
    try:
        return connect(path, schema, read_only=read_only)
    except sqlite3.Error as exc:
        raise ConfigError(f"{path} cannot be used as {schema.name}: {exc}") from None


def connect(
    path: Path | str, schema: Schema, *, read_only: bool, any_thread: bool = False
) -> sqlite3.Connection:
    """Do what `open_database` does, for a caller who knows what to do about a bad file.

    Args:
        any_thread: Whether more than one thread is to use it, though never two at once.

    Raises:
        ConfigError: it holds something else, or is of another version.
        sqlite3.Error: it is no database, or cannot be opened.
    """
    path = Path(path)
    db = _connect(path, "mode=ro" if read_only else "", any_thread)
    try:
        if read_only and not _is_readable(db):
            db.close()
            db = _connect(path, _without_log(path), any_thread)
        _prepare(db, path, schema, read_only)
    except BaseException:
        db.close()
        raise
    return db


def _connect(path: Path, mode: str, any_thread: bool) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}" if mode else str(path),
        uri=bool(mode),
        timeout=PATIENCE_S,
        isolation_level=None,
        check_same_thread=not any_thread,
    )


def _is_readable(db: sqlite3.Connection) -> bool:
    """Return whether SQLite could make its ``-shm``, which even a reader needs."""
    try:
        db.execute("PRAGMA user_version")
    except sqlite3.OperationalError as exc:
        # On a medium that cannot be written, and in a directory that we may not write to.
        if exc.sqlite_errorcode & 0xFF in (
            sqlite3.SQLITE_CANTOPEN,
            sqlite3.SQLITE_READONLY,
        ):
            return False
        raise
    return True


def _without_log(path: Path) -> str:
    """Return the mode for a file that lies where nobody can write, such as on a CD.

    Nobody can change it, so no lock is needed; but SQLite then passes over the ``-wal``.
    """
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise ConfigError(
            f"{path} was not closed, and cannot be read where nothing may be written; "
            f"copy it and {log.name} to another directory"
        )
    return "mode=ro&immutable=1"


def _prepare(
    db: sqlite3.Connection, path: Path, schema: Schema, read_only: bool
) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    tables = {name for (name,) in names}
    if not tables and version == 0 and not read_only:
        db.execute("PRAGMA journal_mode = WAL")
        # All or nothing, or a crash in between leaves a file that is refused for ever.
        db.executescript(
            f"BEGIN IMMEDIATE; {schema.statements} "
            f"PRAGMA user_version = {schema.version}; COMMIT;"
        )
    elif not tables >= schema.tables:
        raise ConfigError(
            f"{path} cannot be used as {schema.name}: it holds other tables, or none"
        )
    elif version != schema.version:
        raise ConfigError(
            f"{path} holds {schema.name} of version {version}; this program writes "
            f"version {schema.version}"
        )
    # What a power loss takes is fetched again; the death of the process takes nothing.
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute(f"PRAGMA wal_autocheckpoint = {schema.log_pages}")
