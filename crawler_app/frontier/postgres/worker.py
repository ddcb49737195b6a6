"""A worker's view of a frontier in PostgreSQL, which many workers share.

What a worker's crawl does is noted in a batch, in memory; `flush` lets the batch go, and the
pump sends it.  With the answer come the next claims, which wait to be handed out.  So no step
of a crawl waits for the server, and most round trips serve many pages.

Rule 1: what is sent was flushed, and so were the archive and the index before.

Rule 2: a claim is this worker's as long as the server says so.  What others have added, ended
or taken back is known after the next step; the numbers are those of the last answer.
"""

import asyncio
import contextlib
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from crawler_app.errors import LeaseLostError
from crawler_app.frontier import PATIENCE_S, Frontier, key_of
from crawler_app.frontier.counts import Amount, Host, Kind
from crawler_app.frontier.group import MAX_AGE_S, MAX_ENDS
from crawler_app.frontier.postgres.batch import Batch
from crawler_app.frontier.postgres.books import Books
from crawler_app.frontier.postgres.leases import Leases
from crawler_app.frontier.postgres.notes import TELL_WITHIN_S, Notes
from crawler_app.frontier.postgres.place import Place, Store
from crawler_app.frontier.postgres.pump import ALIVE_S, Pump
from crawler_app.frontier.postgres.reading import PostgresReader
from crawler_app.frontier.postgres.recent import RecentKeys, RecentNumbers
from crawler_app.models import Candidate, Claim, Outcome, State, UrlRecord
from crawler_app.reasons import PROVISIONAL
from crawler_app.subgenerator import Subgenerator
from crawler_app.urls import host_of, origin_of
from gencoro import gen

__all__ = ["OriginNews", "PostgresFrontier"]

logger = logging.getLogger(__name__)

NO_STORE = Store()

# How often a worker without URLs asks whether others have found some.
POLL_S = 0.5

# The same, if hosts have their turn that other workers are just leasing from.
BUSY_S = 0.005

# How often it asks for the numbers; they cost the server a look at a few hundred rows.
BOOKS_EVERY_S = 1.0


@dataclass(slots=True, frozen=True)
class OriginNews:
    """What all workers together know of an origin.

    Attributes:
        pauses: How many were made since its last response.
        robots: As it was given to `PostgresFrontier.note_robots`; empty if nothing was.
        cookies: The same for `PostgresFrontier.note_cookies`.
    """

    name: str
    pauses: int
    robots: dict[str, Any]
    cookies: dict[str, list[Any]]


class PostgresFrontier(Frontier):
    """One worker's frontier.

    Call `open` before anything else, and `run` while the crawl is under way.

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
        place: Place,
        name: str = "",
        store: Store = NO_STORE,
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
        self._reader = PostgresReader(place)
        self._store = store
        self._pump = Pump(place, name, store, clock, server_clock)
        self._buffered = buffered
        self._clock = clock
        self._before_commit = before_commit
        self._known = RecentKeys()
        self._known_url_by_origin: dict[str, str] = {}
        self._version_by_origin = RecentNumbers()
        self._gap_by_host = RecentNumbers()
        self._notes = Notes()
        self._batch = Batch()
        self._unsent: deque[Batch] = deque()
        self._leases = Leases()
        # What `claim` was asked for: how often in vain, and by the last call.
        self._starved = 0
        self._lease_s = 0.0
        self._max_depth: int | None = None
        self._per_host: int | None = None
        self._books = Books({})
        self._has_drained = False
        self._next_at: float | None = None
        # When to ask again: for claims, if nothing else is to be told, and for the books.
        self._asks_at = self._asks_books_at = -math.inf
        self._stepped_at = -math.inf
        self._is_held = False
        self._woken = asyncio.Event()
        self._has_left = False

    @gen.coroutine
    def open(self) -> Generator[Any, Any, None]:
        """Enter the crawl.

        Raises:
            ConfigError: the server cannot be reached, or the crawl cannot be used.
        """
        yield self._pump.open()

    @gen.coroutine
    def run(self) -> Generator[Any, Any, None]:
        """Exchange what there is to exchange, until everything is sent after `leave`.

        Raises:
            ServerError: the server refuses a step, or does not answer after `leave`.
        """
        self._reader.rest()  # a crawl takes one connection
        try:
            while self._unsent or not self._has_left:
                wait_s = self._wait_s()
                if wait_s > 0 and (yield self._is_woken(wait_s)):
                    continue
                yield self.exchange()
        finally:
            yield self._pump.close()

    @gen.coroutine
    def _is_woken(self, wait_s: float) -> Generator[Any, Any, bool]:
        """Wait until something has changed; return False if nothing has in this time."""
        self._woken.clear()
        with contextlib.suppress(TimeoutError):
            yield asyncio.wait_for(self._woken.wait(), wait_s)
            return True
        return False

    def _wait_s(self) -> float:
        """Return how long there is nothing to exchange, even if the clock is set back."""
        if self._unsent:
            return 0.0
        asks_at = self._asks_at if self._wanted() else math.inf
        due_at = min(asks_at, self._notes.due_at, self._stepped_at + ALIVE_S / 3)
        return min(due_at - self._clock(), ALIVE_S / 3)

    def hold(self, is_held: bool) -> None:
        """Ask for no claims until further notice, and leave those that wait to others."""
        self._is_held = is_held
        if is_held:
            for claim in self._leases.idle():
                self.release(claim)
        self._woken.set()

    def leave(self) -> None:
        """Put back what is claimed; then `run` sends everything, and ends."""
        self._put_all_back()
        self._unsent.append(Batch())  # whose answer has the last numbers
        self._has_left = True
        self._pump.hurry()
        self._woken.set()

    def _put_all_back(self) -> None:
        for claim in self._leases:
            self._put_back(claim)
        self.flush()

    @gen.coroutine
    def exchange(self) -> Generator[Any, Any, None]:
        """Make one step: send the oldest batch, and get claims if they are wanted.

        Raises:
            ServerError: the server refuses it.
        """
        batch = self._unsent[0] if self._unsent else Batch()
        notes, self._notes = self._notes, Notes()
        wanted = self._wanted()
        now = self._clock()
        later = sum(len(each.claims) for each in self._pending()) - len(batch.claims)
        request = {
            "wanted": wanted,
            "lease_s": self._lease_s,
            "max_depth": self._max_depth,
            "per_host": self._per_host,
            "asks_robots": self.asks_robots,
            "max_queries": self.max_queries,
            "asks": list(self._leases.unready_by_origin),
            "held": len(self._leases) + later,
            "is_by_depth": self.is_by_depth,
            "late_at": now + PATIENCE_S if self._wants_books(now) else None,
        }
        answer = yield self._pump.make_step(batch.body(notes) | request)
        if self._unsent and self._unsent[0] is batch:
            self._unsent.popleft()
        self._note_answer(batch, answer, wanted)
        for origin in answer.get("origins") or ():
            yield from self._learn(*origin)

    def _wants_books(self, now: float) -> bool:
        # Whether a limit ends the crawl depends on what else is queued.
        is_ending = self._has_left or bool(self.limit_reached)
        # They are fresh for a second, unless the clock was set back.
        age_s = now - self._asks_books_at + BOOKS_EVERY_S
        return is_ending or not 0 <= age_s < BOOKS_EVERY_S

    @property
    def is_away(self) -> bool:
        """Whether the server did not answer last time."""
        return self._pump.is_away

    @property
    def is_behind(self) -> bool:
        """Whether the server does not know all changes, or claims wait to be handed out."""
        return bool(self._leases.idle()) or any(self._pending())

    def _pending(self) -> list[Batch]:
        """Return the batches that the server does not know."""
        return [*self._unsent, self._batch]

    def _wanted(self) -> int:
        """Return how many claims to ask for."""
        if self._has_left or self._is_held or not self._lease_s:
            return 0
        return max(self._buffered - len(self._leases.idle()), self._starved)

    def _note_answer(self, batch: Batch, answer: dict[str, Any], wanted: int) -> None:
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
            before, self._books = self._books, Books(answer)
            has_new_level = before.least_depth() != self._books.least_depth()
            self._asks_books_at = self._stepped_at + BOOKS_EVERY_S
        self._note_what_comes(answer, shift_s, is_short=len(news) < wanted)
        has_more = bool(self._leases.waiting) or has_new_level
        if has_more or self._has_drained or self.limit_reached:
            self.on_change()

    def _note_limit(self, answer: dict[str, Any]) -> None:
        """Note a limit once the numbers of that time are known, which say what is left."""
        limit = answer.get("limit", "")
        if limit == "max_pages" and "urls" not in answer:
            self._asks_books_at = -math.inf
        else:
            self.limit_reached = limit

    def _has_had(self, token: int) -> bool:
        """Return whether a lease was noted, and has perhaps ended here."""
        return token in self._leases or any(
            token in batch.claims for batch in self._pending()
        )

    def _note_lost(self, batch: Batch, tokens: Iterable[int]) -> None:
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
        self._notes.due_at = min(self._notes.due_at, self._stepped_at + wait_s)

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
        untold = self._notes.by_origin.get(name, {})
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
        next_at, now = answer.get("next_at"), self._stepped_at
        self._next_at = None if next_at is None else next_at + shift_s
        self._has_drained = answer.get("is_drained", False)
        self._asks_at = -math.inf
        if is_short:
            wait_s = BUSY_S if answer.get("is_contended") else POLL_S
            self._asks_at = now + wait_s
            if self._next_at is not None and self._next_at > now:
                self._asks_at = min(self._asks_at, self._next_at)

    def knows(self, key: str) -> bool:
        """Return whether this worker knows that adding a URL changes nothing."""
        return self._known.knows(key)

    def add(self, candidates: Iterable[Candidate], via: Claim | None = None) -> int:
        news = self._news(list(candidates))
        if news:
            self._changing().add(news, via)
        return sum(not each.refusal for each in news)

    def _news(self, candidates: list[Candidate]) -> list[Candidate]:
        """Return those that the server may not know."""
        return [
            each
            for each in candidates
            if self._known.add(key_of(each), is_provisional=each.refusal in PROVISIONAL)
        ]

    def _changing(self) -> Batch:
        """Return the batch, which is about to change."""
        if self._batch.began_at is None:
            self._batch.began_at = self._clock()
        return self._batch

    def claim(
        self, now: float, lease_s: float, max_depth: int | None = None
    ) -> Claim | None:
        self._lease_s, self._max_depth = lease_s, max_depth
        # Others may have what has waited here since the server was last heard of.
        is_fresh = now < self._stepped_at + ALIVE_S
        claim = self._leases.take(max_depth) if is_fresh else None
        self._starved += claim is None
        if claim is None or len(self._leases.waiting) < self._buffered // 2:
            self._woken.set()
        return claim

    def finish(
        self,
        claim: Claim,
        outcome: Outcome,
        now: float,
        outlinks: Iterable[Candidate] = (),
        again: int | None = None,
    ) -> int:
        candidates = list(outlinks)
        token = self._leases.end(claim)
        news = self._news(candidates)
        self._changing().finish(token, claim, outcome, now, news, again)
        return sum(not each.refusal for each in news)

    def retry(self, claim: Claim, due_at: float) -> None:
        self._put_back(claim, due_at=due_at)

    def release(self, claim: Claim) -> None:
        with contextlib.suppress(LeaseLostError):
            self._put_back(claim)

    def respell(self, claim: Claim, url: str) -> None:
        self._put_back(claim, url=url)

    def _put_back(
        self, claim: Claim, due_at: float | None = None, url: str | None = None
    ) -> None:
        token = self._leases.end(claim)
        self._changing().put_back(token, claim, due_at, url)

    def redirect_before(self, claim: Claim, url: str) -> int | None:
        return self._leases.redirect_before(claim, url)

    def limit_hosts(self, per_host: int | None) -> None:
        self._per_host = per_host

    def hold_host(self, host: str, free_at: float) -> None:
        now = self._clock()
        self._notes.hold(host, free_at, now)
        self._woken.set()
        if free_at > now:
            for claim in [each for each in self._leases.idle() if each.host == host]:
                self.release(claim)

    def shorten_hold(self, host: str, held_to: float, free_at: float) -> None:
        self._notes.shorten(host, held_to, free_at)

    def gap_s(self, host: str) -> float:
        """Return the gap of a host that the server has told last."""
        return self._gap_by_host.get(host, 0.0)

    def set_gap(self, host: str, gap_s: float) -> None:
        """Set the least time between two fetches from a host, by all workers together."""
        if gap_s != self.gap_s(host):
            self._gap_by_host.note(host, gap_s)
            self._notes.set_gap(host, gap_s)

    def note_response(self, origin: str, url: str) -> None:
        self._known_url_by_origin[origin] = url
        self._changing().note_response(origin, url)

    def note_pauses(self, origin: str, pauses: int, is_down: bool) -> None:
        """Tell other workers how many pauses were made for an origin, and whether it is down.

        While it is, one URL of its host at a time is leased.
        """
        self._notes.tell(origin, pauses=pauses)
        self._notes.set_down(host_of(origin), is_down)

    def note_robots(self, origin: str, robots: dict[str, Any], until: float) -> None:
        """Tell other workers what was found in robots.txt, with the next flush.

        Args:
            robots: What has changed, in values that JSON has.
            until: When it expires.
        """
        self._changing().note_robots(origin, host_of(origin), robots, until)

    def note_cookies(self, origin: str, cookies: dict[str, list[Any]]) -> None:
        """Tell other workers what cookies an origin has set, by a name for each.

        Each is a list of values that JSON has, of which the first is when it was set.
        """
        told = self._notes.by_origin.get(origin, {}).get("cookies", {})
        self._notes.tell(origin, cookies=told | cookies)

    def known_url(self, origin: str) -> str:
        """Return the URL of an origin that got a response.

        What other workers have learned comes with the claims of the origin.
        """
        return self._known_url_by_origin.get(origin, "")

    def next_at(self, now: float) -> float | None:
        is_later = self._next_at is not None and self._next_at > now
        return self._next_at if is_later else None

    def depth_in_work(self, now: float) -> int | None:
        return self._books.least_depth()

    def count(self, state: State) -> int:
        return self._books.urls[state]

    def count_extras(self, state: State) -> int:
        return self._books.extras[state]

    def is_drained(self) -> bool:
        """Return whether no URL is queued or claimed, by any worker."""
        return self._has_drained and not self._leases and not self.is_behind

    def is_due(self, now: float) -> bool:
        began_at = self._batch.began_at
        if began_at is None:
            return False
        return len(self._batch.claims) >= MAX_ENDS or now >= began_at + MAX_AGE_S

    def has_changes(self) -> bool:
        return bool(self._batch)

    def flush(self, *, is_prepared: bool = False) -> None:
        """Let the pump send what has changed."""
        if not self._batch:
            return
        if not is_prepared:
            self._before_commit()
        self._unsent.append(self._batch)
        self._batch = Batch()
        self._woken.set()

    def close(self) -> None:
        self._pump.drop()
        self._reader.close()

    # The rest is read from the server, before the crawl and after it.

    def requeue_failed(self, reasons: Collection[str]) -> int:
        return self._reader.requeue_failed(reasons)

    def requeue_urls(self, urls: Collection[str]) -> int:
        return self._reader.requeue_urls(urls)

    def queries(self) -> list[str]:
        return self._reader.queries()

    def tally(self) -> dict[Kind, Amount]:
        return self._reader.tally()

    def hosts(self) -> list[Host]:
        return self._reader.hosts()

    def slowest(self) -> list[UrlRecord]:
        return self._reader.slowest()

    def redirects(self) -> dict[str, str]:
        return self._reader.redirects()

    def find(self, key: str) -> UrlRecord | None:
        return self._reader.find(key)

    def records(self, state: State | None = None) -> Iterator[UrlRecord]:
        return self._reader.records(state)

    def made_at(self) -> str:
        return self._reader.made_at()

    def own_records(self) -> Iterator[UrlRecord]:
        return self._reader.store_records(self._store)

    def own_done(self) -> int:
        return self._reader.store_done(self._store)
