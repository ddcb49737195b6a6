"""What a run waits for, and how long it waits for external hosts.

One of them must not hold a check for an hour.

Pure: the current time is an argument.
"""

from crawler_app.base.models import Outcome
from crawler_app.base.reasons import traits_of

__all__ = ["Waits", "why"]


class Waits:
    """The waits for the hosts of one run.

    Args:
        max_external_s: The longest wait for an external host, in seconds, all waits together;
            those at the same time count once.

    >>> waits = Waits(max_external_s=20.0)
    >>> waits.allows("a.test", until=15.0, now=0.0)
    True
    >>> waits.allows("a.test", until=16.0, now=1.0)
    True
    >>> waits.allows("a.test", until=30.0, now=15.0), waits.are_over("a.test")
    (False, True)
    >>> waits.note("b.test", until=40.0, why="429")
    >>> waits.first(now=30.0), waits.first(now=40.0)
    ('b.test (429)', '')
    """

    def __init__(self, max_external_s: float) -> None:
        self._max_external_s = max_external_s
        # Until when an external host is waited for, and how long in all by then.
        self._external: dict[str, tuple[float, float]] = {}
        self._over: set[str] = set()
        # Until when a host is not asked, and why; for people.
        self._held: dict[str, tuple[float, str]] = {}

    def allows(self, host: str, until: float, now: float) -> bool:
        """Return whether to wait for an external host until a time, and count that."""
        waits_until, waited_s = self._external.get(host, (now, 0.0))
        waited_s += max(0.0, until - max(now, waits_until))
        if waited_s > self._max_external_s:
            self._over.add(host)
            return False
        self._external[host] = max(until, waits_until), waited_s
        return True

    def are_over(self, host: str) -> bool:
        """Return whether an external host has asked for more time than there is."""
        return host in self._over

    def note(self, host: str, until: float, why: str) -> None:
        """Note why a host is not asked before a time."""
        self._held[host] = until, why

    def first(self, now: float) -> str:
        """Return the host that may be asked next, and why not yet; empty if none waits."""
        held = {host: hold for host, hold in self._held.items() if hold[0] > now}
        self._held = held
        if not held:
            return ""
        host = min(held, key=held.__getitem__)
        return f"{host} ({held[host][1]})"


def why(outcome: Outcome) -> str:
    """Return why a URL is retried, in a word or two."""
    return str(outcome.status or traits_of(outcome.reason).badge or outcome.reason)
