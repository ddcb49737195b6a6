"""The in-memory frontier, for tests and for crawls that need not survive.

Kept simple, as the reference for the contract; about 500 bytes per URL.  It says when it is
full: a site can name any number of URLs.
"""

import collections
import dataclasses
import heapq
import math
from collections.abc import Collection, Iterable, Iterator

from crawler_app.base.errors import LeaseLostError
from crawler_app.base.models import (
    Candidate,
    Claim,
    Outcome,
    Role,
    State,
    UrlRecord,
)
from crawler_app.base.reasons import PROVISIONAL, Reason
from crawler_app.base.urls import dedup_key, has_query
from crawler_app.store.frontier import (
    MAX_QUERIES,
    PATIENCE_S,
    Frontier,
    key_of,
    schedule,
    stored_url,
    turn_of,
)
from crawler_app.store.frontier.count_types import (
    RANKED,
    Amount,
    HostCounts,
    OutcomeKey,
    StateCounts,
)

__all__ = ["MemoryFrontier"]


# About, with the size of a URL besides its characters: room for 250,000 usual ones.
MAX_BYTES = 128 * 2**20
URL_BYTES = 450


@dataclasses.dataclass(slots=True)
class _Url:
    """A URL's record, and the fields that only the frontier needs.

    Attributes:
        via_id: The URL that led to it, whose spelling may change.
    """

    id: int
    record: UrlRecord
    host: str
    redirects_left: int
    role: Role = Role.LINK
    via_id: int | None = None
    claim: Claim | None = None


class MemoryFrontier(Frontier):
    """A frontier made of dictionaries and heaps, which ends with the process."""

    def __init__(self) -> None:
        self._urls: list[_Url] = []
        self._counts = StateCounts()
        self._bytes_left = MAX_BYTES
        self._url_by_key: dict[str, _Url] = {}
        self._known_url_by_origin: dict[str, str] = {}
        self._soft_404_by_origin: dict[str, str] = {}
        self._schedule = schedule.Schedule()
        self._hosts = 0
        # (due at, id) of the URLs that wait for a retry.
        self._retries: list[tuple[float, int]] = []
        self._claimed: dict[int, Claim] = {}
        self._next_expiry_at = math.inf  # no lease expires before this time
        # The URLs that are queued or claimed.
        self._unfinished_by_depth: collections.Counter[int] = collections.Counter()

    def limit_hosts(self, per_host: int | None) -> None:
        self._schedule.limit_hosts(per_host)

    def knows(self, key: str) -> bool:
        known = self._url_by_key.get(key)
        return known is not None and not _is_provisional(known.record)

    @property
    def is_full(self) -> bool:
        return self._bytes_left <= 0

    def add(self, candidates: Iterable[Candidate], via: Claim | None = None) -> int:
        # A list first: if the iterable raises midway, nothing must have been added.
        return sum(self._add(candidate, via) for candidate in list(candidates))

    def _add(self, candidate: Candidate, via: Claim | None) -> bool:
        key = key_of(candidate)
        known = self._url_by_key.get(key)
        if known is not None and (
            candidate.refusal in PROVISIONAL or not _is_provisional(known.record)
        ):
            return False
        if known is not None:
            self._counts.add(State.EXCLUDED, -1, -known.role.is_non_page)
        url_id = len(self._urls) if known is None else known.id
        self._host(
            candidate.host
        )  # hosts take turns in the order in which they are met
        state = State.EXCLUDED if candidate.refusal else State.QUEUED
        record = UrlRecord(
            stored_url(candidate), state, candidate.depth, role=candidate.role
        )
        url = _Url(
            url_id,
            record,
            candidate.host,
            candidate.redirects_left,
            candidate.role,
            via.id if via else None,
        )
        self._urls[url_id : url_id + 1] = [url]
        self._bytes_left -= URL_BYTES + len(candidate.url)
        self._url_by_key[key] = url
        self._counts.add(state, 1, candidate.role.is_non_page)
        if candidate.refusal:
            record.outcome = Outcome(state, candidate.refusal)
            return False
        self._unfinished_by_depth[candidate.depth] += 1
        self._make_ready(url)
        return True

    def claim(
        self, now: float, lease_s: float, max_depth: int | None = None
    ) -> Claim | None:
        if step_s := self._schedule.note_time(now):
            self._retries = [(at - step_s, url_id) for at, url_id in self._retries]
        self._ring_alarms(now)
        taken = self._schedule.take(now, max_depth)
        if taken is None:
            return None
        url = self._urls[taken[1][1]]
        self._move(url, State.CLAIMED)
        url.claim = Claim(
            url.id,
            url.record.url,
            url.host,
            url.record.depth,
            url.redirects_left,
            url.record.tries,
            now + lease_s,
            url.role,
        )
        self._claimed[url.id] = url.claim
        self._next_expiry_at = min(self._next_expiry_at, url.claim.lease_ends_at)
        return url.claim

    def finish(
        self,
        claim: Claim,
        outcome: Outcome,
        now: float,
        outlinks: Iterable[Candidate] = (),
        again: int | None = None,
    ) -> int:
        url = self._owned(claim)
        outlinks = list(outlinks)  # as in `add`
        self._move(url, outcome.state)
        url.record.outcome = outcome
        url.record.finished_at = now
        if again is not None:
            redirect = self._urls[again]
            redirect.redirects_left = claim.redirects_left - 1
            self._queue_anew(redirect)
        return self.add(outlinks, via=claim)

    def retry(self, claim: Claim, due_at: float) -> None:
        url = self._owned(claim)
        self._move(url, State.QUEUED)
        url.record.tries += 1
        heapq.heappush(self._retries, (due_at, url.id))

    def release(self, claim: Claim) -> None:
        url = self._urls[claim.id]
        if url.claim == claim:
            self._move(url, State.QUEUED)
            self._make_ready(url)

    def respell(self, claim: Claim, url: str) -> None:
        known = self._owned(claim)
        known.record.url = url
        known.redirects_left -= 1
        self._move(known, State.QUEUED)
        self._make_ready(known)

    def redirect_before(self, claim: Claim, url: str) -> int | None:
        key, wanted = dedup_key(claim.url), dedup_key(url)
        while (before := self._via(key)) is not None:
            if dedup_key(before.record.url) == wanted:
                return before.id
            key = dedup_key(before.record.url)
        return None

    def _via(self, key: str) -> _Url | None:
        """Return the redirect by which a URL was found; None if it was found otherwise."""
        via_id = self._url_by_key[key].via_id
        if via_id is None or self._urls[via_id].record.state is not State.DONE:
            return None
        before = self._urls[via_id]
        outcome = before.record.outcome
        is_redirect = outcome is not None and dedup_key(outcome.redirect_to) == key
        return before if is_redirect else None

    def hold_host(self, host: str, free_at: float) -> None:
        self._schedule.hold(self._host(host), free_at)

    def shorten_hold(self, host: str, held_to: float, free_at: float) -> None:
        self._schedule.shorten_hold(self._host(host), held_to, free_at)

    def note_response(self, origin: str, url: str) -> None:
        self._known_url_by_origin[origin] = url

    def note_soft_404(self, origin: str, url: str) -> None:
        self._soft_404_by_origin[origin] = url

    def soft_404s(self) -> list[str]:
        return [url for url in self._soft_404_by_origin.values() if url]

    def known_url(self, origin: str) -> str:
        return self._known_url_by_origin.get(origin, "")

    def next_at(self, now: float) -> float | None:
        times = [claim.lease_ends_at for claim in self._claimed.values()]
        retries = self._retries
        if retries and retries[0][0] > now:
            times.append(retries[0][0])
        else:
            times += (at for at, _ in retries)
        host_at = self._schedule.next_at(now)
        if host_at is not None:
            times.append(host_at)
        return min((at for at in times if at > now), default=None)

    def depth_in_work(self, now: float) -> int | None:
        late = (
            self._urls[url_id].record.depth
            for at, url_id in self._retries
            if at > now + PATIENCE_S
        )
        in_work = self._unfinished_by_depth - collections.Counter(late)
        return min(in_work, default=None)  # the difference keeps only counts above 0

    def requeue_failed(self, reasons: Collection[str]) -> int:
        failed = [url for url in self._urls if url.record.state is State.FAILED]
        again = [
            url
            for url in failed
            if url.record.outcome and url.record.outcome.reason in reasons
        ]
        return self._requeue(again)

    def requeue_urls(self, urls: Collection[str]) -> int:
        ended = (State.DONE, State.FAILED)
        return self._requeue(
            [
                url
                for url in self._urls
                if url.record.state in ended and url.record.url in urls
            ]
        )

    def _requeue(self, urls: list[_Url]) -> int:
        for url in urls:
            self._queue_anew(url)
        return len(urls)

    def count(self, state: State) -> int:
        return self._counts.urls[state]

    def count_non_pages(self, state: State) -> int:
        return self._counts.non_pages[state]

    def outcome_counts(self) -> dict[OutcomeKey, Amount]:
        amount_by_kind: dict[OutcomeKey, Amount] = collections.defaultdict(Amount)
        for record in self.records():
            if record.outcome is not None:
                kind = OutcomeKey.of(record.depth, record.outcome, record.role)
                amount_by_kind[kind].count(record.outcome, record.finished_at)
        return dict(amount_by_kind)

    def hosts(self) -> list[HostCounts]:
        host_by_name: dict[str, HostCounts] = {}
        for url in self._urls:
            host = host_by_name.setdefault(url.host, HostCounts(url.host))
            outcome = url.record.outcome
            if outcome is None:
                host.urls += 1
            else:
                host.count(OutcomeKey.of(url.record.depth, outcome), outcome)
        return [host for host in host_by_name.values() if host.urls]

    def slowest(self) -> list[UrlRecord]:
        timed = [each for each in self.records() if _took_s(each) is not None]
        return sorted(timed, key=lambda each: -(_took_s(each) or 0.0))[:RANKED]

    def redirects(self) -> dict[str, str]:
        return {
            record.url: record.outcome.redirect_to
            for record in self.records(State.DONE)
            if record.outcome and record.outcome.reason == Reason.REDIRECT
        }

    def queries(self) -> list[str]:
        found = [
            url.record.url
            for url in self._urls
            if has_query(url.record.url) and url.record.state is not State.EXCLUDED
        ]
        return found[-MAX_QUERIES:]

    def find(self, key: str) -> UrlRecord | None:
        url = self._url_by_key.get(key)
        return None if url is None else self._shown(url)

    def records(self, state: State | None = None) -> Iterator[UrlRecord]:
        for url in list(self._urls):
            if state is None or url.record.state is state:
                yield self._shown(url)

    def _shown(self, url: _Url) -> UrlRecord:
        via = "" if url.via_id is None else self._urls[url.via_id].record.url
        return dataclasses.replace(url.record, via=via)

    def flush(self, *, is_prepared: bool = False) -> None:
        pass

    def close(self) -> None:
        pass

    def _queue_anew(self, url: _Url) -> None:
        """Queue a URL that has ended, as if never tried."""
        url.record.tries = 0
        self._move(url, State.QUEUED)
        url.record.outcome = url.record.finished_at = None
        self._make_ready(url)

    def _owned(self, claim: Claim) -> _Url:
        url = self._urls[claim.id]
        if url.claim != claim:
            raise LeaseLostError(f"the lease on {claim.url} has expired")
        return url

    def _move(self, url: _Url, state: State) -> None:
        self._counts.move(url.record.state, state, url.role)
        was_claimed = url.record.state is State.CLAIMED
        was_unfinished = was_claimed or url.record.state is State.QUEUED
        is_unfinished = state in (State.QUEUED, State.CLAIMED)
        self._unfinished_by_depth[url.record.depth] += is_unfinished - was_unfinished
        url.record.state = state
        url.claim = None
        if was_claimed:
            del self._claimed[url.id]
            self._schedule.end_claim(self._host(url.host))

    def _host(self, name: str) -> schedule.Host:
        host = self._schedule.find(name)
        if host is None:
            self._hosts += 1
            host = self._schedule.meet(self._hosts, name)
        return host

    def _make_ready(self, url: _Url) -> None:
        record = url.record
        turn = turn_of(url.role, record.depth)
        queued = (
            *(turn, url.id, record.url, url.redirects_left),
            *(record.tries, url.role, record.depth),
        )
        self._schedule.put(self._host(url.host), queued)

    def _ring_alarms(self, now: float) -> None:
        """Make retries that are due ready, and URLs whose leases have expired."""
        retries = self._retries
        while retries and retries[0][0] <= now:
            self._make_ready(self._urls[heapq.heappop(retries)[1]])
        if now < self._next_expiry_at:
            return
        for claim in list(self._claimed.values()):
            if claim.lease_ends_at <= now:
                self.release(claim)
        ends = (claim.lease_ends_at for claim in self._claimed.values())
        self._next_expiry_at = min(ends, default=math.inf)


def _took_s(record: UrlRecord) -> float | None:
    return None if record.outcome is None else record.outcome.took_s


def _is_provisional(record: UrlRecord) -> bool:
    outcome = record.outcome
    return outcome is not None and outcome.reason in PROVISIONAL
