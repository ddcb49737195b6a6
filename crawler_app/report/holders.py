"""Which pages hold links to certain URLs, and with what words: read in the archive.

The frontier knows only the first page that led to a URL; to keep every link would cost
each crawl a fifth of its time.  So the pages are read again for a report, if there is
something to look for.  That is work for all processors there are
(`crawler_app.report.processes`): ten thousand pages with a million links take one about
four seconds.
"""

import contextlib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
from crawler_app.report.processes import most_processes, run_in_processes
from crawler_app.results.summary import is_page
from crawler_app.urls import dedup_key, join_or_nothing, without_fragment

__all__ = ["Batch", "FoundLink", "Search", "has_archive"]

# To start a process takes as long as to read fifty pages.
PAGES_PER_PROCESS = 300

BATCH_PAGES = 50


class FoundLink(NamedTuple):
    """A link that leads to what was looked for, which is told by its number."""

    number: int
    page: str
    text: str
    href: str


class Batch(NamedTuple):
    """What came of some pages.

    Attributes:
        pages: How many.
        unread: Of these, those that are not in the archive, or damaged.
    """

    pages: int
    unread: int
    found: list[FoundLink]


@dataclass(frozen=True)
class Search:
    """Looks through the pages of a crawl.

    Args:
        path: The directory of the crawl.
        number_by_key: What to look for, by the dedup keys of its URLs.
        max_body_bytes: Pages that are larger after decompression are not read.
    """

    path: Path
    number_by_key: Mapping[str, int]
    max_body_bytes: int

    def run(self, pages: int, processes: int | None = None) -> Iterator[Batch]:
        """Return what is found, as it is found; in no order.

        Args:
            pages: About how many there are.
            processes: None for as many as are worth while.

        Raises:
            ArchiveError: the table of the archive cannot be read.
        """
        if processes is None:
            processes = min(most_processes(), pages // PAGES_PER_PROCESS)
        if processes <= 1:
            yield from self.read_share(0, 1)
        else:
            yield from run_in_processes(self.read_share, processes)

    def read_share(self, share: int, shares: int) -> Iterator[Batch]:
        """Read the pages of one of several shares, which together are all of them."""
        directory = CrawlDirectory.open(self.path)
        with contextlib.ExitStack() as cleanup:
            cleanup.enter_context(table_errors(self.path))
            frontier = cleanup.enter_context(contextlib.closing(directory.frontier()))
            captures = cleanup.enter_context(
                contextlib.closing(Captures(self.path, read_only=True))
            )
            reader = _Reader(self, captures)
            urls = (record.url for record in frontier.records() if _has_links(record))
            for url in urls:
                # Not by its number: while a crawl runs, a process that begins later sees
                # more pages, and none may be in two shares or in no share for that.
                if zlib.crc32(url.encode()) % shares == share:
                    reader.read(url)
                    if reader.pages == BATCH_PAGES:
                        yield reader.take()
            yield reader.take()


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


class _Reader:
    """Reads pages one after the other, and remembers what their links lead to."""

    def __init__(self, search: Search, captures: Captures) -> None:
        self._search = search
        self._captures = captures
        self._elsewhere = SettledLinks()
        self.pages = 0
        self._unread = 0
        self._found: list[FoundLink] = []

    def take(self) -> Batch:
        batch = Batch(self.pages, self._unread, self._found)
        self.pages = self._unread = 0
        self._found = []
        return batch

    def read(self, url: str) -> None:
        self.pages += 1
        fetched = self._archived(url)
        if fetched is None:
            self._unread += 1
        else:
            self._found += dict.fromkeys(self._links_of(url, fetched))

    def _archived(self, url: str) -> Fetched | None:
        capture = self._captures.latest(url)
        if capture is None:
            return None
        search = self._search
        try:
            return read_capture(
                search.path, self._captures, capture, search.max_body_bytes
            )
        except ArchiveError:
            return None

    def _links_of(self, url: str, fetched: Fetched) -> Iterator[FoundLink]:
        number_by_link: dict[str, int] = {}

        def choose(base: str, hrefs: list[str]) -> dict[str, int]:
            base = join_or_nothing(url, base) or url  # as browsers do
            for link in self._elsewhere.news(base, hrefs):
                target = dedup_key(join_or_nothing(base, link))
                number = self._search.number_by_key.get(target)
                if number is None:
                    self._elsewhere.add(base, link)
                else:
                    number_by_link[link] = number
            return number_by_link

        content_type = fetched.headers.get("Content-Type", "")
        for anchor in anchors_of(fetched.body, content_type, choose).links:
            number = number_by_link[without_fragment(anchor.href)]
            yield FoundLink(number, url, anchor.text, anchor.href)
