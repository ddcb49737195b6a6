"""Applies the server's answer to a step: claims, known URLs, and when to ask again.

Rule: a claim is this worker's as long as the server says so.  What others have added, ended or
taken back is known after the next step; the numbers are those of the last answer.

Used by `crawler_app.store.frontier.postgres.step_exchange`.
"""

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Callable, Iterable
from typing import Any

from crawler_app.base.errors import LeaseLostError
from crawler_app.base.models import Claim
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import origin_of
from crawler_app.store.frontier import Frontier
from crawler_app.store.frontier.postgres.blocking_reader import PostgresReader
from crawler_app.store.frontier.postgres.caches import (
    OriginNews,
    RecentKeys,
    RecentNumbers,
)
from crawler_app.store.frontier.postgres.change_queue import ChangeQueue
from crawler_app.store.frontier.postgres.host_changes import TELL_WITHIN_S, HostChanges
from crawler_app.store.frontier.postgres.leases import Leases
from crawler_app.store.frontier.postgres.location import CrawlLocation, StoreLocation
from crawler_app.store.frontier.postgres.step_changes import ChangeBatch
from crawler_app.store.frontier.postgres.step_sender import StepSender
from crawler_app.store.frontier.postgres.url_counts import UrlCounts
from gencoro import gen

__all__ = ["Answers"]

logger = logging.getLogger(__name__)

NO_STORE = StoreLocation()

# How often a worker without URLs asks whether others have found some.
POLL_S = 0.5

# The same, if hosts have their turn that other workers are just leasing from.
BUSY_S = 0.005

# How often it asks for the numbers; they cost the server a look at a few hundred rows.
COUNTS_EVERY_S = 1.0


class Answers(Frontier):
    """The part of a `PostgresFrontier` that is changed by answers.

    Args:
        name: Of the worker, for people.
        store: Where it keeps what it fetches.
        buffered: How many claims wait to be handed out; 0 to ask for each when it is wanted.
        clock: Returns the current time of this machine.
        server_clock: The same for the server; None for the clock that it has.
        before_commit: Called by each flush that is not prepared.

    Attributes:
        on_change: Called when claims have come, or when the crawl may have ended.
        on_lost: Called with a URL whose outcome was not taken: another worker fetches it.
        on_news: Called with what other workers have learned of an origin, before its claims
            are handed out.  A Future that it returns is waited for.
        asks_robots: Whether a host is leased from by one worker until its robots.txt is known.
        max_queries: How many URLs of a path may have a query; None for no limit.
        is_by_depth: Whether `depth_in_work` is wanted, which costs a look at late retries.
        shift_s: From the server's clock to this one.
        last_queued: How many URLs the last step has queued.
        limit_reached: The option whose limit the crawl has reached; empty if none.
    """

    def __init__(
        self,
        location: CrawlLocation,
        name: str = "",
        store: StoreLocation = NO_STORE,
        *,
        buffered: int = 10,
        clock: Callable[[], float] = time.time,
        server_clock: Callable[[], float] | None = None,
        before_commit: Callable[[], None] = lambda: None,
    ) -> None:
        self.on_change: Callable[[], None] = lambda: None
        self.on_lost: Callable[[str], None] = lambda url: None
        self.on_news: Callable[[OriginNews], gen.Future[None] | None] = lambda _: None
        self.asks_robots = False
        self.max_queries: int | None = None
        self.is_by_depth = True
        self.shift_s = 0.0
        self.last_queued = 0
        self.limit_reached = ""
        self._reader = PostgresReader(location)
        self._store = store
        self._sender = StepSender(location, name, store, clock, server_clock)
        self._buffered = buffered
        self._clock = clock
        self._before_commit = before_commit
        self._known = RecentKeys()
        self._known_url_by_origin: dict[str, str] = {}
        self._version_by_origin = RecentNumbers()
        self._gap_by_host = RecentNumbers()
        self._host_changes = HostChanges()
        self._queue = ChangeQueue()
        self._leases = Leases()
        # What `claim` was asked for: how often in vain, and by the last call.
        self._starved = 0
        self._lease_s = 0.0
        self._max_depth: int | None = None
        self._per_host: int | None = None
        self._url_counts = UrlCounts({})
        self._has_drained = False
        # When the next queued URL is due, and when the next lease ends, of any worker.
        self._next_times: tuple[float | None, float | None] = None, None
        # When to ask again: for claims, if nothing else is to be told, and for the books.
        self._asks_at = self._asks_counts_at = -math.inf
        self._stepped_at = -math.inf
        self._is_held = False
        self._woken = asyncio.Event()
        self._has_left = False

    def _put_all_back(self) -> None:
        for claim in self._leases:
            self._put_back(claim)
        self.flush()

    def _note_answer(
        self, batch: ChangeBatch, answer: dict[str, Any], wanted: int
    ) -> None:
        self._stepped_at = self._clock()
        self.last_queued = answer["queued"]
        self._note_limit(answer)
        shift_s = self.shift_s = answer["sent_at"] - answer["at"]
        for origin, version in answer.get("versions", ()):
            # Otherwise it has news of others too.
            if version == self._version_by_origin.get(origin, 0) + 1:
                self._version_by_origin.note(origin, version)
        claims = answer.get("claims") or []
        if answer["is_replaced"]:
            self._leases.keep(set())
        elif answer.get("is_repeated"):
            self._leases.keep({row[0] for row in claims})
        elif "held" in answer:
            self._leases.keep(set(answer["held"]))
        if answer["is_replaced"] or answer.get("is_repeated"):
            # What was sent may not have been taken; nothing says which.
            self._known.clear()
            self._version_by_origin.clear()
        self._note_lost(batch, answer.get("lost", ()))
        news = [row for row in claims if not self._has_had(row[0])]
        if news:
            self._starved = 0  # a caller that gets none of them asks again
        for row in news:
            self._note_claim(row, shift_s)
        if self._has_left:
            self._put_all_back()  # what was asked for before
        has_new_level = False
        if "urls" in answer:
            before, self._url_counts = self._url_counts, UrlCounts(answer)
            has_new_level = before.least_depth() != self._url_counts.least_depth()
            self._asks_counts_at = self._stepped_at + COUNTS_EVERY_S
        self._note_what_comes(answer, shift_s, is_short=len(news) < wanted)
        has_more = bool(self._leases.waiting) or has_new_level
        if has_more or self._has_drained or self.limit_reached:
            self.on_change()

    def _note_limit(self, answer: dict[str, Any]) -> None:
        """Note a limit once the numbers of that time are known, which say what is left."""
        limit = answer.get("limit", "")
        if limit == "max_pages" and "urls" not in answer:
            self._asks_counts_at = -math.inf
        else:
            self.limit_reached = limit

    def _has_had(self, token: int) -> bool:
        """Return whether a lease was noted, and has perhaps ended here."""
        return token in self._leases or any(
            token in batch.claims for batch in self._queue.pending()
        )

    def _note_lost(self, batch: ChangeBatch, tokens: Iterable[int]) -> None:
        """Note outcomes that the server did not take, because the lease had ended.

        The links of these pages were not taken either, so they are not known.
        """
        for token in tokens:
            url = batch.claims[token].url
            logger.warning("the lease on %s has expired; it will be fetched again", url)
            self._known.clear()
            self.on_lost(url)

    def _note_claim(self, row: list[Any], shift_s: float) -> None:
        claim = self._leases.note(row, shift_s)
        gap_s, version = row[-2:]
        if gap_s or claim.host in self._gap_by_host:
            self._gap_by_host.note(claim.host, gap_s)
        origin = origin_of(claim.url)
        if version is None or version == self._version_by_origin.get(origin):
            self._leases.make_ready(origin)
            return
        # Sooner if there is nothing else to do.
        wait_s = TELL_WITHIN_S if self._leases.waiting else 0.0
        self._host_changes.due_at = min(
            self._host_changes.due_at, self._stepped_at + wait_s
        )

    def _learn(
        self,
        name: str,
        version: int,
        known_url: str | None,
        pauses: int | None,
        robots: dict[str, Any] | None,
        cookies: dict[str, list[Any]] | None,
    ) -> Subgenerator[None]:
        """Note what the server tells of an origin, and hand out its claims."""
        self._version_by_origin.note(name, version)
        if known_url is not None:
            self._known_url_by_origin.setdefault(name, known_url)
        untold = self._host_changes.by_origin.get(name, {})
        learning = self.on_news(
            OriginNews(
                name,
                untold.get("pauses", pauses or 0),
                robots or {},
                (cookies or {}) | untold.get("cookies", {}),
            )
        )
        if learning is not None:
            yield learning
        self._leases.make_ready(name)
        self.on_change()

    def _note_what_comes(
        self, answer: dict[str, Any], shift_s: float, *, is_short: bool
    ) -> None:
        """Note whether there is more to claim, and when."""
        times = [answer.get(name) for name in ("due_at", "lease_ends_at")]
        due_at, ends_at = (None if at is None else at + shift_s for at in times)
        self._next_times, now = (due_at, ends_at), self._stepped_at
        self._has_drained = answer.get("is_drained", False)
        self._asks_at = -math.inf
        if is_short:
            wait_s = BUSY_S if answer.get("is_contended") else POLL_S
            self._asks_at = min([now + wait_s, *self._times_after(now)])

    def _times_after(self, now: float) -> list[float]:
        """Return when a further URL may be claimed."""
        return [at for at in self._next_times if at is not None and at > now]

    def _changing(self) -> ChangeBatch:
        return self._queue.changing(self._clock())

    def release(self, claim: Claim) -> None:
        with contextlib.suppress(LeaseLostError):
            self._put_back(claim)

    def _put_back(
        self, claim: Claim, due_at: float | None = None, url: str | None = None
    ) -> None:
        token = self._leases.end(claim)
        self._changing().put_back(token, claim, due_at, url)

    def flush(self, *, is_prepared: bool = False) -> None:
        """Let the pump send what has changed."""
        if not self._queue.has_changes():
            return
        if not is_prepared:
            self._before_commit()
        self._queue.flush()
        self._woken.set()

    def close(self) -> None:
        self._sender.drop()
        self._reader.close()
