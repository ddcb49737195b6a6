"""The ping timeout of WebSockets, as until Tornado 6.4.

Rule: the time-out counts from the last answer, may be longer than the interval between
the pings, and is 30 seconds or three intervals by default.
"""

import asyncio
from typing import Any

from tornado.ioloop import IOLoop

__all__ = ["default_timeout_s", "is_overdue", "ping"]


def default_timeout_s(interval_s: float) -> float:
    """Return the time-out for an answer if the program sets none.

    >>> default_timeout_s(1), default_timeout_s(60)
    (30, 180)
    """
    return max(3 * interval_s, 30)  # as in Tornado 4.5


def is_overdue(
    now: float, last_ping: float, last_pong: float, interval_s: float, timeout_s: float
) -> bool:
    """Return True if an answer is missing; called one interval after each ping.

    Source: ``WebSocketProtocol13.periodic_ping`` of Tornado 4.5.

    >>> is_overdue(100.0, last_ping=99.0, last_pong=70.0, interval_s=1, timeout_s=30)
    False
    >>> is_overdue(101.0, last_ping=100.0, last_pong=70.0, interval_s=1, timeout_s=30)
    True

    The machine may have been suspended since the last ping:

    >>> is_overdue(900.0, last_ping=100.0, last_pong=99.0, interval_s=1, timeout_s=30)
    False
    """
    return now - last_ping < 2 * interval_s and now - last_pong > timeout_s


async def ping(protocol: Any, interval_s: float, timeout_s: float) -> None:
    """Send pings, and close the connection when an answer is overdue.

    Args:
        protocol: A `tornado.websocket.WebSocketProtocol13`.
        interval_s: Between two pings.
        timeout_s: Longer than the interval.
    """
    io_loop = IOLoop.current()
    last_ping = last_pong = io_loop.time()
    while True:
        await asyncio.sleep(interval_s)
        now = io_loop.time()
        # Set when a pong arrives.  `on_pong` would be the public way, but it is the program's.
        if protocol._received_pong:
            protocol._received_pong = False
            last_pong = now
        if is_overdue(now, last_ping, last_pong, interval_s, timeout_s):
            protocol.close(reason="ping timed out")
            return
        protocol.write_ping(b"")
        last_ping = now
