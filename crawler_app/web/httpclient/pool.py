"""Idle keep-alive connections.

Rule: a connection that is taken from the pool has one user, who puts it back or closes it.
"""

import asyncio
import collections
import math

from crawler_app.web.httpclient.connection import Connection
from crawler_app.web.httpclient.request import ConnectionKey

__all__ = ["ConnectionPool"]

# Checking a connection for unread data is a system call that takes a tenth of the time of a
# small fetch.  For this long after its last use the check is skipped: it would prove little,
# because data may still be in transit.
FRESH_S = 0.01


class ConnectionPool:
    """Idle connections by key; the most recently used one is taken first.

    Args:
        max_idle: Maximum number of connections; the one idle longest is closed first.
        idle_timeout_s: How long each is kept.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, max_idle: int, idle_timeout_s: float
    ) -> None:
        self._loop = loop
        self._max_idle = max_idle
        self._idle_timeout_s = idle_timeout_s
        self._connections_by_key: dict[ConnectionKey, list[Connection]] = {}
        # In the order in which they became idle.
        self._idle: collections.OrderedDict[Connection, None] = (
            collections.OrderedDict()
        )
        self._sweep_timer: asyncio.TimerHandle | None = None
        self._sweep_due_at = math.inf

    def take(self, key: ConnectionKey, is_repeatable: bool) -> Connection | None:
        """Return a connection for one exchange; None if there is none.

        Args:
            is_repeatable: Whether the request can be sent again if the server closes
                the connection at this moment.
        """
        now = self._loop.time()
        while connections := self._connections_by_key.get(key):
            connection = connections[-1]
            if self._is_usable(connection, now, is_repeatable):
                self._forget(connection)
                return connection
            self._close(connection)
        return None

    def _is_usable(
        self, connection: Connection, now: float, is_repeatable: bool
    ) -> bool:
        if connection.expires_at <= now or connection.transport.is_closing():
            return False
        is_fresh = now - connection.idle_at < FRESH_S
        return (is_repeatable and is_fresh) or connection.is_quiet()

    def put(
        self, connection: Connection, server_timeout_s: float | None = None
    ) -> None:
        """Add a connection that has become idle.

        Args:
            server_timeout_s: How long the server keeps it; None if unknown.
        """
        timeout_s = self._idle_timeout_s
        if server_timeout_s is not None:
            timeout_s = min(timeout_s, server_timeout_s)
        connection.idle_at = self._loop.time()
        connection.expires_at = connection.idle_at + timeout_s
        self._idle[connection] = None
        self._connections_by_key.setdefault(connection.key, []).append(connection)
        if len(self._idle) > self._max_idle:
            self._close(next(iter(self._idle)))
        if self._idle:  # not if max_idle is 0
            self._sweep_at(connection.expires_at)

    def discard(self, connection: Connection) -> None:
        """Remove a connection that has been closed."""
        if connection in self._idle:
            self._forget(connection)

    def close(self) -> None:
        """Close all connections."""
        for connection in list(self._idle):
            self._close(connection)
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()

    def _forget(self, connection: Connection) -> None:
        del self._idle[connection]
        connections = self._connections_by_key[connection.key]
        connections.remove(connection)
        if not connections:
            del self._connections_by_key[connection.key]

    def _close(self, connection: Connection) -> None:
        self._forget(connection)
        connection.abort()

    def _sweep_at(self, due_at: float) -> None:
        """Schedule the closing of expired connections, at the given time or earlier."""
        if due_at < self._sweep_due_at:
            if self._sweep_timer is not None:
                self._sweep_timer.cancel()
            self._sweep_due_at = due_at
            self._sweep_timer = self._loop.call_at(due_at, self._sweep)

    def _sweep(self) -> None:
        self._sweep_timer, self._sweep_due_at = None, math.inf
        now = self._loop.time()
        for connection in list(self._idle):
            if connection.expires_at <= now:
                self._close(connection)
        if self._idle:
            self._sweep_at(min(each.expires_at for each in self._idle))
