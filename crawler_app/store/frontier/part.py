"""The frontier of one part of a crawl: the URLs of its own hosts, and links to others'.

A crawl by several processes divides its hosts among parts (`crawler_app.run.processes`).  A URL of another
part's host is not stored here as a URL.  It is written to the table ``outgoing``, in the
transaction of the outcome that led to it, and deleted when the other part has committed it.

Rule: only committed links are sent, and a link is deleted only after it was acknowledged.  So
a crash may send a link twice, which changes nothing, and never loses one.
"""

import collections
import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from crawler_app.base.models import Candidate, Claim, Role
from crawler_app.base.reasons import PROVISIONAL, Reason
from crawler_app.base.urls import dedup_key, host_of
from crawler_app.store import database
from crawler_app.store.frontier import key_of, stored_url
from crawler_app.store.frontier.frontier_schema import (
    OUTCOME_COLUMNS,
    SCHEMA,
    SCHEMA_VERSION,
    TABLES,
)
from crawler_app.store.frontier.key_set import KeySet
from crawler_app.store.frontier.sqlite import SELECT_VIA, Source, SqliteFrontier

__all__ = ["Batch", "PartFrontier", "candidates_of"]

PART_TABLES = """
-- Links to URLs of other parts: for each page, those to one part, as JSON.
CREATE TABLE outgoing (
    part INTEGER NOT NULL,
    id INTEGER NOT NULL,
    urls INTEGER NOT NULL,             -- how many may be fetched
    extras INTEGER NOT NULL,           -- assets and external URLs among them
    links TEXT NOT NULL,
    PRIMARY KEY (part, id)
) WITHOUT ROWID;

-- What led to a URL, if that belongs to another part.
CREATE TABLE found_elsewhere (
    url_id INTEGER PRIMARY KEY REFERENCES url,
    via TEXT NOT NULL,
    redirects TEXT NOT NULL            -- JSON: the redirects that led to it, the last first
);
"""

PART_SCHEMA = database.Schema(
    "the frontier of a part of a crawl",
    SCHEMA_VERSION,
    SCHEMA.tables | {"outgoing", "found_elsewhere"},
    TABLES + PART_TABLES,
    cure=SCHEMA.cure,
)

# As SELECT_RECORDS, with what led to a URL in another part.
SELECT_PART_RECORDS = f"""
SELECT url.id, url.url, url.depth, coalesce(via.url, elsewhere.via, ''), url.tries,
    url.finished_at, url.role, url.state, {", ".join(f"url.{name}" for name in OUTCOME_COLUMNS)}
FROM url LEFT JOIN url AS via ON via.id = url.via
    LEFT JOIN found_elsewhere AS elsewhere ON elsewhere.url_id = url.id
"""

SELECT_UNSENT = """
SELECT id, links FROM outgoing WHERE part = ? AND id > ? AND id <= ? ORDER BY id
"""

# `json.dumps` with arguments makes an encoder each time.
_encode = json.JSONEncoder(separators=(",", ":")).encode

# Larger batches cost no less, and those that were not acknowledged are kept in memory.
BATCH_CHARS = 64 * 1024
MAX_UNACKNOWLEDGED = 4


@dataclass(slots=True, frozen=True)
class Batch:
    """Links to be sent to another part.

    Attributes:
        id: Acknowledging it acknowledges all earlier batches for this part too.
        links: JSON for `PartFrontier.receive`.
    """

    part: int
    id: int
    links: str


@dataclass(slots=True, frozen=True)
class _SourceElsewhere:
    """A URL of another part that led to URLs of this one; empty for none.

    Attributes:
        redirects: The redirects that led to them, the last first.
    """

    url: str
    redirects: list[str]
    id: None = None


class PartFrontier(SqliteFrontier):
    """The frontier of one part.

    Args:
        part: The number of this part.
        part_of: Returns the part that a host belongs to.
        on_commit: Called after each commit.
    """

    _schema = PART_SCHEMA
    _select_records = SELECT_PART_RECORDS
    _more_tables = ("outgoing", "found_elsewhere")

    def __init__(
        self,
        path: Path | str,
        *,
        part: int = 0,
        part_of: Callable[[str], int] = lambda host: 0,
        read_only: bool = False,
        before_commit: Callable[[], None] = lambda: None,
        on_commit: Callable[[], None] = lambda: None,
    ) -> None:
        self._part = part
        self._part_of = part_of
        self._on_commit = on_commit
        # Ids grow as long as this process lives, even if changes are rolled back.
        self._last_id = self._committed_id = 0
        self._sent_by_part: dict[int, collections.deque[int]] = {}
        self._sent_id_by_part: collections.Counter[int] = collections.Counter()
        self._has_received = False
        super().__init__(path, read_only=read_only, before_commit=before_commit)

    def _load(self) -> None:
        super()._load()
        # The URLs of other parts that this process has met, as for its own.
        self._foreign, self._provisional_foreign = KeySet(), KeySet()
        rows, last_id = self._db.execute(
            "SELECT count(*), coalesce(max(id), 0) FROM outgoing"
        ).fetchone()
        self._outgoing = int(rows)
        self._last_id = max(self._last_id, last_id)
        self._committed_id = max(self._committed_id, last_id)

    def knows(self, key: str) -> bool:
        number = self._hashed(key)
        if number in self._keys:
            return number not in self._provisional_keys
        return number in self._foreign and number not in self._provisional_foreign

    @property
    def has_outgoing(self) -> bool:
        """Whether there are links that other parts have not acknowledged."""
        return self._outgoing > 0

    def is_drained(self) -> bool:
        """Return whether no URL is queued or claimed, and no link is on its way."""
        return not self._outgoing and super().is_drained()

    def outgoing_urls(self) -> int:
        """Return how many links to URLs that may be fetched were not acknowledged."""
        return self._sum_of_outgoing("urls")

    def outgoing_non_pages(self) -> int:
        """Return how many of these are assets and external URLs."""
        return self._sum_of_outgoing("extras")

    def _sum_of_outgoing(self, column: str) -> int:
        row = self._db.execute(f"SELECT coalesce(sum({column}), 0) FROM outgoing")
        return int(row.fetchone()[0])

    def batches(self, parts: Collection[int]) -> Iterator[Batch]:
        """Yield the batches that may be sent to some parts now; each is yielded once."""
        if not self._outgoing:
            return
        for part in parts:
            sent = self._sent_by_part.setdefault(part, collections.deque())
            while len(sent) < MAX_UNACKNOWLEDGED:
                batch = self._next_batch(part)
                if batch is None:
                    break
                sent.append(batch.id)
                self._sent_id_by_part[part] = batch.id
                yield batch

    def _next_batch(self, part: int) -> Batch | None:
        links: list[str] = []
        chars = last_id = 0
        rows = self._db.execute(
            SELECT_UNSENT, (part, self._sent_id_by_part[part], self._committed_id)
        )
        for last_id, text in rows:
            links.append(text)
            chars += len(text)
            if chars >= BATCH_CHARS:
                break
        return Batch(part, last_id, f"[{','.join(links)}]") if links else None

    def acknowledge(self, part: int) -> None:
        """Delete the oldest batch for a part, which has committed it."""
        last_id = self._sent_by_part[part].popleft()
        with self._group:
            cursor = self._db.execute(
                "DELETE FROM outgoing WHERE part = ? AND id <= ?", (part, last_id)
            )
            self._outgoing -= cursor.rowcount

    def receive(
        self, links: str, admit: Callable[[Candidate], Candidate] = lambda found: found
    ) -> None:
        """Add the links of a batch; the next commit writes them.

        Args:
            admit: Returns a candidate as it is to be added.
        """
        self._has_received = True
        with self._group:
            for via, redirects, found in json.loads(links):
                source = _SourceElsewhere(via, redirects)
                super()._add(map(admit, map(_candidate, found)), source)

    def has_changes(self) -> bool:
        """Return whether there is anything to commit, or to acknowledge, as known links are."""
        return self._has_received or super().has_changes()

    def flush(self, *, is_prepared: bool = False) -> None:
        super().flush(is_prepared=is_prepared)
        self._has_received = False
        self._committed_id = self._last_id
        self._on_commit()

    def redirect_before(self, claim: Claim, url: str) -> int | None:
        wanted = dedup_key(url)
        before, elsewhere = self._redirects_before(claim)
        for url_id, each in before:
            if dedup_key(each) == wanted:
                return url_id
        if wanted not in map(dedup_key, elsewhere):
            return None
        row = self._db.execute(
            "SELECT id FROM url WHERE key = ? AND state = 'done'",
            (self._hashed(wanted),),
        ).fetchone()
        return None if row is None else int(row[0])

    def _redirects_before(
        self, claim: Claim
    ) -> tuple[list[tuple[int, str]], list[str]]:
        """Return the redirects that led to a URL: ids and URLs here, URLs elsewhere."""
        before: list[tuple[int, str]] = []
        url_id, url = claim.id, claim.url
        while (row := self._db.execute(SELECT_VIA, (url_id,)).fetchone()) is not None:
            if dedup_key(row[2]) != dedup_key(url):
                return before, []
            url_id, url = row[0], row[1]
            before.append((url_id, url))
        row = self._db.execute(
            "SELECT redirects FROM found_elsewhere WHERE url_id = ?", (url_id,)
        ).fetchone()
        return before, [] if row is None else json.loads(row[0])

    def _redirects_to(self, source: Source) -> list[str]:
        """Return the redirects that lead to the links of a URL, the last first."""
        if not isinstance(source, Claim):
            return []
        (is_redirect,) = self._db.execute(
            "SELECT reason = 'redirect' FROM url WHERE id = ?", (source.id,)
        ).fetchone()
        if not is_redirect:
            return []
        before, elsewhere = self._redirects_before(source)
        return [source.url, *(url for _, url in before), *elsewhere]

    def _add(self, candidates: Iterable[Candidate], via: Source | None) -> int:
        own: list[Candidate] = []
        found_by_part: dict[int, list[Candidate]] = {}
        for candidate in candidates:
            part = self._part_of(candidate.host)
            if part == self._part:
                own.append(candidate)
            elif self._is_new_to_owner(candidate):
                found_by_part.setdefault(part, []).append(candidate)
        for part, found in found_by_part.items():
            self._send(part, found, via)
        return super()._add(own, via)

    def _is_new_to_owner(self, candidate: Candidate) -> bool:
        """Return whether the part that owns a URL may not know it yet; remember it as known.

        As for our own URLs, a provisional refusal is passed on once, and so is its end.
        """
        key = self._hashed(key_of(candidate))
        is_provisional = candidate.refusal in PROVISIONAL
        if not self._foreign.add(key):
            if is_provisional or key not in self._provisional_foreign:
                return False
            self._provisional_foreign.remove(key)
        elif is_provisional:
            self._provisional_foreign.add(key)
        return True

    def _send(self, part: int, found: list[Candidate], via: Source | None) -> None:
        self._last_id += 1
        url, redirects = ("", []) if via is None else (via.url, self._redirects_to(via))
        links = url, redirects, _links(found)
        non_pages = [each.role.is_non_page for each in found if not each.refusal]
        self._db.execute(
            "INSERT INTO outgoing VALUES (?, ?, ?, ?, ?)",
            (part, self._last_id, len(non_pages), sum(non_pages), _encode(links)),
        )
        self._outgoing += 1

    def _insert(
        self,
        key: int,
        candidate: Candidate,
        host_id: int,
        via: Source | None,
        old_id: int | None,
    ) -> int:
        url_id = super()._insert(key, candidate, host_id, via, old_id)
        if isinstance(via, _SourceElsewhere) and via.url:
            self._db.execute(
                "INSERT OR REPLACE INTO found_elsewhere VALUES (?, ?, ?)",
                (url_id, via.url, _encode(via.redirects) if via.redirects else "[]"),
            )
        return url_id


def _links(found: Iterable[Candidate]) -> list[tuple[object, ...]]:
    """Return what `_candidate` needs of each."""
    return [
        (
            stored_url(candidate),
            candidate.depth,
            candidate.redirects_left,
            candidate.refusal or "",
            int(candidate.role),
        )
        for candidate in found
    ]


def candidates_of(text: str) -> tuple[str, list[Candidate]]:
    """Return what a row of ``outgoing`` has: the URL that led to links, and these."""
    via, _, found = json.loads(text)
    return via, [_candidate(link) for link in found]


def _candidate(link: tuple[str, int, int, str, int]) -> Candidate:
    url, depth, redirects_left, refusal, role = link
    reason = Reason(refusal) if refusal else None
    return Candidate(url, host_of(url), depth, redirects_left, reason, Role(role))
