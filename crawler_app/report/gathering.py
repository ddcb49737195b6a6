"""Gathers the content of a report from the directory of a crawl.

The frontier is read once for the counts, and a second time if there are duplicates or
redirect chains; the archive is read only if something is broken.
"""

import contextlib
import time
from collections.abc import Iterable, Iterator
from typing import Any

from crawler_app.config import CrawlConfig
from crawler_app.config.option import options_of
from crawler_app.directory import CrawlDirectory
from crawler_app.frontier import FrontierReader
from crawler_app.models import Outcome, UrlRecord
from crawler_app.progress import OnStep, in_steps, no_step
from crawler_app.reasons import Reason, is_broken
from crawler_app.report.findings import Broken, Chain, Duplicates, Failure, Report
from crawler_app.report.holders import has_archive, links_to
from crawler_app.report.kinds import add_redirects, add_url
from crawler_app.report.listing import Listing
from crawler_app.report.shape import Shape
from crawler_app.report.targets import Targets, add_first_pages
from crawler_app.results.comparison import compare
from crawler_app.results.summary import Summary, is_page, state_of, summarize
from crawler_app.text.formatting import number
from crawler_app.urls import dedup_key, host_of

__all__ = ["gather"]


def gather(directory: CrawlDirectory, on_step: OnStep = no_step) -> Report:
    """Return the report of a crawl, also while it runs.

    Args:
        on_step: Progress callback: the step's name, such as "reading pages", how much is
            done, and the total.

    Raises:
        ConfigError: no crawl has begun there, or it cannot be read.
        ArchiveError: the table of the archive cannot be read.
    """
    config = directory.config()
    # Before the frontier is read: a crawl that ends in between must count as running,
    # because its last URLs may be missing.
    owner = directory.owner()
    with contextlib.closing(directory.frontier()) as frontier:
        shape = Shape()
        listing = Listing()
        records, total = frontier.records(), frontier.total()
        for record in in_steps("reading URLs", records, on_step, total):
            add_url(shape, record)
            listing.add(record)
        summary = summarize(frontier)
        add_redirects(shape, summary.redirects)
        report = _report_of(directory, config, summary, shape, owner)
        report.examples_by_reason = listing.examples_by_reason
        report.largest = listing.largest
        _add_chains_and_duplicates(report, frontier, listing, on_step)
        report.comparison = compare(frontier)
    _find_links(report, directory, on_step)
    add_first_pages(report.broken, summary.failures)
    report.broken.sort(key=lambda broken: -len(broken.links))
    return report


def _report_of(
    directory: CrawlDirectory,
    config: CrawlConfig,
    summary: Summary,
    shape: Shape,
    owner: int | None,
) -> Report:
    return Report(
        _site(config.seeds),
        directory.path,
        list(config.seeds),
        time.time(),
        state_of(summary.urls, summary.left, owner),
        summary,
        directory.kept(),
        shape,
        options=_options(config),
        broken=_broken(summary, config),
        has_archive=has_archive(directory.path),
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


def _not_checked(summary: Summary) -> list[Failure]:
    return [
        Failure(url, o.status, o.reason, o.error)
        for url, o in _failures(summary)
        if not is_broken(o.reason)
    ]


def _failures(summary: Summary) -> Iterator[tuple[str, Outcome]]:
    for record in summary.failures:
        assert record.outcome is not None
        yield record.url, record.outcome


def _add_chains_and_duplicates(
    report: Report, frontier: FrontierReader, listing: Listing, on_step: OnStep
) -> None:
    chains = report.summary.redirects.chains()
    digests = listing.repeated_digests
    record_by_key: dict[str, UrlRecord | None] = {
        dedup_key(urls[-1]): None for urls in chains
    }
    group_by_digest: dict[str, Duplicates] = {}
    if chains or digests:
        records, total = frontier.records(), frontier.total()
        for record in in_steps("comparing pages", records, on_step, total):
            key = dedup_key(record.url)
            if key in record_by_key:
                record_by_key[key] = record
            _group(record, digests, group_by_digest)
    report.chains = [
        _chain(urls, record_by_key[dedup_key(urls[-1])]) for urls in chains
    ]
    report.chains.sort(key=lambda chain: -len(chain.urls))
    report.duplicates = sorted(
        group_by_digest.values(), key=lambda group: -group.wasted_bytes
    )


def _chain(urls: list[str], end: UrlRecord | None) -> Chain:
    if end is None or end.outcome is None:
        return Chain(urls)
    return Chain(urls, end.outcome.status, end.outcome.reason)


def _group(
    record: UrlRecord, digests: set[str], group_by_digest: dict[str, Duplicates]
) -> None:
    outcome = record.outcome
    if outcome is None or outcome.digest not in digests or not is_page(outcome):
        return
    group = group_by_digest.get(outcome.digest)
    if group is None:
        group = group_by_digest[outcome.digest] = Duplicates(
            outcome.digest,
            outcome.size_bytes,
            outcome.title,
            canonical=outcome.canonical,
        )
    elif group.canonical != outcome.canonical:
        group.canonical = ""
    group.urls.append(record.url)


def _find_links(
    report: Report,
    directory: CrawlDirectory,
    on_step: OnStep,
) -> None:
    """Add the links to each broken URL."""
    targets = Targets(report.broken, report.summary.redirects)
    if not targets.number_by_key or not report.has_archive:
        return
    config = directory.config()
    pages = links_to(
        directory.path,
        targets.number_by_key,
        config.max_body_bytes,
        with_requisites=config.fetches_assets,
    )
    for done, found in enumerate(pages, 1):
        on_step("reading pages", done, max(done, report.summary.pages))
        if found is None:
            report.unread += 1
        else:
            targets.add_links(found)
