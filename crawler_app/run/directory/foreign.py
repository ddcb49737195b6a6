"""WARC and WACZ files of other programs, read as a crawl that has finished.

A file says what was answered, and not why it was asked: all URLs are at depth 0, and what was not
archived is not known.  The newest response of a URL counts.

Rule: the file is not trusted; a damaged record, or one that is too large, is skipped.
"""

import contextlib
import datetime
import functools
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import (
    ArchiveError,
    ConfigError,
    SearchIndexError,
    UrlError,
)
from crawler_app.base.http_headers import is_html
from crawler_app.base.models import Candidate, Fetched, Outcome, State, digest_of
from crawler_app.base.progress import OnStep, megabytes, no_step
from crawler_app.base.reasons import Reason, reason_of_status
from crawler_app.base.urls import (
    canonicalize,
    dedup_key,
    host_of,
    join_or_nothing,
    redirect_target,
)
from crawler_app.run.directory.archived import Responses
from crawler_app.run.directory.foreign_files import (
    Piece,
    fetched_at,
    fetched_from,
    message_in,
    pieces_of,
)
from crawler_app.run.directory.stored import CrawlSizes, StoredCrawl
from crawler_app.run.directory.union import UnionIndex
from crawler_app.store.archive.block import facts_of
from crawler_app.store.archive.captures import RESPONSE, REVISIT, Capture
from crawler_app.store.archive.gzip_members import Member, members_in
from crawler_app.store.archive.totals import ArchiveSummary
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.web.documents.html import parse_html
from crawler_app.web.httpclient.response import REDIRECTS

if TYPE_CHECKING:
    from crawler_app.run.directory import CrawlDirectory

__all__ = ["ForeignCrawl"]

MAX_BODY_BYTES = CrawlConfig.max_body_bytes

# Of records, and of captures.
KINDS = {"response": RESPONSE, "resource": RESPONSE, "revisit": REVISIT}


class ForeignCrawl(StoredCrawl):
    """The content of one file, which is read when it is needed.

    Args:
        path: A compressed WARC file, or a WACZ file.
        on_step: Progress callback.

    Raises:
        ConfigError: it is no such file; from methods too, if it has no response.
    """

    def __init__(self, path: Path, on_step: OnStep = no_step) -> None:
        self.path = path.absolute().parent
        self._file = path
        self._pieces = pieces_of(path)
        self._on_step = on_step

    @functools.cached_property
    def _content(self) -> "_Content":
        return _Content(self._file, self._pieces, self._on_step)

    @functools.cached_property
    def _frontier_path(self) -> Path:
        """A frontier with what the file says, which is deleted with this object."""
        directory = tempfile.mkdtemp(prefix="gencrawl-")
        weakref.finalize(self, shutil.rmtree, directory)
        path = Path(directory) / "frontier.sqlite"
        with contextlib.closing(SqliteFrontier(path)) as frontier:
            for url, outcome, at in self._content.outcome_by_key.values():
                frontier.add([Candidate(url, host_of(url))])
                claim = frontier.claim(0.0, 1.0)
                assert claim is not None
                frontier.finish(claim, outcome, float(at))
        return path

    def config(self) -> CrawlConfig:
        url, _, _ = next(iter(self._content.outcome_by_key.values()))
        return CrawlConfig((url,))

    def frontier(self) -> SqliteFrontier:
        return SqliteFrontier(self._frontier_path, read_only=True)

    def state(self) -> str:
        found = self._file.stat()
        return f"{found.st_size} {found.st_mtime_ns}"

    def directories(self) -> "Sequence[CrawlDirectory]":
        return []

    def crawlers(self) -> list[str]:
        return []

    def how_to_continue(self, *, with_more_pages: bool = False) -> str:
        return ""

    def index(self) -> UnionIndex:
        raise SearchIndexError(f"{self._file} has no index")

    def kept(self) -> CrawlSizes:
        captures = self._content.captures
        revisits = sum(each.kind == REVISIT for each in captures)
        size_bytes = self._file.stat().st_size
        totals = ArchiveSummary(len(captures), revisits, len(self._pieces), size_bytes)
        return CrawlSizes(totals, None)

    def archives(self) -> list[Path]:
        return [self._file]

    def captures(self, on_step: OnStep = no_step) -> Iterator[tuple[str, Capture]]:
        for each in self._content.captures:
            yield self._pieces[each.file].name, each

    @contextlib.contextmanager
    def responses(self, max_body_bytes: int) -> Iterator[Responses]:
        yield _ForeignResponses(self._file, self._content, max_body_bytes)


class _Content:
    """What one reading of a file gives.

    Attributes:
        captures: In the order of the file.
        places_by_key: Where the newest response of each URL is, and where its body is, which
            another record has if it is a revisit.
        first_at_by_key: When it was captured first, in seconds since the epoch.
        outcome_by_key: The URL, its outcome, and the time of that.

    Raises:
        ConfigError: there is no response.
    """

    def __init__(self, path: Path, pieces: Sequence[Piece], on_step: OnStep) -> None:
        self.captures: list[Capture] = []
        self.places_by_key: dict[str, tuple[int, int]] = {}
        self.first_at_by_key: dict[str, int] = {}
        self.outcome_by_key: dict[str, tuple[str, Outcome, int]] = {}
        # Of the payloads, which revisits refer to.
        self._place_by_digest: dict[str, int] = {}
        total = megabytes(path.stat().st_size)
        with path.open("rb") as file, path.open("rb") as bodies:
            for number, piece in enumerate(pieces):
                for member in members_in(file, path, piece.start, end=piece.end):
                    # A record of another kind, or a damaged one.
                    with contextlib.suppress(ArchiveError, UrlError, ValueError):
                        self._add(number, piece, member, bodies)
                    on_step("reading MB", megabytes(member.offset), total)
        if not self.outcome_by_key:
            raise ConfigError(f"{path} has no response of a web server")

    def _add(self, number: int, piece: Piece, member: Member, bodies: BinaryIO) -> None:
        record = member.record
        if record.kind not in KINDS:
            return
        get = record.fields.get
        # Old versions of wget write it in angle brackets.
        url = canonicalize(get("warc-target-uri", "").strip("<>"))
        at = int(datetime.datetime.fromisoformat(get("warc-date", "")).timestamp())
        head, payload = message_in(record)
        facts = facts_of(head)
        digest = get("warc-payload-digest", "").rpartition(":")[2]
        kind = KINDS[record.kind]
        self.captures.append(
            Capture(
                *(url, at, kind, facts.status, facts.mime, digest),
                *(facts.etag, facts.last_modified, number),
                *(member.offset - piece.start, member.length, b""),
            )
        )
        place: int | None = member.offset
        if kind == RESPONSE:
            self._place_by_digest.setdefault(digest, member.offset)
        else:
            place = self._place_by_digest.get(digest)
        if facts.status == 304 or url.endswith("/robots.txt"):
            return
        fetched = fetched_from(url, head, payload, MAX_BODY_BYTES)
        if kind == REVISIT and place is not None:
            fetched.body = fetched_at(bodies, place, url, MAX_BODY_BYTES).body
        self._take(at, member.offset, place, fetched)

    def _take(self, at: int, place: int, body: int | None, fetched: Fetched) -> None:
        """Note the response of a URL, unless there is a newer one.

        Args:
            body: Where the record with its body is; None if the file does not have it.
        """
        key = dedup_key(fetched.url)
        first_at = self.first_at_by_key.get(key, at)
        self.first_at_by_key[key] = min(first_at, at)
        if key in self.outcome_by_key and at < self.outcome_by_key[key][2]:
            return
        self.places_by_key.pop(key, None)
        outcome = _outcome_of(fetched)
        if body is not None:
            self.places_by_key[key] = place, body
        elif outcome.state is State.DONE:
            # Of a page that is not there nothing can be said, such as that it has no title.
            outcome.content_type = outcome.digest = ""
        self.outcome_by_key[key] = fetched.url, outcome, at


class _ForeignResponses:
    """The responses in a file."""

    def __init__(self, path: Path, content: _Content, max_body_bytes: int) -> None:
        self._path = path
        self._content = content
        self._max_body_bytes = max_body_bytes

    def find(self, url: str) -> Fetched | None:
        places = self._content.places_by_key.get(dedup_key(url))
        if places is None:
            return None
        place, body = places
        try:
            with self._path.open("rb") as file:
                fetched = fetched_at(file, place, url, self._max_body_bytes)
                if body != place:
                    fetched.body = fetched_at(
                        file, body, url, self._max_body_bytes
                    ).body
            return fetched
        except (ArchiveError, OSError):
            return None

    find_redirect = find

    def has(self, url: str) -> bool:
        return dedup_key(url) in self._content.places_by_key

    def first_seen(self, url: str) -> int | None:
        return self._content.first_at_by_key.get(dedup_key(url))

    def last_changed(self, url: str) -> float | None:
        return None  # only the newest response of each URL is known


def _outcome_of(fetched: Fetched) -> Outcome:
    content_type = fetched.headers.get("Content-Type", "")
    status = fetched.status
    outcome = Outcome(
        *(State.DONE, Reason.OK, status, content_type, len(fetched.body)),
        digest=digest_of(fetched.body),
    )
    if status >= 400:
        outcome.state, outcome.reason = State.FAILED, reason_of_status(status)
    elif status in REDIRECTS and "Location" in fetched.headers:
        outcome.reason = Reason.REDIRECT
        outcome.redirect_to = redirect_target(fetched.url, fetched.headers["Location"])
    elif is_html(content_type):
        page = parse_html(fetched.body, content_type)
        outcome.title = page.title
        base = join_or_nothing(fetched.url, page.base) or fetched.url
        outcome.canonical = page.canonical and join_or_nothing(base, page.canonical)
    return outcome
