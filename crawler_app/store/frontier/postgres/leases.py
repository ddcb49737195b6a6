"""The leases that a worker holds: claims handed out to its crawl, and claims in its buffer.

Pure.  A lease has a token, which distinguishes two leases of one URL.
"""

from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import Any

from crawler_app.base.errors import LeaseLostError
from crawler_app.base.models import Claim, Role
from crawler_app.base.urls import dedup_key, origin_of
from crawler_app.store.frontier import turn_of

__all__ = ["Leases"]


class Leases:
    """The leases of one worker.

    Attributes:
        waiting: The claims to be handed out.
        unready_by_origin: Those that wait for what others have learned of their origin.

    >>> leases = Leases()
    >>> row = [7, 1024, "http://a.test/", "a.test", 0, 9, 0, 0, 60.0, None, 0.0, None]
    >>> leases.note(row, shift_s=-5.0)  # doctest: +ELLIPSIS
    Claim(id=1024, url='http://a.test/', ..., lease_ends_at=55.0, role=<Role.LINK: 0>)
    >>> leases.make_ready("http://a.test")
    >>> claim = leases.take()
    >>> leases.end(claim)
    7
    >>> leases.end(claim)
    Traceback (most recent call last):
        ...
    crawler_app.base.errors.LeaseLostError: the lease on http://a.test/ has expired
    """

    def __init__(self) -> None:
        self.waiting: deque[Claim] = deque()
        self.unready_by_origin: dict[str, list[Claim]] = {}
        self._claim_by_token: dict[int, Claim] = {}
        self._token_by_id: dict[int, int] = {}
        # Of each redirect that led to a URL, the last first: id, URL and target.
        self._redirects_by_id: dict[int, list[tuple[int, str, str]]] = {}

    def __len__(self) -> int:
        return len(self._claim_by_token)

    def __contains__(self, token: int) -> bool:
        return token in self._claim_by_token

    def __iter__(self) -> Iterator[Claim]:
        return iter(list(self._claim_by_token.values()))

    def note(self, row: list[Any], shift_s: float) -> Claim:
        """Note a lease as the server describes it; it is not handed out yet.

        Args:
            shift_s: What is to be added to the time of the server.
        """
        token, url_id, url, host, depth, redirects_left, tries, role, ends_at = row[:9]
        lease_ends_at = ends_at + shift_s
        claim = Claim(
            url_id, url, host, depth, redirects_left, tries, lease_ends_at, Role(role)
        )
        self._claim_by_token[token] = claim
        self._token_by_id[url_id] = token
        if row[9]:
            self._redirects_by_id[url_id] = row[9]
        self.unready_by_origin.setdefault(origin_of(url), []).append(claim)
        return claim

    def make_ready(self, origin: str) -> None:
        """Let the claims of an origin be handed out."""
        self.waiting += self.unready_by_origin.pop(origin, ())

    def idle(self) -> list[Claim]:
        """Return the claims that were not handed out."""
        return [*self.waiting, *chain.from_iterable(self.unready_by_origin.values())]

    def take(self, max_depth: int | None = None) -> Claim | None:
        """Hand out the next claim that is not too deep."""
        for claim in self.waiting:
            if max_depth is None or turn_of(claim.role, claim.depth) <= max_depth:
                self.waiting.remove(claim)
                return claim
        return None

    def end(self, claim: Claim) -> int:
        """Forget a claim that was handed out or waits; return the token of its lease.

        Raises:
            LeaseLostError: it has none.
        """
        token = self._token_by_id.get(claim.id)
        if token is None or self._claim_by_token[token] is not claim:
            raise LeaseLostError(f"the lease on {claim.url} has expired")
        self._forget(token)
        return token

    def keep(self, tokens: set[int]) -> None:
        """Forget the leases that the server has ended."""
        for token in self._claim_by_token.keys() - tokens:
            self._forget(token)

    def _forget(self, token: int) -> None:
        claim = self._claim_by_token.pop(token)
        del self._token_by_id[claim.id]
        self._redirects_by_id.pop(claim.id, None)
        origin = origin_of(claim.url)
        unready = self.unready_by_origin.get(origin, [])
        if claim in unready:
            unready.remove(claim)
            if not unready:
                del self.unready_by_origin[origin]
        elif claim in self.waiting:
            self.waiting.remove(claim)

    def redirect_before(self, claim: Claim, url: str) -> int | None:
        """Return the id of a URL if its redirects led to a claimed one; None otherwise."""
        key, wanted = dedup_key(claim.url), dedup_key(url)
        for url_id, before, target in self._redirects_by_id.get(claim.id, ()):
            if dedup_key(target) != key:
                return None  # it was found otherwise
            key = dedup_key(before)
            if key == wanted:
                return url_id
        return None
