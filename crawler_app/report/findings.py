"""What a report tells, as plain values; the lists are whole.

Pure.  `crawler_app.report.gathering` fills it in, the renderers read it.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawler_app.directory import Kept
from crawler_app.reasons import AnyReason
from crawler_app.report.shape import Shape
from crawler_app.results.comparison import Comparison

__all__ = [
    "Broken",
    "Chain",
    "Duplicates",
    "Failure",
    "HeldLink",
    "Host",
    "Ranked",
    "Refusal",
    "Report",
    "Totals",
]


@dataclass(slots=True, frozen=True)
class HeldLink:
    """A link that leads to what is broken.

    Attributes:
        page: The URL of the page that holds it.
        text: What a reader clicks on, in one line; None where the page was not read.
        href: As written; None likewise.
        through: The redirect that it leads to first; empty if it leads there at once.
    """

    page: str
    text: str | None = None
    href: str | None = None
    through: str = ""


@dataclass(slots=True)
class Broken:
    """A URL that gives no visitor anything.

    Attributes:
        url: Of a redirect loop the URL of it that was met first.
        status: Of the answer; None if none came.
        error: What went wrong, for a person; often empty.
        is_seed: Whether the crawl began with it, or with a redirect that ends there.
        links: All that lead there; unsorted links of one page are side by side.
    """

    url: str
    status: int | None
    reason: AnyReason
    error: str = ""
    is_seed: bool = False
    links: list[HeldLink] = field(default_factory=list)


@dataclass(slots=True, frozen=True)
class Chain:
    """Redirects one after the other.

    Attributes:
        urls: From the first redirect to what it ends at.
        status: Of the last; None if it was not answered.
        reason: How the last one ended; None if it was not fetched yet.
    """

    urls: list[str]
    status: int | None = None
    reason: AnyReason | None = None


@dataclass(slots=True, frozen=True)
class Ranked:
    """One URL of a list of the slowest or the largest."""

    url: str
    took_s: float
    size_bytes: int
    content_type: str = ""


@dataclass(slots=True)
class Duplicates:
    """Pages that are the same, byte for byte.

    Attributes:
        size_bytes: Of each.
        canonical: Where all of them say that they are at home; empty if one says nothing
            or something else.
    """

    digest: str
    size_bytes: int
    title: str
    urls: list[str] = field(default_factory=list)
    canonical: str = ""

    @property
    def wasted_bytes(self) -> int:
        """What would be saved if there were only one."""
        return self.size_bytes * (len(self.urls) - 1)


@dataclass(slots=True)
class Host:
    """What was fetched from one host.

    Attributes:
        urls: That were fetched, or are to be.
        failures: That are broken; of a loop of redirects its first URL is.
        took_s: All fetches of it together, of which ``timed`` are known.
    """

    name: str
    urls: int = 0
    pages: int = 0
    failures: int = 0
    size_bytes: int = 0
    took_s: float = 0.0
    timed: int = 0

    @property
    def mean_s(self) -> float | None:
        """How long a fetch took on average; None if none was made."""
        return self.took_s / self.timed if self.timed else None


@dataclass(slots=True)
class Refusal:
    """URLs that were met and not to be fetched, for one reason; some of them."""

    reason: AnyReason
    count: int = 0
    examples: list[str] = field(default_factory=list)


@dataclass(slots=True, frozen=True)
class Failure:
    """A URL that was not fetched, and is not known to be broken."""

    url: str
    status: int | None
    reason: AnyReason
    error: str = ""


@dataclass(slots=True)
class Totals:
    """How many URLs there are of each kind.

    Attributes:
        urls: All that were met.
        files: What was fetched and is no HTML page.
        broken: URLs, and loops of redirects, each of which counts once.
        failed_otherwise: Neither fetched nor known to be broken.
        left: Still to be fetched.
        size_bytes: Of all bodies, after decompression.
    """

    urls: int = 0
    pages: int = 0
    files: int = 0
    redirects: int = 0
    broken: int = 0
    failed_otherwise: int = 0
    refused: int = 0
    left: int = 0
    size_bytes: int = 0


@dataclass(slots=True)
class Report:
    """A crawl as its owner should see it.

    Attributes:
        site: The hosts of the seeds, in a few words.
        path: The directory of the crawl.
        made_at: In seconds of the epoch, as the others are.
        state: As of `crawler_app.results.summary.state_of`.
        started_at: When the first URL ended; None if none has.
        ended_at: When the last one did.
        options: Those that are not as they are by default.
        unanswered: URLs that gave no HTTP status.
        broken: Those that most links lead to first.
        has_archive: Whether there are pages to look for links in.
        unread: Pages that could not be looked into; 0 if nothing is broken.
        loops: Redirects that lead back to themselves.
        slowest: The slowest first.
        largest: The largest first.
        duplicates: The largest groups first.
        pages_by_depth: HTML pages by the least number of links to them.
        hosts: The largest first.
        refused: The most frequent reason first.
    """

    site: str
    path: Path
    seeds: list[str]
    made_at: float
    state: str
    totals: Totals
    kept: Kept
    shape: Shape
    started_at: float | None = None
    ended_at: float | None = None
    options: dict[str, Any] = field(default_factory=dict)
    count_by_status: dict[int, int] = field(default_factory=dict)
    unanswered: int = 0
    broken: list[Broken] = field(default_factory=list)
    has_archive: bool = True
    unread: int = 0
    chains: list[Chain] = field(default_factory=list)
    loops: list[list[str]] = field(default_factory=list)
    slowest: list[Ranked] = field(default_factory=list)
    largest: list[Ranked] = field(default_factory=list)
    duplicates: list[Duplicates] = field(default_factory=list)
    pages_by_depth: dict[int, int] = field(default_factory=dict)
    hosts: list[Host] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    failed_otherwise: list[Failure] = field(default_factory=list)
    comparison: Comparison | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing came of any URL, so that nothing is known of the site."""
        totals = self.totals
        answered = any(failure.status for failure in self.failed_otherwise)
        return not (totals.pages or totals.files or self.broken or answered)

    @property
    def given_up(self) -> int:
        """How many URLs gave no HTTP status and are not known to be broken."""
        return sum(failure.status is None for failure in self.failed_otherwise)

    @property
    def broken_links(self) -> int:
        """How many links lead to what is broken."""
        return sum(len(broken.links) for broken in self.broken)

    @property
    def pages_with_broken_links(self) -> int:
        """How many pages hold such links."""
        return len({link.page for broken in self.broken for link in broken.links})
