"""Assigns each host to one part of a crawl.

Pure.  Rule: the same start URLs and the same number of parts give each host the same part, in
every process and in every run.
"""

import dataclasses
import functools
import hashlib
from collections.abc import Callable, Iterable

from crawler_app.base.config import CrawlConfig
from crawler_app.base.urls import host_of

__all__ = ["part_config", "part_function"]

# A page links to few hosts, a crawl finds many.
REMEMBERED_HOSTS = 10_000


def part_function(seeds: Iterable[str], parts: int) -> Callable[[str], int]:
    """Return a function that returns the part of a host.

    The hosts of the start URLs take the parts in turn: a crawl often has no others, and by hash
    two of them would share one of two parts half the time.

    Args:
        seeds: Canonical URLs; their order does not matter.

    >>> part_of = part_function(["http://a.test/", "http://b.test/x", "http://b.test/y"], 2)
    >>> part_of("a.test"), part_of("b.test"), part_of("c.test") in (0, 1)
    (0, 1, True)
    """
    hosts = sorted(set(map(host_of, seeds)))
    part_by_host = {host: number % parts for number, host in enumerate(hosts)}

    @functools.lru_cache(REMEMBERED_HOSTS)
    def part_of(host: str) -> int:
        known = part_by_host.get(host)
        if known is not None:
            return known
        digest = hashlib.blake2b(host.encode(errors="surrogatepass"), digest_size=8)
        return int.from_bytes(digest.digest()) % parts

    return part_of


def part_config(config: CrawlConfig, part: int) -> CrawlConfig:
    """Return the configuration of one part; the main process keeps the limits.

    >>> config = CrawlConfig(("http://a.test/",), into="x", concurrency=5, processes=2)
    >>> [part_config(config, part).concurrency for part in (0, 1)]
    [3, 2]
    """
    each, rest = divmod(config.concurrency, config.processes)
    return dataclasses.replace(
        config,
        processes=1,
        concurrency=each + (part < rest),
        max_pages=None,
        max_bytes=None,
        max_time_s=None,
    )
