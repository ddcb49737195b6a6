"""Decides which URLs are in scope.

Pure: takes a URL and returns why it must not be fetched, if so.  Also cheap, because it runs
for each new link.
"""

import functools
from collections.abc import Callable, Collection, Iterable

from publicsuffixlist import PublicSuffixList

from crawler_app.base.errors import ConfigError
from crawler_app.base.models import REACHES
from crawler_app.base.patterns import any_of
from crawler_app.base.reasons import Reason
from crawler_app.base.urls import host_of, name_of, with_normal_escapes
from crawler_app.web.fetcher.addresses import is_literal

__all__ = ["REACHES", "Scope", "registrable_domain"]

# Hosts whose domain is cached: a page links to few, a crawl finds many.
REMEMBERED_HOSTS = 10_000


class Scope:
    """Checks URLs against the reach of the seeds, the patterns and the depth limit.

    Args:
        seeds: Canonical URLs.
        include: Regular expressions, in the syntax of RE2; a URL must match one of them,
            if there are any.  Seeds need not match.
        exclude: Regular expressions that a URL must not match.
        max_depth: Maximum number of links from a seed; None for no limit.
        reach: ``host``: the hosts of the seeds.  A host is a name and a port; http and
            https on their default ports are one host.
            ``domain``: every host, on any port, of a seed's `registrable_domain`.
            ``prefix``: the host of a seed, in and below the directory of that seed, which
            is its path up to the last slash.  For ``/docs/`` and ``/docs/index.html`` that
            is ``/docs/``, but for ``/docs`` it is ``/``, as with ``wget --no-parent``:
            only the server knows that ``/docs`` is a directory.
            ``any``: every host.
        has_any_asset: Whether what pages need may be on any host.

    Raises:
        ConfigError: reach is none of these, or a pattern is invalid.

    >>> scope = Scope(["http://a.test/"], exclude=["/private/"])
    >>> scope.check("http://a.test/private/x", depth=1)
    <Reason.EXCLUDED_BY_PATTERN: 'excluded_by_pattern'>
    >>> scope = Scope(["http://www.a.test/docs/index.html"], reach="domain")
    >>> scope.check("https://files.a.test:8443/x", depth=1)
    """

    def __init__(
        self,
        seeds: Iterable[str],
        include: Collection[str] = (),
        exclude: Collection[str] = (),
        max_depth: int | None = None,
        reach: str = "host",
        *,
        has_any_asset: bool = False,
    ) -> None:
        self._has_any_asset = has_any_asset
        self._seeds = frozenset(seeds)
        self._is_reached = _reach_test(reach, self._seeds)
        hosts = "host" if reach == "prefix" else reach
        self._has_host_reached = _reach_test(hosts, self._seeds)
        self._is_included = any_of(include) if include else None
        self._is_excluded = any_of(exclude) if exclude else None
        self._max_depth = max_depth

    def check(self, url: str, depth: int) -> Reason | None:
        """Return why a canonical URL is out of scope; None if it is not.

        Args:
            depth: How many links it is away from a seed.
        """
        if not self._is_reached(url):
            return Reason.OUT_OF_SCOPE
        if url in self._seeds:
            return None
        if self.excludes(url):
            return Reason.EXCLUDED_BY_PATTERN
        if self._is_included is not None and not _occurs(self._is_included, url):
            return Reason.NOT_INCLUDED
        if self._max_depth is not None and depth > self._max_depth:
            return Reason.TOO_DEEP
        return None

    def check_asset(self, url: str) -> Reason | None:
        """Return the same for what a page needs: only its host and ``exclude`` count.

        A page in ``/docs/`` may need a style sheet in ``/static/``.
        """
        if not (self._has_any_asset or self.is_host_reached(url)):
            return Reason.OUT_OF_SCOPE
        return Reason.EXCLUDED_BY_PATTERN if self.excludes(url) else None

    def is_host_reached(self, url: str) -> bool:
        """Return whether a URL is on one of the crawled hosts."""
        return self._has_host_reached(url)

    def excludes(self, url: str) -> bool:
        """Return whether a pattern of ``exclude`` matches a URL, on any host."""
        return self._is_excluded is not None and _occurs(self._is_excluded, url)


def _occurs(is_match: Callable[[str], bool], url: str) -> bool:
    """Return whether a URL matches, as it is or with its escapes normalized."""
    return is_match(url) or is_match(with_normal_escapes(url))


def registrable_domain(host: str) -> str:
    """Return the registrable domain of a host, as returned by `host_of`.

    Sites that hand out names below their own, such as github.io, count as registries.  An
    address, localhost and a registry itself have no registrable domain and are returned
    without their port.

    Source: publicsuffix.org, its private section included.

    >>> registrable_domain("www.shop.co.uk:8000"), registrable_domain("me.github.io")
    ('shop.co.uk', 'me.github.io')
    >>> registrable_domain("127.0.0.1:8000"), registrable_domain("co.uk")
    ('127.0.0.1', 'co.uk')
    """
    name = name_of(host).rstrip(".")
    if is_literal(name):
        return name
    return _public_suffixes().privatesuffix(name) or name


@functools.cache
def _public_suffixes() -> PublicSuffixList:
    """Load the list on first use, because it costs 30 ms and 1.3 MB."""
    return PublicSuffixList()


def _reach_test(reach: str, seeds: Collection[str]) -> Callable[[str], bool]:
    """Return a function that returns whether a canonical URL is within reach."""
    if reach == "host":
        hosts = frozenset(map(host_of, seeds))
        return lambda url: host_of(url) in hosts
    if reach == "domain":
        return _domain_test(seeds)
    if reach == "prefix":
        directories = tuple(map(_directory_of, seeds))
        return lambda url: _without_scheme(url).startswith(directories)
    if reach == "any":
        return lambda url: True
    raise ConfigError(f"reach is {reach!r}; it must be one of {', '.join(REACHES)}")


def _domain_test(seeds: Iterable[str]) -> Callable[[str], bool]:
    domains = {registrable_domain(host_of(seed)) for seed in seeds}

    @functools.lru_cache(REMEMBERED_HOSTS)
    def is_of_domain(host: str) -> bool:
        return registrable_domain(host) in domains

    return lambda url: is_of_domain(host_of(url))


def _directory_of(seed: str) -> str:
    """Return the host of a seed and its path up to the last slash."""
    page = _without_scheme(seed).partition("?")[0]
    return page[: page.rfind("/") + 1]


def _without_scheme(url: str) -> str:
    return with_normal_escapes(url).partition("://")[2]
