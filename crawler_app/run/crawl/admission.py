"""Checks each URL found before it enters the frontier."""

import itertools
from collections import Counter
from collections.abc import Iterable

from crawler_app.base.config import ANY, CrawlConfig
from crawler_app.base.errors import UrlError
from crawler_app.base.models import Candidate, Claim, Role
from crawler_app.base.reasons import Reason, traits_of
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import dedup_key, host_of, join, join_or_nothing
from crawler_app.run.crawl import trace
from crawler_app.run.crawl.observer import CrawlObserver
from crawler_app.run.crawl.repeated_pages import RepeatedPages
from crawler_app.run.crawl.scope import Scope
from crawler_app.run.crawl.time_slice import TimeSlice
from crawler_app.run.crawl.traps import QueryCounter, trap_in
from crawler_app.store.frontier import Frontier
from crawler_app.web.documents.html import Page

__all__ = ["Admission"]

# Links between two looks at the clock.  Most take two microseconds, but one of 8,000
# characters, all escaped, takes almost a millisecond.
BATCH = 8

# Refusals after which a URL is still checked once, as an external URL, with `external`.
CHECKED_EXTERNALLY = frozenset(
    (Reason.NOT_INCLUDED, Reason.OUT_OF_SCOPE, Reason.TOO_DEEP)
)


class Admission:
    """Canonicalizes each URL found and decides whether it may be fetched.

    Args:
        stats: Counts the refusals of this run, by reason.
        observer: Notified of refusals, and asked where URLs are served; None for none.

    >>> from crawler_app.store.frontier.sqlite import SqliteFrontier
    >>> config = CrawlConfig(("http://a.test/",))
    >>> admission = Admission(config, SqliteFrontier(), Counter())
    >>> admission.admit("page#top", base="http://a.test/").url
    'http://a.test/page'
    >>> admission.admit("http://b.test/").refusal
    <Reason.OUT_OF_SCOPE: 'out_of_scope'>
    """

    def __init__(
        self,
        config: CrawlConfig,
        frontier: Frontier,
        stats: Counter[str],
        observer: CrawlObserver | None = None,
    ) -> None:
        self._config = config
        self._frontier = frontier
        self._stats = stats
        self._observer = observer
        self._seeds = frozenset(config.seeds)
        self._seed_hosts = frozenset(map(host_of, config.seeds))
        self._scope = Scope(
            config.seeds,
            config.include,
            config.exclude,
            config.max_depth,
            reach=config.scope,
            has_any_asset=config.assets == ANY,
        )
        self._queries = QueryCounter(config.max_queries_per_path)
        has_subdomains = config.scope in ("domain", "any")
        self._repeated = RepeatedPages(
            config.max_queries_per_path, self._seed_hosts if has_subdomains else None
        )

    def remember(self) -> None:
        """Count the queries of the URLs that the frontier holds from earlier runs."""
        for url in self._frontier.queries():
            self._queries.admit(url)

    def note_page(self, url: str, page: Page, size_bytes: int) -> None:
        """Note what a page says, to find sites without end; one without links ends."""
        if page.links and url not in self._seeds:
            # Without an index, texts are not read; but other pages have other sizes.
            size_bytes = 0 if page.text else size_bytes
            self._repeated.note(url, f"{page.title}\0{page.text}", size_bytes)

    def is_trap(self, url: str) -> bool:
        """Return whether pages at URLs like this one repeat each other; a seed never does."""
        return self._repeated.is_trap(url) and url not in self._seeds

    def admit(
        self,
        reference: str,
        base: str = "",
        depth: int = 0,
        redirects_left: int | None = None,
        *,
        nofollow: bool = False,
        role: Role = Role.LINK,
    ) -> Candidate | None:
        """Return the candidate that a reference stands for, canonicalized and checked.

        A refused URL is a candidate too: it is recorded with its reason.  None if the
        reference is not an http(s) URL, or if the frontier already has it.

        Args:
            reference: As written in a page or a header, or an absolute URL.
            base: The URL that it is relative to.
            redirects_left: None for the number that the configuration allows.
            nofollow: Whether the page asks robots not to follow it.
            role: What it was found as.  On the host of a seed, a sitemap may have any
                path: the URLs that it lists are checked.
        """
        try:
            url = join(base, reference)
        except UrlError as exc:
            self._stats[f"invalid/{exc.reason}"] += 1
            return None
        if self._observer is not None:
            url = self._observer.served_at(url)
        key = dedup_key(url)
        if self._frontier.knows(key):
            return None
        refusal = self.check(url, depth, nofollow=nofollow, role=role)
        if refusal in CHECKED_EXTERNALLY and self._config.external:
            role = Role.EXTERNAL
            refusal = Reason.EXCLUDED_BY_PATTERN if self._scope.excludes(url) else None
        if refusal is not None:
            self._stats[f"skipped/{refusal}"] += 1
        if redirects_left is None:
            redirects_left = self._config.max_redirects
        candidate = Candidate(
            url, host_of(url), depth, redirects_left, refusal, role, key
        )
        if refusal is not None:
            trace.note_refusal(candidate, base)
            if self._observer is not None:
                self._observer.saw_refusal(candidate)
        return candidate

    def is_external_asset(self, url: str, role: Role) -> bool:
        """Return whether a URL is what a page needs from another host."""
        return role is Role.ASSET and not self._scope.is_host_reached(url)

    def role_of_frame(self, reference: str, base: str) -> Role:
        """Return the role of what a frame shows: a page, or an asset on another host."""
        if self._config.assets != ANY:
            return Role.LINK
        url = join_or_nothing(base, reference)
        is_elsewhere = bool(url) and not self._scope.is_host_reached(url)
        return Role.ASSET if is_elsewhere else Role.LINK

    def in_turns(
        self, admitted: Iterable[Candidate | None], via: Claim | None
    ) -> Subgenerator[list[Candidate]]:
        """Return the candidates of an iterator that calls `admit`.

        If there are many, only the last: after each time slice, those found so far are
        added to the frontier.  If the crawl is killed then, the URL that led to them is
        read again, and they are known already.
        """
        candidates: list[Candidate] = []
        time_slice, rest = TimeSlice(), iter(admitted)
        while batch := list(itertools.islice(rest, BATCH)):
            candidates += filter(None, batch)
            if time_slice.is_over():
                self._frontier.add(candidates, via)
                candidates.clear()
                yield from time_slice.rest()
        return candidates

    def check(
        self,
        url: str,
        depth: int,
        *,
        nofollow: bool = False,
        role: Role = Role.LINK,
    ) -> Reason | None:
        """Return why a canonical URL must not be fetched; None if it may.

        Then its query counts towards the limit of its path.
        """
        if role is Role.ASSET:
            refusal = self._scope.check_asset(url)
        else:
            refusal = self._scope.check(url, depth)
        if refusal is not None and not (
            role is Role.SITEMAP
            and traits_of(refusal).spares_sitemaps
            and host_of(url) in self._seed_hosts
        ):
            return refusal
        if url in self._seeds:
            return None
        if nofollow:
            return Reason.NOFOLLOW
        if self._repeated.is_trap(url):
            return Reason.TOO_MANY_ALIKE
        # Last, because it counts the URLs that pass.
        trap = trap_in(url, self._config)
        if trap is None and not self._queries.admit(url):
            return Reason.TOO_MANY_QUERIES
        return trap
