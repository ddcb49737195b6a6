"""Connections that nobody uses, kept for a while because somebody may."""

import asyncio
import collections

from crawler_app.httpclient.connection import Connection
from crawler_app.httpclient.request import ConnectionKey

__all__ = ["ConnectionPool"]


class ConnectionPool:
    """Idle connections by what they can be used for, the one used last first.

    Args:
        max_idle: Connections kept; beyond that the one idle longest is closed.
        idle_timeout_s: How long each is kept.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, max_idle: int, idle_timeout_s: float
    ) -> None:
        self._loop = loop
        self._max_idle = max_idle
        self._idle_timeout_s = idle_timeout_s
        self._by_key: dict[ConnectionKey, list[Connection]] = {}
        # In the order in which they became idle.
        self._idle: collections.OrderedDict[Connection, None] = (
            collections.OrderedDict()
        )
        self._sweep_timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._idle)

    def take(self, key: ConnectionKey) -> Connection | None:
        """Return a connection for one exchange; None if there is none."""
        now = self._loop.time()
        while connections := self._by_key.get(key):
            connection = connections[-1]
            if (
                connection.expires_at > now
                and connection.is_quiet()
                and not connection.transport.is_closing()
            ):
                self._forget(connection)
                return connection
            self._close(connection)
        return None

    def put(self, connection: Connection, told_timeout_s: float | None = None) -> None:
        """Keep a connection.

        Args:
            told_timeout_s: How long the server keeps it, by its own words.
        """
        timeout_s = self._idle_timeout_s
        if told_timeout_s is not None:
            timeout_s = min(timeout_s, told_timeout_s)
        connection.expires_at = self._loop.time() + timeout_s
        self._idle[connection] = None
        self._by_key.setdefault(connection.key, []).append(connection)
        if len(self._idle) > self._max_idle:
            self._close(next(iter(self._idle)))
        if self._idle:
            self._sweep_at(connection.expires_at)

    def discard(self, connection: Connection) -> None:
        """Forget a connection that has ended."""
        if connection in self._idle:
            self._forget(connection)

    def close(self) -> None:
        """Close all of them."""
        for connection in list(self._idle):
            self._close(connection)
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
            self._sweep_timer = None

    def _forget(self, connection: Connection) -> None:
        del self._idle[connection]
        connections = self._by_key[connection.key]
        connections.remove(connection)
        if not connections:
            del self._by_key[connection.key]

    def _close(self, connection: Connection) -> None:
        self._forget(connection)
        connection.abort()

    def _sweep_at(self, time: float) -> None:
        """Look for expired connections at a time, or before."""
        if self._sweep_timer is None:
            self._sweep_timer = self._loop.call_at(time, self._sweep)
        elif time < self._sweep_timer.when():
            self._sweep_timer.cancel()
            self._sweep_timer = self._loop.call_at(time, self._sweep)

    def _sweep(self) -> None:
        self._sweep_timer = None
        now = self._loop.time()
        for connection in list(self._idle):
            if connection.expires_at <= now:
                self._close(connection)
        if self._idle:
            self._sweep_at(min(each.expires_at for each in self._idle))
