"""Archived responses and captures of a crawl, in the directories of all its processes."""

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

from crawler_app.base.errors import ArchiveError
from crawler_app.base.http_headers import http_date_at
from crawler_app.base.models import Fetched, UrlRecord
from crawler_app.base.progress import OnStep, in_steps
from crawler_app.run.results.rendered_pages import DOCUMENT, RenderedPage
from crawler_app.store.archive.captures import Capture, Captures, table_errors
from crawler_app.store.archive.reading import ArchiveReader, newest, open_readers
from crawler_app.store.archive.warc_files import file_name, labelled

__all__ = ["Archived", "Responses", "captures_in", "find_page", "open_archives"]

# A capture, and the archive that has it.
_Found: TypeAlias = tuple[ArchiveReader, Capture]


class Responses(Protocol):
    """Archived responses."""

    def find(self, url: str) -> Fetched | None:
        """Return the newest response of a URL; None if it is missing, damaged or large."""

    def find_redirect(self, url: str) -> Fetched | None:
        """Return the newest redirect from a URL; None if it is missing or damaged."""

    def has(self, url: str) -> bool:
        """Return whether there is a response of a URL, which may be damaged."""

    def first_seen(self, url: str) -> int | None:
        """Return when a URL was captured first, in seconds since the epoch."""

    def last_changed(self, url: str) -> float | None:
        """Return when a page was changed last, in seconds since the epoch; None if unknown."""


class Archived:
    """The archives of a crawl, or of its parts.

    Args:
        max_body_bytes: Larger bodies, after decompression, are not read.
    """

    def __init__(self, archives: list[ArchiveReader], max_body_bytes: int) -> None:
        self._archives = archives
        self._max_body_bytes = max_body_bytes

    def find(self, url: str) -> Fetched | None:
        """Return the newest response of a URL; None if it is missing, damaged or large."""
        return self._read(self._newest(url))

    def find_redirect(self, url: str) -> Fetched | None:
        """Return the newest redirect from a URL; None if it is missing or damaged."""
        archives = self._archives
        return self._read(
            newest((each, each.latest_redirect(url)) for each in archives)
        )

    def _newest(self, url: str) -> _Found | None:
        return newest((each, each.latest(url)) for each in self._archives)

    def _read(self, found: _Found | None) -> Fetched | None:
        if found is None:
            return None
        archive, capture = found
        try:
            return archive.read(capture, self._max_body_bytes)
        except ArchiveError:
            return None

    def has(self, url: str) -> bool:
        """Return whether there is a response of a URL, which may be damaged."""
        return self._newest(url) is not None

    def first_seen(self, url: str) -> int | None:
        """Return when a URL was captured first, in seconds since the epoch."""
        return self._first_at(url)

    def last_changed(self, url: str) -> float | None:
        """Return when a page was changed last, in seconds since the epoch; None if unknown.

        That is its Last-Modified, unless it is the time of the request, or when it was first
        seen as it is now, if it was seen otherwise before.
        """
        found = self._newest(url)
        if found is None:
            return None
        capture = found[1]
        said = http_date_at(capture.last_modified)
        if said is not None and said < capture.at:
            return said
        since = self._first_at(url, capture.digest)
        return None if since == self._first_at(url) else since

    def _first_at(self, url: str, digest: str = "") -> int | None:
        times = (each.first_at(url, digest) for each in self._archives)
        return min((at for at in times if at is not None), default=None)


def find_page(record: UrlRecord, responses: Responses) -> Fetched | None:
    """Return a page as the crawl has read it: as its scripts had made it, if it was rendered."""
    fetched, outcome = responses.find(record.url), record.outcome
    if outcome is None or not RenderedPage.of_note(outcome.note).pages:
        return fetched
    document = responses.find(DOCUMENT + record.url)
    if fetched is None or document is None:
        return fetched
    # Its encoding is in its first bytes; what the server said of the page stays as it was.
    _, semicolon, parameters = fetched.headers.get("Content-Type", "").partition(";")
    mime = f"text/html{semicolon}{parameters}"
    headers = dict(fetched.headers) | {"Content-Type": mime}
    return dataclasses.replace(fetched, body=document.body, headers=headers)


@contextlib.contextmanager
def open_archives(
    paths: Sequence[Path], max_body_bytes: int
) -> Iterator[Archived | None]:
    """Open archives; None if there is none.

    Raises:
        ArchiveError: a table of captures cannot be read.
    """
    with open_readers(list(paths)) as archives:
        yield Archived(archives, max_body_bytes) if archives else None


def captures_in(
    paths: Sequence[Path], on_step: OnStep
) -> Iterator[tuple[str, Capture]]:
    """Yield the captures of archives, with the names of the files that have them."""
    for label, path in labelled(paths):
        prefix = f"{label}/" if len(paths) > 1 else ""
        with (
            table_errors(path),
            contextlib.closing(Captures(path, read_only=True)) as captures,
        ):
            captures.hold()
            total, _ = captures.counts()
            rows = in_steps("reading captures", captures.in_order(), on_step, total)
            for each in rows:
                yield prefix + file_name(each.file), each
