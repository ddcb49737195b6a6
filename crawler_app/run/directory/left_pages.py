"""Removes pages from the indexes of a crawl's parts that are no longer theirs.

When a site is crawled again by several processes, a page may have vanished, or be in the index of
another process now.
"""

import contextlib
from collections.abc import Iterator

from crawler_app.base.reasons import RETRYABLE, Reason
from crawler_app.base.urls import dedup_key
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.results.comparison import Comparison
from crawler_app.run.results.summary import is_page
from crawler_app.store.frontier import FrontierReader
from crawler_app.store.frontier.postgres.blocking_reader import PostgresReader
from crawler_app.store.frontier.postgres.location import StoreLocation
from crawler_app.store.index import PageIndex

__all__ = ["remove_left_pages"]


def remove_left_pages(
    directory: CrawlDirectory, frontier: FrontierReader, comparison: Comparison
) -> None:
    """Remove what is in the index of a part, but was not fetched by it in this crawl.

    A page stays if it may still exist: it was not met, and not everything was read; or it
    failed with an error that may pass, or robots.txt forbids it now.
    """
    assert isinstance(frontier, PostgresReader)
    for part in directory.parts():
        if not part.has_index():
            continue
        with contextlib.closing(PageIndex(part.index_path)) as index:
            own = set(_pages_of(frontier, part))
            for url in index.urls():
                if url not in own and _has_left(frontier, url, comparison):
                    index.remove(url)
            index.flush()


def _pages_of(frontier: PostgresReader, part: CrawlDirectory) -> Iterator[str]:
    key = part.store_key()
    if not key:
        return
    for record in frontier.store_records(StoreLocation(key)):
        if record.outcome is not None and is_page(record.outcome):
            yield record.url


def _has_left(frontier: PostgresReader, url: str, comparison: Comparison) -> bool:
    record = frontier.find(dedup_key(url))
    if record is None:
        return comparison.is_whole
    if record.outcome is None:
        return False
    return record.outcome.reason not in (*RETRYABLE, Reason.ROBOTS)
