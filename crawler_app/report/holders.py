"""Which pages hold links to certain URLs, and with what words: read in the archive.

The frontier knows only the first page that led to a URL; to keep every link would cost
each crawl a fifth of its time.  So the pages are read again for a report, if there is
something to look for.  That is work for all processors there are: ten thousand pages
with a million links take one about four seconds.

Rule: a process that reads never waits for another, so that none is left behind if the
one that has started it dies: the next batch it hands over is its last.
"""

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from crawler_app.anchors import anchors_of
from crawler_app.archive.captures import Captures, database_path, table_errors
from crawler_app.archive.reading import read_capture
from crawler_app.comparison import THERE
from crawler_app.directory import CrawlDirectory
from crawler_app.errors import ArchiveError, CrawlerError, UrlError
from crawler_app.links import SettledLinks
from crawler_app.models import Fetched, UrlRecord
from crawler_app.parser import is_html
from crawler_app.urls import dedup_key, join

__all__ = ["Batch", "FoundLink", "Search", "has_archive", "is_page"]

# To start a process takes as long as to read fifty pages.
PAGES_PER_PROCESS = 300
MAX_PROCESSES = 8

BATCH_PAGES = 50

# With links although they do not count as pages: a user's own function failed.
HOOK_ERROR = "hook_error"


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
            processes = _processes_for(pages)
        if processes <= 1:
            yield from self.read_share(0, 1)
        else:
            yield from _run_in_processes(self, processes)

    def read_share(self, share: int, shares: int) -> Iterator[Batch]:
        """Read every page whose turn it is if so many take turns."""
        directory = CrawlDirectory.open(self.path)
        with contextlib.ExitStack() as cleanup:
            cleanup.enter_context(table_errors(self.path))
            frontier = cleanup.enter_context(contextlib.closing(directory.frontier()))
            captures = cleanup.enter_context(
                contextlib.closing(Captures(self.path, read_only=True))
            )
            reader = _Reader(self, captures)
            urls = (record.url for record in frontier.records() if is_page(record))
            for number, url in enumerate(urls):
                if number % shares == share:
                    reader.read(url)
                    if reader.pages == BATCH_PAGES:
                        yield reader.take()
            yield reader.take()


def has_archive(path: Path) -> bool:
    """Return whether the directory of a crawl has an archive."""
    return database_path(path).exists()


def is_page(record: UrlRecord) -> bool:
    """Return whether a URL gave a page, whose links were met in the crawl."""
    outcome = record.outcome
    return (
        outcome is not None
        and (outcome.reason in THERE or outcome.reason == HOOK_ERROR)
        and is_html(outcome.content_type)
    )


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
            base = _joined(url, base) or url  # as browsers do
            for link in self._elsewhere.news(base, hrefs):
                target = dedup_key(_joined(base, link))
                number = self._search.number_by_key.get(target)
                if number is None:
                    self._elsewhere.add(base, link)
                else:
                    number_by_link[link] = number
            return number_by_link

        content_type = fetched.headers.get("Content-Type", "")
        for anchor in anchors_of(fetched.body, content_type, choose).links:
            number = number_by_link[anchor.href.partition("#")[0]]
            yield FoundLink(number, url, anchor.text, anchor.href)


def _joined(base: str, reference: str) -> str:
    """Return a reference as a canonical URL; nothing if it is none."""
    try:
        return join(base, reference)
    except UrlError:
        return ""


def _processes_for(pages: int) -> int:
    is_forked = multiprocessing.get_context().get_start_method() == "fork"
    if is_forked and threading.active_count() > 1:
        return 1  # a lock that another thread holds would be held for ever
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return max(1, min(processors, MAX_PROCESSES, pages // PAGES_PER_PROCESS))


def _run_in_processes(search: Search, processes: int) -> Iterator[Batch]:
    context = multiprocessing.get_context()
    with contextlib.ExitStack() as cleanup:
        receivers: list[Connection] = []
        for share in range(processes):
            receiver, sender = context.Pipe(duplex=False)
            cleanup.callback(receiver.close)
            worker = context.Process(
                target=_work,
                args=(search, share, processes, receiver, sender),
                daemon=True,
            )
            worker.start()
            cleanup.callback(worker.join)
            cleanup.callback(worker.terminate)
            sender.close()
            receivers.append(receiver)
        yield from _receive(receivers)


def _receive(receivers: list[Connection]) -> Iterator[Batch]:
    while receivers:
        for receiver in multiprocessing.connection.wait(receivers):
            assert isinstance(receiver, Connection)
            try:
                message = receiver.recv()
            except EOFError:
                raise CrawlerError("a process that read pages was killed") from None
            if isinstance(message, Exception):
                raise message
            if message is None:
                receivers.remove(receiver)
            else:
                yield message


def _work(
    search: Search, share: int, shares: int, receiver: Connection, sender: Connection
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # our parent ends us
    receiver.close()  # or we would never notice that nobody listens
    with contextlib.suppress(BrokenPipeError):
        try:
            for batch in search.read_share(share, shares):
                sender.send(batch)
            sender.send(None)
        except (CrawlerError, sqlite3.Error) as exc:
            sender.send(exc)
