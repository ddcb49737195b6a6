"""The frontier: every URL found so far, and its state.

The state transitions of a URL::

    from     to        by              when
    -------  --------  --------------  ---------------------------------------------------
    (none)   queued    add             it was admitted for the first time
    (none)   excluded  add             it was refused; recorded with the reason
    excluded queued    add             its refusal was provisional, and another link allows it
    excluded excluded  add             its refusal was provisional, and is now permanent
    queued   claimed   claim           it is due, and so is its host; one worker owns it
    claimed  done      finish          there was a response: a page, a file, a redirect
    claimed  failed    finish          there was an error, and no try is left
    claimed  excluded  finish          robots.txt or the user forbids to fetch it
    claimed  queued    retry           there was a temporary error; due at a given time
    claimed  queued    release         the worker returns it without a try
    claimed  queued    respell         a redirect led to another spelling of the same key
    claimed  queued    claim           the lease has expired
    claimed  queued    (none)          the process has ended
    done     queued    finish          a redirect that led to the finished URL is due again
    failed   queued    requeue_failed  the user wants it retried
    done     queued    requeue_urls    its response or its words were lost; also from failed

Rule 1: URLs are compared by `crawler_app.base.urls.dedup_key`; each is stored once.  One that
must not be fetched is stored as its key if it is long, so that a page of many such links
takes little space.

Rule 2: `finish` is atomic: the outcome and the URLs found on the page are stored together or
not at all.  A backend may write several transitions at once, but only in order.  So a crash
repeats fetches and never loses a link.

Rule 3: no clock: the current time is an argument, in seconds since the epoch.

Backends::

    sqlite           the default, on disk; in a temporary file where nothing is kept
    postgres         in PostgreSQL, shared by the workers of a crawl, on one machine or many

Of the former::

    sqlite_reading   the reading half
    frontier_schema  the tables
    schedule         the order of claims
    commit_group     commits many steps at once
    stored_counts    the counts, and the slowest fetches
    key_set          the keys of known URLs
    saved_keys       saves them
    previous_crawl   what differs from the previous crawl

All count URLs as `crawler_app.store.frontier.count_types` describes.
"""

import abc
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from crawler_app.base.models import Candidate, Claim, Outcome, Role, State, UrlRecord
from crawler_app.base.urls import MAX_KEY_CHARS, dedup_key
from crawler_app.store.frontier.count_types import Amount, HostCounts, OutcomeKey
from crawler_app.store.frontier.previous_crawl import PreviousCrawl

__all__ = [
    "LONGEST_HOLD_S",
    "MAX_QUERIES",
    "MAX_SETBACK_S",
    "PATIENCE_S",
    "Frontier",
    "FrontierReader",
    "key_of",
    "stored_url",
    "turn_of",
]

# How many seconds a level-by-level crawl waits for a retry before it continues with the next
# level.
PATIENCE_S = 60.0

# The time may go back by this much, by corrections of a clock.  If it goes back further, the clock
# was set back, and what was to end at a time ends that much earlier: nothing else would be claimed
# for as long.
MAX_SETBACK_S = 10.0

# No option and no Retry-After allows a longer hold, so a hold that lasts longer is due to a clock
# that was wrong.
LONGEST_HOLD_S = 24 * 3600.0

# How many URLs with a query a resumed crawl learns from; reading them takes a third of a second.
MAX_QUERIES = 100_000


class FrontierReader(abc.ABC):
    """Read access to a frontier.

    Attributes:
        previous: The previous crawl, for comparison.
    """

    previous: PreviousCrawl

    @abc.abstractmethod
    def count(self, state: State) -> int:
        """Return how many URLs are in a state."""

    @abc.abstractmethod
    def count_non_pages(self, state: State) -> int:
        """Return how many assets and external URLs are in a state."""

    @abc.abstractmethod
    def outcome_counts(self) -> Mapping[OutcomeKey, Amount]:
        """Return how many URLs there are of each kind of outcome."""

    @abc.abstractmethod
    def hosts(self) -> list[HostCounts]:
        """Return the counts of the hosts that were or will be fetched from."""

    @abc.abstractmethod
    def slowest(self) -> list[UrlRecord]:
        """Return the URLs whose last fetch took longest, slowest first; at most 100."""

    @abc.abstractmethod
    def redirects(self) -> dict[str, str]:
        """Return the target of each redirect, by its URL."""

    @abc.abstractmethod
    def find(self, key: str) -> UrlRecord | None:
        """Return the record of the URL with a key; None if there is none."""

    @abc.abstractmethod
    def records(self, state: State | None = None) -> Iterator[UrlRecord]:
        """Return the records of all URLs in a state, in the order they were found.

        Args:
            state: None for every state.  Failed URLs are found without reading others.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """Write pending changes to disk and free all resources."""

    # Where soft 404s are stored: on disk.

    def soft_404s(self) -> list[str]:
        """Return made-up URLs that hosts answer as if they existed, one for each host."""
        return []

    # Derived from the counts and records; `is_drained` is more where links are on their way.

    def total(self) -> int:
        """Return how many URLs there are."""
        return sum(map(self.count, State))

    def begun_pages(self) -> int:
        """Return how many pages were fetched or are under way, for ``--max-pages``."""
        begun = (State.DONE, State.FAILED, State.CLAIMED)
        return sum(self.count(state) - self.count_non_pages(state) for state in begun)

    def is_drained(self) -> bool:
        """Return whether no URL is queued or claimed."""
        return not self.count(State.QUEUED) and not self.count(State.CLAIMED)

    def urls(self, *states: State) -> list[str]:
        """Return the URLs in these states, in the order they were found.

        Without arguments, all URLs.
        """
        wanted = states or tuple(State)
        return [record.url for record in self.records() if record.state in wanted]


class Frontier(FrontierReader):
    """The interface of all backends; one test suite runs over each of them."""

    # Every backend: URLs.

    @abc.abstractmethod
    def knows(self, key: str) -> bool:
        """Return whether the URL with a key is known and adding it changes nothing."""

    @abc.abstractmethod
    def add(self, candidates: Iterable[Candidate], via: Claim | None = None) -> int:
        """Add the candidates that are not known yet; return how many were queued.

        Args:
            via: The URL that led to them; None for seeds.
        """

    @abc.abstractmethod
    def claim(
        self, now: float, lease_s: float, max_depth: int | None = None
    ) -> Claim | None:
        """Lease the next URL whose host may be asked now to one worker.

        Order of hosts: the one that has been free longest, then the one found first.  Order
        of URLs: assets and external URLs, at any depth; then by depth, and by the order in
        which they were found.  None if no URL is
        due *now*; `next_at` returns when to call again.  A host that has reached the limit
        of `limit_hosts` is not free.  If the clock was set back since the last call, or since an
        earlier run, holds and retries end that much earlier.

        Args:
            lease_s: Seconds after which the URL goes back to the queue.
            max_depth: Deeper URLs are not claimed, except assets and external URLs; None for
                no limit.
        """

    @abc.abstractmethod
    def finish(
        self,
        claim: Claim,
        outcome: Outcome,
        now: float,
        outlinks: Iterable[Candidate] = (),
        again: int | None = None,
    ) -> int:
        """Record the outcome of a claimed URL and add its outlinks, in one step.

        Returns how many of the outlinks were new and queued.

        Args:
            again: The id of a redirect, as returned by `redirect_before`, to be queued
                again, with one redirect fewer left than the claimed URL has.

        Raises:
            LeaseLostError: the lease has expired; nothing was recorded.
            FrontierError: the disk has failed; earlier transitions are lost too.
        """

    @abc.abstractmethod
    def retry(self, claim: Claim, due_at: float) -> None:
        """Put a claimed URL back, due at a given time; counts as a try.

        Raises:
            LeaseLostError: the lease has expired.
        """

    @abc.abstractmethod
    def release(self, claim: Claim) -> None:
        """Put a claimed URL back unchanged; does nothing if the lease has expired."""

    @abc.abstractmethod
    def respell(self, claim: Claim, url: str) -> None:
        """Put a claimed URL back under the spelling that its server redirects to.

        For the frontier the two are one URL, so the new one could not be added.  It has
        one redirect fewer left.

        Raises:
            LeaseLostError: the lease has expired.
        """

    @abc.abstractmethod
    def redirect_before(self, claim: Claim, url: str) -> int | None:
        """Return the id of a URL if its redirects led to a claimed one; None otherwise."""

    @abc.abstractmethod
    def requeue_failed(self, reasons: Collection[str]) -> int:
        """Queue the URLs that failed for one of these reasons, as if never tried.

        Returns how many.
        """

    @abc.abstractmethod
    def requeue_urls(self, urls: Collection[str]) -> int:
        """Queue those of these URLs that are done or failed, as if never tried.

        Returns how many.
        """

    @abc.abstractmethod
    def queries(self) -> Iterable[str]:
        """Return the newest URLs with a query or path parameters, at most MAX_QUERIES.

        Excluded ones are left out.  The order is that in which they were found.
        """

    # Every backend: hosts and times.

    @abc.abstractmethod
    def limit_hosts(self, per_host: int | None) -> None:
        """Limit the number of claims per host; None, the initial value, for no limit."""

    @abc.abstractmethod
    def hold_host(self, host: str, free_at: float) -> None:
        """Block claims from a host until a time; never shortens an existing hold."""

    @abc.abstractmethod
    def shorten_hold(self, host: str, held_to: float, free_at: float) -> None:
        """Allow claims from a host earlier if it is held just until a time.

        A hold for another reason, which ends later, stays.

        Args:
            held_to: The end of the hold that is to be shortened.
        """

    @abc.abstractmethod
    def note_response(self, origin: str, url: str) -> None:
        """Remember a URL that got a response, as the only one of its origin."""

    @abc.abstractmethod
    def known_url(self, origin: str) -> str:
        """Return the URL of an origin that got a response; empty if none is remembered."""

    @abc.abstractmethod
    def next_at(self, now: float) -> float | None:
        """Return the earliest time after now at which a further URL may become due.

        None if that can only happen when a worker ends a URL.
        """

    @abc.abstractmethod
    def depth_in_work(self, now: float) -> int | None:
        """Return the minimum depth of all URLs queued or claimed; None if there are none.

        A retry that is due in more than PATIENCE_S does not count.
        """

    # Every backend: commits.

    @abc.abstractmethod
    def is_due(self, now: float) -> bool:
        """Return whether enough URLs have ended, or long enough ago, for a `flush`."""

    @abc.abstractmethod
    def has_changes(self) -> bool:
        """Return whether anything has changed since the last `flush`."""

    def due_checkpoint(self) -> Callable[[], None] | None:
        """Return the checkpoint to run in another thread after a `flush`, or None.

        As little as possible should be changed until it has run.
        """
        return None

    @abc.abstractmethod
    def flush(self, *, is_prepared: bool = False) -> None:
        """Write pending changes to disk, so that other processes see them.

        Args:
            is_prepared: Whether the archive and the index were flushed since the last end
                of a claim; if not, that is done here.

        Raises:
            FrontierError: they cannot be written, and are lost.
        """

    # Where soft 404s are stored: on disk.

    def take_soft_404(self, origin: str) -> bool:
        """Return whether to ask an origin for a made-up URL; another worker may have."""
        return True

    def note_soft_404(self, origin: str, url: str) -> None:
        """Remember a made-up URL that an origin answers as if it existed; empty if none."""

    # Derived, unless the archive of this process has a part of the URLs only.

    def __contains__(self, url: str) -> bool:
        """Return whether a canonical URL is known; see `knows`."""
        return self.knows(dedup_key(url))

    def own_records(self) -> Iterator[UrlRecord]:
        """Return the records of what is in the archive and the index of this process."""
        return self.records()

    def own_done(self) -> int:
        """Return how many of these were fetched, at least."""
        return self.count(State.DONE)

    def own_pages(self) -> int:
        """Return how many of these are pages."""
        counts = self.outcome_counts().items()
        return sum(amount.urls for kind, amount in counts if kind.is_html)


def key_of(candidate: Candidate) -> str:
    """Return the key of a candidate."""
    return candidate.key or dedup_key(candidate.url)


def turn_of(role: Role, depth: int) -> int:
    """Return when it is the turn of a URL: first what pages need, then level by level.

    So a page is whole when the next one begins, and a crawl that is stopped by a limit has
    few pages without their images.
    """
    return -1 if role.is_non_page else depth


def stored_url(candidate: Candidate) -> str:
    """Return the URL to be stored for a candidate: itself, or its key."""
    if candidate.refusal and len(candidate.url) > MAX_KEY_CHARS:
        return key_of(candidate)
    return candidate.url
