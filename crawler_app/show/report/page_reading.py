"""Reads the pages of a crawl again, for the links and metadata in a report.

The frontier records only the first page that led to a URL; recording every link would make
each crawl a fifth slower.  So a report parses the archived pages again.
"""

from collections.abc import (
    Iterable,
    Sequence,
)

from crawler_app.base.http_headers import is_html, media_type
from crawler_app.base.models import Fetched, Outcome, Role, UrlRecord
from crawler_app.base.reasons import CONTENT, Reason
from crawler_app.base.urls import (
    dedup_key,
    join_or_nothing,
)
from crawler_app.run.directory.archived import Responses, find_page
from crawler_app.run.results.summary import is_page
from crawler_app.show.findings.kinds import (
    ProblemKind,
)
from crawler_app.show.findings.near_duplicates import bands_of, sketch_of
from crawler_app.show.findings.page_rules import (
    faults_of_file,
    faults_of_page,
    is_feed,
    is_plain_text,
)
from crawler_app.show.report.link_targets import LinkTargets
from crawler_app.show.report.reference_reading import ReferenceReader
from crawler_app.show.report.report_data import Report
from crawler_app.show.report.temp_tables import (
    DocumentRow,
    TempTables,
    number_of,
)
from crawler_app.store.frontier import FrontierReader
from crawler_app.web.documents.html import Page, parse_html
from crawler_app.web.documents.non_html import SVG_TYPE, may_have_assets
from crawler_app.web.documents.outline import (
    Outline,
    kind_of,
    mentions_in_headers,
    outline_of,
    upgraded,
)
from crawler_app.web.documents.page_metadata import Alternate, PageMetadata, Picture
from crawler_app.web.documents.references import Mention
from crawler_app.web.documents.sitemap import (
    ENTRY,
    Sitemap,
    is_sitemap,
    parse_sitemap,
)
from crawler_app.web.robots.directives import directives_in_header

__all__ = ["DocumentReader", "Observer", "picture_faults"]

FIRST_REDIRECT = 300


class Observer:
    """Sees everything that is read for a report; does nothing with it.

    Attributes:
        links_only: Whether nothing is to be read of pages but their references, which takes
            half the time, and leaves the report without its problems.
    """

    links_only = False

    def begin(self, frontier: FrontierReader) -> None:
        """Called before anything is read."""

    def see_links(
        self,
        document: DocumentRow,
        base: str,
        mentions: Sequence[Mention],
    ) -> None:
        """Called with the references of a document, and the URL that they are relative to."""

    def see_page(
        self, record: UrlRecord, document: DocumentRow, page: Page | None
    ) -> None:
        """Called with each page; without its content if it could not be read.

        After `see_links` of the page.
        """

    def end(self, report: Report, tables: TempTables) -> None:
        """Called when the report is complete."""


class DocumentReader:
    """Fills the tables of a report from the records of a crawl.

    Args:
        archived: The archives; None if there are none.
        agent: Our product token, by which X-Robots-Tag may address us.
        observer: Sees what is read.

    Attributes:
        unread: Documents that could not be read.
    """

    def __init__(
        self,
        targets: LinkTargets,
        tables: TempTables,
        archived: Responses | None,
        agent: str,
        observer: Observer | None = None,
    ) -> None:
        self.unread = 0
        self._tables = tables
        self._archived = archived
        self._agent = agent
        self._observer = observer
        self._links_only = observer is not None and observer.links_only
        self._references = ReferenceReader(targets, tables, archived)
        self._documents = 0

    def add(self, record: UrlRecord) -> None:
        """Read a page, or another file that refers to URLs; ignore everything else."""
        outcome = record.outcome
        row = number_of(dedup_key(record.url)), outcome.reason if outcome else ""
        self._tables.add_rows("known", [row])
        if outcome is None:
            return
        if record.role is Role.SITEMAP:
            self._read_sitemap(record.url)
        elif outcome.reason in CONTENT and _may_list(outcome.content_type):
            self._read_feed(record.url)
        is_file = outcome.reason in CONTENT and _is_read(outcome.content_type)
        if not (is_file or _has_links(outcome)):
            return
        document = self._document_of(record, outcome)
        fetched = find_page(record, self._archived) if self._archived else None
        page = None
        if fetched is not None and is_file:
            self._read_file(document, fetched, outcome.content_type)
        elif fetched is not None:
            page, document = self._read_page(document, fetched)
        elif self._archived is not None:
            self.unread += 1
        if self._observer is not None and not (is_file or self._links_only):
            self._observer.see_page(record, document, page)
        self._tables.add_document(document)

    def _document_of(self, record: UrlRecord, outcome: Outcome) -> DocumentRow:
        key = dedup_key(record.url)
        canonical = outcome.canonical
        self._documents += 1
        return DocumentRow(
            self._documents,
            number_of(key),
            record.url,
            # A page with a refresh to another URL is a redirect to its visitors.
            is_page(outcome) and not outcome.redirect_to,
            record.via,
            outcome.title,
            "" if canonical and dedup_key(canonical) == key else canonical,
            number_of(dedup_key(canonical)) if canonical else 0,
            outcome.digest,
            outcome.size_bytes,
            record.depth,
        )

    def _read_sitemap(self, url: str) -> None:
        """Store what a sitemap lists."""
        fetched = self._archived.find(url) if self._archived else None
        entries = {number_of(dedup_key(url)): url}
        if fetched is not None and fetched.status < FIRST_REDIRECT:
            content_type = fetched.headers.get("Content-Type", "")
            found = parse_sitemap(fetched.body, content_type)
            entries |= _entries_of(url, found)
            if found.is_cut:
                fault = ProblemKind.SITEMAP, "only a part of this sitemap can be read"
                self._tables.add_faults([fault], number_of(dedup_key(url)))
        self._tables.add_sitemap(url, entries.items())

    def _read_feed(self, url: str) -> None:
        """Note what a feed lists that the crawl has not taken for a sitemap."""
        fetched = self._archived.find(url) if self._archived else None
        if fetched is None:
            return
        content_type = fetched.headers.get("Content-Type", "")
        if is_sitemap(content_type, fetched.body, or_feed=True):
            found = parse_sitemap(fetched.body, content_type)
            entries = dict.fromkeys(_entries_of(url, found), kind_of(ENTRY))
            self._tables.add_mentions(entries)

    def _read_file(
        self, document: DocumentRow, fetched: Fetched, content_type: str
    ) -> None:
        outline = outline_of(fetched.body, content_type)
        if media_type(content_type) == SVG_TYPE:
            self._keep_ids(document, outline)
        mentions = outline.mentions + mentions_in_headers(fetched.headers)
        self._take(document, document.url, mentions)
        self._tables.add_faults(faults_of_file(fetched), document.key)

    def _read_page(
        self, document: DocumentRow, fetched: Fetched
    ) -> tuple[Page, DocumentRow]:
        page = parse_html(
            fetched.body,
            fetched.headers.get("Content-Type", ""),
            with_outline=True,
            with_metadata=not self._links_only,
            with_text=not self._links_only,
        )
        base = join_or_nothing(document.url, page.base) or document.url
        if page.outline is not None:
            self._keep_ids(document, page.outline)
            mentions = page.outline.mentions + mentions_in_headers(fetched.headers)
            self._take(document, base, upgraded(mentions, fetched))
        if page.metadata is None:
            return page, document
        self._take_pictures(document, base, page.metadata.pictures)
        if document.is_page:
            self._take_content(document, base, page, fetched)
        return page, self._with_metadata(document, page.metadata, fetched)

    def _keep_ids(self, document: DocumentRow, outline: Outline) -> None:
        if not outline.is_partial and not self._links_only:
            self._references.keep_ids(document.key, outline.ids)

    def _take_content(
        self, document: DocumentRow, base: str, page: Page, fetched: Fetched
    ) -> None:
        """Store what is wrong with a page, and what others may contradict."""
        assert page.metadata is not None
        faults = faults_of_page(document.url, base, page, page.metadata, fetched)
        self._tables.add_faults(faults, document.key)
        alternates = self._alternates(base, page.metadata.alternates)
        rows = [(document.key, target) for target in alternates]
        self._tables.add_rows("alternate", rows)
        sketch = b"" if document.canonical else sketch_of(page.text)
        if sketch:
            self._tables.add_rows("sketch", [(document.at, sketch)])
            bands = [(band, document.at) for band in bands_of(sketch)]
            self._tables.add_rows("band", bands)

    def _alternates(self, base: str, alternates: Iterable[Alternate]) -> set[int]:
        """Return the numbers of the versions of a page in other languages."""
        urls = {join_or_nothing(base, each.href) for each in alternates}
        return {number_of(dedup_key(url)) for url in urls if url}

    def _take(
        self,
        document: DocumentRow,
        base: str,
        mentions: Sequence[Mention],
    ) -> None:
        """Show the references of a document to the observer, and take what they tell."""
        if self._observer is not None:
            self._observer.see_links(document, base, mentions)
        if not self._links_only:
            self._references.take(document, base, mentions)

    def end(self) -> None:
        """Add what is known when all pages were read."""
        self._references.end()

    def _take_pictures(
        self, document: DocumentRow, base: str, pictures: Iterable[Picture]
    ) -> None:
        for fault, src in picture_faults(pictures):
            url = join_or_nothing(base, src)
            if url:
                self._tables.add_picture(fault, url, document.key)

    def _with_metadata(
        self, document: DocumentRow, metadata: PageMetadata, fetched: Fetched
    ) -> DocumentRow:
        header = fetched.headers.get("X-Robots-Tag", "")
        robots = metadata.robots | directives_in_header(header, self._agent)
        return document._replace(
            description=metadata.description,
            main_headings=metadata.main_headings,
            is_noindex="noindex" in robots,
        )


def _is_read(content_type: str) -> bool:
    """Return whether a file is read: what has assets, feeds, scripts for their headers, texts."""
    return (
        may_have_assets(content_type)
        or is_feed(content_type)
        or "javascript" in content_type
        or is_plain_text(content_type)
    )


def _may_list(content_type: str) -> bool:
    """Return whether a file may be a feed or a sitemap."""
    return is_feed(content_type) or media_type(content_type).endswith("/xml")


def _entries_of(url: str, found: Sitemap) -> dict[int, str]:
    """Return the URLs that a sitemap or a feed lists, by their numbers."""
    entries = (join_or_nothing(url, each) for each in found.pages)
    return {number_of(dedup_key(entry)): entry for entry in entries if entry}


def picture_faults(pictures: Iterable[Picture]) -> set[tuple[ProblemKind, str]]:
    """Return what is wrong with the images of a page, and their URLs as written."""
    faults = {(ProblemKind.NO_ALT, each.src) for each in pictures if not each.has_alt}
    return faults | {
        (ProblemKind.NO_SIZE, each.src) for each in pictures if not each.has_size
    }


def _has_links(outcome: Outcome) -> bool:
    """Return whether a URL gave a page whose links were extracted by the crawl."""
    if outcome.reason == Reason.HOOK_ERROR:  # failed, after its links were extracted
        return is_html(outcome.content_type)
    return is_page(outcome)
