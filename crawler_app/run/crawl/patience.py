"""How long a crawl waits for external hosts: one of them must not hold a check for an hour.

Pure: the current time is an argument.
"""

__all__ = ["Patience"]


class Patience:
    """The waits for each external host in one run.

    Waits at the same time count once.

    Args:
        max_wait_s: The longest wait for one host, in seconds, all waits together.

    >>> patience = Patience(max_wait_s=20.0)
    >>> patience.allows("a.test", until=15.0, now=0.0)
    True
    >>> patience.allows("a.test", until=16.0, now=1.0)
    True
    >>> patience.allows("a.test", until=30.0, now=15.0), patience.is_over("a.test")
    (False, True)
    """

    def __init__(self, max_wait_s: float) -> None:
        self._max_wait_s = max_wait_s
        # Until when it waits, and how long it has then waited in all.
        self._waits_by_host: dict[str, tuple[float, float]] = {}
        self._over: set[str] = set()

    def allows(self, host: str, until: float, now: float) -> bool:
        """Return whether to wait for a host until a time, and count that."""
        waits_until, waited_s = self._waits_by_host.get(host, (now, 0.0))
        waited_s += max(0.0, until - max(now, waits_until))
        if waited_s > self._max_wait_s:
            self._over.add(host)
            return False
        self._waits_by_host[host] = max(until, waits_until), waited_s
        return True

    def is_over(self, host: str) -> bool:
        """Return whether a host has asked for more time than there is."""
        return host in self._over
