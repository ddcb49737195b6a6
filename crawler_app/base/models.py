"""The data classes that the parts of the crawler exchange.

No behavior beyond what follows from the fields.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import NamedTuple

from crawler_app.base.reasons import AnyReason, Reason

__all__ = [
    "DIGEST_BYTES",
    "MAX_TEXT_CHARS",
    "REACHES",
    "Candidate",
    "Claim",
    "CrawledPage",
    "Fetched",
    "Link",
    "Outcome",
    "Request",
    "Role",
    "Severity",
    "State",
    "UrlRecord",
    "body_digest",
    "digest_of",
]

# Of the text of one page.  The longest articles of Wikipedia have about as much; longer pages
# are logs or dumps.
MAX_TEXT_CHARS = 200_000

# Of the digests in tables.  At eight bytes, two different pages among a million share a digest
# in one crawl of forty million.
DIGEST_BYTES = 8

# How far a crawl may go from its seeds; `crawler_app.run.crawl.scope` explains each value.
REACHES = ("host", "domain", "prefix", "any")


class State(StrEnum):
    """The state of a URL; the transitions are listed in `crawler_app.store.frontier`."""

    QUEUED = "queued"
    CLAIMED = "claimed"
    DONE = "done"
    FAILED = "failed"
    EXCLUDED = "excluded"

    @property
    def label(self) -> str:
        """The name of the state in all output, as ``docs/report.rst`` explains.

        >>> State.DONE.label, State.CLAIMED.label, State.EXCLUDED.label
        ('done', 'under_way', 'skipped')
        """
        return _LABEL_BY_STATE.get(self, self.value)


_LABEL_BY_STATE = {State.CLAIMED: "under_way", State.EXCLUDED: "skipped"}


class Severity(StrEnum):
    """How bad a problem is."""

    ERROR = "error"
    """Visitors or search engines do not get what the page means to give them."""
    WARNING = "warning"
    """They get less than they could."""
    NOTICE = "notice"
    """Often intended, and worth a look."""

    @property
    def rank(self) -> int:
        """Its place in the order of severities: 0 for errors."""
        return list(Severity).index(self)


class Role(IntEnum):
    """What a URL was found as; stored by number.

    >>> [role.name for role in Role if role.is_non_page]
    ['ASSET', 'EXTERNAL']
    """

    LINK = 0
    """A page or a file that a visitor may open: a seed, or the target of a link."""
    SITEMAP = 1
    """A robots.txt or another sitemap lists it as a sitemap."""
    ASSET = 2
    """A browser loads it for a page, such as an image or a style sheet."""
    EXTERNAL = 3
    """It is requested once, to check that it exists, and never read."""

    @property
    def is_non_page(self) -> bool:
        """Whether it does not count as one of the pages of a crawl."""
        return self >= 2


@dataclass(slots=True)
class Candidate:
    """A URL that was found, on its way into the frontier.

    Attributes:
        url: Canonical URL.
        host: See `crawler_app.base.urls.host_of`.
        depth: Links from a seed; a redirect does not count.
        redirects_left: Redirects that may still follow.
        refusal: Why it must not be fetched; None if it may.
        role: What it was found as.
        key: See `crawler_app.base.urls.dedup_key`; empty if it has not been computed.
    """

    url: str
    host: str
    depth: int = 0
    redirects_left: int = 0
    refusal: Reason | None = None
    role: Role = Role.LINK
    key: str = field(default="", compare=False, repr=False)


@dataclass(slots=True, frozen=True)
class Claim:
    """A URL leased to one worker.

    Attributes:
        id: Of the URL in the frontier.
        url: The canonical URL.
        host: Its host, and its port unless it is the default.
        depth: Links from a seed.
        redirects_left: How many redirects may still follow in a row.
        tries: The number of its failed fetches so far.
        lease_ends_at: When it goes back to the queue, in seconds since the epoch.
        role: What it was found as.
    """

    id: int
    url: str
    host: str
    depth: int
    redirects_left: int
    tries: int
    lease_ends_at: float
    role: Role = Role.LINK


class Request(NamedTuple):
    """What is asked for in one exchange.

    Attributes:
        url: A canonical URL.
        headers: For this request only; they replace others of the same name.
        method: ``GET`` or ``HEAD``; a rendered page may need another.
        body: None for none.
    """

    url: str
    headers: Mapping[str, str] | None = None
    method: str = "GET"
    body: bytes | None = None


@dataclass(slots=True)
class Fetched:
    """The response of one HTTP exchange.

    Attributes:
        url: The URL that was requested.
        status: HTTP status.
        headers: Names are case-insensitive.
        body: The body after decompression.
        took_s: Time from the request to the end of the body.
        request_head: Request line and header block as sent, including the blank line.
        request_body: As sent; empty if there was none.
        raw_head: Status line and header block as received, including the blank line.
        encoded_body: The body before decompression, and without the framing of a
            transfer coding.
        peer: The server's address, without its port; empty if unknown.
        notes: What the client accepted although it is not strictly valid HTTP.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    took_s: float
    request_head: bytes = b""
    raw_head: bytes = b""
    encoded_body: bytes = b""
    peer: str = ""
    notes: tuple[str, ...] = ()
    request_body: bytes = b""
    _digest: bytes = field(default=b"", init=False, repr=False, compare=False)

    def digest(self) -> bytes:
        """Return the digest by which bodies are compared; it is computed once."""
        if not self._digest:
            self._digest = body_digest(self.body)
        return self._digest


def body_digest(body: bytes) -> bytes:
    """Return 16 bytes by which bodies are compared.

    Not the SHA-1 of an archive: two documents with the same SHA-1 can be made (SHAttered, 2017).
    """
    return hashlib.blake2b(body, digest_size=16).digest()


def digest_of(body: bytes) -> str:
    """Return the digest of a body that is in tables; equal for equal bodies."""
    return body_digest(body)[:DIGEST_BYTES].hex()


@dataclass(slots=True, frozen=True)
class Link:
    """A link on a page.

    Attributes:
        page: The URL of the page.
        url: The canonical URL of the target.
        text: The link text, in one line; for an image, its alternative text.
        is_nofollow: Whether it has ``rel=nofollow``.
    """

    page: str
    url: str
    text: str = ""
    is_nofollow: bool = False


@dataclass(slots=True, frozen=True)
class CrawledPage:
    """A fetched HTML page, as passed to the user's callbacks.

    Attributes:
        url: The canonical URL.
        depth: Links from a seed.
        fetched: The response: status, headers and body.
        title: Its title in one line; empty if it has none.
        text: The main text, in one line; ``export --format texts`` keeps its lines.
        links: Every link to an http(s) URL, in document order.
    """

    url: str
    depth: int
    fetched: Fetched
    title: str
    text: str
    links: list[Link]


@dataclass(slots=True)
class Outcome:
    """How a URL ended.

    Attributes:
        state: DONE, FAILED, or EXCLUDED if it must not be fetched.
        reason: Why; see `crawler_app.base.reasons`.
        status: HTTP status; None if there was no response.
        content_type: The header, or the type that browsers assume; empty if unknown.
        size_bytes: Size of the body after decompression.
        took_s: Duration of the last fetch; None if there was none.
        title: The title of a page; empty if it has none.
        error: The error message; empty if there was no error.
        redirect_to: The canonical URL of the target of a redirect, or of a refresh that takes
            effect soon; empty if there is none.
        canonical: The page's own canonical URL, from its ``<link>``; empty if there is
            none.
        digest: A digest of the body after decompression; equal for equal bodies.
        fragment: That of a redirect's Location, which comes before the one of the link (RFC 9110,
            10.2.2); not stored.
        note: The irregularities of the response that were accepted, as in browsers; empty if
            there are none.
    """

    state: State
    reason: AnyReason
    status: int | None = None
    content_type: str = ""
    size_bytes: int = 0
    took_s: float | None = None
    title: str = ""
    error: str = ""
    redirect_to: str = ""
    canonical: str = ""
    digest: str = ""
    note: str = ""
    fragment: str = ""

    def add_note(self, text: str) -> None:
        """Add an irregularity to the note."""
        self.note = f"{self.note}; {text}" if self.note else text


@dataclass(slots=True)
class UrlRecord:
    """The state of one URL in the frontier.

    Attributes:
        url: The canonical URL.
        state: Whether it is queued, claimed, done, failed or excluded.
        depth: Links from a seed.
        via: The page (or redirect, or sitemap) where it was first found; empty for a seed,
            and for a sitemap listed in a robots.txt.
        tries: Failed fetches that were retried.
        outcome: None while it is queued or claimed; the refusal if it is excluded.
        finished_at: In seconds since the epoch.
        role: What it was found as first.
    """

    url: str
    state: State
    depth: int
    via: str = ""
    tries: int = 0
    outcome: Outcome | None = None
    finished_at: float | None = None
    role: Role = Role.LINK
