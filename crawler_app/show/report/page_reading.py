"""Reads the pages of a crawl again, for the links and metadata in a report.

The frontier records only the first page that led to a URL; recording every link would make
each crawl a fifth slower.  So a report parses the archived pages again.
"""

import itertools
from collections.abc import (
    Collection,
    Iterable,
    Iterator,
    Sequence,
)
from typing import NamedTuple

from crawler_app.base.http_headers import is_html
from crawler_app.base.models import Fetched, Outcome, Role, UrlRecord
from crawler_app.base.reasons import CONTENT, Reason
from crawler_app.base.urls import (
    dedup_key,
    is_mixed_content,
    join_or_nothing,
    without_fragment,
)
from crawler_app.run.directory.archived import Responses, find_page
from crawler_app.run.results.summary import is_page
from crawler_app.show.findings.kinds import (
    REFERENCE_IS_EMPTY,
    FindingKind,
    ProblemKind,
    missing_place,
)
from crawler_app.show.findings.near_duplicates import bands_of, sketch_of
from crawler_app.show.findings.page_rules import (
    faults_of_file,
    faults_of_page,
    is_feed,
    is_plain_text,
)
from crawler_app.show.report.link_targets import LinkTarget, LinkTargets
from crawler_app.show.report.report_data import Report
from crawler_app.show.report.temp_tables import (
    DocumentRow,
    LinkRow,
    TempTables,
    number_of,
)
from crawler_app.store.frontier import FrontierReader
from crawler_app.web.documents.fragments import Ids, fragment_of, has_place, names_place
from crawler_app.web.documents.html import Page, parse_html
from crawler_app.web.documents.malformed import is_missing
from crawler_app.web.documents.non_html import may_have_assets
from crawler_app.web.documents.outline import outline_of, upgraded, words_of
from crawler_app.web.documents.page_metadata import Alternate, PageMetadata, Picture
from crawler_app.web.documents.references import LOADED_USES, Mention, Use
from crawler_app.web.documents.refresh import parse_refresh
from crawler_app.web.documents.resolving import LinkResolver
from crawler_app.web.documents.sitemap import parse_sitemap
from crawler_app.web.robots.directives import directives_in_header

__all__ = ["DocumentReader", "Observer", "picture_faults"]

# Ids of pages that are kept, so that most links to them are checked at once: 15 MB.
MAX_IDS = 200_000


FIRST_REDIRECT = 300


class _ResolvedLink(NamedTuple):
    """The target of a reference, and what is wrong with it.

    Attributes:
        number: The `number_of` the URL where its redirects end.
        url: The URL that is referred to; empty if it is not one of http(s).
    """

    number: int
    url: str
    target: LinkTarget | None
    problem: str


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
        page: Page | None,
        mentions: Sequence[Mention],
    ) -> None:
        """Called with the references of a document, and the URL that they are relative to.

        Without the page if the document is another file, or for what its header refers to.
        """

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
        self._targets = targets
        self._tables = tables
        self._archived = archived
        self._agent = agent
        self._observer = observer
        self._links_only = observer is not None and observer.links_only
        self._resolver = LinkResolver(self._resolved)
        self._documents = 0
        self._ids_by_page: dict[int, frozenset[int]] = {}
        self._ids = 0

    def add(self, record: UrlRecord) -> None:
        """Read a page, or another file that refers to URLs; ignore everything else."""
        outcome = record.outcome
        if outcome is None:
            return
        if outcome.reason not in CONTENT:
            row = number_of(dedup_key(record.url)), outcome.reason
            self._tables.add_rows("ended", [row])
        if record.role is Role.SITEMAP:
            self._read_sitemap(record.url)
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
            for entry in map(join_or_nothing, itertools.repeat(url), found.pages):
                entries[number_of(dedup_key(entry))] = entry
            if found.is_cut:
                fault = ProblemKind.SITEMAP, "only a part of this sitemap can be read"
                self._tables.add_faults([fault], number_of(dedup_key(url)))
        self._tables.add_sitemap(url, entries.items())

    def _read_file(
        self, document: DocumentRow, fetched: Fetched, content_type: str
    ) -> None:
        outline = outline_of(fetched.body, content_type)
        self._take(document, document.url, outline.mentions)
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
            if not page.outline.is_partial and not self._links_only:
                self._keep_ids(document.key, page.outline.ids)
            mentions = upgraded(page.outline.mentions, fetched)
            self._take(document, base, mentions, page)
        self._take_refresh(document, base, fetched)
        if page.metadata is None:
            return page, document
        self._take_pictures(document, base, page.metadata.pictures)
        if document.is_page:
            self._take_content(document, base, page, fetched)
        return page, self._with_metadata(document, page.metadata, fetched)

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

    def _keep_ids(self, key: int, ids: Collection[str]) -> None:
        """Keep the ids of a page, for the links to it that come later."""
        self._tables.add_rows("ids", [(key, Ids(ids).to_bytes())])
        self._ids += len(ids)
        if self._ids <= MAX_IDS:
            self._ids_by_page[key] = frozenset(map(hash, ids))

    def _alternates(self, base: str, alternates: Iterable[Alternate]) -> set[int]:
        """Return the numbers of the versions of a page in other languages."""
        urls = {join_or_nothing(base, each.href) for each in alternates}
        return {number_of(dedup_key(url)) for url in urls if url}

    def _take(
        self,
        document: DocumentRow,
        base: str,
        mentions: Sequence[Mention],
        page: Page | None = None,
    ) -> None:
        """Count the references of a document, and store those to subjects."""
        if self._observer is not None:
            self._observer.see_links(document, base, page, mentions)
        if self._links_only:
            return
        found_by_link: dict[str, _ResolvedLink] = {}
        numbers: set[int] = set()
        loaded: set[int] = set()
        links: list[LinkRow] = []
        fragments: list[tuple[int, Mention]] = []
        is_https = document.url.startswith("https:")
        for mention in mentions:
            value = mention.value
            link = without_fragment(value) if "#" in value else value
            found = found_by_link.get(link)
            if found is None:
                found = found_by_link[link] = self._resolver.find(base, link)
            if mention.element != "link":
                numbers.add(found.number)
            elif mention.use is not Use.LINK:  # visitors cannot follow the others
                numbers.add(found.number)
                loaded.add(found.number)
            if (
                found.target is not None
                or found.problem
                or is_https
                or not link.strip()
            ):
                links += self._links_to_subjects(document, base, link, mention, found)
            if len(link) < len(value):
                fragments.append((found.number, mention))
        numbers.discard(document.key)
        self._tables.add_inlinks(numbers)
        self._tables.add_rows("load", ((url, document.key) for url in loaded))
        self._tables.add_rows("link", links)
        self._tables.add_rows("place", self._places(document, fragments))

    def _links_to_subjects(
        self,
        document: DocumentRow,
        base: str,
        link: str,
        mention: Mention,
        found: _ResolvedLink,
    ) -> Iterator[LinkRow]:
        """Yield a row for each subject that a reference concerns."""
        if found.target is not None:
            yield _link(document, mention, found.target)
        problem = found.problem
        if not link.strip() and is_missing(mention.value, mention.use, mention.element):
            problem = REFERENCE_IS_EMPTY
        if problem:
            kind = FindingKind.MALFORMED
            yield from self._fault(document, mention, kind, _text(link), problem)
        if document.url.startswith("https:") and mention.use in LOADED_USES:
            url = _mixed_content(document.url, base, link)
            if url:
                yield from self._fault(document, mention, FindingKind.MIXED, url)

    def _fault(
        self,
        document: DocumentRow,
        mention: Mention,
        kind: FindingKind,
        reference: str,
        problem: str = "",
    ) -> Iterator[LinkRow]:
        """Yield a row for a fault, unless there are too many; see `LinkTargets.fault`."""
        subject = self._targets.fault(kind, reference, problem)
        if subject is not None:
            yield _link(document, mention, LinkTarget(subject))

    def _places(
        self,
        document: DocumentRow,
        fragments: Iterable[tuple[int, Mention]],
    ) -> Iterator[tuple[object, ...]]:
        """Yield a row for each link to a place that is not known to be on its page.

        Args:
            fragments: The numbers of the pages, and the references with a fragment to them.
        """
        present: set[tuple[int, str]] = set()
        for page, mention in fragments:
            fragment = fragment_of(mention)
            if not fragment or not names_place(mention, fragment):
                continue
            place = page, fragment
            if place in present:
                continue
            if self._is_present(*place):
                present.add(place)
                continue
            words, href = words_of(mention), _text(mention.value)
            where = document.key, mention.line, words, href
            yield place[0], _text(fragment), *where

    def _is_present(self, page: int, fragment: str) -> bool:
        """Return whether it is known already that a page has a place."""
        ids = self._ids_by_page.get(page)
        return ids is not None and has_place(ids, fragment)

    def end(self) -> None:
        """Add the links to places that their pages do not have, when all pages were read."""
        key, ids = None, Ids(())
        # Of a redirect, the fragment of its Location is not known.
        for (
            target,
            hashes,
            fragment,
            document,
            line,
            text,
            href,
        ) in self._tables.places():
            if target != key:
                key, ids = target, Ids.from_bytes(hashes)
            if has_place(ids, fragment):
                continue
            problem = missing_place(fragment)
            subject = self._targets.fault(FindingKind.FRAGMENT, href, problem)
            if subject is not None:
                row = LinkRow(subject, document, line, text, href, "")
                self._tables.add_rows("link", [row])

    def _resolved(self, url: str, problem: str) -> _ResolvedLink:
        number = number_of(dedup_key(url))
        end = self._targets.end_by_number.get(number, number)
        target = self._targets.target_by_number.get(number)
        return _ResolvedLink(end, url, target, problem)

    def _take_refresh(self, document: DocumentRow, base: str, fetched: Fetched) -> None:
        refresh = parse_refresh(fetched.headers.get("Refresh", ""))
        if refresh is not None:
            mention = Mention(refresh.reference, Use.LINK, "Refresh header", "")
            self._take(document, base, [mention])

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


def picture_faults(pictures: Iterable[Picture]) -> set[tuple[ProblemKind, str]]:
    """Return what is wrong with the images of a page, and their URLs as written."""
    faults = {(ProblemKind.NO_ALT, each.src) for each in pictures if not each.has_alt}
    return faults | {
        (ProblemKind.NO_SIZE, each.src) for each in pictures if not each.has_size
    }


def _mixed_content(page: str, base: str, link: str) -> str:
    """Return the URL of a reference if that is mixed content of an https page, or ""."""
    if base.startswith("https:") and link.strip()[:5].lower() != "http:":
        return ""
    url = join_or_nothing(base, link)
    return url if is_mixed_content(page, url) else ""


def _link(document: DocumentRow, mention: Mention, target: LinkTarget) -> LinkRow:
    href, words = _text(mention.value), words_of(mention)
    return LinkRow(
        target.subject, document.key, mention.line, words, href, target.through
    )


def _text(reference: str) -> str:
    """Return a reference as it can be stored: JSON and CSS may contain lone surrogates."""
    return reference.encode(errors="replace").decode()


def _has_links(outcome: Outcome) -> bool:
    """Return whether a URL gave a page whose links were extracted by the crawl."""
    if outcome.reason == Reason.HOOK_ERROR:  # failed, after its links were extracted
        return is_html(outcome.content_type)
    return is_page(outcome)
