"""The values that the parts of the crawler hand to each other.

No behavior beyond what follows from the fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from crawler_app.reasons import AnyReason, Reason

__all__ = [
    "REACHES",
    "Candidate",
    "Claim",
    "CrawledPage",
    "Fetched",
    "Link",
    "Outcome",
    "State",
    "UrlRecord",
]

# How far a crawl may go from its seeds; what each means is in `crawler_app.crawl.scope`.
REACHES = ("host", "domain", "prefix", "any")


class State(StrEnum):
    """Where a URL stands; the table of moves is in `crawler_app.frontier`."""

    QUEUED = "queued"
    CLAIMED = "claimed"
    DONE = "done"
    FAILED = "failed"
    EXCLUDED = "excluded"

    @property
    def label(self) -> str:
        """What people and programs read for it, as ``docs/report.rst`` explains.

        >>> State.DONE.label, State.CLAIMED.label, State.EXCLUDED.label
        ('done', 'under_way', 'skipped')
        """
        return _LABEL_BY_STATE.get(self, self.value)


_LABEL_BY_STATE = {State.CLAIMED: "under_way", State.EXCLUDED: "skipped"}


@dataclass(slots=True)
class Candidate:
    """A URL that was found, on its way into the frontier.

    Attributes:
        url: Canonical URL.
        host: Whose turn it takes, see `crawler_app.urls.host_of`.
        depth: Links from a seed to here; a redirect is none.
        redirects_left: Redirects that may still follow.
        refusal: Why it must not be fetched; None if it may.
        is_sitemap: Whether a robots.txt or another sitemap names it as one.
    """

    url: str
    host: str
    depth: int = 0
    redirects_left: int = 0
    refusal: Reason | None = None
    is_sitemap: bool = False


@dataclass(slots=True, frozen=True)
class Claim:
    """A URL that one worker fetches now, and nobody else.

    Attributes:
        tries: Fetches of it that have failed so far.
        lease_ends_at: When it goes back to the queue by itself, in seconds of the epoch.
        is_sitemap: Whether a robots.txt or another sitemap names it as one.
    """

    id: int
    url: str
    host: str
    depth: int
    redirects_left: int
    tries: int
    lease_ends_at: float
    is_sitemap: bool = False


@dataclass(slots=True)
class Fetched:
    """The response of one HTTP exchange.

    Attributes:
        headers: Names are looked up without regard to case.
        body: After decompression.
        took_s: From the request to the end of the body.
        request_head: Request line and header block as sent, with the blank line.
        raw_head: Status line and header block as received, likewise.
        encoded_body: The body before its content coding was undone, and without the
            framing of a transfer coding.
        peer: The address that answered, without its port; empty if it is not known.
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


@dataclass(slots=True, frozen=True)
class Link:
    """A link, as it stands on a page.

    Attributes:
        page: The URL of the page.
        url: Where it leads, canonical.
        text: What a reader clicks on, in one line; for a picture the words in its place.
        is_nofollow: Whether it asks robots not to follow it.
    """

    page: str
    url: str
    text: str = ""
    is_nofollow: bool = False


@dataclass(slots=True, frozen=True)
class CrawledPage:
    """An HTML page that has come, as it is shown to the user's own functions.

    Attributes:
        depth: Links from a seed to here.
        fetched: The answer: its status, its headers, its body.
        text: What a person reads, in one line.
        links: Every link to an http(s) URL, in the order of the page.
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
        state: DONE, FAILED, or EXCLUDED if robots.txt forbids to ask.
        reason: Why it ended so; see `crawler_app.reasons`.
        status: HTTP status; None where no response came.
        size_bytes: Of the body after decompression.
        took_s: Duration of the last fetch; None where none was made.
        error: What went wrong, for a person.
        redirect_to: Where it leads, as a canonical URL where it is one.
        canonical: Where the page says that it is at home, likewise.
        digest: Of the body after decompression; equal for equal bodies.
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


@dataclass(slots=True)
class UrlRecord:
    """All that is known of one URL.

    Attributes:
        via: The page (or redirect, or sitemap) that led here first; empty for a seed, and
            for a sitemap that a robots.txt names.
        tries: Fetches that failed and were followed by another.
        outcome: None while it is queued or claimed; of an excluded URL the refusal.
        finished_at: In seconds of the epoch.
    """

    url: str
    state: State
    depth: int
    via: str = ""
    tries: int = 0
    outcome: Outcome | None = None
    finished_at: float | None = None
