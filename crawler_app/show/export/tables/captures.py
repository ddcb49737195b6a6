"""The rows of captures, in the schema of Common Crawl's columnar index.

So its published queries, and programs that read it, also read this table.  What only reading
each body would tell (charset, languages, the detected type) is left empty.

Source: https://github.com/commoncrawl/cc-index-table
"""

import contextlib
import functools
import ipaddress
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList

from crawler_app.base.progress import OnStep
from crawler_app.base.text.formatting import iso_time
from crawler_app.base.urls import dedup_key
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.show.export.tables.columns import Row
from crawler_app.store.archive.captures import Capture
from crawler_app.store.archive.surt import surt

__all__ = ["capture_row", "capture_rows"]

# Names of subsets: what Common Crawl's index calls them.
SUCCESS, ROBOTS, OTHERS = "warc", "robotstxt", "crawldiagnostics"


def capture_rows(crawl: StoredCrawl, on_step: OnStep) -> Iterator[Row]:
    """Yield the row of each capture, in the order in which they were made."""
    name = crawl.path.name
    with contextlib.closing(crawl.frontier()) as frontier:
        for filename, each in crawl.captures(on_step):
            is_redirect = 300 <= each.status < 400
            record = frontier.find(dedup_key(each.url)) if is_redirect else None
            outcome = None if record is None else record.outcome
            redirect = None if outcome is None else outcome.redirect_to or None
            yield capture_row(each, filename, name, redirect)


def capture_row(
    capture: Capture, filename: str, crawl: str, redirect: str | None = None
) -> Row:
    """Return the row of a capture.

    Args:
        filename: The file that has it.
        crawl: The name of the crawl.
        redirect: Where it redirects to.
    """
    parts = urlsplit(capture.url)
    return (
        surt(capture.url),
        capture.url,
        *_host_cells(parts.hostname or ""),
        parts.scheme,
        parts.port,
        parts.path,
        parts.query or None,
        iso_time(capture.at),
        capture.status,
        redirect,
        capture.digest or None,
        capture.mime or None,
        *(None,) * 4,
        filename,
        capture.offset,
        capture.length,
        "",
        crawl,
        _subset_of(parts.path, capture.status),
    )


def _subset_of(path: str, status: int) -> str:
    if path == "/robots.txt":
        return ROBOTS
    return SUCCESS if status == 200 else OTHERS


class _HostCells(NamedTuple):
    """The columns that follow from the name of a host."""

    name: str
    tld: str | None = None
    second_last: str | None = None
    third_last: str | None = None
    fourth_last: str | None = None
    fifth_last: str | None = None
    registry_suffix: str | None = None
    registered_domain: str | None = None
    private_suffix: str | None = None
    private_domain: str | None = None
    name_reversed: str | None = None


@functools.lru_cache(maxsize=10_000)
def _host_cells(host: str) -> _HostCells:
    """Return the columns of a host; those of an address are empty.

    >>> _host_cells("www.bbc.co.uk").registered_domain
    'bbc.co.uk'
    """
    with contextlib.suppress(ValueError):
        ipaddress.ip_address(host)
        return _HostCells(host)
    labels = host.split(".")[::-1]
    last: list[str | None] = [*labels, *(None,) * 5][:5]
    registry, private = _suffixes(only_icann=True), _suffixes(only_icann=False)
    return _HostCells(
        host,
        last[0],
        last[1],
        last[2],
        last[3],
        last[4],
        registry.publicsuffix(host),
        registry.privatesuffix(host),
        private.publicsuffix(host),
        private.privatesuffix(host),
        ".".join(labels),
    )


@functools.cache
def _suffixes(*, only_icann: bool) -> PublicSuffixList:
    return PublicSuffixList(only_icann=only_icann)
