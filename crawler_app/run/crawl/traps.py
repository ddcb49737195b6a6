"""Crawler traps: sites that generate URLs without end.

A relative link on a page that is served at any path makes the path longer and longer, a
calendar always has a next month, and a list with ten filters has a thousand views.  URLs
refused here are recorded with their reason, so that a report shows them.

Pure, except for the counts of `QueryCounter`.  Cheap, because it runs for each new link.
"""

from array import array
from bisect import bisect_left
from collections import Counter

from crawler_app.base.config import CrawlConfig
from crawler_app.base.reasons import Reason
from crawler_app.base.urls import bare_path, has_query

__all__ = ["QueryCounter", "trap_in"]

# Parameters of a query, and occurrences of one name in it.  Forms with check boxes repeat
# a name, but ten times suggests a link that appends to its own query.
MAX_PARAMETERS = 40
MAX_PARAMETER_REPEATS = 10

# Memory per path with its first query: the dict entry, the key and an array.
PATH_BYTES = 250


def trap_in(url: str, config: CrawlConfig) -> Reason | None:
    """Return which limit a canonical URL exceeds; None if none.

    >>> config = CrawlConfig(("http://a.test/",), max_segment_repeats=2)
    >>> trap_in("http://a.test/a/a/a/", config), trap_in("http://a.test/a/a/", config)
    (<Reason.PATH_REPEATS: 'path_repeats'>, None)
    """
    max_chars = config.max_url_chars
    if max_chars is not None and len(url) > max_chars:
        return Reason.URL_TOO_LONG
    # Most URLs need no counting: a path with fewer than five segments cannot repeat one
    # five times.
    segments = url.count("/") - 2
    repeats = config.max_segment_repeats
    if repeats is not None and segments > repeats and _path_repeats(url, repeats):
        return Reason.PATH_REPEATS
    depth = config.max_path_segments
    if depth is not None and segments > depth:
        path, _, _ = url.partition("?")
        if path.count("/") - 2 > depth:
            return Reason.PATH_TOO_DEEP
    if "&" in url:
        return _trap_in_query(url.partition("?")[2])
    return None


def _path_repeats(url: str, most: int) -> bool:
    parts = url.partition("?")[0].split("/")
    # Cheap, and enough for most URLs: with fewer duplicates than this, no segment can
    # occur too often.  The scheme and host can only raise the count.
    if len(parts) - len(set(parts)) < most:
        return False
    counts = Counter(parts[3:])
    del counts[""]  # the frontier treats a double slash as one
    return max(counts.values(), default=0) > most


def _trap_in_query(query: str) -> Reason | None:
    parameters = query.count("&") + 1
    if parameters > MAX_PARAMETERS:
        return Reason.TOO_MANY_PARAMETERS
    if parameters <= MAX_PARAMETER_REPEATS:
        return None
    names = Counter(pair.partition("=")[0] for pair in query.split("&"))
    most = max(names.values())
    return Reason.PARAMETER_REPEATS if most > MAX_PARAMETER_REPEATS else None


class QueryCounter:
    """Limits the number of different queries, and parameters after a ``;``, per path.

    A URL is stored as a key of 8 bytes.  When the memory limit is reached, the least
    recently checked paths are evicted; the paths of a trap are checked all the time.

    Args:
        max_queries: Queries per path; None for no limit, which needs no memory.
        max_bytes: Approximate memory limit; 32 MiB hold 100,000 paths.

    >>> counter = QueryCounter(max_queries=2)
    >>> urls = [f"http://a.test/calendar?month={month}" for month in (1, 2, 3, 1)]
    >>> [counter.admit(url) for url in urls]
    [True, True, False, True]
    """

    def __init__(
        self, max_queries: int | None, max_bytes: int = 32 * 1024 * 1024
    ) -> None:
        self._max_queries = max_queries
        self._max_bytes = max_bytes
        self._bytes = 0
        # The most recently checked path is last.  The keys are Python's randomized hashes,
        # which a site cannot predict; if two queries share one, both pass.  Most paths have
        # one query, and an array for each would keep the garbage collector busy.
        self._queries_by_path: dict[int, int | array[int]] = {}

    def admit(self, url: str) -> bool:
        """Return whether a canonical URL may pass; one that has passed always may again.

        After eviction, a path starts again at 0.
        """
        if self._max_queries is None or not has_query(url):
            return True
        path = bare_path(url)
        path_key, query_key = hash(path), hash(url[len(path) :])
        queries = self._queries_by_path.pop(path_key, None)
        if queries is None:
            self._queries_by_path[path_key] = query_key
            self._bytes += PATH_BYTES
            self._evict_oldest()
            return True
        if isinstance(queries, int):
            queries = array("q", [queries])
        self._queries_by_path[path_key] = queries
        at = bisect_left(queries, query_key)
        if at < len(queries) and queries[at] == query_key:
            return True
        if len(queries) >= self._max_queries:
            return False
        queries.insert(at, query_key)
        self._bytes += queries.itemsize
        self._evict_oldest()
        return True

    def _evict_oldest(self) -> None:
        while self._bytes > self._max_bytes and len(self._queries_by_path) > 1:
            oldest = next(iter(self._queries_by_path))
            queries = self._queries_by_path.pop(oldest)
            self._bytes -= PATH_BYTES
            if not isinstance(queries, int):
                self._bytes -= (len(queries) - 1) * queries.itemsize
