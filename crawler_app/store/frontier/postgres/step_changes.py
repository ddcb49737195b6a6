"""The changes that one step sends to the server, in the format of `frontier_step`.

Pure.  The claims are named by the tokens of their leases.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from crawler_app.base.models import Candidate, Claim, Outcome, Role
from crawler_app.base.urls import bare_path, dedup_key, has_query
from crawler_app.store.frontier import key_of, stored_url
from crawler_app.store.frontier.count_types import OutcomeKey
from crawler_app.store.frontier.postgres.host_changes import HostChanges

__all__ = ["ChangeBatch", "digest_of"]


def digest_of(key: str) -> str:
    """Return the digest by which a URL is known, in hexadecimal."""
    return blake2b(key.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _counts(candidate: Candidate) -> bool:
    """Return whether a URL counts towards the limit of queries of its path."""
    return not candidate.refusal and candidate.role is not Role.EXTERNAL


class ChangeBatch:
    """The changes since the last flush.

    Attributes:
        claims: The claims that have ended, by token.
        began_at: When the first change was noted; None if there is none.
        links: How many candidates it has.

    >>> batch = ChangeBatch()
    >>> batch.add([Candidate("http://a.test/", "a.test")])
    >>> batch.body(HostChanges())["links"][0][2][0][1:]
    ['http://a.test/', 0, 0, 0, None, <Role.LINK: 0>, False]
    """

    def __init__(self) -> None:
        self.claims: dict[int, Claim] = {}
        self.began_at: float | None = None
        self.links = 0
        self._ends: list[list[Any]] = []
        self._backs: list[list[Any]] = []
        self._again: list[list[int]] = []
        self._place_by_host: dict[str, int] = {}
        self._sources: list[list[Any]] = []
        self._queries: list[list[Any]] = []
        self._facts_by_origin: dict[str, dict[str, Any]] = {}
        self._known_until_by_host: dict[str, float] = {}

    def __bool__(self) -> bool:
        return bool(self.claims or self._sources or self._facts_by_origin)

    def finish(
        self,
        token: int,
        claim: Claim,
        outcome: Outcome,
        now: float,
        outlinks: Iterable[Candidate],
        again: int | None,
    ) -> None:
        """Note the outcome of a claim, and what was found."""
        self.claims[token] = claim
        self._ends.append(
            [
                token,
                outcome.state,
                outcome.reason,
                outcome.status,
                outcome.size_bytes,
                outcome.took_s,
                now,
                OutcomeKey.of(claim.depth, outcome).is_html,
                outcome.content_type,
                outcome.title,
                outcome.error,
                outcome.redirect_to,
                outcome.canonical,
                outcome.digest,
                outcome.note,
            ]
        )
        if again is not None:
            self._again.append([token, again, claim.redirects_left - 1])
        self._add(outlinks, claim.id, token, outcome.redirect_to)

    def put_back(
        self,
        token: int,
        claim: Claim,
        due_at: float | None = None,
        url: str | None = None,
    ) -> None:
        """Note that a claim goes back to the queue: at once or later, as it was or not."""
        self.claims[token] = claim
        self._backs.append([token, due_at, url])

    def add(
        self,
        candidates: Iterable[Candidate],
        via: Claim | None = None,
        redirect_to: str = "",
    ) -> None:
        """Note candidates, and which of them is the target of a redirect."""
        self._add(candidates, None if via is None else via.id, None, redirect_to)

    def note_response(self, origin: str, url: str) -> None:
        """Note a URL that got a response."""
        self._facts_of(origin)["known_url"] = url

    def note_robots(
        self, origin: str, host: str, robots: dict[str, Any], until: float
    ) -> None:
        """Note what was found in robots.txt, once its sitemaps were added."""
        self._facts_of(origin)["robots"] = robots
        self._known_until_by_host[host] = until

    def body(self, changes: HostChanges) -> dict[str, Any]:
        """Return what is sent."""
        for host, until in self._known_until_by_host.items():
            changes.know_until(host, until)
        host_notes = changes.host_rows(self._place)
        return {
            "ends": self._ends,
            "backs": self._backs,
            "again": self._again,
            "links": self._sources,
            "queries": self._queries,
            "notes": host_notes,
            "origins": changes.origin_rows(self._facts_by_origin),
            "hosts": list(self._place_by_host),
        }

    def _facts_of(self, origin: str) -> dict[str, Any]:
        return self._facts_by_origin.setdefault(origin, {})

    def _add(
        self,
        candidates: Iterable[Candidate],
        via: int | None,
        token: int | None,
        redirect_to: str,
    ) -> None:
        target = dedup_key(redirect_to) if redirect_to else None
        links = []
        for candidate in candidates:
            key = key_of(candidate)
            digest, place = digest_of(key), self._place(candidate.host)
            is_seed = via is None and candidate.role is Role.LINK
            if has_query(candidate.url) and not is_seed and _counts(candidate):
                path = digest_of(bare_path(candidate.url))
                self._queries.append([token, path, digest, place])
            links.append(
                [
                    digest,
                    stored_url(candidate),
                    place,
                    candidate.depth,
                    candidate.redirects_left,
                    candidate.refusal or None,
                    candidate.role,
                    key == target,
                ]
            )
        if links:
            self._sources.append([via, token, links])
            self.links += len(links)

    def _place(self, host: str) -> int:
        return self._place_by_host.setdefault(host, len(self._place_by_host))
