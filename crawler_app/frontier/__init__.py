"""The frontier: every URL the crawl has met, and where each stands.

The moves of a URL, and what makes each::

    from     to        by          when
    -------  --------  ----------  ---------------------------------------------------
    (none)   queued    add         it was admitted for the first time
    (none)   excluded  add         it was refused; kept with the reason
    excluded queued    add         refused for the way to it, it was met again by another
    excluded excluded  add         the same, and refused for what it is this time
    queued   claimed   claim       its turn has come, and its host's; one worker owns it
    claimed  done      finish      an answer came: a page, a file, a redirect
    claimed  failed    finish      an error came, for the last time
    claimed  excluded  finish      its host does not want it to be asked for
    claimed  queued    retry       an error came that may pass; not before a given time
    claimed  queued    release     the worker gives it back untried
    claimed  queued    respell     a redirect led to another spelling of the same key
    claimed  queued    (by itself) the lease has expired, or its owner has died
    failed   queued    requeue     somebody wants it tried again

Rule 1: a URL is compared by `crawler_app.urls.dedup_key` and met once.

Rule 2: `finish` is whole: the outcome and the URLs found on the page are kept together or
not at all.  A backend may write several moves at once, but none before one that was made
earlier.  So a crash repeats fetches and never loses a link.

Rule 3: no clock: the current time is an argument, in seconds of the epoch.

Backends: `sqlite` (the default, on disk), `memory` (for tests and small crawls).
"""

import abc
from collections.abc import Collection, Iterable, Iterator

from crawler_app.models import Candidate, Claim, Outcome, State, UrlRecord

__all__ = ["PATIENCE_S", "Frontier"]

# Seconds for which a crawl that goes level by level waits for a retry, rather than go on
# to the next level without it.
PATIENCE_S = 60.0


class Frontier(abc.ABC):
    """What every backend does; one suite of tests runs over all of them."""

    @abc.abstractmethod
    def limit_hosts(self, per_host: int | None) -> None:
        """Give out so many URLs of one host at once; None, as at first, for no limit."""

    @abc.abstractmethod
    def __contains__(self, url: str) -> bool:
        """Return whether a canonical URL was met, and nothing can change by adding it."""

    @abc.abstractmethod
    def add(self, candidates: Iterable[Candidate], via: Claim | None = None) -> int:
        """Take in candidates that are not known yet; return how many were queued.

        Args:
            via: The URL that led to them; None for seeds.
        """

    @abc.abstractmethod
    def claim(
        self, now: float, lease_s: float, max_depth: int | None = None
    ) -> Claim | None:
        """Return the next URL whose host may be asked now, for one worker alone.

        The host that has been free longest, then the one met first; of its URLs the
        least deep, then the one met first.  None if there is none *now*; `next_at`
        tells when to ask again.  A host with as many claims as `limit_hosts` lets it
        have is not free.

        Args:
            lease_s: Seconds after which the URL goes back to the queue by itself.
            max_depth: Nothing deeper is given out; None for no limit.
        """

    @abc.abstractmethod
    def finish(
        self,
        claim: Claim,
        outcome: Outcome,
        now: float,
        outlinks: Iterable[Candidate] = (),
    ) -> int:
        """Record how a claimed URL ended and take in what it led to, at once.

        Returns how many of the outlinks were new and queued.

        Raises:
            LeaseLostError: the URL is no longer this claim's; nothing was recorded.
            FrontierError: the disk has failed, and moves made before are lost too.
        """

    @abc.abstractmethod
    def retry(self, claim: Claim, due_at: float) -> None:
        """Put a claimed URL back, not to be claimed before a time; counts as a try.

        Raises:
            LeaseLostError: the URL is no longer this claim's.
        """

    @abc.abstractmethod
    def release(self, claim: Claim) -> None:
        """Put a claimed URL back as it was; nothing happens if the lease is lost."""

    @abc.abstractmethod
    def respell(self, claim: Claim, url: str) -> None:
        """Put a claimed URL back under the spelling that its server insists on.

        To the frontier the two are one URL, so the new one could not be added.  It has
        one redirect fewer left.

        Raises:
            LeaseLostError: the URL is no longer this claim's.
        """

    @abc.abstractmethod
    def hold_host(self, host: str, free_at: float) -> None:
        """Claim nothing more from a host before a time; an earlier one does nothing."""

    @abc.abstractmethod
    def next_at(self, now: float) -> float | None:
        """Return the earliest time after now at which `claim` may find more than now.

        None if only a worker can bring something new.
        """

    @abc.abstractmethod
    def depth_in_work(self, now: float) -> int | None:
        """Return the least depth of all that is queued or claimed; None if nothing is.

        A retry that is due in more than PATIENCE_S is left out: nobody waits for it.
        """

    @abc.abstractmethod
    def recover(self) -> int:
        """Put every claimed URL back, their owner having died; return how many.

        To be called by whoever has made sure that nobody else works on this frontier.
        """

    @abc.abstractmethod
    def requeue(self, reasons: Collection[str]) -> int:
        """Queue the URLs that failed for one of these reasons, as if never tried.

        Returns how many.
        """

    @abc.abstractmethod
    def count(self, state: State) -> int:
        """Return how many URLs stand there."""

    @abc.abstractmethod
    def records(self) -> Iterator[UrlRecord]:
        """Return every URL with all that is known of it, in the order they were met."""

    @abc.abstractmethod
    def flush(self) -> None:
        """Write what is not on disk yet, so that other processes see it.

        `claim` does so now and then, and whenever it finds nothing.

        Raises:
            FrontierError: it cannot be written, and is lost.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """Write what is not on disk yet and let go of every resource."""

    def total(self) -> int:
        """Return how many URLs there are."""
        return sum(map(self.count, State))

    def is_drained(self) -> bool:
        """Return whether nothing is left to do: nothing queued, nothing claimed."""
        return not self.count(State.QUEUED) and not self.count(State.CLAIMED)

    def urls(self, *states: State) -> list[str]:
        """Return the URLs that stand in these states, in the order they were met.

        Without a state, all of them.
        """
        wanted = states or tuple(State)
        return [record.url for record in self.records() if record.state in wanted]
