"""The content of a report as plain values, with complete lists.

Pure.  `crawler_app.show.report.gathering` creates it, the renderers read it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from crawler_app.base.reasons import AnyReason
from crawler_app.run.directory import Kept
from crawler_app.run.results.comparison import Comparison
from crawler_app.run.results.ranking import Ranked
from crawler_app.run.results.summary import Summary
from crawler_app.show.report.shape import Shape

__all__ = [
    "Broken",
    "Chain",
    "Duplicates",
    "Heavy",
    "HeldLink",
    "Linked",
    "Malformed",
    "Moved",
    "Problem",
    "ProblemKind",
    "Report",
    "UncheckedUrl",
]


@dataclass(slots=True, frozen=True)
class HeldLink:
    """A reference to a broken or moved URL or to mixed content, or a malformed one.

    Attributes:
        page: The URL of the page or style sheet that has it.
        text: The text of a link, in one line, or the element of another reference; None if
            the page could not be read.
        href: As written; None if the page could not be read.
        through: The redirect it leads to first; empty for a direct link.
        line: Where it is in the page, from 1; 0 if that is unknown.
    """

    page: str
    text: str | None = None
    href: str | None = None
    through: str = ""
    line: int = 0


@dataclass(slots=True)
class Broken:
    """A broken URL: one that does not work for a visitor.

    Attributes:
        url: The URL; for a redirect loop, the first one that the crawl met.
        status: HTTP status; None without an answer.
        error: Error text for people; often empty.
        is_seed: Whether it is a seed, or a seed redirects to it.
        links: All links to it, sorted by page.
        pages: Number of pages with these links.
        reach: How many visitors meet it; see `crawler_app.show.report.priorities`.
        was_broken: Whether it was broken in the previous crawl; None if that is unknown.
    """

    url: str
    status: int | None
    reason: AnyReason
    error: str = ""
    is_seed: bool = False
    links: Sequence[HeldLink] = ()
    pages: int = 0
    reach: int = 0
    was_broken: bool | None = None


@dataclass(slots=True)
class Moved:
    """A URL that pages refer to, and should not: a redirect, or what browsers refuse.

    Attributes:
        links: The references to it, sorted by page.
        pages: Number of pages with these.
        reach: How many visitors meet it; see `crawler_app.show.report.priorities`.
        end: Where its redirects end; empty if it is not a redirect.
        status: HTTP status of the redirect; None if it is not one.
    """

    url: str
    links: Sequence[HeldLink]
    pages: int
    reach: int
    end: str = ""
    status: int | None = None


@dataclass(slots=True)
class Malformed:
    """A reference that is not written as it should be.

    Attributes:
        reference: As written, without its fragment; often empty.
        problem: What is wrong, in words.
        links: The references that are written so, sorted by page.
        pages: Number of pages with these.
        reach: How many visitors meet it; see `crawler_app.show.report.priorities`.
    """

    reference: str
    problem: str
    links: Sequence[HeldLink]
    pages: int
    reach: int


class ProblemKind(StrEnum):
    """The kinds of problems, in the order in which they matter."""

    SOFT_404 = "soft_404"
    """A host answers a URL that does not exist with status 200."""
    NOINDEX = "noindex"
    """The page is linked, and keeps search engines from listing it."""
    NO_TITLE = "no_title"
    SAME_TITLE = "same_title"
    NO_HEADING = "no_heading"
    SEVERAL_HEADINGS = "several_headings"
    NO_DESCRIPTION = "no_description"
    SAME_DESCRIPTION = "same_description"
    NO_ALT = "no_alt"
    """An image that a screen reader cannot name."""
    NO_SIZE = "no_size"
    """An image that moves the text when it arrives."""
    ORPHAN = "orphan"
    """A page that a sitemap lists, and no page links to."""
    CANONICAL = "canonical"
    """The page says that another URL is the one to be listed."""
    LONG_TITLE = "long_title"
    LONG_DESCRIPTION = "long_description"


@dataclass(slots=True, frozen=True)
class Problem:
    """Something about pages that should be otherwise.

    Attributes:
        kind: What should be otherwise.
        subject: What the pages have in common, such as their title; empty if nothing.
        count: Number of pages.
        examples: Some of their URLs.
    """

    kind: ProblemKind
    subject: str
    count: int
    examples: list[str]


@dataclass(slots=True, frozen=True)
class Linked:
    """A page, and the number of other pages that link to it."""

    url: str
    pages: int


@dataclass(slots=True, frozen=True)
class Heavy:
    """A large or slow file that browsers load for pages.

    Attributes:
        pages: Number of pages and style sheets that refer to it.
    """

    url: str
    took_s: float
    size_bytes: int
    pages: int


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
class UncheckedUrl:
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
        state: As returned by `crawler_app.run.results.summary.state_of`.
        summary: The crawl in numbers.
        kept: The contents of the directory besides the frontier.
        shape: The structure of the site.
        options: The options that differ from their defaults.
        broken: Broken URLs, including redirect loops; those that most visitors meet first.
        pages_with_broken_links: Number of pages with links to these.
        has_archive: Whether there is an archive in which to find the broken links.
        unread: Pages that could not be read again.
        chains: Redirects that lead to further redirects.
        moved: Redirects that pages refer to; those that most visitors meet first.
        mixed_content: What https pages load by http, which browsers refuse; in that order.
        malformed: References that are not written as they should be; in that order.
        problems: What should be otherwise on pages; the most frequent of each kind first.
        problem_counts: The number of problems of each kind, or of pages if they have no
            subjects; ``problems`` has the first of them.
        most_linked: The pages that most others link to.
        heavy: Large and slow files that browsers load for pages.
        weight: What a ``reach`` is compared with; see `crawler_app.show.report.priorities`.
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
    pages_with_broken_links: int = 0
    has_archive: bool = True
    unread: int = 0
    moved: list[Moved] = field(default_factory=list)
    mixed_content: list[Moved] = field(default_factory=list)
    malformed: list[Malformed] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    problem_counts: dict[ProblemKind, int] = field(default_factory=dict)
    most_linked: list[Linked] = field(default_factory=list)
    heavy: list[Heavy] = field(default_factory=list)
    weight: int = 0
    chains: list[Chain] = field(default_factory=list)
    duplicates: list[Duplicates] = field(default_factory=list)
    not_checked: list[UncheckedUrl] = field(default_factory=list)
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
