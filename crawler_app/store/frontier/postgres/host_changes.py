"""Updates about hosts and origins, apart from the outcomes of claims.

Pure.  It does not depend on what is recorded, so it goes with the next step, before a flush.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field
from typing import Any

__all__ = ["TELL_WITHIN_S", "HostChanges"]

# A host whose fetch has begun is not leased from until that is told.  Sooner would be more
# steps, later a longer gap.
TELL_WITHIN_S = 0.1


@dataclass(slots=True)
class _HostNote:
    """What is told of a host, in the order of ``update_hosts``; None for no change."""

    free_at: float | None = None
    gap_s: float | None = None
    is_down: bool | None = None
    known_until: float | None = None
    held_to: float | None = None
    shortened_to: float | None = None


@dataclass(slots=True)
class HostChanges:
    """The changes since the last step.

    Attributes:
        due_at: When they are to be sent, even if nothing else is.

    >>> changes = HostChanges()
    >>> changes.hold("a.test", 102.0, now=100.0)
    >>> changes.due_at, changes.host_rows({"a.test": 7}.get)
    (100.1, [[7, 102.0, None, None, None, None, None]])
    """

    due_at: float = math.inf
    by_host: dict[str, _HostNote] = field(default_factory=dict)
    by_origin: dict[str, dict[str, Any]] = field(default_factory=dict)

    def hold(self, host: str, free_at: float, now: float) -> None:
        """Note until when a host is held."""
        note = self._of_host(host)
        note.free_at = max(free_at, -math.inf if note.free_at is None else note.free_at)
        # No later than it is free: that would make the gap longer.
        self.due_at = min(self.due_at, now + min(TELL_WITHIN_S, (free_at - now) / 2))

    def shorten(self, host: str, held_to: float, free_at: float) -> None:
        """Note that a hold ends earlier."""
        note = self._of_host(host)
        note.held_to, note.shortened_to = held_to, free_at
        if note.free_at is not None and note.free_at <= held_to:
            note.free_at = free_at

    def set_gap(self, host: str, gap_s: float) -> None:
        """Note the gap of a host."""
        self._of_host(host).gap_s = gap_s

    def set_down(self, host: str, is_down: bool) -> None:
        """Note whether a host is down."""
        self._of_host(host).is_down = is_down

    def know_until(self, host: str, until: float) -> None:
        """Note when the robots.txt of a host expires."""
        self._of_host(host).known_until = until

    def tell(self, origin: str, **facts: Any) -> None:
        """Note what is told of an origin, by the names of its columns."""
        self.by_origin.setdefault(origin, {}).update(facts)

    def host_rows(self, place_of: Callable[[str], int | None]) -> list[list[Any]]:
        """Return what is sent of hosts, each by its place in a list of names."""
        return [[place_of(host), *astuple(note)] for host, note in self.by_host.items()]

    def origin_rows(self, more: Mapping[str, dict[str, Any]]) -> list[list[Any]]:
        """Return what is sent of origins, with what was flushed."""
        return [
            [origin, more.get(origin, {}) | self.by_origin.get(origin, {})]
            for origin in more.keys() | self.by_origin.keys()
        ]

    def _of_host(self, host: str) -> _HostNote:
        return self.by_host.setdefault(host, _HostNote())
