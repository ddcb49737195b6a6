"""Tells what is wrong with the references of documents, for a report.

Most stand on many pages, so their targets are looked up once.  Links to places on pages wait in a
table until all pages were read, unless the page was read before.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from crawler_app.base.urls import (
    dedup_key,
    is_mixed_content,
    join_or_nothing,
    without_fragment,
)
from crawler_app.run.directory.archived import Responses
from crawler_app.show.findings.kinds import (
    REFERENCE_IS_EMPTY,
    FindingKind,
    missing_place,
)
from crawler_app.show.report.link_targets import LinkTarget, LinkTargets
from crawler_app.show.report.temp_tables import (
    DocumentRow,
    LinkRow,
    TempTables,
    number_of,
)
from crawler_app.web.documents.fragments import Ids, fragment_of, has_place, names_place
from crawler_app.web.documents.malformed import REPAIRED, is_missing
from crawler_app.web.documents.outline import kind_of, words_of
from crawler_app.web.documents.references import LOADED_USES, Mention, Use
from crawler_app.web.documents.resolving import LinkResolver

__all__ = ["ReferenceReader"]

# Ids of pages that are kept, so that most links to them are checked at once: 15 MB.
MAX_IDS = 200_000


class _ResolvedLink(NamedTuple):
    """The target of a reference, and what is wrong with it.

    Attributes:
        number: The `number_of` the URL where its redirects end.
        url: The URL that is referred to; empty if it is not one of http(s).
        fragment: That of its redirects; empty for the one of each reference.
    """

    number: int
    url: str
    target: LinkTarget | None
    problem: str
    fragment: str = ""


class ReferenceReader:
    """Fills the tables of a report from the references of its documents.

    Args:
        archived: The archives; None if there are none.
    """

    def __init__(
        self, targets: LinkTargets, tables: TempTables, archived: Responses | None
    ) -> None:
        self._targets = targets
        self._tables = tables
        self._archived = archived
        self._resolver = LinkResolver(self._resolved)
        self._ids_by_page: dict[int, frozenset[int]] = {}
        self._ids = 0

    def keep_ids(self, key: int, ids: Collection[str]) -> None:
        """Keep the ids of a page, for the links to it that come later."""
        self._tables.add_rows("ids", [(key, Ids(ids).to_bytes())])
        self._ids += len(ids)
        if self._ids <= MAX_IDS:
            self._ids_by_page[key] = frozenset(map(hash, ids))

    def take(
        self, document: DocumentRow, base: str, mentions: Sequence[Mention]
    ) -> None:
        """Count the references of a document, and store those to subjects."""
        found_by_link: dict[str, _ResolvedLink] = {}
        numbers: set[int] = set()
        kind_by_url: dict[int, str] = {}
        loaded: set[int] = set()
        links: list[LinkRow] = []
        fragments: list[tuple[_ResolvedLink, Mention]] = []
        is_https = document.url.startswith("https:")
        for mention in mentions:
            value = mention.value
            link = without_fragment(value) if "#" in value else value
            found = found_by_link.get(link)
            if found is None:
                found = found_by_link[link] = self._resolver.find(base, link)
                if found.url:
                    kind_by_url[found.number] = kind_of(mention)
            if mention.use is not Use.NAMED:
                numbers.add(found.number)
                if mention.element == "link":
                    loaded.add(found.number)
            if (
                found.target is not None
                or found.problem
                or is_https
                or not link.strip()
            ):
                links += self._links_to_subjects(document, base, link, mention, found)
            if found.fragment or len(link) < len(value):
                fragments.append((found, mention))
        numbers.discard(document.key)
        self._tables.add_inlinks(numbers)
        self._tables.add_mentions(kind_by_url)
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
        problem = found.problem
        if found.target is not None:
            if not problem or problem in REPAIRED:
                yield _link(document, mention, found.target)
            else:  # one fault, one finding
                self._targets.malformed.add(found.target.subject)
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
        fragments: Iterable[tuple[_ResolvedLink, Mention]],
    ) -> Iterator[tuple[object, ...]]:
        """Yield a row for each link to a place that is not known to be on its page.

        Args:
            fragments: The pages, and the references to a place on them.
        """
        present: set[tuple[int, str]] = set()
        for found, mention in fragments:
            fragment = found.fragment or fragment_of(mention)
            if not fragment or not names_place(mention, fragment):
                continue
            place = found.number, fragment
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
        fragment = self._fragment_behind(url) if end != number else ""
        return _ResolvedLink(end, url, target, problem, fragment)

    def _fragment_behind(self, url: str) -> str:
        """Return the fragment that redirects add; empty if a link keeps its own.

        Source: RFC 9110, 10.2.2.
        """
        fragment = ""
        for redirect in self._targets.path_from(url):
            fetched = self._archived.find_redirect(redirect) if self._archived else None
            if fetched is not None:
                location = fetched.headers.get("Location", "")
                fragment = location.partition("#")[2].strip() or fragment
        return fragment


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
