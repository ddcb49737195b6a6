"""What one worker knows of a crawl, and what it has yet to send to the server.

`WorkerState.note_answer` applies the answer to a step: claims, lost leases, counts, and when to
ask again.  No server and no event loop; the clock is an argument.

Rule: a claim is this worker's as long as the server says so.  What others have added, ended or
taken back is known after the next step; the counts are those of the last answer that had some.

Used by `crawler_app.store.frontier.postgres.step_exchange`.
"""

import contextlib
import logging
import math
from collections.abc import Callable, Collection, Iterable
from itertools import chain
from typing import Any, NamedTuple

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import LeaseLostError
from crawler_app.base.models import Claim
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import origin_of
from crawler_app.store.frontier import PATIENCE_S
from crawler_app.store.frontier.postgres.caches import (
    OriginNews,
    RecentKeys,
    RecentNumbers,
    UrlCounts,
)
from crawler_app.store.frontier.postgres.leases import Leases
from crawler_app.store.frontier.postgres.step_changes import (
    TELL_WITHIN_S,
    ChangeBatch,
    ChangeQueue,
    HostChanges,
)

__all__ = ["NO_OBSERVER", "FrontierObserver", "LeaseRules", "WorkerState"]

logger = logging.getLogger(__name__)

# How often a worker without URLs asks whether others have found some.
POLL_S = 0.5

# The same, if hosts have their turn that other workers are just leasing from.
BUSY_S = 0.005

# How often it asks for the counts; they cost the server a look at a few hundred rows.
COUNTS_EVERY_S = 1.0


class FrontierObserver:
    """Notified of what the answers of the server change; this one ignores it."""

    def claims_changed(self) -> None:
        """Note that claims have come, or that the crawl may have ended."""

    def claim_lost(self, url: str) -> None:
        """Note a URL whose outcome was not taken: another worker fetches it."""

    def links_forgotten(self) -> None:
        """Note that links that this worker has found may not be on the server."""

    def origin_learned(self, news: OriginNews) -> Subgenerator[None]:
        """Note what other workers know of an origin; its claims are handed out after that."""
        yield from ()


NO_OBSERVER = FrontierObserver()


class LeaseRules(NamedTuple):
    """What a crawl asks of the leases that its workers get.

    Attributes:
        asks_robots: Whether a host is leased from by one worker until its robots.txt is known.
        max_queries: How many URLs of a path may have a query; None for no limit.
        is_by_depth: Whether `Frontier.depth_in_work` is wanted, which costs the server a look
            at late retries.
    """

    asks_robots: bool = False
    max_queries: int | None = None
    is_by_depth: bool = True

    @classmethod
    def of(cls, config: CrawlConfig) -> "LeaseRules":
        """Return the rules for a configuration.

        >>> config = CrawlConfig(("http://a.test/",), max_queries_per_path=7, max_depth=2)
        >>> LeaseRules.of(config)
        LeaseRules(asks_robots=True, max_queries=7, is_by_depth=True)
        """
        by_depth = config.max_depth is not None
        return cls(config.robots, config.max_queries_per_path, by_depth)


class WorkerState:
    """The state of one worker between two steps.

    Args:
        buffered: How many claims wait to be handed out; 0 to ask for each when it is wanted.
        clock: Returns the current time of this machine.
        before_commit: Called by each flush that is not prepared.

    Attributes:
        leases: The claims that the worker holds.
        queue: What is to be sent after a flush.
        host_changes: What is to be sent with the next step.
        known: The keys of URLs that need not be sent again.
        known_url_by_origin: A URL of each origin that got a response.
        gap_by_host: The gaps, as the server has them.
        counts: The counts of URLs in the last answer that had some.
        counted_at: When that came.
        limit_reached: The option whose limit the crawl has reached; empty if none.
        has_drained: Whether no URL is queued or claimed, as far as the server knows.
        next_times: When the next queued URL is due, and when the next lease ends, of any
            worker.
        shift_s: From the server's clock to this one.
        last_queued: How many URLs the last step has queued.
        stepped_at: When the server answered last.
        starved: How many claims were asked for without success since the last ones came.
        lease_s: As in the last call of `Frontier.claim`; 0.0 before the first.
        max_depth: The same.
        per_host: As in the last call of `Frontier.limit_hosts`.
        is_held: Whether no claims are wanted until further notice.
        has_left: Whether the worker leaves: what it holds is put back, and no claim is wanted.
    """

    def __init__(
        self,
        rules: LeaseRules,
        buffered: int,
        clock: Callable[[], float],
        before_commit: Callable[[], None],
    ) -> None:
        self.rules = rules
        self.buffered = buffered
        self._clock = clock
        self._before_commit = before_commit
        self.leases = Leases()
        self.queue = ChangeQueue()
        self.host_changes = HostChanges()
        self.known = RecentKeys()
        self.known_url_by_origin: dict[str, str] = {}
        self.gap_by_host = RecentNumbers()
        self._version_by_origin = RecentNumbers()
        self.counts = UrlCounts({})
        self.counted_at = -math.inf
        self.limit_reached = ""
        self.has_drained = False
        self.next_times: tuple[float | None, float | None] = None, None
        self.shift_s = 0.0
        self.last_queued = 0
        self.stepped_at = -math.inf
        # When to ask again for claims, if there is nothing else to send.
        self.asks_at = -math.inf
        # Counts are worth a step of their own after a change that they do not show.
        self._has_old_counts = False
        self.starved = 0
        self.lease_s = 0.0
        self.max_depth: int | None = None
        self.per_host: int | None = None
        self.is_held = self.has_left = False

    def changing(self) -> ChangeBatch:
        """Return the batch that takes the next change."""
        return self.queue.changing(self._clock())

    def put_back(
        self, claim: Claim, due_at: float | None = None, url: str | None = None
    ) -> None:
        """Put a claim back; see `ChangeBatch.put_back`.

        Raises:
            LeaseLostError: its lease has expired.
        """
        token = self.leases.end(claim)
        self.changing().put_back(token, claim, due_at, url)

    def release(self, claims: Iterable[Claim]) -> None:
        """Put claims back as they were, but for those whose leases have expired."""
        for claim in claims:
            with contextlib.suppress(LeaseLostError):
                self.put_back(claim)

    def flush(self, *, is_prepared: bool = False) -> bool:
        """Let what has changed be sent; return whether anything has."""
        if not self.queue.has_changes():
            return False
        if not is_prepared:
            self._before_commit()
        self.queue.flush()
        return True

    def leave(self) -> None:
        """Put back what is claimed, and let everything be sent."""
        self._put_all_back()
        self.queue.flushed.append(ChangeBatch())  # whose answer has the last counts
        self.has_left = True

    def _put_all_back(self) -> None:
        for claim in self.leases:
            self.put_back(claim)
        self.flush()

    @property
    def is_behind(self) -> bool:
        """Whether the server does not know all changes, or claims wait to be handed out."""
        return bool(self.leases.idle()) or any(self.queue.pending())

    def wanted(self) -> int:
        """Return how many claims to ask for."""
        if self.has_left or self.is_held or not self.lease_s:
            return 0
        return max(self.buffered - len(self.leases.idle()), self.starved)

    def request(self, batch: ChangeBatch, wanted: int) -> dict[str, Any]:
        """Return the body of the next step, and count its changes of hosts as sent."""
        changes, self.host_changes = self.host_changes, HostChanges()
        now = self._clock()
        pending = sum(len(each.claims) for each in self.queue.pending())
        return batch.body(changes) | {
            "wanted": wanted,
            "lease_s": self.lease_s,
            "max_depth": self.max_depth,
            "per_host": self.per_host,
            "asks_robots": self.rules.asks_robots,
            "max_queries": self.rules.max_queries,
            "asks": list(self.leases.unready_by_origin),
            "held": len(self.leases) + pending - len(batch.claims),
            "is_by_depth": self.rules.is_by_depth,
            "late_at": now + PATIENCE_S if self._wants_counts(now) else None,
        }

    def _wants_counts(self, now: float) -> bool:
        # Whether a limit ends the crawl depends on what else is queued.
        is_ending = self.has_left or bool(self.limit_reached)
        # They are fresh for a second, unless the clock was set back.
        fresh_until = self.counted_at + COUNTS_EVERY_S
        return is_ending or not self.counted_at <= now < fresh_until

    @property
    def counts_due_at(self) -> float:
        """When to ask for the counts, even if there is nothing to send."""
        return self.counted_at + COUNTS_EVERY_S if self._has_old_counts else math.inf

    def note_answer(
        self,
        batch: ChangeBatch,
        answer: dict[str, Any],
        wanted: int,
        observer: FrontierObserver,
    ) -> None:
        """Apply an answer, except what it says of origins, which `learn` applies.

        Args:
            batch: What the step has sent.
            wanted: How many claims it has asked for.
        """
        self.stepped_at = self._clock()
        self.last_queued = answer["queued"]
        self.shift_s = answer["sent_at"] - answer["at"]
        self._note_limit(answer)
        # Before the claims, which wait if they come with a newer version than is known here.
        self._note_versions(answer, observer)
        self._drop_ended_leases(answer)
        # Before the new claims: a URL that was lost may be leased to this worker again.
        self._note_lost(batch, answer.get("lost", ()), observer)
        new_claims = self._note_claims(answer)
        if self.has_left:
            self._put_all_back()  # what was asked for before
        elif self.is_held:
            self.release(self.leases.idle())
        has_new_level = self._note_counts(answer)
        # Also if it has counts: those of two steps at once miss the changes of the other.
        self._has_old_counts |= batch.began_at is not None
        self._note_what_comes(answer, is_short=new_claims < wanted)
        has_more = bool(self.leases.waiting or self.is_held) or has_new_level
        if has_more or self.has_drained or self.limit_reached:
            observer.claims_changed()

    def _note_versions(
        self, answer: dict[str, Any], observer: FrontierObserver
    ) -> None:
        for origin, version in answer.get("versions", ()):
            # Otherwise it has news of others too.
            if version == self._version_by_origin.get(origin, 0) + 1:
                self._version_by_origin.note(origin, version)
        if answer["is_replaced"] or answer.get("is_repeated"):
            # What was sent may not have been taken; nothing says which.
            self._version_by_origin.clear()
            self._forget_links(observer)

    def _drop_ended_leases(self, answer: dict[str, Any]) -> None:
        if answer["is_replaced"]:
            self.leases.keep(set())
        elif answer.get("is_repeated"):
            self.leases.keep({row[0] for row in answer.get("claims") or ()})
        elif "held" in answer:
            self.leases.keep(set(answer["held"]))

    def _note_claims(self, answer: dict[str, Any]) -> int:
        """Note the claims of an answer; return how many are new."""
        claims = answer.get("claims") or ()
        new = [row for row in claims if not self._has_had(row[0])]
        if new:
            self.starved = 0  # a caller that gets none of them asks again
        for row in new:
            self._note_claim(row)
        return len(new)

    def _note_counts(self, answer: dict[str, Any]) -> bool:
        """Note the counts, if the answer has some; return whether another level has begun."""
        if "urls" not in answer:
            return False
        before, self.counts = self.counts, UrlCounts(answer)
        self._has_old_counts = False
        self.counted_at = self.stepped_at
        return before.least_depth() != self.counts.least_depth()

    def _note_limit(self, answer: dict[str, Any]) -> None:
        """Note a limit once the counts of that time are known, which say what is left."""
        limit = answer.get("limit", "")
        if limit == "max_pages" and "urls" not in answer:
            self.counted_at = -math.inf  # to ask at once
        else:
            self.limit_reached = limit

    def _has_had(self, token: int) -> bool:
        """Return whether a lease was noted, and has perhaps ended here."""
        return token in self.leases or any(
            token in batch.claims for batch in self.queue.pending()
        )

    def _note_lost(
        self, batch: ChangeBatch, tokens: Collection[int], observer: FrontierObserver
    ) -> None:
        """Note outcomes that the server did not take, because the lease had ended.

        The links of these pages were not taken either, so they are not known.
        """
        for token in tokens:
            url = batch.claims[token].url
            logger.warning("the lease on %s has expired; it will be fetched again", url)
            if not self._has_again(url):
                observer.claim_lost(url)
        if tokens:
            self._forget_links(observer)

    def _has_again(self, url: str) -> bool:
        """Return whether a URL whose lease was lost has another one here, or has ended again."""
        batches = (batch.claims.values() for batch in self.queue.pending())
        return any(each.url == url for each in chain(self.leases, *batches))

    def _forget_links(self, observer: FrontierObserver) -> None:
        self.known.clear()
        observer.links_forgotten()

    def _note_claim(self, row: list[Any]) -> None:
        claim = self.leases.note(row, self.shift_s)
        gap_s, version = row[-2:]
        if gap_s or claim.host in self.gap_by_host:
            self.gap_by_host.note(claim.host, gap_s)
        origin = origin_of(claim.url)
        if version is None or version == self._version_by_origin.get(origin):
            self.leases.make_ready(origin)
            return
        # Sooner if there is nothing else to do.
        wait_s = TELL_WITHIN_S if self.leases.waiting else 0.0
        self.host_changes.due_at = min(
            self.host_changes.due_at, self.stepped_at + wait_s
        )

    def learn(
        self,
        observer: FrontierObserver,
        name: str,
        version: int,
        known_url: str | None,
        pauses: int | None,
        robots: dict[str, Any] | None,
        cookies: dict[str, list[Any]] | None,
    ) -> Subgenerator[None]:
        """Note what the server says of an origin, and let its claims be handed out."""
        self._version_by_origin.note(name, version)
        if known_url is not None:
            self.known_url_by_origin.setdefault(name, known_url)
        untold = self.host_changes.by_origin.get(name, {})
        yield from observer.origin_learned(
            OriginNews(
                name,
                untold.get("pauses", pauses or 0),
                robots or {},
                (cookies or {}) | untold.get("cookies", {}),
            )
        )
        self.leases.make_ready(name)
        observer.claims_changed()

    def _note_what_comes(self, answer: dict[str, Any], *, is_short: bool) -> None:
        """Note whether there is more to claim, and when."""
        times = [answer.get(name) for name in ("due_at", "lease_ends_at")]
        due_at, ends_at = (None if at is None else at + self.shift_s for at in times)
        self.next_times, now = (due_at, ends_at), self.stepped_at
        self.has_drained = answer.get("is_drained", False)
        self.asks_at = -math.inf
        if is_short:
            wait_s = BUSY_S if answer.get("is_contended") else POLL_S
            self.asks_at = min([now + wait_s, *self.times_after(now)])

    def times_after(self, now: float) -> list[float]:
        """Return when a further URL may be claimed."""
        return [at for at in self.next_times if at is not None and at > now]
