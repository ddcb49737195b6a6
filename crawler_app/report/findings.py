"""The content of a report as plain values, with complete lists.

Pure.  `crawler_app.report.gathering` creates it, the renderers read it.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawler_app.directory import Kept
from crawler_app.reasons import AnyReason
from crawler_app.report.shape import Shape
from crawler_app.results.comparison import Comparison
from crawler_app.results.ranking import Ranked
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
    """A link to a broken URL.

    Attributes:
        page: The URL of the page that has the link.
        text: The text of the link, in one line; None if the page could not be read.
        href: As written; None if the page could not be read.
        through: The redirect it leads to first; empty for a direct link.
    """

    page: str
    text: str | None = None
    href: str | None = None
    through: str = ""


@dataclass(slots=True)
class Broken:
    """A broken URL: one that does not work for a visitor.

    Attributes:
        url: The URL; for a redirect loop, the first one that the crawl met.
        status: HTTP status; None without an answer.
        error: Error text for people; often empty.
        is_seed: Whether it is a seed, or a seed redirects to it.
        links: All links to it, sorted by page.
    """

    url: str
    status: int | None
    reason: AnyReason
    error: str = ""
    is_seed: bool = False
    links: list[HeldLink] = field(default_factory=list)


@dataclass(slots=True, frozen=True)
class Chain:
    """A chain of redirects.

    Attributes:
        urls: From the first redirect to the final URL.
        status: HTTP status of the final URL; None without an answer.
        reason: Outcome of the final URL; None if it was not fetched yet.
    """

    urls: list[str]
    status: int | None = None
    reason: AnyReason | None = None


@dataclass(slots=True)
class Duplicates:
    """Pages that are equal byte for byte.

    Attributes:
        size_bytes: Size of one of them.
        canonical: The canonical URL that all of them declare; empty if they do not agree.
    """

    digest: str
    size_bytes: int
    title: str
    urls: list[str] = field(default_factory=list)
    canonical: str = ""

    @property
    def wasted_bytes(self) -> int:
        """The bytes saved if there were only one of them."""
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
    """The content of a report.

    Attributes:
        site: The hosts of the seeds, in a few words.
        path: The directory of the crawl.
        seeds: The start URLs.
        made_at: Seconds since the epoch.
        state: As returned by `crawler_app.results.summary.state_of`.
        summary: The crawl in numbers.
        kept: The contents of the directory besides the frontier.
        shape: The structure of the site.
        options: The options that differ from their defaults.
        broken: Broken URLs, including redirect loops; those with most links first.
        has_archive: Whether there is an archive in which to find the broken links.
        unread: Pages that could not be read again; 0 if nothing is broken.
        chains: Redirects that lead to further redirects.
        duplicates: Groups of equal pages, those that waste most first.
        not_checked: URLs that failed by a limit or a fault of the crawl.
        examples_by_reason: Some of the skipped URLs, by reason.
        largest: The largest bodies, largest first.
        comparison: The comparison with the previous crawl; None if there was none.
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
    examples_by_reason: dict[AnyReason, list[str]] = field(default_factory=dict)
    largest: list[Ranked] = field(default_factory=list)
    comparison: Comparison | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no URL gave an answer, so that nothing is known about the site."""
        answered = any(failure.status for failure in self.not_checked)
        found = self.summary.pages or self.summary.files or self.broken
        return not (found or answered)

    @property
    def broken_links(self) -> int:
        """Number of links to broken URLs."""
        return sum(len(broken.links) for broken in self.broken)

    @property
    def pages_with_broken_links(self) -> int:
        """Number of pages with such links."""
        return len({link.page for broken in self.broken for link in broken.links})
