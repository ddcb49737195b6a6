"""A worker's view of a frontier in PostgreSQL, which many workers share.

What a worker's crawl does is noted in a batch, in memory, and `flush` lets the batch go.  Claims
are handed out that have come from the server before.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from crawler_app.base.models import Candidate, Claim, Outcome, State, UrlRecord
from crawler_app.base.reasons import PROVISIONAL
from crawler_app.base.urls import host_of
from crawler_app.store.frontier import key_of, turn_of
from crawler_app.store.frontier.count_types import Amount, HostCounts, OutcomeKey
from crawler_app.store.frontier.postgres.change_queue import MAX_LINKS
from crawler_app.store.frontier.postgres.step_exchange import Exchange

__all__ = ["PostgresFrontier"]


class PostgresFrontier(Exchange):
    """One worker's frontier.

    `Answers` has its arguments and callbacks; `Exchange` opens and runs it.
    """

    def knows(self, key: str) -> bool:
        """Return whether this worker knows that adding a URL changes nothing."""
        return self._known.knows(key)

    def add(self, candidates: Iterable[Candidate], via: Claim | None = None) -> int:
        news = self._news(list(candidates))
        for start in range(0, len(news), MAX_LINKS):
            self._changing().add(news[start : start + MAX_LINKS], via)
        return sum(not each.refusal for each in news)

    def _news(self, candidates: list[Candidate]) -> list[Candidate]:
        """Return those that the server may not know."""
        return [
            each
            for each in candidates
            if self._known.add(key_of(each), is_provisional=each.refusal in PROVISIONAL)
        ]

    def claim(
        self, now: float, lease_s: float, max_depth: int | None = None
    ) -> Claim | None:
        self._lease_s, self._max_depth = lease_s, max_depth
        # Others may have what has waited here since the server was last heard of.
        is_fresh = now < self._stepped_at + self._sender.alive_s
        claim = self._leases.take(max_depth) if is_fresh else None
        if claim is None:
            self._starved += 1
            self._release_deeper(max_depth)
        if claim is None or len(self._leases.waiting) < self._buffered // 2:
            self._woken.set()
        return claim

    def _release_deeper(self, max_depth: int | None) -> None:
        """Put back what waits here and has no turn: it takes the room of its host."""
        if max_depth is not None:
            for claim in self._leases.idle():
                if turn_of(claim.role, claim.depth) > max_depth:
                    self.release(claim)

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

    def respell(self, claim: Claim, url: str) -> None:
        self._put_back(claim, url=url)

    def redirect_before(self, claim: Claim, url: str) -> int | None:
        return self._leases.redirect_before(claim, url)

    def limit_hosts(self, per_host: int | None) -> None:
        self._per_host = per_host

    def hold_host(self, host: str, free_at: float) -> None:
        now = self._clock()
        self._host_changes.hold(host, free_at, now)
        self._woken.set()
        if free_at > now:
            for claim in [each for each in self._leases.idle() if each.host == host]:
                self.release(claim)

    def shorten_hold(self, host: str, held_to: float, free_at: float) -> None:
        self._host_changes.shorten(host, held_to, free_at)

    def gap_s(self, host: str) -> float:
        """Return the gap of a host that the server has told last."""
        return self._gap_by_host.get(host, 0.0)

    def set_gap(self, host: str, gap_s: float) -> None:
        """Set the least time between two fetches from a host, by all workers together."""
        if gap_s != self.gap_s(host):
            self._gap_by_host.note(host, gap_s)
            self._host_changes.set_gap(host, gap_s)

    def note_response(self, origin: str, url: str) -> None:
        self._known_url_by_origin[origin] = url
        self._changing().note_response(origin, url)

    def note_pauses(self, origin: str, pauses: int, is_down: bool) -> None:
        """Tell other workers how many pauses were made for an origin, and whether it is down.

        While it is, one URL of its host at a time is leased.
        """
        self._host_changes.tell(origin, pauses=pauses)
        self._host_changes.set_down(host_of(origin), is_down)

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
        told = self._host_changes.by_origin.get(origin, {}).get("cookies", {})
        self._host_changes.tell(origin, cookies=told | cookies)

    def known_url(self, origin: str) -> str:
        """Return the URL of an origin that got a response.

        What other workers have learned comes with the claims of the origin.
        """
        return self._known_url_by_origin.get(origin, "")

    def next_at(self, now: float) -> float | None:
        return min(self._times_after(now), default=None)

    def due_at(self, now: float) -> float | None:
        """Return when the next URL is due, if no lease ends before; None if none is queued."""
        due_at, _ = self._next_times
        return due_at if due_at is not None and due_at > now else None

    def depth_in_work(self, now: float) -> int | None:
        return self._url_counts.least_depth()

    def count(self, state: State) -> int:
        return self._url_counts.urls[state]

    def count_non_pages(self, state: State) -> int:
        return self._url_counts.non_pages[state]

    def is_drained(self) -> bool:
        """Return whether no URL is queued or claimed, by any worker."""
        return self._has_drained and not self._leases and not self.is_behind

    def is_due(self, now: float) -> bool:
        return self._queue.is_due(now)

    def has_changes(self) -> bool:
        return self._queue.has_changes()

    # The rest is read from the server, before the crawl and after it.

    def requeue_failed(self, reasons: Collection[str]) -> int:
        return self._reader.requeue_failed(reasons)

    def requeue_urls(self, urls: Collection[str]) -> int:
        return self._reader.requeue_urls(urls)

    def queries(self) -> list[str]:
        return self._reader.queries()

    def tally(self) -> dict[OutcomeKey, Amount]:
        return self._reader.tally()

    def hosts(self) -> list[HostCounts]:
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
