"""The frontier on disk: one SQLite file, which survives ``kill -9`` at any moment.

Each commit is durable against the death of the process (WAL, synchronous=NORMAL).
Transitions are committed in groups: when `claim` finds that a group is large or old enough,
or that no URL is due, and by `add`.  If the process dies before the commit, the URLs of the
group are queued or claimed in the file; the next run queues the claimed ones and fetches all
of them again.  A host that was on hold may then be asked a little early.

What grows with the crawl is on disk, except the keys of known URLs (``_hashed``), the names of
the hosts, and the keys of provisional refusals.
"""

import collections
import math
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from crawler_app.errors import ConfigError, LeaseLostError
from crawler_app.frontier import PATIENCE_S, Frontier, key_of, stored_url
from crawler_app.frontier.group import Group
from crawler_app.frontier.schema import (
    CLEAR_OUTCOME,
    SELECT_RECORDS,
    SET_OUTCOME,
    open_database,
    record_of,
    values_of,
)
from crawler_app.models import (
    Candidate,
    Claim,
    Outcome,
    State,
    UrlRecord,
)
from crawler_app.reasons import PROVISIONAL
from crawler_app.urls import dedup_key

__all__ = ["SqliteFrontier"]

# The next URL to be claimed: the fields of its Claim, and the id of its host.
SELECT_READY = """
SELECT url.id, url.url, host.name, url.depth, url.redirects_left, url.tries,
    :now + :lease_s, url.is_sitemap, host.id
FROM host JOIN url ON url.host_id = host.id
WHERE host.ready > 0 AND host.free_at <= :now
    AND url.state = 'queued' AND url.alarm_at IS NULL AND url.depth <= :max_depth
ORDER BY host.free_at, host.id, url.depth, url.id
LIMIT 1
"""
NO_LIMIT = 2**62

# What led to a URL: id, URL, and target if it is a redirect.
SELECT_VIA = """
SELECT via.id, via.url, coalesce(via.redirect_to, '')
FROM url JOIN url AS via ON via.id = url.via
WHERE url.id = ? AND via.state = 'done'
"""

COUNT_READY = """
SELECT host_id, count(*) FROM url WHERE state = 'queued' AND alarm_at IS NULL
GROUP BY host_id
"""
COUNT_CLAIMED = """
SELECT host_id, count(*) FROM url WHERE state = 'claimed' GROUP BY host_id
"""


class SqliteFrontier(Frontier):
    """A frontier in one SQLite file.

    Args:
        path: The file; created if it does not exist.
        read_only: Read one snapshot, so that counts and records agree, even while another
            process writes.
        before_commit: Called before each commit; an exception prevents the commit.  So
            the archive and the index can be flushed before the frontier records that a
            URL is finished.

    Raises:
        ConfigError: the file is not a frontier, or has another version.

    >>> frontier = SqliteFrontier(":memory:")
    >>> frontier.add([Candidate("http://a.test/", "a.test")])
    1
    >>> frontier.claim(now=0.0, lease_s=60.0).url
    'http://a.test/'
    >>> frontier.close()
    """

    def __init__(
        self,
        path: Path | str,
        *,
        read_only: bool = False,
        before_commit: Callable[[], None] = lambda: None,
    ) -> None:
        self._db = open_database(path, read_only=read_only)
        self._group = Group(self._db, self._load, before_commit)
        self._per_host: int | None = None
        try:
            if read_only:
                self._db.execute("BEGIN")  # all later statements read one snapshot
            self._load(with_keys=not read_only)
        except sqlite3.Error as exc:
            self._db.close()
            raise ConfigError(f"{path} cannot be used as a frontier: {exc}") from None
        except BaseException:
            self._db.close()
            raise

    def _load(self, with_keys: bool = True) -> None:
        """Load the in-memory state from the file, at the start and after an error."""
        # 60 to 90 bytes each, so that a known link needs no disk access.
        self._keys: set[int] = set()
        # Rows whose refusal is provisional, by key: another link may end the refusal.
        self._provisional: dict[int, int] = {}
        self._host_id_by_name: dict[str, int] = {}
        # URLs that are due, and those that are claimed; the file stores only whether the
        # host has a URL to give out.
        self._ready_by_host_id: collections.Counter[int] = collections.Counter()
        self._claimed_by_host_id: collections.Counter[int] = collections.Counter()
        self._giving_host_ids: set[int] = set()
        # No alarm is due before this time, so most claims need no query.
        self._next_alarm_at = -math.inf
        self._count_by_state: collections.Counter[State] = collections.Counter()
        self._unfinished_by_depth: collections.Counter[int] = collections.Counter()
        rows = self._db.execute(
            "SELECT state, depth, count(*) FROM url GROUP BY state, depth"
        )
        for state, depth, count in rows:
            self._count_by_state[State(state)] += count
            if state in (State.QUEUED, State.CLAIMED):
                self._unfinished_by_depth[depth] += count
        if not with_keys:
            return
        self._ready_by_host_id.update(dict(self._db.execute(COUNT_READY).fetchall()))
        self._claimed_by_host_id.update(
            dict(self._db.execute(COUNT_CLAIMED).fetchall())
        )
        giving = self._db.execute("SELECT id FROM host WHERE ready > 0")
        self._giving_host_ids.update(host_id for (host_id,) in giving)
        for url_id, url, reason in self._db.execute("SELECT id, url, reason FROM url"):
            key = _hashed(dedup_key(url))
            if reason in PROVISIONAL:
                self._provisional[key] = url_id
            else:
                self._keys.add(key)

    def knows(self, key: str) -> bool:
        return _hashed(key) in self._keys

    def limit_hosts(self, per_host: int | None) -> None:
        self._per_host = per_host
        with self._group.step():
            for host_id in self._ready_by_host_id:
                self._update_host(host_id)
        self.flush()

    def add(self, candidates: Iterable[Candidate], via: Claim | None = None) -> int:
        with self._group.step():
            queued = self._add(candidates, via)
        self.flush()
        return queued

    def claim(
        self, now: float, lease_s: float, max_depth: int | None = None
    ) -> Claim | None:
        if self._group.is_due(now):
            self.flush()
        with self._group.step():
            claim = self._claim(now, lease_s, max_depth)
        if claim is None:
            self.flush()  # there is time now, and the next claim may be far off
        return claim

    def _claim(self, now: float, lease_s: float, max_depth: int | None) -> Claim | None:
        self._ring_alarms(now)
        if max_depth is None:
            max_depth = NO_LIMIT
        row = self._db.execute(
            SELECT_READY, {"now": now, "lease_s": lease_s, "max_depth": max_depth}
        ).fetchone()
        if row is None:
            return None
        *fields, host_id = row
        claim = Claim(*fields)
        self._next_alarm_at = min(self._next_alarm_at, claim.lease_ends_at)
        self._db.execute(
            "UPDATE url SET state = 'claimed', alarm_at = ? WHERE id = ?",
            (claim.lease_ends_at, claim.id),
        )
        self._change_host(host_id, ready=-1, claimed=+1)
        self._count_move(State.QUEUED, State.CLAIMED)
        return claim

    def finish(
        self,
        claim: Claim,
        outcome: Outcome,
        now: float,
        outlinks: Iterable[Candidate] = (),
        again: int | None = None,
    ) -> int:
        with self._group.step():
            self._leave(
                claim,
                outcome.state,
                f"{SET_OUTCOME}, finished_at = ?, alarm_at = NULL",
                *values_of(outcome),
                now,
            )
            self._change_host(self._host_id(claim.host), claimed=-1)
            self._unfinished_by_depth[claim.depth] -= 1
            if again is not None:
                row = self._db.execute(
                    "UPDATE url SET redirects_left = ? WHERE id = ?"
                    " RETURNING id, host_id, depth, state",
                    (claim.redirects_left - 1, again),
                ).fetchone()
                self._queue_anew(*row)
            queued = self._add(outlinks, claim)
        self._group.count_ended_url(now)
        return queued

    def retry(self, claim: Claim, due_at: float) -> None:
        with self._group.step():
            self._leave(claim, State.QUEUED, "alarm_at = ?, tries = tries + 1", due_at)
            self._change_host(self._host_id(claim.host), claimed=-1)
        self._next_alarm_at = min(self._next_alarm_at, due_at)

    def release(self, claim: Claim) -> None:
        with self._group.step():
            try:
                self._leave(claim, State.QUEUED, "alarm_at = NULL")
            except LeaseLostError:
                return
            self._change_host(self._host_id(claim.host), ready=+1, claimed=-1)

    def respell(self, claim: Claim, url: str) -> None:
        with self._group.step():
            changes = "alarm_at = NULL, url = ?, redirects_left = redirects_left - 1"
            self._leave(claim, State.QUEUED, changes, url)
            self._change_host(self._host_id(claim.host), ready=+1, claimed=-1)

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
        with self._group.step():
            self._db.execute(
                "UPDATE host SET free_at = max(free_at, ?) WHERE id = ?",
                (free_at, self._host_id(host)),
            )

    def next_at(self, now: float) -> float | None:
        row = self._db.execute(
            "SELECT min(at) FROM ("
            " SELECT min(free_at) AS at FROM host WHERE ready > 0 AND free_at > :now"
            " UNION ALL SELECT min(alarm_at) FROM url WHERE alarm_at > :now)",
            {"now": now},
        ).fetchone()
        at: float | None = row[0]
        return at

    def depth_in_work(self, now: float) -> int | None:
        late = self._db.execute(
            "SELECT depth, count(*) FROM url WHERE state = 'queued' AND alarm_at > ?"
            " GROUP BY depth",
            (now + PATIENCE_S,),
        )
        in_work = self._unfinished_by_depth - collections.Counter(dict(late.fetchall()))
        return min(in_work, default=None)  # the difference keeps only counts above 0

    def recover(self) -> int:
        with self._group.step():
            recovered = self._return_to_queue("state = 'claimed'")
        self.flush()
        return recovered

    def requeue_failed(self, reasons: Collection[str]) -> int:
        return self._requeue("failed", is_wanted=lambda _, reason: reason in reasons)

    def requeue_urls(self, urls: Collection[str]) -> int:
        return self._requeue("done", "failed", is_wanted=lambda url, _: url in urls)

    def _requeue(self, *states: str, is_wanted: Callable[[str, str], bool]) -> int:
        with self._group.step():
            ended = self._db.execute(
                "SELECT url, reason, id, host_id, depth, state FROM url"
                f" WHERE state IN ({', '.join('?' * len(states))})",
                states,
            )
            rows = [row[2:] for row in ended if is_wanted(*row[:2])]
            for row in rows:
                self._queue_anew(*row)
        self.flush()
        return len(rows)

    def count(self, state: State) -> int:
        return self._count_by_state[state]

    def records(self) -> Iterator[UrlRecord]:
        for row in self._db.execute(SELECT_RECORDS):
            yield record_of(row)

    def flush(self) -> None:
        self._group.commit()

    def copy_to(self, path: Path) -> None:
        """Copy the frontier into a new file."""
        self.flush()
        copy = sqlite3.connect(path)
        try:
            self._db.backup(copy)
        finally:
            copy.close()

    def close(self) -> None:
        try:
            self.flush()
        finally:
            self._db.close()

    def _add(self, candidates: Iterable[Candidate], via: Claim | None) -> int:
        queued_by_host: collections.Counter[int] = collections.Counter()
        for candidate in candidates:
            key = _hashed(key_of(candidate))
            if key in self._keys:
                continue
            old_id = self._provisional.get(key)
            if old_id is not None and candidate.refusal in PROVISIONAL:
                continue
            host_id = self._host_id(candidate.host)
            self._insert(key, candidate, host_id, via, old_id)
            if not candidate.refusal:
                queued_by_host[host_id] += 1
        for host_id, queued in queued_by_host.items():
            self._change_host(host_id, ready=queued)
        return queued_by_host.total()

    def _insert(
        self,
        key: int,
        candidate: Candidate,
        host_id: int,
        via: Claim | None,
        old_id: int | None,
    ) -> None:
        """Insert a row for a candidate, replacing that of a provisional refusal."""
        state = State.EXCLUDED if candidate.refusal else State.QUEUED
        cursor = self._db.execute(
            "INSERT OR REPLACE INTO url"
            " (id, url, host_id, state, depth, redirects_left, is_sitemap, via, reason)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                old_id,
                stored_url(candidate),
                host_id,
                state,
                candidate.depth,
                candidate.redirects_left,
                candidate.is_sitemap,
                via and via.id,
                candidate.refusal or None,
            ),
        )
        self._count_by_state[state] += 1
        if old_id is not None:
            self._count_by_state[State.EXCLUDED] -= 1
            del self._provisional[key]
        if candidate.refusal in PROVISIONAL:
            assert cursor.lastrowid is not None
            self._provisional[key] = cursor.lastrowid
            return
        self._keys.add(key)
        if state is State.QUEUED:
            self._unfinished_by_depth[candidate.depth] += 1

    def _queue_anew(self, url_id: int, host_id: int, depth: int, state: str) -> None:
        """Queue a URL that has ended, as if never tried."""
        self._db.execute(
            f"UPDATE url SET {CLEAR_OUTCOME}, finished_at = NULL, tries = 0,"
            " state = 'queued' WHERE id = ?",
            (url_id,),
        )
        self._change_host(host_id, ready=+1)
        self._unfinished_by_depth[depth] += 1
        self._count_move(State(state), State.QUEUED)

    def _leave(self, claim: Claim, state: State, changes: str, *values: Any) -> None:
        """Move a URL out of ``claimed``; raise LeaseLostError if the lease has expired."""
        cursor = self._db.execute(
            f"UPDATE url SET state = ?, {changes}"
            " WHERE id = ? AND state = 'claimed' AND alarm_at = ?",
            (state, *values, claim.id, claim.lease_ends_at),
        )
        if not cursor.rowcount:
            raise LeaseLostError(f"the lease on {claim.url} has expired")
        self._count_move(State.CLAIMED, state)

    def _ring_alarms(self, now: float) -> None:
        if now < self._next_alarm_at:
            return
        self._return_to_queue("alarm_at <= ?", now)
        row = self._db.execute(
            "SELECT min(alarm_at) FROM url WHERE alarm_at IS NOT NULL"
        ).fetchone()
        self._next_alarm_at = math.inf if row[0] is None else row[0]

    def _return_to_queue(self, condition: str, *values: float) -> int:
        """Return URLs to the queue whose retry is due or whose claim was lost."""
        rows = self._db.execute(
            f"SELECT id, host_id, state FROM url WHERE {condition}", values
        ).fetchall()
        for url_id, host_id, state in rows:
            self._db.execute(
                "UPDATE url SET state = 'queued', alarm_at = NULL WHERE id = ?",
                (url_id,),
            )
            self._change_host(host_id, ready=+1, claimed=-(state == State.CLAIMED))
            self._count_move(State(state), State.QUEUED)
        return len(rows)

    def _count_move(self, old: State, new: State, urls: int = 1) -> None:
        self._count_by_state[old] -= urls
        self._count_by_state[new] += urls

    def _change_host(self, host_id: int, *, ready: int = 0, claimed: int = 0) -> None:
        self._ready_by_host_id[host_id] += ready
        self._claimed_by_host_id[host_id] += claimed
        self._update_host(host_id)

    def _update_host(self, host_id: int) -> None:
        """Store in the file whether a host has a URL to give out."""
        gives = self._ready_by_host_id[host_id] > 0 and (
            self._per_host is None or self._claimed_by_host_id[host_id] < self._per_host
        )
        if gives != (host_id in self._giving_host_ids):
            self._giving_host_ids ^= {host_id}
            self._db.execute("UPDATE host SET ready = ? WHERE id = ?", (gives, host_id))

    def _host_id(self, name: str) -> int:
        host_id = self._host_id_by_name.get(name)
        if host_id is None:
            self._db.execute("INSERT OR IGNORE INTO host (name) VALUES (?)", (name,))
            row = self._db.execute("SELECT id FROM host WHERE name = ?", (name,))
            host_id = self._host_id_by_name[name] = int(row.fetchone()[0])
        return host_id


def _hashed(key: str) -> int:
    """Return the in-memory form of a key: 60 bits of Python's randomized string hash.

    If two URLs shared a key, the second would be lost: at a million URLs the odds are 1 in
    two million, at ten million 1 in 23 000.  Collisions cannot be made on purpose, since the
    hash has another secret key in each process.  60 bits, because such an int takes 32 bytes
    and a wider one 48.
    """
    return hash(key) & 0xFFF_FFFF_FFFF_FFFF
