"""Limits, levels and the end of a crawl by several processes.

Pure: statuses in, orders out; no socket and no clock.

The limit of pages is exact.  Each part has a quota, and the quotas add up to no more than the
limit.  A part that has used up its quota gets a share of what is left; if nothing is left,
the others give back what they have not used.
"""

import dataclasses
from dataclasses import dataclass, field

from crawler_app.run.processes.process_messages import Order, Status

__all__ = ["Coordinator"]


@dataclass(slots=True)
class _Part:
    """One part, as far as its current process is known.

    Attributes:
        forwarded: Batches of links that were sent to the process.
        taken: How many of them are committed.
        ordered: The number of the last order.
        quota: How many of its pages may have been fetched, or be under way, at most.
    """

    status: Status | None = None
    forwarded: int = 0
    taken: int = 0
    ordered: int = 0
    quota: int = 0
    is_known: bool = False

    @property
    def current(self) -> Status | None:
        """The status, unless something was sent to the process since."""
        status = self.status
        if status is None or status.received != self.forwarded:
            return None
        return status if status.obeyed == self.ordered else None


@dataclass(slots=True)
class Coordinator:
    """Decides what the processes of a crawl are to do.

    Args:
        count: The number of parts.
        max_pages: The limit of pages of the whole crawl; None for no limit.
        has_levels: Whether the crawl goes level by level.

    >>> coordinator = Coordinator(2, max_pages=8, has_levels=False)
    >>> starving = Status(is_starved=True, quota=0)
    >>> coordinator.note_status(0, starving)
    []
    >>> [(part, order.quota) for part, order in coordinator.note_status(1, starving)]
    [(0, 2), (1, 1)]
    """

    count: int
    max_pages: int | None
    has_levels: bool
    level: int = 0
    parts: list[_Part] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.parts = [_Part() for _ in range(self.count)]

    def note_start(self, part: int) -> None:
        """Note that a new process has been started; nothing was sent to it yet."""
        known = self.parts[part]
        known.status = None
        known.forwarded = known.taken = known.ordered = 0

    def note_forwarded(self, part: int) -> None:
        """Note that a batch of links was sent to a process."""
        self.parts[part].forwarded += 1

    def note_taken(self, part: int) -> None:
        """Note that a process has committed a batch."""
        self.parts[part].taken += 1

    def note_status(self, part: int, status: Status) -> list[tuple[int, Order]]:
        """Note a status; return the orders that follow from it, with their parts."""
        self.parts[part].status = status
        current = self.parts[part].current
        if current is not None:
            # A process that has just begun has no quota for what was fetched before.
            self.parts[part].quota = max(current.quota or 0, current.begun)
            self.parts[part].is_known = True
        return [*self._next_level(), *self._quotas()]

    def is_drained(self) -> bool:
        """Return whether no part has work, and no link is on its way."""
        return all(
            part.current is not None
            and not part.current.has_work
            and part.taken == part.forwarded
            for part in self.parts
        )

    def has_reached_max_pages(self) -> bool:
        """Return whether the limit of pages is reached, and what they need is fetched."""
        current = [part.current for part in self.parts if part.current is not None]
        if self.max_pages is None or len(current) < self.count:
            return False
        return (
            any(status.queued for status in current)
            and not any(status.claimed or status.has_non_pages for status in current)
            and sum(status.begun for status in current) >= self.max_pages
        )

    def numbered(self, part: int, order: Order) -> Order:
        """Return an order that is sent to a process now, with its number."""
        self.parts[part].ordered += 1
        return dataclasses.replace(order, number=self.parts[part].ordered)

    def _next_level(self) -> list[tuple[int, Order]]:
        """Go on to the next level if no part has a URL of this one, or a link on its way."""
        current = [part.current for part in self.parts]
        depths = [status.depth for status in current if status is not None]
        known = [depth for depth in depths if depth is not None]
        if not self.has_levels or None in current or not known:
            return []
        if min(known) <= self.level:
            return []
        self.level = min(known)
        return [
            (part, self.numbered(part, Order(level=self.level)))
            for part in range(self.count)
        ]

    def _quotas(self) -> list[tuple[int, Order]]:
        """Give quotas to the parts that have used up theirs."""
        if self.max_pages is None or not all(part.is_known for part in self.parts):
            return []
        orders = []
        left = self.max_pages - sum(part.quota for part in self.parts)
        is_lacking = False
        for number, part in enumerate(self.parts):
            if part.current is None or not part.current.is_starved:
                continue
            if left > 0:
                given = max(left // (2 * self.count), 1)
                part.quota += given
                left -= given
                orders.append((number, self.numbered(number, Order(quota=part.quota))))
            else:
                is_lacking = True
        return orders + (self._recalls() if is_lacking else [])

    def _recalls(self) -> list[tuple[int, Order]]:
        return [
            (number, self.numbered(number, Order(recalls_quota=True)))
            for number, part in enumerate(self.parts)
            if part.current is not None and part.quota > part.current.begun
        ]
