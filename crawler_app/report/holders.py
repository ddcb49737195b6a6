"""Finds the pages that link to certain URLs, by reading the archive.

The frontier records only the first page that led to a URL; recording every link would
make each crawl a fifth slower.  So the pages are read again for a report, if anything is
broken: one process takes about a millisecond a page.  Searching the bytes of a page
before parsing it saves nothing where a link in a menu is broken, as each page has it.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from crawler_app.archive.captures import Captures, database_path, table_errors
from crawler_app.archive.replay import read_capture
from crawler_app.directory import CrawlDirectory
from crawler_app.documents.charset import decode_html
from crawler_app.documents.files import may_have_requisites, requisites_of_file
from crawler_app.documents.reader import Reader
from crawler_app.documents.references import Requisite, requisites_in
from crawler_app.documents.refresh import followed_refresh
from crawler_app.documents.settled_links import SettledLinks
from crawler_app.errors import ArchiveError
from crawler_app.http_headers import is_html
from crawler_app.models import Fetched, UrlRecord
from crawler_app.reasons import CONTENT, Reason
from crawler_app.results.summary import is_page
from crawler_app.urls import dedup_key, join_or_nothing, without_fragment

__all__ = ["FoundLink", "has_archive", "links_to"]


class FoundLink(NamedTuple):
    """A link to one of the URLs searched for, which is identified by its number."""

    number: int
    page: str
    text: str
    href: str


def links_to(
    path: Path,
    number_by_key: Mapping[str, int],
    max_body_bytes: int,
    *,
    with_requisites: bool = False,
) -> Iterator[list[FoundLink] | None]:
    """Return the links found in each page of a crawl; None for one that cannot be read.

    Such a page is missing from the archive, damaged, or too large.

    Args:
        path: The directory of the crawl.
        number_by_key: The URLs to search for, by dedup key, each with a number.
        max_body_bytes: Larger pages, after decompression, are not read.
        with_requisites: Whether to find what the pages load too; then style sheets and
            manifests count as pages.

    Raises:
        ArchiveError: the table of the archive cannot be read.
    """
    directory = CrawlDirectory.open(path)
    with contextlib.closing(Reader()) as reader:
        finder = _Finder(number_by_key, reader, with_requisites=with_requisites)
        for part in directory.parts() or [directory]:
            if database_path(part.path).exists():
                yield from _links_in(part, finder, max_body_bytes)


def _links_in(
    directory: CrawlDirectory, finder: "_Finder", max_body_bytes: int
) -> Iterator[list[FoundLink] | None]:
    """Return the links found in each page of a crawl, or of a part of it."""
    path = directory.path
    with (
        table_errors(path),
        contextlib.closing(directory.frontier()) as frontier,
        contextlib.closing(Captures(path, read_only=True)) as captures,
    ):
        for record in frontier.records():
            if finder.reads(record):
                fetched = _archived(path, captures, record.url, max_body_bytes)
                yield None if fetched is None else finder.find(record.url, fetched)


def has_archive(path: Path) -> bool:
    """Return whether the directory of a crawl has an archive."""
    parts = CrawlDirectory(path).parts()
    return any(database_path(each.path).exists() for each in parts) or (
        database_path(path).exists()
    )


def _has_links(record: UrlRecord) -> bool:
    """Return whether a URL gave a page whose links were extracted by the crawl."""
    outcome = record.outcome
    if outcome is None:
        return False
    if outcome.reason == Reason.HOOK_ERROR:  # failed, after its links were extracted
        return is_html(outcome.content_type)
    return is_page(outcome)


def _is_style(record: UrlRecord) -> bool:
    """Return whether a URL gave a file that may load others."""
    outcome = record.outcome
    return (
        outcome is not None
        and outcome.reason in CONTENT
        and may_have_requisites(outcome.content_type)
    )


def _archived(
    path: Path, captures: Captures, url: str, max_body_bytes: int
) -> Fetched | None:
    capture = captures.latest(url)
    if capture is None:
        return None
    try:
        return read_capture(path, captures, capture, max_body_bytes)
    except ArchiveError:
        return None


class _Finder:
    """Searches pages one after the other, and remembers links that do not matter."""

    def __init__(
        self,
        number_by_key: Mapping[str, int],
        reader: Reader,
        *,
        with_requisites: bool,
    ) -> None:
        self._number_by_key = number_by_key
        self._reader = reader
        self._with_requisites = with_requisites
        self._elsewhere = SettledLinks()

    def reads(self, record: UrlRecord) -> bool:
        """Return whether a URL gave a page, or another file that may hold what is found."""
        return _has_links(record) or (self._with_requisites and _is_style(record))

    def find(self, url: str, fetched: Fetched) -> list[FoundLink]:
        content_type = fetched.headers.get("Content-Type", "")
        if may_have_requisites(content_type):
            loaded = requisites_of_file(fetched.body, content_type)
            found = self._loaded(url, url, loaded)
        else:
            found = self._links_of(url, fetched)
        return list(dict.fromkeys(found))

    def _loaded(
        self, url: str, base: str, loaded: Iterable[Requisite]
    ) -> Iterator[FoundLink]:
        values = {each.value: each.element for each in loaded}
        for value in self._elsewhere.unsettled(base, values):
            target = dedup_key(join_or_nothing(base, value))
            number = self._number_by_key.get(target)
            if number is None:
                self._elsewhere.add(base, value)
            else:
                yield FoundLink(number, url, values[value], value)

    def _links_of(self, url: str, fetched: Fetched) -> Iterator[FoundLink]:
        number_by_link: dict[str, int] = {}

        def choose(base: str, hrefs: list[str]) -> dict[str, int]:
            base = join_or_nothing(url, base) or url  # as browsers do
            links = dict.fromkeys(map(without_fragment, hrefs))
            for link in self._elsewhere.unsettled(base, links):
                target = dedup_key(join_or_nothing(base, link))
                number = self._number_by_key.get(target)
                if number is None:
                    self._elsewhere.add(base, link)
                else:
                    number_by_link[link] = number
            return number_by_link

        content_type = fetched.headers.get("Content-Type", "")
        anchors = self._reader.anchors_blocking(fetched.body, content_type, choose)
        for anchor in anchors:
            number = number_by_link[without_fragment(anchor.href)]
            yield FoundLink(number, url, anchor.text, anchor.href)
        base = join_or_nothing(url, anchors.base) or url
        header = fetched.headers.get("Refresh")
        refresh = followed_refresh(url, header, anchors.refresh, base)
        if refresh is not None:
            found = self._number_by_key.get(dedup_key(refresh.reference))
            if found is not None:
                yield FoundLink(found, url, "", refresh.reference)
        if self._with_requisites:
            markup, _ = decode_html(fetched.body, content_type)
            yield from self._loaded(url, base, requisites_in(markup))
