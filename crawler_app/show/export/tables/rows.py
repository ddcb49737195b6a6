"""The rows of pages, links and findings, from one reading of all pages.

A crawl stores no links between pages, which would make it slower, so the archived pages are read
again, as for a report, whose findings these are.  Links are passed on as they are read; pages
wait in a temporary SQLite file until the links to each of them are known.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from crawler_app.base.models import UrlRecord
from crawler_app.base.text.escaping import one_line
from crawler_app.base.text.formatting import iso_time
from crawler_app.base.urls import dedup_key
from crawler_app.show.export.tables.columns import COLUMNS_BY_TABLE, PAGES, Row
from crawler_app.show.report.page_problems import pages_by_problem
from crawler_app.show.report.page_reading import (
    Observer,
    picture_faults,
)
from crawler_app.show.report.report_data import Report, ReportedLink
from crawler_app.show.report.temp_tables import (
    DocumentRow,
    TempTables,
    disk_errors,
    number_of,
)
from crawler_app.store.frontier import FrontierReader
from crawler_app.web.documents.html import Page
from crawler_app.web.documents.references import Mention, Use
from crawler_app.web.documents.resolving import LinkResolver

__all__ = ["RowReader"]

TABLES = """
PRAGMA journal_mode = OFF;
BEGIN;
CREATE TABLE outcome (key INTEGER PRIMARY KEY, status INTEGER, reason TEXT);
CREATE TABLE page (key INTEGER, url TEXT, cells TEXT);
CREATE TABLE finding (page TEXT, kind TEXT, subject TEXT, line INTEGER, detail TEXT);
"""
INDEXES = "CREATE INDEX finding_page ON finding (page)"

MAX_TEXT_CHARS = 80

KIND_BY_USE = {use: use.name.lower() for use in Use}


class _Target(NamedTuple):
    """What a reference leads to; without a URL if it leads nowhere."""

    url: str
    status: int | None
    reason: str | None


class RowReader(Observer):
    """Collects rows while a report is gathered.

    Args:
        on_links: Called with the rows of the links of each document; None if they are not
            wanted.
        first_seen: Returns when a URL was captured first, in seconds since the epoch.
        links_only: Whether only the rows of links are wanted.
    """

    def __init__(
        self,
        on_links: Callable[[list[Row]], object] | None = None,
        first_seen: Callable[[str], float | None] | None = None,
        *,
        links_only: bool = False,
    ) -> None:
        self.links_only = links_only
        self._on_links = on_links
        self._first_seen = first_seen
        self._resolver = LinkResolver(self._target_at)
        self._outlinks = 0  # of the last document
        self._change_by_url: dict[str, str] | None = None
        self._tables = TempTables()
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._db.executescript(TABLES)

    def __del__(self) -> None:
        self._db.close()

    def begin(self, frontier: FrontierReader) -> None:
        rows = (
            (number_of(dedup_key(each.url)), each.outcome.status, each.outcome.reason)
            for each in frontier.records()
            if each.outcome is not None
        )
        self._write("INSERT OR REPLACE INTO outcome VALUES (?, ?, ?)", rows)

    def see_links(
        self,
        document: DocumentRow,
        base: str,
        mentions: Sequence[Mention],
    ) -> None:
        rows: list[Row] = []
        self._outlinks = 0
        target_by_link: dict[str, _Target] = {}
        for value, use, element, _, line, position, text, _, rel in mentions:
            link, _, fragment = value.partition("#")
            if not link:  # a place on the page
                continue
            target = target_by_link.get(link)
            if target is None:
                target = target_by_link[link] = self._resolver.find(base, link)
            url, status, reason = target
            if not url:
                continue
            self._outlinks += use is not Use.NAMED
            rows.append(
                (
                    document.url,
                    line or None,
                    position or None,
                    url,
                    fragment,
                    one_line(text, MAX_TEXT_CHARS) if text else "",
                    KIND_BY_USE[use],
                    element,
                    " ".join(rel.lower().split()) if rel else "",
                    status,
                    reason,
                )
            )
        if self._on_links is not None:
            self._on_links(rows)

    def _target_at(self, url: str, _problem: str) -> "_Target":
        return _Target(url, *(self._outcome_of(url) if url else (None, None)))

    def see_page(
        self, record: UrlRecord, document: DocumentRow, page: Page | None
    ) -> None:
        cells = self._cells(record, page)
        if page is None or page.metadata is None:
            faults: Iterable[tuple[str, str]] = ()
        else:
            faults = picture_faults(page.metadata.pictures)
        text = json.dumps([cells[name] for name in COLUMNS_BY_TABLE[PAGES]])
        row = document.key, record.url, text
        self._write("INSERT INTO page VALUES (?, ?, ?)", [row])
        self._note((record.url, kind, src, None, None) for kind, src in faults)

    def _cells(self, record: UrlRecord, page: Page | None) -> dict[str, Any]:
        outcome = record.outcome
        assert outcome is not None
        known: dict[str, Any] = dict.fromkeys(COLUMNS_BY_TABLE[PAGES])
        canonical = outcome.canonical
        known |= {
            "url": record.url,
            "status": outcome.status,
            "reason": outcome.reason,
            "content_type": outcome.content_type,
            "title": outcome.title,
            "title_chars": len(outcome.title),
            "canonical": canonical or None,
            "canonical_status": self._outcome_of(canonical)[0] if canonical else None,
            "depth": record.depth,
            "bytes": outcome.size_bytes,
            "took_s": outcome.took_s,
            "fetched_at": iso_time(record.finished_at),
            "first_seen": iso_time(self._first_seen and self._first_seen(record.url)),
            "digest": outcome.digest,
        }
        if page is not None:
            known["outlinks"] = self._outlinks
            known |= {"text": page.text, "words": len(page.text.split())}
        if page is not None and page.metadata is not None:
            known |= {
                "description": page.metadata.description,
                "h1": page.metadata.heading,
                "h1_count": page.metadata.main_headings,
                "robots": ",".join(sorted(page.metadata.robots)),
                "lang": page.metadata.language,
            }
        return known

    def end(self, report: Report, tables: TempTables) -> None:
        self._note(_link_findings(report))
        problems = pages_by_problem(tables, knows_all_links=report.knows_all_links)
        self._note((url, kind, subject, None, None) for kind, url, subject in problems)
        for group in report.duplicates:
            self._note(
                (url, "duplicate", group.digest, None, None) for url in group.urls
            )
        self._write_index()
        comparison = report.comparison
        if comparison is not None:
            self._change_by_url = dict.fromkeys(comparison.new, "new")
            self._change_by_url |= dict.fromkeys(comparison.changed, "changed")
        self._tables = tables

    def pages(self) -> Iterator[Row]:
        """Yield the rows of pages, in the order in which they were found."""
        columns = list(COLUMNS_BY_TABLE[PAGES])
        change, inlinks, findings = map(
            columns.index, ("change", "inlinks", "findings")
        )
        for key, url, text in self._db.execute("SELECT * FROM page ORDER BY rowid"):
            cells = json.loads(text)
            if self._change_by_url is not None:
                cells[change] = self._change_by_url.get(url, "unchanged")
            cells[inlinks] = self._inlinks_of(key)
            kinds = self._db.execute(
                "SELECT DISTINCT kind FROM finding WHERE page = ? ORDER BY kind", (url,)
            )
            cells[findings] = [kind for (kind,) in kinds]
            yield cells

    def findings(self) -> Iterator[Row]:
        """Yield the rows of findings."""
        yield from self._db.execute("SELECT * FROM finding ORDER BY rowid")

    def _inlinks_of(self, key: int) -> int:
        row = self._tables.rows(
            "SELECT documents FROM inlink WHERE key = ?", key
        ).fetchone()
        return int(row[0]) if row else 0

    def _outcome_of(self, url: str) -> tuple[int | None, str | None]:
        row = self._db.execute(
            "SELECT status, reason FROM outcome WHERE key = ?",
            (number_of(dedup_key(url)),),
        ).fetchone()
        return row or (None, None)

    def _note(self, rows: Iterable[Row]) -> None:
        self._write("INSERT INTO finding VALUES (?, ?, ?, ?, ?)", rows)

    def _write(self, statement: str, rows: Iterable[Row]) -> None:
        with disk_errors():
            self._db.executemany(statement, rows)

    def _write_index(self) -> None:
        with disk_errors():
            self._db.execute(INDEXES)


def _link_findings(report: Report) -> Iterator[Row]:
    """Yield the findings that are links: page, kind, subject, line and detail."""
    listed: list[tuple[str, str, str, Sequence[ReportedLink]]] = []
    for broken in report.broken:
        listed.append(("broken_link", broken.url, broken.reason, broken.links))
    for kind, found in (
        ("redirect", report.moved),
        ("mixed_content", report.mixed_content),
        ("malformed", report.malformed),
        ("fragment", report.fragments),
    ):
        for each in found:
            listed.append((kind, each.url, each.end or each.problem, each.links))
    for kind, subject, detail, links in listed:
        for link in links:
            yield link.page, kind, subject, link.line or None, detail
