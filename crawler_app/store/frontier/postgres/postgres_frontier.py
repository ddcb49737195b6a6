"""The frontier in PostgreSQL, as one of its workers uses it.

What a worker's crawl does is noted in a batch, in memory, and `flush` lets the batch be sent.
Claims are handed out that have come from the server before::

    WorkerState     what the worker knows, and what it has yet to send
    StepExchange    sends that when it is time, and applies the answers
    StepSender      the connection
"""

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

from crawler_app.base.models import Candidate, Claim, Outcome, State, UrlRecord
from crawler_app.base.reasons import PROVISIONAL
from crawler_app.base.urls import host_of
from crawler_app.store.frontier import Frontier, key_of, turn_of
from crawler_app.store.frontier.postgres.blocking_reader import PostgresReader
from crawler_app.store.frontier.postgres.location import CrawlLocation, StoreLocation
from crawler_app.store.frontier.postgres.step_changes import MAX_LINKS
from crawler_app.store.frontier.postgres.step_exchange import StepExchange
from crawler_app.store.frontier.postgres.step_sender import StepSender
from crawler_app.store.frontier.postgres.worker_state import (
    NO_OBSERVER,
    FrontierObserver,
    LeaseRules,
    WorkerState,
)
from gencoro import gen

__all__ = ["PostgresFrontier"]

NO_STORE = StoreLocation()


class PostgresFrontier(PostgresReader, Frontier):
    """One worker's frontier, which reads from the server before the crawl and after it.

    Call `open` before anything else, and `run` while the crawl is under way.

    Args:
        rules: What the crawl asks of leases.
        name: Of the worker, for people.
        store: Where it stores what it fetches.
        buffered: How many claims wait to be handed out; 0 to ask for each when it is wanted.
        clock: Returns the current time of this machine.
        server_clock: The same for the server; None for the clock that it has.
        before_commit: Called by each flush that is not prepared.
    """

    def __init__(
        self,
        location: CrawlLocation,
        rules: LeaseRules,
        name: str = "",
        store: StoreLocation = NO_STORE,
        *,
        buffered: int = 10,
        clock: Callable[[], float] = time.time,
        server_clock: Callable[[], float] | None = None,
        before_commit: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(location)
        self._store = store
        self._clock = clock
        self._state = WorkerState(rules, buffered, clock, before_commit)
        self._sender = StepSender(location, name, store, clock, server_clock)
        self._exchange = StepExchange(self._state, self._sender, clock)

    # The life of a worker.

    @gen.coroutine
    def open(self) -> Generator[Any, Any, None]:
        """Enter the crawl.

        Raises:
            ConfigError: the server cannot be reached, or the crawl cannot be used.
        """
        yield self._sender.open()

    @gen.coroutine
    def run(
        self, observer: FrontierObserver = NO_OBSERVER
    ) -> Generator[Any, Any, None]:
        """Exchange what there is to exchange, until everything is sent after `leave`.

        Raises:
            ServerError: the server refuses a step, or does not answer after `leave`.
        """
        self.rest()  # a crawl takes one connection
        yield self._exchange.run(observer)

    def exchange(self, observer: FrontierObserver = NO_OBSERVER) -> "gen.Future[None]":
        """Make one step, as `run` does when it is time; see `StepExchange.make_step`."""
        return self._exchange.make_step(observer)

    def hold(self, is_held: bool) -> None:
        """Ask for no claims until further notice, and leave those that wait to others."""
        self._state.is_held = is_held
        if is_held:
            self._state.release(self._state.leases.idle())
        self._exchange.wake()

    def leave(self) -> None:
        """Put back what is claimed; then `run` sends everything, and ends."""
        self._state.leave()
        # From now on: a server that is away must not keep a worker that was stopped.
        self._sender.hurry()
        self._exchange.wake()

    def close(self) -> None:
        self._sender.drop()
        super().close()

    @property
    def is_away(self) -> bool:
        """Whether the server did not answer last time."""
        return self._sender.is_away

    @property
    def is_behind(self) -> bool:
        """Whether the server does not know all changes, or claims wait to be handed out."""
        return self._state.is_behind

    @property
    def limit_reached(self) -> str:
        """The option whose limit the crawl has reached; empty if none."""
        return self._state.limit_reached

    @property
    def shift_s(self) -> float:
        """From the server's clock to this one."""
        return self._state.shift_s

    # URLs.

    def knows(self, key: str) -> bool:
        """Return whether this worker knows that adding a URL changes nothing."""
        return self._state.known.knows(key)

    def add(self, candidates: Iterable[Candidate], via: Claim | None = None) -> int:
        news = self._news(list(candidates))
        for start in range(0, len(news), MAX_LINKS):
            self._state.changing().add(news[start : start + MAX_LINKS], via)
        return sum(not each.refusal for each in news)

    def _news(self, candidates: list[Candidate]) -> list[Candidate]:
        """Return those that the server may not know."""
        known = self._state.known
        return [
            each
            for each in candidates
            if known.add(key_of(each), is_provisional=each.refusal in PROVISIONAL)
        ]

    def claim(
        self, now: float, lease_s: float, max_depth: int | None = None
    ) -> Claim | None:
        state = self._state
        state.lease_s, state.max_depth = lease_s, max_depth
        # Others may have what has waited here since the server was last heard of.
        is_fresh = now < state.stepped_at + self._sender.alive_s
        claim = state.leases.take(max_depth) if is_fresh else None
        if claim is None:
            state.starved += 1
            self._release_deeper(max_depth)
        if claim is None or len(state.leases.waiting) < state.buffered // 2:
            self._exchange.wake()
        return claim

    def _release_deeper(self, max_depth: int | None) -> None:
        """Put back what waits here and has no turn: it takes the room of its host."""
        if max_depth is not None:
            idle = self._state.leases.idle()
            self._state.release(
                each for each in idle if turn_of(each.role, each.depth) > max_depth
            )

    def finish(
        self,
        claim: Claim,
        outcome: Outcome,
        now: float,
        outlinks: Iterable[Candidate] = (),
        again: int | None = None,
    ) -> int:
        # Consumed before the claim ends: reading them may raise.
        candidates = list(outlinks)
        token = self._state.leases.end(claim)
        news = self._news(candidates)
        self._state.changing().finish(token, claim, outcome, now, news, again)
        return sum(not each.refusal for each in news)

    def retry(self, claim: Claim, due_at: float) -> None:
        self._state.put_back(claim, due_at=due_at)

    def release(self, claim: Claim) -> None:
        self._state.release([claim])

    def respell(self, claim: Claim, url: str) -> None:
        self._state.put_back(claim, url=url)

    def redirect_before(self, claim: Claim, url: str) -> int | None:
        return self._state.leases.redirect_before(claim, url)

    # Hosts and origins.

    def limit_hosts(self, per_host: int | None) -> None:
        self._state.per_host = per_host

    def hold_host(self, host: str, free_at: float) -> None:
        now = self._clock()
        self._state.host_changes.hold(host, free_at, now)
        self._exchange.wake()
        if free_at > now:
            idle = self._state.leases.idle()
            self._state.release(each for each in idle if each.host == host)

    def shorten_hold(self, host: str, held_to: float, free_at: float) -> None:
        self._state.host_changes.shorten(host, held_to, free_at)

    def gap_s(self, host: str) -> float:
        """Return the gap of a host, as the server last reported it."""
        return self._state.gap_by_host.get(host, 0.0)

    def set_gap(self, host: str, gap_s: float) -> None:
        """Set the least time between two fetches from a host, by all workers together."""
        if gap_s != self.gap_s(host):
            self._state.gap_by_host.note(host, gap_s)
            self._state.host_changes.set_gap(host, gap_s)

    def note_response(self, origin: str, url: str) -> None:
        self._state.known_url_by_origin[origin] = url
        self._state.changing().note_response(origin, url)

    def known_url(self, origin: str) -> str:
        """Return the URL of an origin that got a response.

        What other workers have learned comes with the claims of the origin.
        """
        return self._state.known_url_by_origin.get(origin, "")

    def note_pauses(self, origin: str, pauses: int, is_down: bool) -> None:
        """Tell other workers how many pauses were made for an origin, and whether it is down.

        While it is, one URL of its host at a time is leased.
        """
        self._state.host_changes.note_origin(origin, pauses=pauses)
        self._state.host_changes.set_down(host_of(origin), is_down)

    def note_robots(self, origin: str, robots: dict[str, Any], until: float) -> None:
        """Tell other workers what was found in robots.txt, with the next flush.

        Args:
            robots: What has changed, in values that JSON has.
            until: When it expires.
        """
        self._state.changing().note_robots(origin, host_of(origin), robots, until)

    def note_cookies(self, origin: str, cookies: dict[str, list[Any]]) -> None:
        """Tell other workers what cookies an origin has set, by a name for each.

        Each is a list of values that JSON has, of which the first is when it was set.
        """
        changes = self._state.host_changes
        unsent = changes.by_origin.get(origin, {}).get("cookies", {})
        changes.note_origin(origin, cookies=unsent | cookies)

    # Times and counts: those of the last answer.

    def next_at(self, now: float) -> float | None:
        return min(self._state.times_after(now), default=None)

    def due_at(self, now: float) -> float | None:
        """Return when the next URL is due, if no lease ends before; None if none is queued."""
        due_at, _ = self._state.next_times
        return due_at if due_at is not None and due_at > now else None

    def depth_in_work(self, now: float) -> int | None:
        return self._state.counts.least_depth()

    @property
    def counted_at(self) -> float:
        """When the counts came from the server, in seconds since the epoch."""
        return self._state.counted_at

    def count(self, state: State) -> int:
        return self._state.counts.urls[state]

    def count_non_pages(self, state: State) -> int:
        return self._state.counts.non_pages[state]

    def is_drained(self) -> bool:
        """Return whether no URL is queued or claimed, by any worker."""
        return self._state.has_drained and not self._state.leases and not self.is_behind

    # Commits.

    def is_due(self, now: float) -> bool:
        return self._state.queue.is_due(now)

    def has_changes(self) -> bool:
        return self._state.queue.has_changes()

    def flush(self, *, is_prepared: bool = False) -> None:
        """Let the step sender send what has changed."""
        if self._state.flush(is_prepared=is_prepared):
            self._exchange.wake()

    # Read from the server, as is all else that `PostgresReader` has.

    def own_records(self) -> Iterator[UrlRecord]:
        return self.store_records(self._store)

    def own_done(self) -> int:
        return self.store_done(self._store)

    def own_pages(self) -> int:
        return self.store_pages(self._store)
