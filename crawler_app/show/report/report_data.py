"""The content of a report as plain values, with complete lists.

Pure.  `crawler_app.show.report.gathering` creates it, the renderers read it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawler_app.base.reasons import AnyReason
from crawler_app.run.directory import CrawlSizes
from crawler_app.run.results.comparison import Comparison
from crawler_app.run.results.ranking import Ranked
from crawler_app.run.results.rendered_pages import RenderedPage
from crawler_app.run.results.summary import FINISHED, Summary
from crawler_app.show.findings.kinds import FindingKind, ProblemKind
from crawler_app.show.report.shape import Shape

__all__ = [
    "Broken",
    "Chain",
    "Duplicates",
    "FaultyTarget",
    "Heavy",
    "Linked",
    "Problem",
    "Report",
    "ReportedLink",
    "UncheckedUrl",
]


@dataclass(slots=True, frozen=True)
class ReportedLink:
    """A link that a report lists: to a broken or moved URL or mixed content, or malformed.

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
        reach: How many visitors it affects; see `crawler_app.show.report.priorities`.
        was_broken: Whether it was broken in the previous crawl; None if that is unknown.
    """

    url: str
    status: int | None
    reason: AnyReason
    error: str = ""
    is_seed: bool = False
    links: Sequence[ReportedLink] = ()
    pages: int = 0
    reach: int = 0
    was_broken: bool | None = None


@dataclass(slots=True)
class FaultyTarget:
    """What pages should not refer to, at least not in this way.

    Attributes:
        kind: A redirect, mixed content, a malformed reference, or one to a place that its page
            does not have.
        url: The URL; or the reference as written, often empty, a malformed one without its
            fragment.
        problem: What is wrong with the reference, in words; empty for a URL.
        links: The references to it, sorted by page.
        pages: Number of pages with these references.
        reach: How many visitors it affects; see `crawler_app.show.report.priorities`.
        end: Where its redirects end; empty if it is not a redirect.
        status: HTTP status of the redirect; None if it is not one.
    """

    kind: FindingKind
    url: str
    problem: str = ""
    links: Sequence[ReportedLink] = ()
    pages: int = 0
    reach: int = 0
    end: str = ""
    status: int | None = None


@dataclass(slots=True, frozen=True)
class Problem:
    """A page-quality problem, and the pages that have it.

    Attributes:
        kind: What is wrong.
        subject: What the pages have in common, such as their title; empty if nothing.
        count: Number of pages.
        examples: Some of their URLs.
        reach: How many visitors it affects; 0 if that is unknown.
        templates: The templates that have made most of them, with the number of pages; see
            `crawler_app.show.report.temp_tables.template_of`.
    """

    kind: ProblemKind
    subject: str
    count: int
    examples: list[str]
    reach: int = 0
    templates: list[tuple[str, int]] = field(default_factory=list)


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
    """Pages that are identical byte for byte.

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
    """A URL that could not be fetched, but is not known to be broken."""

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
        rendering: What rendering pages has gained and cost.
        broken: Broken URLs, including redirect loops; the largest reach first.
        pages_with_broken_links: Number of pages with links to these.
        has_archive: Whether there is an archive, from which the pages can be read again.
        unread: Pages that could not be read again.
        unasked: The number of URLs that pages refer to in ways that a crawl does not follow, by
            kind of reference.
        unread_places: Links to places on pages of other sites.
        chains: Redirects that lead to further redirects.
        moved: Redirects that pages refer to; the largest reach first.
        mixed_content: What https pages load over http; in the same order.
        malformed: Malformed references; in the same order.
        fragments: References to places that their pages do not have; in the same order.
        problems: Page-quality problems; the most frequent of each kind first.
        problem_counts: The number of problems of each kind, or of pages if they have no
            subjects; ``problems`` has the first of them.
        most_linked: The pages with the most links from other pages.
        heavy: Large and slow files that browsers load for pages.
        weight: The sum of the weights of all pages, compared with a ``reach``; see `crawler_app.show.report.priorities`.
        duplicates: Groups of identical pages, the most wasteful first.
        not_checked: URLs that failed because of a limit or an error of the crawl.
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
    kept: CrawlSizes
    shape: Shape
    options: dict[str, Any] = field(default_factory=dict)
    rendering: RenderedPage = field(default_factory=RenderedPage)
    broken: list[Broken] = field(default_factory=list)
    pages_with_broken_links: int = 0
    has_archive: bool = True
    unread: int = 0
    unasked: dict[str, int] = field(default_factory=dict)
    unread_places: int = 0
    moved: list[FaultyTarget] = field(default_factory=list)
    mixed_content: list[FaultyTarget] = field(default_factory=list)
    malformed: list[FaultyTarget] = field(default_factory=list)
    fragments: list[FaultyTarget] = field(default_factory=list)
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
        """Whether no URL was answered, so that nothing is known about the site."""
        answered = any(failure.status for failure in self.not_checked)
        found = self.summary.pages or self.summary.files or self.broken
        return not (found or answered)

    @property
    def knows_all_links(self) -> bool:
        """Whether every page was read, so that one without links is an orphan."""
        return self.state == FINISHED and self.has_archive and not self.unread

    @property
    def broken_links(self) -> int:
        """Number of links to broken URLs."""
        return sum(len(broken.links) for broken in self.broken)
