"""Which URL of a crawl is which file of the folder, at a point in time.

The last capture of each URL counts.  A redirect is no file: what refers to it refers to the
file that it leads to.  A URL that the site answered with an error has a name too, but no file:
so a link that is broken on the site is broken in the folder, and a check finds both.
"""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from crawler_app.base.errors import ArchiveError, UrlError
from crawler_app.base.http_headers import UNKNOWN_TYPES
from crawler_app.base.models import Fetched
from crawler_app.base.progress import OnStep, in_steps, no_step
from crawler_app.base.urls import dedup_key, redirect_target
from crawler_app.show.export.file_names import NamedFile, file_names
from crawler_app.store.archive.captures import (
    RESOURCES,
    Capture,
    Captures,
    table_errors,
)
from crawler_app.store.archive.lookup import split_lookup_url
from crawler_app.store.archive.replay import read_capture
from crawler_app.web.documents.sniffing import sniffed_type
from crawler_app.web.httpclient.response import REDIRECTS

__all__ = ["Archives", "FolderFiles", "Target"]

# Browsers follow 20.
MAX_REDIRECTS = 20

# A choice of links, which browsers show.
MULTIPLE_CHOICES = 300


class Target(NamedTuple):
    """The file that a reference leads to.

    Attributes:
        path: In the folder, with slashes; there may be no such file.
        fragment: That of the last redirect on the way, which replaces the reference's own.
    """

    path: str
    fragment: str = ""


class Archives:
    """The archives of a crawl, which are several if processes or machines shared it.

    Args:
        max_body_bytes: Larger bodies, after decompression, are not read.

    Raises:
        ArchiveError: a table of captures cannot be read.
    """

    def __init__(self, directories: list[Path], max_body_bytes: int) -> None:
        self._max_body_bytes = max_body_bytes
        self._archives: list[tuple[Path, Captures]] = []
        with contextlib.ExitStack() as opened:
            for directory in directories:
                with table_errors(directory):
                    captures = Captures(directory, read_only=True)
                    opened.callback(captures.close)
                    captures.hold()
                self._archives.append((directory, captures))
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._opened.close()

    def latest(
        self, at: float | None, on_step: OnStep = no_step
    ) -> dict[str, tuple[int, Capture]]:
        """Return the last capture of each URL up to a time, with the number of its archive."""
        latest: dict[str, tuple[int, Capture]] = {}
        for number, (directory, captures) in enumerate(self._archives):
            total, _ = captures.counts()
            with table_errors(directory):
                found = in_steps(
                    "reading captures", captures.in_order(), on_step, total
                )
                for capture in found:
                    if capture.status == 304 or (at and capture.at > at):
                        continue
                    if not _is_page_or_file(capture.url):
                        continue
                    other = latest.get(capture.url)
                    if other is None or other[1].at <= capture.at:
                        latest[capture.url] = number, capture
        return latest

    def has(self, number: int, capture: Capture) -> bool:
        """Return whether the body of a capture is in one of the archives."""
        directory, captures = self._archives[number]
        with table_errors(directory):
            return captures.original_of(capture) is not None

    def read(self, number: int, capture: Capture) -> Fetched:
        """Return the response of a capture in one of the archives.

        Raises:
            ArchiveError: it is damaged or gone, or its body is larger.
        """
        directory, captures = self._archives[number]
        with table_errors(directory):
            return read_capture(directory, captures, capture, self._max_body_bytes)


def _is_page_or_file(url: str) -> bool:
    """Return whether a URL of a capture is one that a page can refer to.

    Others are of screenshots, and of responses to what a script has sent.
    """
    return not url.startswith(RESOURCES) and not split_lookup_url(url)[1]


class FolderFiles:
    """The files of a folder, and what else is known of the URLs of a crawl.

    Args:
        at: Seconds since the epoch; None for now.
        start: The URL that the crawl began with, whose host is the main one.

    Attributes:
        captures: What becomes a file: by URL the number of its archive, and the capture.
        type_by_url: The MIME type of each, without parameters.
        unread: The number of files and redirects that the archives do not have.
    """

    def __init__(
        self, archives: Archives, start: str, at: float | None, on_step: OnStep
    ) -> None:
        self.captures: dict[str, tuple[int, Capture]] = {}
        self.type_by_url: dict[str, str] = {}
        self.unread = 0
        self._archives = archives
        self._redirects: dict[str, tuple[str, str]] = {}
        latest = archives.latest(at, on_step)
        found = in_steps("reading redirects", latest.items(), on_step, len(latest))
        broken = [url for url, place in found if not self._take(url, *place)]
        named = [
            NamedFile(url, mime, self.captures[url][1].digest)
            for url, mime in self.type_by_url.items()
        ]
        named += [NamedFile(url, "") for url in broken]
        start, _ = self._followed(start)
        self.path_by_url: Mapping[str, str] = file_names(named, urlsplit(start).netloc)
        self._path_by_key = {
            dedup_key(url): path for url, path in self.path_by_url.items()
        }
        self.start = self.target(start)

    def _take(self, url: str, number: int, capture: Capture) -> bool:
        """Take a capture as a file or a redirect; return whether it was one on the site."""
        if capture.status in REDIRECTS:
            with contextlib.suppress(ArchiveError, UrlError):
                location = self._archives.read(number, capture).headers["Location"]
                target = redirect_target(url, location)
                fragment = location.partition("#")[2]
                self._redirects[dedup_key(url)] = target, fragment
                return True
            self.unread += 1
            return False
        if not (200 <= capture.status < 300 or capture.status == MULTIPLE_CHOICES):
            return False
        if not self._archives.has(number, capture):
            self.unread += 1
            return True  # as what was not fetched: references to it stay on the web
        mime = capture.mime
        if mime in UNKNOWN_TYPES:
            with contextlib.suppress(ArchiveError):
                body = self._archives.read(number, capture).body
                mime = sniffed_type(body).partition(";")[0]
        self.captures[url] = number, capture
        self.type_by_url[url] = mime
        return True

    def target(self, url: str) -> Target | None:
        """Return the file that a URL leads to; None if the crawl does not know it."""
        url, fragment = self._followed(url)
        path = self._path_by_key.get(dedup_key(url))
        return None if path is None else Target(path, fragment)

    def _followed(self, url: str) -> tuple[str, str]:
        """Return the URL at the end of redirects, and the fragment that they set."""
        fragment = ""
        for _ in range(MAX_REDIRECTS):
            next_one = self._redirects.get(dedup_key(url))
            if next_one is None:
                break
            url, fragment = next_one[0], next_one[1] or fragment
        return url, fragment

    def __len__(self) -> int:
        return len(self.captures)

    def __iter__(self) -> Iterator[tuple[str, int, Capture]]:
        """Yield the URLs of the files with their captures, in the order of the archive."""
        for url, (number, capture) in self.captures.items():
            yield url, number, capture
