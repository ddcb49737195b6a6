"""Temporary SQLite tables of the documents, links and images that a report reads.

They are in a file that SQLite deletes by itself, so memory does not grow with the site.  The
rows of a URL are identified by a hash of its `dedup_key`.
"""

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

from crawler_app.base.errors import ConfigError
from crawler_app.base.reasons import Reason, is_broken, reason_of_word
from crawler_app.show.findings.grouping import template_of
from crawler_app.show.report.report_data import ReportedLink

__all__ = [
    "DocumentRow",
    "LinkCounts",
    "LinkRow",
    "Links",
    "TempTables",
    "disk_errors",
    "number_of",
]

TABLES = """
-- Pages, and style sheets and manifests with references.
CREATE TABLE document (
    at INTEGER PRIMARY KEY,            -- its place in the order they were found
    key INTEGER NOT NULL,
    url TEXT NOT NULL,
    is_page INTEGER NOT NULL,
    via TEXT NOT NULL,
    title TEXT NOT NULL,
    canonical TEXT NOT NULL,           -- empty for its own URL
    canonical_key INTEGER NOT NULL,
    digest TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    description TEXT,                  -- NULL if it was not read, as the rest
    main_headings INTEGER,
    is_noindex INTEGER
);
CREATE TABLE sitemap (url TEXT PRIMARY KEY) WITHOUT ROWID;

-- The URLs that sitemaps list, and the sitemaps.
CREATE TABLE entry (key INTEGER PRIMARY KEY, url TEXT NOT NULL);

-- The URLs that the crawl knows, and how they ended; with an empty reason if they have not.
CREATE TABLE known (key INTEGER PRIMARY KEY, reason TEXT NOT NULL);

-- The URLs that documents refer to, and the kind of one of these references.
CREATE TABLE mention (key INTEGER PRIMARY KEY, kind TEXT NOT NULL);

-- What is wrong with single pages; see `TempTables.add_faults`.
CREATE TABLE fault (fault INTEGER NOT NULL, document INTEGER NOT NULL);

-- Versions of pages in other languages.
CREATE TABLE alternate (document INTEGER NOT NULL, target INTEGER NOT NULL);

-- See `crawler_app.show.findings.near_duplicates`.
CREATE TABLE sketch (document INTEGER PRIMARY KEY, sketch BLOB NOT NULL);
CREATE TABLE band (band INTEGER NOT NULL, document INTEGER NOT NULL);

-- Links to places on pages, and the hashes of the ids on these.
CREATE TABLE place (
    target INTEGER NOT NULL,
    fragment TEXT NOT NULL,
    document INTEGER NOT NULL,
    line INTEGER NOT NULL,
    text TEXT NOT NULL,
    href TEXT NOT NULL
);
CREATE TABLE ids (key INTEGER PRIMARY KEY, hashes BLOB NOT NULL);

-- References to URLs that something is wrong with.
CREATE TABLE link (
    subject INTEGER NOT NULL,          -- see `crawler_app.show.report.link_targets`
    document INTEGER NOT NULL,
    line INTEGER NOT NULL,             -- from 1; 0 if there are no lines
    text TEXT NOT NULL,
    href TEXT NOT NULL,
    through TEXT NOT NULL              -- the redirect it leads to first; or empty
);

-- Style sheets and icons that documents load.
CREATE TABLE load (url INTEGER NOT NULL, document INTEGER NOT NULL);

-- The number of visitors of a document, relative to that of others.
CREATE TABLE weight (key INTEGER PRIMARY KEY, weight INTEGER NOT NULL);

-- How many other documents refer to a URL.
CREATE TABLE inlink (key INTEGER PRIMARY KEY, documents INTEGER NOT NULL);

-- Images with a fault; a page with several such elements counts once.
CREATE TABLE picture (
    fault TEXT NOT NULL,
    url TEXT NOT NULL,
    documents INTEGER NOT NULL,
    document INTEGER NOT NULL,         -- one of them
    PRIMARY KEY (fault, url)
) WITHOUT ROWID;
"""

INDEXES = """
CREATE INDEX document_key ON document (key);
CREATE INDEX link_subject ON link (subject, document);
CREATE INDEX alternate_document ON alternate (document, target);
CREATE INDEX band_band ON band (band, document);
"""
SELECT_PLACES = """
SELECT target, hashes, fragment, document, line, text, href
FROM place JOIN ids ON key = target ORDER BY target, place.rowid
"""

ADD_INLINKS = """
INSERT INTO inlink VALUES (?, ?)
ON CONFLICT DO UPDATE SET documents = documents + excluded.documents
"""
# What documents refer to in ways that the crawl does not follow.
COUNT_UNASKED = """
SELECT kind, count(*) AS urls FROM mention LEFT JOIN known USING (key)
WHERE known.key IS NULL GROUP BY kind ORDER BY urls DESC, kind
"""
# Places on pages of other sites, which a report does not read.
COUNT_UNREAD_PLACES = f"""
SELECT count(*) FROM place JOIN known ON key = target WHERE reason = '{Reason.EXISTS}'
"""
ADD_PICTURES = """
INSERT INTO picture VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET documents = documents + excluded.documents
"""

SELECT_LINK_COUNTS = """
SELECT subject, sum(links), count(*), sum(weight)
FROM (SELECT subject, document, count(*) AS links FROM link GROUP BY 1, 2)
JOIN weight ON key = document GROUP BY subject
"""
# `crawler_app.show.report.priorities` explains the weight of a page; a style sheet weighs as much
# as the pages that load it.
WEIGH = """
INSERT OR IGNORE INTO weight
SELECT key, 1 + coalesce(documents, 0) FROM document LEFT JOIN inlink USING (key);
REPLACE INTO weight SELECT document.key, sum(weight) FROM document
JOIN load ON load.url = document.key JOIN weight ON weight.key = load.document
WHERE NOT is_page GROUP BY document.key;
"""
SELECT_LINKS = """
SELECT url, text, href, through, line FROM link JOIN document ON key = document
WHERE subject = ? ORDER BY url, link.rowid
"""

# Of SQLite's page cache.
CACHE_KB = 16_000

# Counts that are collected in memory before they are added to a table: about 20 MB.
MAX_COUNTS = 200_000

# Kinds of faults with their subjects; those beyond are counted without their subject.
MAX_FAULTS = 10_000

# Rows of a table that are written in one batch, which takes half the time of single rows.
MAX_ROWS = 2000


class DocumentRow(NamedTuple):
    """A row of the table of that name."""

    at: int
    key: int
    url: str
    is_page: bool
    via: str
    title: str
    canonical: str
    canonical_key: int
    digest: str
    size_bytes: int
    depth: int
    description: str | None = None
    main_headings: int | None = None
    is_noindex: bool | None = None


class LinkRow(NamedTuple):
    """A row of the table of that name."""

    subject: int
    document: int
    line: int
    text: str
    href: str
    through: str


class LinkCounts(NamedTuple):
    """The number of links to a subject.

    Attributes:
        links: References to it.
        pages: Documents that have them.
        reach: The sum of the weights of these documents; see
            `crawler_app.show.report.priorities`.
    """

    links: int
    pages: int
    reach: int


def number_of(key: str) -> int:
    """Return the number that stands for a dedup key.

    With a million URLs, the odds that two share one are 1 in 37 million.
    """
    return hash(key)


def _is_broken(word: str) -> bool:
    return bool(word) and is_broken(reason_of_word(word))


@contextlib.contextmanager
def disk_errors() -> Iterator[None]:
    """Turn errors of the disk into ConfigError."""
    try:
        yield
    except sqlite3.OperationalError as exc:
        raise ConfigError(
            f"the temporary files of the report cannot be written: {exc}; TMPDIR names "
            "another directory for them"
        ) from None


class TempTables:
    """The tables; the file is deleted with the object.

    >>> tables = TempTables()
    >>> tables.add_inlinks([1, 2]); tables.add_inlinks([2])
    >>> tables.end()
    >>> tables.rows("SELECT * FROM inlink").fetchall()
    [(1, 1), (2, 2)]
    """

    def __init__(self) -> None:
        # `__del__` may run in any thread.  No journal, as there is nothing to recover.
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._db.executescript(
            f"PRAGMA journal_mode = OFF; PRAGMA cache_size = -{CACHE_KB}; BEGIN; {TABLES}"
        )
        self._inlinks: Counter[int] = Counter()
        self._kind_by_url: dict[int, str] = {}
        self._pictures: dict[tuple[str, str], list[int]] = {}
        self._rows_by_table: dict[str, list[Sequence[Any]]] = {}
        self._number_by_fault: dict[tuple[str, str], int] = {}
        self._db.create_function("template_of", 1, template_of, deterministic=True)
        self._db.create_function("is_broken", 1, _is_broken, deterministic=True)

    def __del__(self) -> None:
        self._db.close()

    def add_document(self, document: DocumentRow) -> None:
        """Add a document."""
        self.add_rows("document", [document])

    def add_sitemap(self, url: str, entries: Iterable[tuple[int, str]] = ()) -> None:
        """Add a sitemap, and the numbers and URLs of what it lists."""
        self.add_rows("sitemap", [(url,)])
        self.add_rows("entry", entries)

    def add_rows(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows to a table; those whose primary key it has are left out."""
        added = self._rows_by_table.setdefault(table, [])
        added.extend(rows)
        if len(added) > MAX_ROWS:
            self._write_rows(table)

    def _write_rows(self, table: str) -> None:
        if rows := self._rows_by_table.pop(table):
            marks = ", ".join("?" * len(rows[0]))
            self._write(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", rows)

    def _write_all(self) -> None:
        for table in list(self._rows_by_table):
            self._write_rows(table)

    def add_faults(self, faults: Iterable[tuple[str, str]], document: int) -> None:
        """Add what is wrong with a document: kinds and their subjects."""
        rows = [(self.number_of_fault(*fault), document) for fault in faults]
        self.add_rows("fault", rows)

    def number_of_fault(self, kind: str, subject: str) -> int:
        """Return the number by which the table of faults knows a kind and a subject."""
        known = self._number_by_fault
        if (kind, subject) not in known and len(known) >= MAX_FAULTS:
            subject = ""
        return known.setdefault((kind, subject), len(known))

    def faults(self) -> dict[tuple[str, str], int]:
        """Return the numbers of the faults, by kind and subject."""
        return self._number_by_fault

    def add_inlinks(self, keys: Iterable[int]) -> None:
        """Count what one document refers to."""
        self._inlinks.update(keys)
        if len(self._inlinks) > MAX_COUNTS:
            self._write_counts()

    def add_mentions(self, kind_by_url: Mapping[int, str]) -> None:
        """Add what one document refers to, and how."""
        self._kind_by_url.update(kind_by_url)
        if len(self._kind_by_url) > MAX_COUNTS:
            self._write_counts()

    def add_picture(self, fault: str, url: str, document: int) -> None:
        """Count an image with a fault in one document."""
        counted = self._pictures.setdefault((fault, url), [0, document])
        counted[0] += 1
        if len(self._pictures) > MAX_COUNTS:
            self._write_counts()

    def _write(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with disk_errors():
            self._db.executemany(statement, rows)

    def _write_counts(self) -> None:
        self._write(ADD_INLINKS, self._inlinks.items())
        self._inlinks.clear()
        self._write(
            "INSERT OR IGNORE INTO mention VALUES (?, ?)", self._kind_by_url.items()
        )
        self._kind_by_url.clear()
        rows = ((*key, *counted) for key, counted in self._pictures.items())
        self._write(ADD_PICTURES, rows)
        self._pictures.clear()

    def end(self) -> None:
        """Make everything that was added visible to `rows`."""
        self._write_all()
        self._write_counts()
        with disk_errors():
            self._db.executescript(f"{INDEXES} {WEIGH}")

    def rows(self, query: str, *values: Any) -> sqlite3.Cursor:
        """Return the rows of a query."""
        with disk_errors():
            return self._db.execute(query, values)

    def places(self) -> sqlite3.Cursor:
        """Return the links to places on pages, with the ids of these, sorted by page."""
        self._write_all()
        return self.rows(SELECT_PLACES)

    def documents_with(self, first: int, end: int) -> int:
        """Return how many documents refer to the subjects of a range, without its end."""
        (count,) = self.rows(
            "SELECT count(DISTINCT document) FROM link WHERE subject >= ? AND subject < ?",
            first,
            end,
        ).fetchone()
        return int(count)

    def unasked(self) -> dict[str, int]:
        """Return the number of URLs that the crawl does not know, by kind of reference."""
        return dict(self.rows(COUNT_UNASKED).fetchall())

    def unread_places(self) -> int:
        """Return the number of links to places on pages of other sites."""
        return int(self.rows(COUNT_UNREAD_PLACES).fetchone()[0])

    def link_counts(self) -> dict[int, LinkCounts]:
        """Return the number of links to each subject."""
        return {
            subject: LinkCounts(*counts)
            for subject, *counts in self.rows(SELECT_LINK_COUNTS)
        }


class Links(Sequence[ReportedLink]):
    """The references to a subject, sorted by page; read when they are needed."""

    def __init__(self, tables: TempTables, subject: int, length: int) -> None:
        self._tables = tables
        self._subject = subject
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[ReportedLink]:
        # A generator, so that the tables stay open as long as it is used.
        for row in self._tables.rows(SELECT_LINKS, self._subject):
            yield ReportedLink(*row)

    @overload
    def __getitem__(self, at: int) -> ReportedLink: ...
    @overload
    def __getitem__(self, at: slice) -> list[ReportedLink]: ...
    def __getitem__(self, at: int | slice) -> ReportedLink | list[ReportedLink]:
        return list(self)[at]
