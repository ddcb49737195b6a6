"""The table of captures: what was captured, when, and where it lies in the files.

It can be rebuilt from the files (`crawler_app.store.archive.recovery`), so it holds nothing
that a record does not say.
"""

import contextlib
import itertools
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from crawler_app.base.errors import ArchiveError, ConfigError
from crawler_app.store import database
from crawler_app.store.archive.surt import surt
from crawler_app.store.checkpoints import Checkpoints

__all__ = [
    "ELSEWHERE",
    "NOT_MODIFIED",
    "RESOURCES",
    "RESPONSE",
    "REVISIT",
    "Capture",
    "Captures",
    "database_path",
    "disk_errors",
    "table_errors",
]

SCHEMA_VERSION = 3

IS_REVISIT = "kind != 'response'"

TABLES = f"""
CREATE TABLE capture (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    status INTEGER NOT NULL,
    mime TEXT NOT NULL,
    digest TEXT NOT NULL,
    etag TEXT NOT NULL,
    last_modified TEXT NOT NULL,
    file INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    record_id BLOB NOT NULL,
    refers_to INTEGER REFERENCES capture,
    payload_key BLOB                   -- of a response that a revisit may refer to
);
CREATE INDEX capture_url ON capture (url);
CREATE INDEX capture_place ON capture (file, offset);
CREATE INDEX capture_revisit ON capture (id) WHERE {IS_REVISIT};
CREATE INDEX capture_payload ON capture (payload_key) WHERE payload_key IS NOT NULL;

-- The number of rows, which SQLite itself counts only by reading them.
CREATE TABLE tally (captures INTEGER NOT NULL, revisits INTEGER NOT NULL);
INSERT INTO tally VALUES (0, 0);
"""

SCHEMA = database.Schema(
    "a table of captures",
    SCHEMA_VERSION,
    frozenset({"capture", "tally"}),
    TABLES,
    cure="delete it, and it will be rebuilt from the files of the archive",
)

# What no server has sent, such as a screenshot: ``urn:view:http://a.test/``.  The kind of such a
# capture is RESPONSE.
RESOURCES = "urn:"

RESPONSE = "response"
REVISIT = "revisit"
NOT_MODIFIED = "not_modified"

# In place of the id of a capture: the payload is in another archive.
ELSEWHERE = 0

COLUMNS = (
    "url, at, kind, status, mime, digest, etag, last_modified, file, offset, length, "
    "record_id, refers_to"
)
INSERT = f"""
INSERT INTO capture ({COLUMNS}, payload_key) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)
"""
SELECT = f"SELECT {COLUMNS}, id FROM capture"

# Captures whose body can be read.
USABLE = """
status = 200 AND (kind = 'response' OR kind = 'revisit' AND refers_to > 0)
"""

# Redirects, whose bodies do not matter.
REDIRECT = "status BETWEEN 300 AND 399 AND kind = 'response'"
NEWEST_FIRST = "ORDER BY at DESC, id DESC"


class Capture(NamedTuple):
    """One captured response, in the order of the columns.

    Attributes:
        url: The canonical URL; of a request with a body, that by which it is looked up.
        at: When the exchange began, in whole seconds since the epoch.
        kind: RESPONSE; REVISIT, if the same payload had been captured before;
            NOT_MODIFIED, if the server said that it has not changed since it was captured.
        status: HTTP status.
        mime: Without parameters; empty if unknown.
        digest: SHA-1 of the payload, as WARC writes it; if it has no payload of its own,
            that of the capture it refers to.
        etag: The header as received; empty if there was none.
        last_modified: The header as received; empty if there was none.
        file: The number in the name of its file.
        offset: Where its record begins in the file.
        length: Size of the compressed record in bytes.
        record_id: The ``WARC-Record-ID``, as 16 bytes.
        refers_to: Id of the capture whose payload it shares; ELSEWHERE if that is in another
            archive.
        id: Id of the row; 0 if not in the table yet.
    """

    url: str
    at: int
    kind: str
    status: int
    mime: str
    digest: str
    etag: str
    last_modified: str
    file: int
    offset: int
    length: int
    record_id: bytes
    refers_to: int | None = None
    id: int = 0


def database_path(directory: Path) -> Path:
    """Return the path of the table of an archive directory."""
    return directory / "archive.sqlite3"


class Captures:
    """The table, in one SQLite file; changes begin a transaction, which `commit` ends.

    Args:
        read_only: Open for reading only; another process may be writing.

    Raises:
        ConfigError: the table is of another version, or of another program; or the directory
            is a file, as that of another program may be.
        sqlite3.Error: it is not a database, or cannot be opened.
    """

    def __init__(self, directory: Path, *, read_only: bool = False) -> None:
        if directory.is_file():
            raise ConfigError(
                f"{directory} is a file; this needs the directory of a crawl (crawl --into)"
            )
        # Opened by one thread and used by another, never by both at once.
        self._db = database.connect(
            database_path(directory), SCHEMA, read_only=read_only, any_thread=True
        )
        self._checkpoints = Checkpoints(self._db)
        # To be added to the tally by the next commit.
        self._captures = self._revisits = 0

    def add(self, capture: Capture, payload_key: bytes | None) -> None:
        """Insert a capture.

        Args:
            payload_key: The key by which `with_payload` finds it.
        """
        if not self._db.in_transaction:
            self._db.execute("BEGIN")
        *values, _ = capture  # the id is given by the table
        self._db.execute(INSERT, (*values, payload_key))
        self._captures += not capture.url.startswith(RESOURCES)
        self._revisits += capture.kind != RESPONSE

    def commit(self) -> None:
        """Commit the changes since the last commit."""
        if self._db.in_transaction:
            self._db.execute(
                "UPDATE tally SET captures = captures + ?, revisits = revisits + ?",
                (self._captures, self._revisits),
            )
            self._db.execute("COMMIT")
            self._captures = self._revisits = 0

    def due_checkpoint(self) -> Callable[[], None] | None:
        """Return the checkpoint to make in another thread after a commit, if one is due."""
        return self._checkpoints.make if self._checkpoints.is_due() else None

    def rollback(self) -> None:
        """Undo the changes since the last commit."""
        self._captures = self._revisits = 0
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def get(self, capture_id: int) -> Capture | None:
        """Return the capture with an id."""
        return self._one("id = ?", capture_id)

    def with_payload(self, payload_key: bytes) -> Capture | None:
        """Return the first response with a payload."""
        return self._one("payload_key = ? ORDER BY id", payload_key)

    def with_record(self, url: str, record_id: bytes) -> Capture | None:
        """Return the capture of a record."""
        return self._one("url = ? AND record_id = ?", url, record_id)

    def original_of(self, capture: Capture) -> Capture | None:
        """Return the capture that has the payload of another; None if it is lost."""
        if capture.refers_to is None:
            return capture
        return self.get(capture.refers_to)

    def latest(self, url: str) -> Capture | None:
        """Return the newest capture of a URL that has a body and status 200."""
        return self._one(f"url = ? AND {USABLE} {NEWEST_FIRST}", url)

    def latest_redirect(self, url: str) -> Capture | None:
        """Return the newest capture of a URL that is a redirect."""
        return self._one(f"url = ? AND {REDIRECT} {NEWEST_FIRST}", url)

    def has_elsewhere(self) -> bool:
        """Return whether a payload is in another archive only."""
        condition = f"{IS_REVISIT} AND kind = '{REVISIT}' AND refers_to = ?"
        return self._one(condition, ELSEWHERE) is not None

    def first_at(self, url: str, digest: str = "") -> int | None:
        """Return when a URL was captured first; None if it never was.

        Args:
            digest: Only captures with this payload count; empty for all.
        """
        query = "SELECT min(at) FROM capture WHERE url = ? AND ? IN ('', digest)"
        at: int | None = self._db.execute(query, (url, digest)).fetchone()[0]
        return at

    def holds(self, url: str) -> bool:
        """Return whether there is a capture of a URL whose body is not lost."""
        condition = "url = ? AND (kind = 'response' OR refers_to IS NOT NULL)"
        return self._one(condition, url) is not None

    def from_end_of(self, file: int) -> Iterator[Capture]:
        """Return the captures of a file, last one first."""
        for row in self._db.execute(
            f"{SELECT} WHERE file = ? ORDER BY offset DESC", (file,)
        ):
            yield Capture(*row)

    def _one(self, condition: str, *values: Any) -> Capture | None:
        row = self._db.execute(f"{SELECT} WHERE {condition} LIMIT 1", values).fetchone()
        return None if row is None else Capture(*row)

    def drop_files_except(self, numbers: Iterable[int]) -> int:
        """Delete the captures of all files but these; return how many.

        Revisits that refer to them stay, without a body.
        """
        gone = self._files().difference(numbers)
        return sum(self._drop("file = ?", number) for number in sorted(gone))

    def _files(self) -> set[int]:
        """Return the numbers of the files, by one search of the index for each."""
        numbers: set[int] = set()
        last = -1
        while last is not None:
            numbers.add(last)
            (last,) = self._db.execute(
                "SELECT min(file) FROM capture WHERE file > ?", (last,)
            ).fetchone()
        return numbers - {-1}

    def drop_from(self, file: int, offset: int) -> int:
        """Delete the captures of a file from an offset on; return how many.

        Revisits that refer to them stay, without a body.
        """
        return self._drop("file = ? AND offset >= ?", file, offset)

    def _drop(self, condition: str, *values: int) -> int:
        dropped: int
        dropped, resources, revisits = self._db.execute(
            f"SELECT count(*), count(*) FILTER (WHERE url GLOB '{RESOURCES}*'),"
            f" count(*) FILTER (WHERE {IS_REVISIT}) FROM capture WHERE {condition}",
            values,
        ).fetchone()
        if dropped:
            if not self._db.in_transaction:
                self._db.execute("BEGIN")
            self._db.execute(f"DELETE FROM capture WHERE {condition}", values)
            self._db.execute(
                f"UPDATE capture SET refers_to = NULL WHERE {IS_REVISIT}"
                " AND refers_to > 0 AND refers_to NOT IN (SELECT id FROM capture)"
            )
            self._captures -= dropped - resources
            self._revisits -= revisits
        return dropped

    def hold(self) -> None:
        """Start a read transaction: what others write from now on is not seen."""
        self._db.execute("BEGIN")
        self._db.execute("SELECT 1 FROM capture LIMIT 1").fetchone()

    def end_by_file(self) -> dict[int, int]:
        """Return where the last capture of each file ends."""
        return {
            number: last.offset + last.length
            for number in self._files()
            for last in itertools.islice(self.from_end_of(number), 1)
        }

    def in_order(self) -> Iterator[Capture]:
        """Return all captures, earliest first."""
        for row in self._db.execute(f"{SELECT} ORDER BY id"):
            yield Capture(*row)

    def by_surt(self) -> Iterator[tuple[str, Capture]]:
        """Return each capture with the SURT key of its URL, sorted by key.

        Several URLs may share a key: it leaves out the scheme and ``www.``.
        """
        errors: list[BaseException] = []

        def key_of(url: str) -> str:
            try:
                return surt(url)
            except BaseException as exc:  # e.g. Ctrl-C, which SQLite hides
                errors.append(exc)
                raise

        self._db.create_function("surt", 1, key_of, deterministic=True)
        try:
            # SQLite sorts on disk what does not fit into its cache.
            rows = self._db.execute(
                f"SELECT surt(url), {COLUMNS}, id FROM capture ORDER BY 1, at, url, id"
            )
            for key, *values in rows:
                yield key, Capture(*values)
        except sqlite3.OperationalError as exc:
            raise errors[0] if errors else exc from None

    def counts(self) -> tuple[int, int]:
        """Return how many exchanges are committed, and how many of them are revisits."""
        captures, revisits = self._db.execute("SELECT * FROM tally").fetchone()
        return captures, revisits

    def close(self) -> None:
        """Close the file; uncommitted changes are lost."""
        self._db.close()


@contextlib.contextmanager
def disk_errors(directory: Path) -> Iterator[None]:
    """Turn errors of the disk and of SQLite into ArchiveError."""
    try:
        with table_errors(directory):
            yield
    except OSError as exc:
        raise ArchiveError(f"the archive in {directory}: {exc}") from exc


@contextlib.contextmanager
def table_errors(directory: Path) -> Iterator[None]:
    """Turn errors of SQLite into ArchiveError."""
    try:
        yield
    except sqlite3.OperationalError as exc:
        raise ArchiveError(f"{database_path(directory)}: {exc}") from exc
    except sqlite3.Error as exc:
        words = SCHEMA.with_cure(f"{database_path(directory)}: {exc}")
        raise ArchiveError(words) from exc
