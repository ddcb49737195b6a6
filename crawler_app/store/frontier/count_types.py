"""The counts of a frontier, so that a summary need not read every URL."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from crawler_app.base.http_headers import is_html
from crawler_app.base.models import Outcome, Role, State
from crawler_app.base.reasons import CONTENT, AnyReason, is_broken, reason_of_word

__all__ = ["RANKED", "Amount", "HostCounts", "OutcomeKey", "StateCounts", "amounts_of"]

# The length of the lists of the slowest and of the largest URLs.
RANKED = 100


class OutcomeKey(NamedTuple):
    """The properties by which finished URLs are counted.

    Attributes:
        status: None if there was no response.
        is_html: Whether the response was an HTML page.
        role: What they were found as.
    """

    depth: int
    state: State
    reason: AnyReason
    status: int | None = None
    is_html: bool = False
    role: Role = Role.LINK

    @classmethod
    def of(cls, depth: int, outcome: Outcome, role: Role = Role.LINK) -> "OutcomeKey":
        """Return the key of a URL that has ended.

        >>> from crawler_app.base.reasons import Reason
        >>> OutcomeKey.of(2, Outcome(State.DONE, Reason.OK, 200, "image/png"))
        ... # doctest: +ELLIPSIS
        OutcomeKey(depth=2, state=<State.DONE: 'done'>, ..., is_html=False, role=<Role.LINK: 0>)
        """
        reason, status = outcome.reason, outcome.status
        is_page = reason in CONTENT and is_html(outcome.content_type)
        return cls(depth, outcome.state, reason, status, is_page, role)


@dataclass(slots=True)
class Amount:
    """The finished URLs with one `OutcomeKey`.

    Attributes:
        size_bytes: The size of their bodies, after decompression.
        first_at: When the first of them was finished, in seconds since the epoch; None if
            that is unknown.  One that has been queued again since counts too.
        last_at: The same for the last.
    """

    urls: int = 0
    size_bytes: int = 0
    first_at: float | None = None
    last_at: float | None = None

    def count(self, outcome: Outcome, at: float | None, times: int = 1) -> None:
        """Count a URL with this key, or with ``times=-1`` count it no more."""
        self.urls += times
        self.size_bytes += times * outcome.size_bytes
        if at is not None:
            self.first_at = at if self.first_at is None else min(self.first_at, at)
            self.last_at = at if self.last_at is None else max(self.last_at, at)

    def add(self, other: "Amount") -> None:
        """Add the URLs of another amount with the same key.

        >>> amount = Amount(1, 10, 5.0, 5.0)
        >>> amount.add(Amount(2, 20, 4.0, 6.0))
        >>> amount
        Amount(urls=3, size_bytes=30, first_at=4.0, last_at=6.0)
        """
        self.urls += other.urls
        self.size_bytes += other.size_bytes
        if self.first_at is None or self.last_at is None:
            self.first_at, self.last_at = other.first_at, other.last_at
        elif other.first_at is not None and other.last_at is not None:
            self.first_at = min(self.first_at, other.first_at)
            self.last_at = max(self.last_at, other.last_at)


def amounts_of(rows: Iterable[Sequence[Any]]) -> dict[OutcomeKey, Amount]:
    """Return the amounts in rows of a table: the fields of the key, and those of the amount."""
    return {
        OutcomeKey(
            depth,
            State(state),
            reason_of_word(reason),
            status or None,
            bool(is_html),
            Role(role),
        ): Amount(*amount)
        for depth, state, reason, status, is_html, role, *amount in rows
    }


@dataclass(slots=True)
class HostCounts:
    """The counts of one host.

    Attributes:
        urls: URLs fetched or to be fetched.
        broken: Broken URLs, and redirect loops that begin there.
        took_us: Total time of the fetches whose time is known, in microseconds.
        timed: Number of these fetches.
    """

    name: str
    urls: int = 0
    pages: int = 0
    broken: int = 0
    size_bytes: int = 0
    took_us: int = 0
    timed: int = 0

    @property
    def mean_s(self) -> float | None:
        """Mean time of a fetch; None if there was none."""
        return self.took_us / self.timed / 1e6 if self.timed else None

    def count(self, kind: OutcomeKey, outcome: Outcome, times: int = 1) -> None:
        """Count a URL of this host that has ended, or with ``times=-1`` no more."""
        if kind.state is State.EXCLUDED:
            return
        self.urls += times
        self.pages += times * kind.is_html
        if kind.state is State.FAILED:
            self.broken += times * is_broken(outcome.reason)
        self.size_bytes += times * outcome.size_bytes
        if outcome.took_s is not None:
            self.took_us += times * round(outcome.took_s * 1e6)
            self.timed += times


class StateCounts:
    """The number of URLs in each state.

    Attributes:
        urls: All of them.
        non_pages: The assets and external URLs among them.

    >>> counts = StateCounts()
    >>> counts.add(State.QUEUED, urls=3, non_pages=1)
    >>> counts.move(State.QUEUED, State.DONE, Role.LINK)
    >>> counts.urls[State.QUEUED], counts.urls[State.DONE], counts.non_pages[State.DONE]
    (2, 1, 0)
    """

    def __init__(self) -> None:
        self.urls: Counter[State] = Counter()
        self.non_pages: Counter[State] = Counter()

    def add(self, state: State, urls: int, non_pages: int) -> None:
        """Count URLs that came into a state, or with negative numbers have left it."""
        self.urls[state] += urls
        self.non_pages[state] += non_pages

    def move(self, old: State, new: State, role: Role) -> None:
        """Count a URL in another state."""
        # Twice for each URL: calls of `add` would make a claim a few per cent slower.
        self.urls[old] -= 1
        self.urls[new] += 1
        if role.is_non_page:
            self.non_pages[old] -= 1
            self.non_pages[new] += 1
