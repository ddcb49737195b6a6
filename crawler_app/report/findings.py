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
from crawler_app.results.summary import Summary

__all__ = [
    "Broken",
    "Chain",
    "Duplicates",
    "Failure",
    "HeldLink",
    "Report",
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


@dataclass(slots=True, frozen=True)
class Failure:
    """A URL that was not fetched, and is not known to be broken."""

    url: str
    status: int | None
    reason: AnyReason
    error: str = ""


@dataclass(slots=True)
class Report:
    """A crawl as its owner should see it.

    Attributes:
        site: The hosts of the seeds, in a few words.
        path: The directory of the crawl.
        made_at: In seconds of the epoch, as the others are.
        state: As of `crawler_app.results.summary.state_of`.
        options: Those that are not as they are by default.
        broken: What gives no visitor anything, redirect loops too; that which most links
            lead to first.
        has_archive: Whether there are pages to look for links in.
        unread: Pages that could not be looked into; 0 if nothing is broken.
        duplicates: The largest groups first.
        not_checked: URLs that failed by our own limits and faults.
    """

    site: str
    path: Path
    seeds: list[str]
    made_at: float
    state: str
    summary: Summary
    kept: Kept
    shape: Shape
    options: dict[str, Any] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)
    has_archive: bool = True
    unread: int = 0
    chains: list[Chain] = field(default_factory=list)
    duplicates: list[Duplicates] = field(default_factory=list)
    not_checked: list[Failure] = field(default_factory=list)
    comparison: Comparison | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing came of any URL, so that nothing is known of the site."""
        answered = any(failure.status for failure in self.not_checked)
        found = self.summary.pages or self.summary.files or self.broken
        return not (found or answered)

    @property
    def broken_links(self) -> int:
        """How many links lead to what is broken."""
        return sum(len(broken.links) for broken in self.broken)

    @property
    def pages_with_broken_links(self) -> int:
        """How many pages hold such links."""
        return len({link.page for broken in self.broken for link in broken.links})
