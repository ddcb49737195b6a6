"""The frontier on disk: one SQLite file, which survives ``kill -9`` at any moment.

Each commit is durable against the death of the process (WAL, synchronous=NORMAL).
Transitions are committed in groups: when `claim` finds that a group is large or old enough,
or that no URL is due, and by `add`.  If the process dies before the commit, the URLs of the
group are queued or claimed in the file; the next run queues the claimed ones and fetches all
of them again.  A host that was on hold may then be asked a little early.

What grows with the crawl is on disk, except a number for each known URL (see
`crawler_app.frontier.keys`) and the names of the hosts.
"""

import collections
import hashlib
import math
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from crawler_app.errors import ConfigError, LeaseLostError
from crawler_app.frontier import PATIENCE_S, Frontier, key_of, stored_url
from crawler_app.frontier.counts import Amount, Host, Kind
from crawler_app.frontier.group import Group
from crawler_app.frontier.keys import KEY_BITS, Keys
from crawler_app.frontier.schema import (
    CLEAR_OUTCOME,
    HAS_QUERY,
    IS_PROVISIONAL,
    SELECT_COUNTED,
    SELECT_RECORDS,
    SET_OUTCOME,
    open_database,
    outcome_of,
    record_of,
    values_of,
)
from crawler_app.frontier.tally import Slowest, Tally
from crawler_app.models import (
    Candidate,
    Claim,
    Outcome,
    State,
    UrlRecord,
)
from crawler_app.reasons import PROVISIONAL, Reason
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

SELECT_PROVISIONAL = f"SELECT key FROM url WHERE {IS_PROVISIONAL}"


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

        def prepare() -> None:
            before_commit()
            self._tally.write()

        self._group = Group(
            self._db,
            reload=self._load,
            recount=lambda: self._tally.count_again(),
            before_commit=prepare,
        )
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
        # The latter are those of provisional refusals, which another link may end.
        self._keys, self._provisional_keys = Keys(), Keys()
        self._host_id_by_name: dict[str, int] = {}
        # URLs that are due, and those that are claimed; the file stores only whether the
        # host has a URL to give out.
        self._ready_by_host_id: collections.Counter[int] = collections.Counter()
        self._claimed_by_host_id: collections.Counter[int] = collections.Counter()
        self._giving_host_ids: set[int] = set()
        # No alarm is due before this time, so most claims need no query.
        self._next_alarm_at = -math.inf
        self._tally, self._slowest = Tally(self._db), Slowest(self._db)
        self._count_states()
        if not with_keys:
            return
        self._ready_by_host_id.update(dict(self._db.execute(COUNT_READY).fetchall()))
        giving = self._db.execute("SELECT id FROM host WHERE ready > 0")
        self._giving_host_ids.update(host_id for (host_id,) in giving)
        (secret,) = self._db.execute("SELECT bytes FROM secret").fetchone()
        self._keyed = hashlib.blake2b(digest_size=8, key=secret)
        self._keys.load(self._db.execute("SELECT key FROM url"))
        self._provisional_keys.load(self._db.execute(SELECT_PROVISIONAL))

    def _count_states(self) -> None:
        """Take the counts by state from the tally."""
        self._count_by_state = collections.Counter(
            {State.QUEUED: self._tally.unfinished_by_depth.total()}
        )
        for kind, amount in self._tally.amount_by_kind.items():
            self._count_by_state[kind.state] += amount.urls
        for host_id, claimed in self._db.execute(COUNT_CLAIMED):
            self._claimed_by_host_id[host_id] = claimed
            self._count_move(State.QUEUED, State.CLAIMED, claimed)

    def knows(self, key: str) -> bool:
        known = self._hashed(key)
        return known in self._keys and known not in self._provisional_keys

    def limit_hosts(self, per_host: int | None) -> None:
        self._per_host = per_host
        with self._group:
            for host_id in self._ready_by_host_id:
                self._update_host(host_id)
        self.flush()

    def add(self, candidates: Iterable[Candidate], via: Claim | None = None) -> int:
        with self._group:
            queued = self._add(candidates, via)
        self.flush()
        return queued

    def claim(
        self, now: float, lease_s: float, max_depth: int | None = None
    ) -> Claim | None:
        if self._group.is_due(now):
            self.flush()
        with self._group:
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
        with self._group:
            self._leave(
                claim,
                outcome.state,
                f"{SET_OUTCOME}, finished_at = ?, alarm_at = NULL",
                *values_of(outcome),
                now,
            )
            host_id = self._host_id(claim.host)
            self._change_host(host_id, claimed=-1)
            self._tally.count_unfinished(host_id, claim.depth, -1)
            self._tally.count(host_id, claim.depth, outcome, now)
            self._slowest.note(claim.id, outcome.took_s)
            if again is not None:
                self._db.execute(
                    "UPDATE url SET redirects_left = ? WHERE id = ?",
                    (claim.redirects_left - 1, again),
                )
                self._queue_anew(again)
            queued = self._add(outlinks, claim)
        self._group.count_ended_url(now)
        return queued

    def retry(self, claim: Claim, due_at: float) -> None:
        with self._group:
            self._leave(claim, State.QUEUED, "alarm_at = ?, tries = tries + 1", due_at)
            self._change_host(self._host_id(claim.host), claimed=-1)
        self._next_alarm_at = min(self._next_alarm_at, due_at)

    def release(self, claim: Claim) -> None:
        with self._group:
            try:
                self._leave(claim, State.QUEUED, "alarm_at = NULL")
            except LeaseLostError:
                return
            self._change_host(self._host_id(claim.host), ready=+1, claimed=-1)

    def respell(self, claim: Claim, url: str) -> None:
        with self._group:
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
        with self._group:
            self._db.execute(
                "UPDATE host SET free_at = max(free_at, ?) WHERE id = ?",
                (free_at, self._host_id(host)),
            )

    def note_response(self, origin: str, url: str) -> None:
        with self._group:
            self._db.execute("REPLACE INTO origin VALUES (?, ?)", (origin, url))

    def known_url(self, origin: str) -> str:
        row = self._db.execute(
            "SELECT known_url FROM origin WHERE name = ?", (origin,)
        ).fetchone()
        return "" if row is None else str(row[0])

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
        in_work = self._tally.unfinished_by_depth - collections.Counter(
            dict(late.fetchall())
        )
        return min(in_work, default=None)  # the difference keeps only counts above 0

    def recover(self) -> int:
        with self._group:
            recovered = self._return_to_queue("state = 'claimed'")
        self.flush()
        return recovered

    def requeue_failed(self, reasons: Collection[str]) -> int:
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

    def count(self, state: State) -> int:
        return self._count_by_state[state]

    def tally(self) -> dict[Kind, Amount]:
        tally = self._tally.amount_by_kind
        return {kind: amount for kind, amount in tally.items() if amount.urls}

    def hosts(self) -> list[Host]:
        return self._tally.hosts()

    def slowest(self) -> list[UrlRecord]:
        return [self._record(url_id) for url_id in self._slowest.url_ids()]

    def _record(self, url_id: int) -> UrlRecord:
        rows = self._db.execute(f"{SELECT_RECORDS} WHERE url.id = ?", (url_id,))
        return record_of(rows.fetchone())

    def redirects(self) -> dict[str, str]:
        rows = self._db.execute(
            "SELECT url, redirect_to FROM url WHERE reason = 'redirect' ORDER BY id"
        )
        return dict(rows.fetchall())

    def queries(self) -> Iterator[str]:
        rows = self._db.execute(
            f"SELECT url FROM url WHERE ({HAS_QUERY}) AND state != 'excluded' ORDER BY id"
        )
        return (url for (url,) in rows)

    def find(self, key: str) -> UrlRecord | None:
        # Without an index, which would cost each new URL more than its row; this is asked
        # for a few URLs, and those of the first pages are soon found.
        row = self._db.execute(
            "SELECT id FROM url WHERE key = ? LIMIT 1", (self._hashed(key),)
        ).fetchone()
        return None if row is None else self._record(row[0])

    def records(self, state: State | None = None) -> Iterator[UrlRecord]:
        condition = "" if state is None else f"WHERE url.state = '{state}'"
        for row in self._db.execute(f"{SELECT_RECORDS} {condition} ORDER BY url.id"):
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
        # Counted together, by host and depth.
        queued: dict[tuple[int, int], int] = {}
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
            host_id = self._host_id(candidate.host)
            self._insert(key, candidate, host_id, via, old_id)
            if refusal:
                outcome = Outcome(State.EXCLUDED, refusal)
                self._count_by_state[State.EXCLUDED] += 1
                self._tally.count(host_id, candidate.depth, outcome)
            else:
                place = host_id, candidate.depth
                queued[place] = queued.get(place, 0) + 1
        for (host_id, depth), urls in queued.items():
            self._count_by_state[State.QUEUED] += urls
            self._tally.count_unfinished(host_id, depth, urls)
            self._change_host(host_id, ready=urls)
        return sum(queued.values())

    def _forget_refusal(self, key: int) -> int:
        """Count a provisional refusal no more; return the id of its row."""
        url_id, host_id, depth, reason = self._db.execute(
            "SELECT id, host_id, depth, reason FROM url"
            f" WHERE key = ? AND {IS_PROVISIONAL}",
            (key,),
        ).fetchone()
        self._provisional_keys.remove(key)
        self._count_by_state[State.EXCLUDED] -= 1
        outcome = Outcome(State.EXCLUDED, Reason(reason))
        self._tally.count(host_id, depth, outcome, times=-1)
        return int(url_id)

    def _insert(
        self,
        key: int,
        candidate: Candidate,
        host_id: int,
        via: Claim | None,
        old_id: int | None,
    ) -> None:
        """Insert a row for a candidate, replacing that of a provisional refusal."""
        self._db.execute(
            "INSERT OR REPLACE INTO url (id, key, url, host_id, state, depth,"
            " redirects_left, is_sitemap, via, reason)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                old_id,
                key,
                stored_url(candidate),
                host_id,
                State.EXCLUDED if candidate.refusal else State.QUEUED,
                candidate.depth,
                candidate.redirects_left,
                candidate.is_sitemap,
                via and via.id,
                candidate.refusal or None,
            ),
        )

    def _hashed(self, key: str) -> int:
        """Return the number that is stored for a key.

        If two URLs shared a number, the second would be lost: at a million URLs the odds
        are 1 in 18 million, at ten million 1 in 180,000.  Collisions cannot be made on
        purpose without the secret of the file.
        """
        keyed = self._keyed.copy()  # takes half the time of a new one
        keyed.update(key.encode(errors="surrogatepass"))
        return int.from_bytes(keyed.digest()) >> (64 - KEY_BITS)

    def _queue_anew(self, url_id: int) -> None:
        """Queue a URL that has ended, as if never tried."""
        host_id, depth, _, state, *values = self._db.execute(
            f"{SELECT_COUNTED} WHERE id = ?", (url_id,)
        ).fetchone()
        outcome = outcome_of(state, *values)
        assert outcome is not None
        self._tally.count(host_id, depth, outcome, times=-1)
        self._tally.count_unfinished(host_id, depth, 1)
        self._db.execute(
            f"UPDATE url SET {CLEAR_OUTCOME}, finished_at = NULL, tries = 0,"
            " state = 'queued' WHERE id = ?",
            (url_id,),
        )
        self._change_host(host_id, ready=+1)
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
