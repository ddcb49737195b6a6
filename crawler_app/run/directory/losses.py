"""Finds what a crawl directory has lost: responses in the archive, pages in the index.

The frontier records a URL as finished only after its response is in both, see
`crawler_app.run.directory`.  If a file was truncated or deleted since, those URLs are queued
again.
"""

import logging

from crawler_app.base.models import Role, State, UrlRecord
from crawler_app.run.directory.stores import Stores
from crawler_app.run.results.summary import is_page

__all__ = ["has_response", "requeue_lost"]

logger = logging.getLogger(__name__)


def requeue_lost(stores: Stores) -> frozenset[str]:
    """Queue the URLs again whose responses, or whose words, were lost.

    Returns the URLs whose responses are in the archive and need not be fetched.
    """
    without_response = _without_response(stores)
    if without_response:
        logger.warning(
            "%d responses are no longer in the archive, and are fetched again",
            stores.frontier.requeue_urls(without_response),
        )
    pages = _pages_of_lost_index(stores)
    if not pages:
        return pages
    if stores.archive is None:
        logger.warning(
            "the index lacks %d pages that were crawled; to add them, crawl again",
            len(pages),
        )
        return frozenset()
    logger.warning(
        "the index lacks %d pages, which are read again from the archive",
        stores.frontier.requeue_urls(pages),
    )
    return pages


def _without_response(stores: Stores) -> frozenset[str]:
    frontier, archive = stores.frontier, stores.archive
    if archive is None or not archive.may_lack_responses(frontier.own_done()):
        return frozenset()
    return frozenset(
        record.url
        for record in frontier.own_records()
        if has_response(record) and not archive.holds(record.url)
    )


def has_response(record: UrlRecord) -> bool:
    """Return whether a URL got a response that an archive should have."""
    return bool(
        record.state in (State.DONE, State.FAILED)
        and record.outcome is not None
        and record.outcome.status
        and record.role is not Role.EXTERNAL  # not archived
    )


def _pages_of_lost_index(stores: Stores) -> frozenset[str]:
    frontier, index = stores.frontier, stores.index
    if index is None or not frontier.own_done():
        return frozenset()
    if index.known_pages() >= frontier.own_pages():
        return frozenset()
    pages = [
        record.url
        for record in frontier.own_records()
        if record.outcome is not None and is_page(record.outcome)
    ]
    return index.lacking(pages)
