"""The frontier on disk: one SQLite file, which survives ``kill -9`` at any moment.

Each commit is durable against the death of the process (WAL, synchronous=NORMAL).
Transitions are committed in groups, by `flush`.  If the process dies before it, the URLs of
the group are still queued in the file, and the next run fetches them again.  A host that was
on hold may then be asked a little early.

What grows with the crawl is on disk, except a number for each known URL (see
`crawler_app.store.frontier.key_set`) and the hosts.  Claims are only in memory, where they cost
nothing to write and end with the process: in the file, a claimed URL is queued.
"""

import collections
import contextlib
import dataclasses
import math
import sqlite3
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from crawler_app.base.errors import FrontierError, LeaseLostError
from crawler_app.base.models import (
    Candidate,
    Claim,
    Outcome,
    Role,
    State,
    UrlRecord,
)
from crawler_app.base.reasons import PROVISIONAL, Reason
from crawler_app.base.urls import dedup_key
from crawler_app.store.checkpoints import Checkpoints
from crawler_app.store.frontier import (
    PATIENCE_S,
    Frontier,
    key_of,
    stored_url,
    turn_of,
)
from crawler_app.store.frontier.commit_group import CommitGroup
from crawler_app.store.frontier.frontier_schema import (
    CLEAR_OUTCOME,
    IS_PROVISIONAL,
    SELECT_COUNTED,
    SET_OUTCOME,
    outcome_of,
    values_of,
)
from crawler_app.store.frontier.key_set import KeySet
from crawler_app.store.frontier.saved_keys import load_keys, save_keys
from crawler_app.store.frontier.schedule import Host, Queued, Schedule
from crawler_app.store.frontier.sqlite_reading import SqliteReader

__all__ = ["SqliteFrontier"]

# URLs that may be claimed, in the format of `Queued`.
SELECT_QUEUED = """
SELECT turn, id, url, redirects_left, tries, role, depth FROM url
WHERE state = 'queued' AND alarm_at IS NULL
"""
SELECT_NEXT = f"""
{SELECT_QUEUED} AND host_id = ? AND (turn, id) > (?, ?) ORDER BY turn, id LIMIT ?
"""

# The hosts with such URLs, without reading all of these.
SELECT_QUEUED_HOSTS = """
WITH RECURSIVE queued (host_id) AS (
    SELECT min(host_id) FROM url WHERE state = 'queued' AND alarm_at IS NULL
    UNION ALL
    SELECT (SELECT min(host_id) FROM url
        WHERE state = 'queued' AND alarm_at IS NULL AND url.host_id > queued.host_id)
    FROM queued WHERE host_id IS NOT NULL
)
SELECT id, name, free_at FROM queued JOIN host ON id = host_id
"""

# The latest time that has come for certain, and when the last hold or retry ends.
SELECT_TIMES = """
SELECT (SELECT coalesce(max(last_at), 0) FROM tally), max(
    (SELECT coalesce(max(free_at), 0) FROM host),
    (SELECT coalesce(max(alarm_at), 0) FROM url WHERE alarm_at IS NOT NULL)
)
"""

# What led to a URL: id, URL, and target if it is a redirect.
SELECT_VIA = """
SELECT via.id, via.url, coalesce(via.redirect_to, '')
FROM url JOIN url AS via ON via.id = url.via
WHERE url.id = ? AND via.state = 'done'
"""

FINISH = f"UPDATE url SET state = ?, {SET_OUTCOME}, finished_at = ? WHERE id = ?"

SELECT_PROVISIONAL = f"SELECT key FROM url WHERE {IS_PROVISIONAL}"


class SqliteFrontier(SqliteReader, Frontier):
    """A frontier in one SQLite file.

    Args:
        path: The file; created if it does not exist.  Empty for a temporary one, which is
            deleted in the end.
        read_only: Read one snapshot, so that counts and records agree, even while another
            process writes.
        before_commit: Called before each commit that is not prepared; an exception
            prevents the commit.  So the archive and the index can be flushed before the
            frontier records that a URL is finished.

    Raises:
        ConfigError: the file is not a frontier, or has another version.

    >>> frontier = SqliteFrontier()
    >>> frontier.add([Candidate("http://a.test/", "a.test")])
    1
    >>> frontier.claim(now=0.0, lease_s=60.0).url
    'http://a.test/'
    >>> frontier.close()
    """

    def __init__(
        self,
        path: Path | str = "",
        *,
        read_only: bool = False,
        before_commit: Callable[[], None] = lambda: None,
    ) -> None:
        self._per_host: int | None = None
        self._claim_by_id: dict[int, Claim] = {}
        self._next_expiry_at = math.inf  # no lease expires before this time
        super().__init__(path, read_only=read_only)

        def complete() -> None:
            self._stored_counts.write()
            self._write_hosts()

        self._group = CommitGroup(
            self._db,
            reload=self._load,
            recount=lambda: self._stored_counts.count_again(),
            complete=complete,
            before_commit=before_commit,
        )
        self._checkpoints = Checkpoints(self._db)

    def _load(self) -> None:
        """Load the in-memory state from the file, at the start and after an error."""
        super()._load()
        # The latter are those of provisional refusals, which another link may end.
        self._keys, self._provisional_keys = KeySet(), KeySet()
        # No retry is due before this time, so most claims need no query.
        self._next_retry_at = -math.inf
        # When hosts are free again, by id, if that is not in the file yet.
        self._holds: dict[int, float] = {}
        self._known_url_by_origin: dict[str, str] = {}
        if self._is_read_only:
            return
        self._load_schedule()
        load_keys(self._db, self._keys)
        self._provisional_keys.load(self._db.execute(SELECT_PROVISIONAL))

    def _load_schedule(self) -> None:
        """Load which hosts have queued URLs; claims stay if their URLs are in the file."""
        claims, self._claim_by_id = self._claim_by_id, {}
        times = self._db.execute(SELECT_TIMES).fetchone()
        self._schedule = Schedule(
            self._load_queued, self._claim_by_id.__contains__, *times
        )
        self._schedule.limit_hosts(self._per_host)
        for host_id, name, free_at in self._db.execute(SELECT_QUEUED_HOSTS):
            self._schedule.meet(host_id, name, free_at, is_queued=True)
        for claim in claims.values():
            if self._db.execute(f"{SELECT_QUEUED} AND id = ?", (claim.id,)).fetchone():
                self._note_claim(claim)
                self._host(claim.host).claimed += 1

    def _load_queued(
        self, host_id: int, start: tuple[int, int], limit: int
    ) -> list[Queued]:
        return self._db.execute(SELECT_NEXT, (host_id, *start, limit)).fetchall()

    def knows(self, key: str) -> bool:
        known = self._hashed(key)
        return known in self._keys and known not in self._provisional_keys

    def limit_hosts(self, per_host: int | None) -> None:
        self._per_host = per_host
        self._schedule.limit_hosts(per_host)

    def add(self, candidates: Iterable[Candidate], via: Claim | None = None) -> int:
        with self._group:
            return self._add(candidates, via)

    def claim(
        self, now: float, lease_s: float, max_depth: int | None = None
    ) -> Claim | None:
        if step_s := self._schedule.note_time(now):
            self._shorten_retries(step_s)
        self._ring_alarms(now)
        taken = self._schedule.take(now, max_depth)
        if taken is None:
            return None
        host, (_, url_id, url, redirects_left, tries, role, depth) = taken
        ends_at = now + lease_s
        claim = Claim(
            url_id,
            url,
            host.name,
            depth,
            redirects_left,
            tries,
            ends_at,
            Role(role),
        )
        self._note_claim(claim)
        return claim

    def _shorten_retries(self, step_s: float) -> None:
        with self._group:
            self._db.execute(
                "UPDATE url SET alarm_at = alarm_at - ? WHERE alarm_at IS NOT NULL",
                (step_s,),
            )
        self._next_retry_at = -math.inf

    def _note_claim(self, claim: Claim) -> None:
        self._claim_by_id[claim.id] = claim
        self._next_expiry_at = min(self._next_expiry_at, claim.lease_ends_at)
        self._counts.move(State.QUEUED, State.CLAIMED, claim.role)

    def finish(
        self,
        claim: Claim,
        outcome: Outcome,
        now: float,
        outlinks: Iterable[Candidate] = (),
        again: int | None = None,
    ) -> int:
        host = self._host_of(claim)
        with self._group:
            self._db.execute(
                FINISH, (outcome.state, *values_of(outcome), now, claim.id)
            )
            is_non_page = claim.role.is_non_page
            self._stored_counts.count_unfinished(host.id, claim.depth, -1, -is_non_page)
            self._stored_counts.count(
                host.id, claim.depth, outcome, now, role=claim.role
            )
            self._slowest.note(claim.id, outcome.took_s)
            if self.previous.exists:
                key = self._hashed(dedup_key(claim.url))
                self.previous.note(key, claim.id, claim.url, outcome)
            if again is not None:
                self._db.execute(
                    "UPDATE url SET redirects_left = ? WHERE id = ?",
                    (claim.redirects_left - 1, again),
                )
                self._queue_anew(again)
            queued = self._add(outlinks, claim)
        self._end_claim(claim, host, outcome.state)
        self._group.count_ended_url(now)
        return queued

    def retry(self, claim: Claim, due_at: float) -> None:
        host = self._host_of(claim)
        with self._group:
            self._db.execute(
                "UPDATE url SET alarm_at = ?, tries = tries + 1 WHERE id = ?",
                (due_at, claim.id),
            )
        self._end_claim(claim, host)
        self._next_retry_at = min(self._next_retry_at, due_at)

    def release(self, claim: Claim) -> None:
        with contextlib.suppress(LeaseLostError):
            host = self._host_of(claim)
            self._put(host, claim)
            self._end_claim(claim, host)

    def respell(self, claim: Claim, url: str) -> None:
        host = self._host_of(claim)
        redirects_left = claim.redirects_left - 1
        with self._group:
            self._db.execute(
                "UPDATE url SET url = ?, redirects_left = ? WHERE id = ?",
                (url, redirects_left, claim.id),
            )
        again = dataclasses.replace(claim, url=url, redirects_left=redirects_left)
        self._put(host, again)
        self._end_claim(claim, host)

    def _host_of(self, claim: Claim) -> Host:
        """Return the host of a claim; raise LeaseLostError if the lease has expired."""
        if self._claim_by_id.get(claim.id) is not claim:
            raise LeaseLostError(f"the lease on {claim.url} has expired")
        return self._host(claim.host)

    def _end_claim(self, claim: Claim, host: Host, state: State = State.QUEUED) -> None:
        del self._claim_by_id[claim.id]
        self._counts.move(State.CLAIMED, state, claim.role)
        self._schedule.end_claim(host)

    def _put(self, host: Host, claim: Claim) -> None:
        """Return a URL to the schedule; its claim ends after that.

        The other way round, a host without URLs would find this one in the file too.
        """
        self._schedule.put(host, _queued(claim.id, claim, claim.tries))

    def redirect_before(self, claim: Claim, url: str) -> int | None:
        wanted, found = dedup_key(url), (claim.id, claim.url, "")
        while (row := self._db.execute(SELECT_VIA, (found[0],)).fetchone()) is not None:
            if dedup_key(row[2]) != dedup_key(found[1]):
                return None  # it was found otherwise
            if dedup_key(row[1]) == wanted:
                return int(row[0])
            found = row
        return None

    def hold_host(self, host: str, free_at: float) -> None:
        known = self._schedule.find(host)
        if known is None:
            with self._group:
                known = self._host(host)
        if free_at > known.free_at:
            self._schedule.hold(known, free_at)
            self._holds[known.id] = free_at

    def shorten_hold(self, host: str, held_to: float, free_at: float) -> None:
        known = self._schedule.find(host)
        if known is not None and self._schedule.shorten_hold(known, held_to, free_at):
            self._holds[known.id] = free_at

    def note_response(self, origin: str, url: str) -> None:
        self._known_url_by_origin[origin] = url

    def note_soft_404(self, origin: str, url: str) -> None:
        with self._group:
            self._db.execute("REPLACE INTO soft_404 VALUES (?, ?)", (origin, url))

    def known_url(self, origin: str) -> str:
        if origin in self._known_url_by_origin:
            return self._known_url_by_origin[origin]
        row = self._db.execute(
            "SELECT known_url FROM origin WHERE name = ?", (origin,)
        ).fetchone()
        return "" if row is None else str(row[0])

    def next_at(self, now: float) -> float | None:
        (retry_at,) = self._db.execute(
            "SELECT min(alarm_at) FROM url WHERE alarm_at > ?", (now,)
        ).fetchone()
        times = [claim.lease_ends_at for claim in self._claim_by_id.values()]
        times += [
            at for at in (retry_at, self._schedule.next_at(now)) if at is not None
        ]
        return min((at for at in times if at > now), default=None)

    def depth_in_work(self, now: float) -> int | None:
        late = self._db.execute(
            "SELECT depth, count(*) FROM url WHERE state = 'queued' AND alarm_at > ?"
            " GROUP BY depth",
            (now + PATIENCE_S,),
        )
        in_work = self._stored_counts.unfinished_by_depth - collections.Counter(
            dict(late.fetchall())
        )
        return min(in_work, default=None)  # the difference keeps only counts above 0

    def requeue_failed(self, reasons: Collection[str]) -> int:
        if not reasons:
            return 0
        wanted = ", ".join("?" * len(reasons))
        return self._requeue(
            f"state = 'failed' AND reason IN ({wanted})", *reasons, is_wanted=bool
        )

    def requeue_urls(self, urls: Collection[str]) -> int:
        return self._requeue("state IN ('done', 'failed')", is_wanted=urls.__contains__)

    def _requeue(
        self, condition: str, *values: str, is_wanted: Callable[[str], bool]
    ) -> int:
        with self._group:
            rows = self._db.execute(
                f"SELECT id, url FROM url WHERE {condition}", values
            )
            ids = [url_id for url_id, url in rows if is_wanted(url)]
            for url_id in ids:
                self._queue_anew(url_id)
        self.flush()
        return len(ids)

    def forget_earlier(self) -> None:
        """Forget the pages of crawls before the previous one, which are not in the index."""
        with self._group:
            self.previous.forget_earlier()
        self.flush()

    def begin_anew(self, *, is_compared: bool, loops: Iterable[str] = ()) -> None:
        """Delete all URLs for another crawl, see `SqlitePreviousCrawl.begin_anew`."""
        self.flush()
        with self._group:
            self.previous.begin_anew(
                is_compared=is_compared,
                was_whole=self.is_drained(),
                loops=loops,
            )
        self.flush()
        self._load()

    def find(self, key: str) -> UrlRecord | None:
        may_be_known = self._is_read_only or self._hashed(key) in self._keys
        return super().find(key) if may_be_known else None

    def _record_of(self, row: tuple[Any, ...]) -> UrlRecord:
        record = super()._record_of(row)
        if row[0] in self._claim_by_id:
            record.state = State.CLAIMED
        return record

    def is_due(self, now: float) -> bool:
        return self._group.is_due(now)

    def has_changes(self) -> bool:
        return self._has_unwritten_hosts() or self._group.has_changes()

    def _has_unwritten_hosts(self) -> bool:
        return bool(self._holds or self._known_url_by_origin)

    def due_checkpoint(self) -> Callable[[], None] | None:
        return self._checkpoints.make if self._checkpoints.is_due() else None

    def flush(self, *, is_prepared: bool = False) -> None:
        if self._has_unwritten_hosts():
            with self._group:  # begins a transaction if there is none
                pass
        self._group.commit(is_prepared=is_prepared)

    def close(self) -> None:
        try:
            self.flush()
            if not self._is_read_only:
                # Without them it takes longer to resume; nothing is lost.
                with contextlib.suppress(FrontierError, sqlite3.Error):
                    self._save_keys()
        finally:
            super().close()

    def _save_keys(self) -> None:
        with self._group:
            save_keys(self._db, self._keys)
        self.flush()

    def _add(self, candidates: Iterable[Candidate], via: Claim | None) -> int:
        # Counted together, by host and depth.
        queued: dict[tuple[int, int, bool], int] = {}
        for candidate in candidates:
            key, refusal = self._hashed(key_of(candidate)), candidate.refusal
            old_id = None
            is_provisional = refusal in PROVISIONAL
            if not self._keys.add(key):
                if is_provisional or key not in self._provisional_keys:
                    continue
                old_id = self._forget_refusal(key)
            elif is_provisional:
                self._provisional_keys.add(key)
            host = self._host(candidate.host)
            url_id = self._insert(key, candidate, host.id, via, old_id)
            if self.previous.exists:
                self.previous.meet(key)
            if refusal:
                self._count_refusal(key, url_id, host.id, candidate)
            else:
                place = host.id, candidate.depth, candidate.role.is_non_page
                queued[place] = queued.get(place, 0) + 1
                self._schedule.put(host, _queued(url_id, candidate, tries=0))
        for (host_id, depth, is_non_page), urls in queued.items():
            self._counts.add(State.QUEUED, urls, is_non_page * urls)
            self._stored_counts.count_unfinished(
                host_id, depth, urls, is_non_page * urls
            )
        return sum(queued.values())

    def _count_refusal(
        self, key: int, url_id: int, host_id: int, candidate: Candidate
    ) -> None:
        assert candidate.refusal
        outcome, role = Outcome(State.EXCLUDED, candidate.refusal), candidate.role
        self._counts.add(State.EXCLUDED, 1, role.is_non_page)
        self._stored_counts.count(host_id, candidate.depth, outcome, role=role)
        if self.previous.exists:
            self.previous.note(key, url_id, candidate.url, outcome)

    def _forget_refusal(self, key: int) -> int:
        """Count a provisional refusal no more; return the id of its row."""
        url_id, host_id, depth, role, reason = self._db.execute(
            "SELECT id, host_id, depth, role, reason FROM url"
            f" WHERE key = ? AND {IS_PROVISIONAL}",
            (key,),
        ).fetchone()
        self._provisional_keys.remove(key)
        self._counts.add(State.EXCLUDED, -1, -Role(role).is_non_page)
        outcome = Outcome(State.EXCLUDED, Reason(reason))
        self._forget_outcome(url_id, host_id, depth, outcome, Role(role))
        return int(url_id)

    def _forget_outcome(
        self, url_id: int, host_id: int, depth: int, outcome: Outcome, role: Role
    ) -> None:
        """Count an outcome no more."""
        self._stored_counts.count(host_id, depth, outcome, times=-1, role=role)
        self.previous.forget(url_id, outcome)

    def _insert(
        self,
        key: int,
        candidate: Candidate,
        host_id: int,
        via: Claim | None,
        old_id: int | None,
    ) -> int:
        """Insert a row for a candidate, or replace that of its refusal; return the id."""
        inserted = self._db.execute(
            "INSERT OR REPLACE INTO url (id, key, url, host_id, state, depth,"
            " redirects_left, role, turn, via, reason)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                old_id,
                key,
                stored_url(candidate),
                host_id,
                State.EXCLUDED if candidate.refusal else State.QUEUED,
                candidate.depth,
                candidate.redirects_left,
                candidate.role,
                turn_of(candidate.role, candidate.depth),
                via and via.id,
                candidate.refusal or None,
            ),
        )
        assert inserted.lastrowid is not None
        return inserted.lastrowid

    def _queue_anew(self, url_id: int) -> None:
        """Queue a URL that has ended, as if never tried."""
        host_id, depth, number, _, state, *values = self._db.execute(
            f"{SELECT_COUNTED} WHERE id = ?", (url_id,)
        ).fetchone()
        outcome = outcome_of(state, *values)
        assert outcome is not None
        role = Role(number)
        self._forget_outcome(url_id, host_id, depth, outcome, role)
        self._stored_counts.count_unfinished(host_id, depth, 1, role.is_non_page)
        self._db.execute(
            f"UPDATE url SET {CLEAR_OUTCOME}, finished_at = NULL, tries = 0,"
            " state = 'queued' WHERE id = ?",
            (url_id,),
        )
        self._counts.move(State(state), State.QUEUED, role)
        self._put_stored(url_id)

    def _put_stored(self, url_id: int) -> None:
        """Return a URL to the schedule as it is in the file."""
        (name,) = self._db.execute(
            "SELECT name FROM host JOIN url ON host.id = host_id WHERE url.id = ?",
            (url_id,),
        ).fetchone()
        stored = self._db.execute(f"{SELECT_QUEUED} AND id = ?", (url_id,))
        self._schedule.put(self._host(name), stored.fetchone())

    def _ring_alarms(self, now: float) -> None:
        """Return URLs to the queue whose lease has expired or whose retry is due."""
        if now >= self._next_expiry_at:
            claims = list(self._claim_by_id.values())
            for claim in claims:
                if claim.lease_ends_at <= now:
                    self.release(claim)
            ends = (claim.lease_ends_at for claim in self._claim_by_id.values())
            self._next_expiry_at = min(ends, default=math.inf)
        if now >= self._next_retry_at:
            self._queue_retries(now)

    def _queue_retries(self, now: float) -> None:
        due = self._db.execute("SELECT id FROM url WHERE alarm_at <= ?", (now,))
        url_ids = [url_id for (url_id,) in due]
        if url_ids:
            with self._group:
                for url_id in url_ids:
                    self._db.execute(
                        "UPDATE url SET alarm_at = NULL WHERE id = ?", (url_id,)
                    )
                    self._put_stored(url_id)
        (retry_at,) = self._db.execute(
            "SELECT min(alarm_at) FROM url WHERE alarm_at IS NOT NULL"
        ).fetchone()
        self._next_retry_at = math.inf if retry_at is None else retry_at

    def _host(self, name: str) -> Host:
        """Return the host of a name; it must be in the schedule, or a step under way."""
        host = self._schedule.find(name)
        if host is None:
            inserted = self._db.execute(
                "INSERT OR IGNORE INTO host (name) VALUES (?)", (name,)
            )
            if inserted.rowcount == 1:
                assert inserted.lastrowid is not None
                return self._schedule.meet(inserted.lastrowid, name)
            row = self._db.execute(
                "SELECT id, free_at FROM host WHERE name = ?", (name,)
            ).fetchone()
            host = self._schedule.meet(row[0], name, row[1])
        return host

    def _write_hosts(self) -> None:
        """Write what is kept of hosts until a commit, into its transaction."""
        if self._known_url_by_origin:
            self._db.executemany(
                "REPLACE INTO origin VALUES (?, ?)", self._known_url_by_origin.items()
            )
            self._known_url_by_origin.clear()
        if self._holds:
            rows = ((free_at, host_id) for host_id, free_at in self._holds.items())
            self._db.executemany("UPDATE host SET free_at = ? WHERE id = ?", rows)
            self._holds.clear()


def _queued(url_id: int, url: Candidate | Claim, tries: int) -> Queued:
    turn = turn_of(url.role, url.depth)
    return turn, url_id, url.url, url.redirects_left, tries, url.role, url.depth
