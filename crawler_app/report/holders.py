"""Which pages hold links to certain URLs, and with what words: read in the archive.

The frontier knows only the first page that led to a URL; to keep every link would cost
each crawl a fifth of its time.  So the pages are read again for a report, if there is
something to look for: one process takes about a millisecond a page.  To search the bytes
of a page for names before its tree is built saves nothing where a menu is broken, since
each page holds that link.
"""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from crawler_app.archive.captures import Captures, database_path, table_errors
from crawler_app.archive.replay import read_capture
from crawler_app.directory import CrawlDirectory
from crawler_app.documents.anchors import anchors_of
from crawler_app.documents.settled_links import SettledLinks
from crawler_app.errors import ArchiveError
from crawler_app.http_headers import is_html
from crawler_app.models import Fetched, UrlRecord
from crawler_app.reasons import Reason
from crawler_app.results.summary import is_page
from crawler_app.urls import dedup_key, join_or_nothing, without_fragment

__all__ = ["FoundLink", "has_archive", "links_to"]


class FoundLink(NamedTuple):
    """A link that leads to what was looked for, which is told by its number."""

    number: int
    page: str
    text: str
    href: str


def links_to(
    path: Path, number_by_key: Mapping[str, int], max_body_bytes: int
) -> Iterator[list[FoundLink] | None]:
    """Return what is found in each page of a crawl; None for one that cannot be read.

    Such a page is not in the archive, or damaged, or too large.

    Args:
        path: The directory of the crawl.
        number_by_key: What to look for, by the dedup keys of its URLs.
        max_body_bytes: Pages that are larger after decompression are not read.

    Raises:
        ArchiveError: the table of the archive cannot be read.
    """
    directory = CrawlDirectory.open(path)
    with contextlib.ExitStack() as cleanup:
        cleanup.enter_context(table_errors(path))
        frontier = cleanup.enter_context(contextlib.closing(directory.frontier()))
        captures = cleanup.enter_context(
            contextlib.closing(Captures(path, read_only=True))
        )
        finder = _Finder(number_by_key)
        for record in frontier.records():
            if _has_links(record):
                fetched = _archived(path, captures, record.url, max_body_bytes)
                found = None if fetched is None else finder.find(record.url, fetched)
                yield found


def has_archive(path: Path) -> bool:
    """Return whether the directory of a crawl has an archive."""
    return database_path(path).exists()


def _has_links(record: UrlRecord) -> bool:
    """Return whether a URL gave a page, whose links were met in the crawl."""
    outcome = record.outcome
    if outcome is None:
        return False
    if outcome.reason == Reason.HOOK_ERROR:  # no page, and yet its links were met
        return is_html(outcome.content_type)
    return is_page(outcome)


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
    """Looks through pages one after the other, and remembers which links do not matter."""

    def __init__(self, number_by_key: Mapping[str, int]) -> None:
        self._number_by_key = number_by_key
        self._elsewhere = SettledLinks()

    def find(self, url: str, fetched: Fetched) -> list[FoundLink]:
        return list(dict.fromkeys(self._links_of(url, fetched)))

    def _links_of(self, url: str, fetched: Fetched) -> Iterator[FoundLink]:
        number_by_link: dict[str, int] = {}

        def choose(base: str, hrefs: list[str]) -> dict[str, int]:
            base = join_or_nothing(url, base) or url  # as browsers do
            for link in self._elsewhere.news(base, hrefs):
                target = dedup_key(join_or_nothing(base, link))
                number = self._number_by_key.get(target)
                if number is None:
                    self._elsewhere.add(base, link)
                else:
                    number_by_link[link] = number
            return number_by_link

        content_type = fetched.headers.get("Content-Type", "")
        for anchor in anchors_of(fetched.body, content_type, choose).links:
            number = number_by_link[without_fragment(anchor.href)]
            yield FoundLink(number, url, anchor.text, anchor.href)
