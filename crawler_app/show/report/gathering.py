"""Gathers the content of a report from the directory of a crawl.

Every URL is read once, in the order in which they were found, and its page from the archive.
"""

import contextlib
import time
from collections.abc import Iterable, Iterator
from typing import Any

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.option import options_of
from crawler_app.base.models import Outcome, Role, State, UrlRecord
from crawler_app.base.progress import OnStep, in_steps, no_step
from crawler_app.base.reasons import CONTENT, AnyReason, Reason, is_broken
from crawler_app.base.text.formatting import number
from crawler_app.base.urls import dedup_key, host_of
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.run.results.comparison import compare
from crawler_app.run.results.ranking import Ranked, Ranking
from crawler_app.run.results.redirects import Redirects
from crawler_app.run.results.rendered_pages import RenderedPage
from crawler_app.run.results.summary import Summary, state_of, summarize
from crawler_app.show.findings.kinds import ProblemKind
from crawler_app.show.report.link_targets import LinkTargets
from crawler_app.show.report.page_problems import (
    duplicates_in,
    heavy_among,
    most_linked,
    problems_in,
    weight_of,
)
from crawler_app.show.report.page_reading import DocumentReader, Observer
from crawler_app.show.report.report_data import (
    Broken,
    Chain,
    Problem,
    Report,
    ReportedLink,
    UncheckedUrl,
)
from crawler_app.show.report.shape import Shape, add_redirects, add_url
from crawler_app.show.report.temp_tables import TempTables
from crawler_app.store.frontier import FrontierReader
from crawler_app.web.robots.rules import product_token

__all__ = ["MAX_EXAMPLES", "gather"]

# Skipped URLs that are listed for each reason.
MAX_EXAMPLES = 5

# Smaller and faster assets are not listed.  Precedents: Lighthouse asks for servers that answer
# within 0.6 s, and Screaming Frog for images of at most 100 KB.
LARGE_BYTES = 200_000
SLOW_S = 1.0


def gather(
    crawl: StoredCrawl, on_step: OnStep = no_step, observer: Observer | None = None
) -> Report:
    """Return the report of a crawl, also while it runs.

    Args:
        on_step: Progress callback: the step's name, "reading URLs", how much is done, and
            the total.
        observer: Sees everything that is read.

    Raises:
        ConfigError: no crawl has begun there, or it cannot be read.
        ArchiveError: the table of the archive cannot be read.
    """
    config = crawl.config()
    # Before the frontier is read: a crawl that ends in between must count as running,
    # because its last URLs may be missing.
    is_running = bool(crawl.crawlers())
    with contextlib.ExitStack() as opened:
        frontier = crawl.frontier()
        opened.callback(frontier.close)
        archived = opened.enter_context(crawl.responses(config.max_body_bytes))
        summary = summarize(frontier)
        report = _report_of(crawl, config, summary, is_running=is_running)
        report.has_archive = archived is not None
        targets = LinkTargets(report.broken, summary.redirects)
        url_lists, tables = _UrlLists(), TempTables()
        agent = product_token(config.user_agent)
        reader = DocumentReader(targets, tables, archived, agent, observer)
        if observer is not None:
            observer.begin(frontier)
        records, total = frontier.records(), frontier.total()
        for record in in_steps("reading URLs", records, on_step, total):
            add_url(report.shape, record)
            url_lists.add(record)
            reader.add(record)
            if record.outcome is not None and record.outcome.reason == Reason.RENDERED:
                report.rendering += RenderedPage.of_note(record.outcome.note)
        reader.end()
        tables.end()
        add_redirects(report.shape, summary.redirects)
        report.unread = reader.unread
        report.examples_by_reason = url_lists.examples_by_reason
        report.largest = url_lists.largest
        report.chains = _chains(summary.redirects, frontier)
        report.comparison = compare(frontier)
        soft_404s = frontier.soft_404s()
    _add_links(report, targets, tables, url_lists)
    _add_problems(report, tables, url_lists, soft_404s)
    if observer is not None:
        observer.end(report, tables)
    return report


class _UrlLists:
    """Collects examples of skipped URLs, the largest bodies, and heavy assets.

    Attributes:
        examples_by_reason: Some of the skipped URLs, by reason.
        status_by_redirect: The status of each redirect, by its URL.
    """

    def __init__(self) -> None:
        self.examples_by_reason: dict[AnyReason, list[str]] = {}
        self.status_by_redirect: dict[str, int | None] = {}
        self._largest = Ranking(lambda ranked: ranked.size_bytes)
        self._large = Ranking(lambda ranked: ranked.size_bytes)
        self._slow = Ranking(lambda ranked: ranked.took_s)

    @property
    def largest(self) -> list[Ranked]:
        """The largest bodies, largest first."""
        return self._largest.best()

    @property
    def heavy(self) -> list[Ranked]:
        """Large and slow assets."""
        return list(dict.fromkeys([*self._large.best(), *self._slow.best()]))

    def add(self, record: UrlRecord) -> None:
        """Add a URL to the lists that it belongs to."""
        outcome = record.outcome
        if outcome is None:
            return
        if record.state is State.EXCLUDED:
            examples = self.examples_by_reason.setdefault(outcome.reason, [])
            if len(examples) < MAX_EXAMPLES:
                examples.append(record.url)
            return
        if outcome.reason == Reason.REDIRECT:
            self.status_by_redirect[record.url] = outcome.status
        if outcome.took_s is not None:
            ranked = Ranked.of(record.url, outcome)
            self._largest.add(ranked)
            if record.role is Role.ASSET and outcome.reason in CONTENT:
                self._add_asset(ranked)

    def _add_asset(self, ranked: Ranked) -> None:
        if ranked.size_bytes >= LARGE_BYTES:
            self._large.add(ranked)
        if ranked.took_s >= SLOW_S:
            self._slow.add(ranked)


def _report_of(
    crawl: StoredCrawl,
    config: CrawlConfig,
    summary: Summary,
    *,
    is_running: bool,
) -> Report:
    return Report(
        _site(config.seeds),
        crawl.path,
        list(config.seeds),
        time.time(),
        state_of(summary.urls, summary.left, is_running=is_running),
        summary,
        crawl.kept(),
        Shape(),
        options=_options(config),
        broken=_broken(summary, config),
        not_checked=_not_checked(summary),
    )


def _site(seeds: Iterable[str]) -> str:
    """Return the crawled hosts in a few words.

    >>> _site(["http://a.test/x", "https://b.test/", "https://b.test/y"])
    'a.test and 1 more host'
    """
    first, *others = dict.fromkeys(map(host_of, seeds))
    return f"{first} and {number(len(others), 'more host')}" if others else first


def _options(config: CrawlConfig) -> dict[str, Any]:
    """Return the options that differ from their defaults; secrets only as "(set)"."""
    return {
        option.key: "(set)" if option.is_secret else getattr(config, option.name)
        for option in options_of(CrawlConfig)
        if option.is_saved
        and option.name != "seeds"
        and getattr(config, option.name) != option.default
    }


def _broken(summary: Summary, config: CrawlConfig) -> list[Broken]:
    """Return the broken URLs, still without their links."""
    redirects = summary.redirects
    end_by_key = redirects.end_by_key
    seed_ends = {end_by_key.get(key, key) for key in map(dedup_key, config.seeds)}
    found = [
        Broken(url, o.status, o.reason, o.error, dedup_key(url) in seed_ends)
        for url, o in _failures(summary)
        if is_broken(o.reason)
    ]
    for key, loop in redirects.loop_by_key.items():
        is_seed = key in seed_ends
        found.append(Broken(loop[0], None, Reason.REDIRECT_LOOP, is_seed=is_seed))
    return found


def _not_checked(summary: Summary) -> list[UncheckedUrl]:
    return [
        UncheckedUrl(url, o.status, o.reason, o.error)
        for url, o in _failures(summary)
        if not is_broken(o.reason)
    ]


def _failures(summary: Summary) -> Iterator[tuple[str, Outcome]]:
    for record in summary.failures:
        assert record.outcome is not None
        yield record.url, record.outcome


def _chains(redirects: Redirects, frontier: FrontierReader) -> list[Chain]:
    """Return the chains of redirects, longest first, and the response at their ends."""
    chains = [
        _chain(urls, frontier.find(dedup_key(urls[-1]))) for urls in redirects.chains()
    ]
    return sorted(chains, key=lambda chain: -len(chain.urls))


def _chain(urls: list[str], end: UrlRecord | None) -> Chain:
    if end is None or end.outcome is None:
        return Chain(urls)
    return Chain(urls, end.outcome.status, end.outcome.reason)


def _add_links(
    report: Report, targets: LinkTargets, tables: TempTables, url_lists: _UrlLists
) -> None:
    """Add the pages that refer to broken URLs, redirects and mixed content, or wrongly."""
    redirects = report.summary.redirects
    report.pages_with_broken_links = tables.documents_with(0, len(report.broken))
    targets.add_links(tables, report)
    for moved in report.moved:
        moved.end = redirects.end_of(moved.url)
        moved.status = url_lists.status_by_redirect.get(moved.url)
    report.unasked = tables.unasked()
    report.unread_places = tables.unread_places()
    report.pages_with_broken_links += len(set(_first_pages(report)))
    _compare_broken(report)


def _compare_broken(report: Report) -> None:
    """Note for each broken URL whether it was broken before."""
    comparison = report.comparison
    if comparison is not None:
        still = frozenset(comparison.still_broken)
        for broken in report.broken:
            broken.was_broken = broken.url in still


def _first_pages(report: Report) -> Iterator[str]:
    """Add the page that first led to a broken URL, if no link to it was found; yield it."""
    via_by_url = {record.url: record.via for record in report.summary.failures}
    for broken in report.broken:
        via = via_by_url.get(broken.url, "")
        # Before the end of a seed's redirects comes a redirect, not a page.
        if via and not broken.links and not broken.is_seed:
            broken.links = [ReportedLink(via)]
            broken.pages = broken.reach = 1
            yield via


def _add_problems(
    report: Report, tables: TempTables, url_lists: _UrlLists, soft_404s: list[str]
) -> None:
    """Add the page-quality problems and the rankings from the tables."""
    report.problems, report.problem_counts = problems_in(
        tables, knows_all_links=report.knows_all_links
    )
    if soft_404s:
        kind, count = ProblemKind.SOFT_404, len(soft_404s)
        report.problem_counts[kind] = count
        report.problems.insert(0, Problem(kind, "", count, soft_404s))
    report.duplicates = duplicates_in(tables)
    report.most_linked = most_linked(tables)
    report.heavy = heavy_among(tables, url_lists.heavy)
    report.weight = weight_of(tables)
