"""A server on loopback with faults, and the assertions that hold for each fault.

A connection of the server plays a script: a coroutine function that gets the server's end of it,
reads requests and sends bytes.  After its script, or without one, it answers every request with
the body "good", so tests can count whether a connection was reused.

Rule: `exchange` asserts what all faults have in common; a test asserts only its particular fault.
"""

import asyncio
import contextlib
import dataclasses
import gc
import logging
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from ssl import SSLContext
from typing import Any, Self

from tornado.netutil import Resolver

from crawler_app.httpclient import PooledAsyncHTTPClient
from gencoro.ioloop import IOLoop
from gencoro.virtual_clock import VirtualClock, VirtualLoop

__all__ = [
    "GOOD",
    "Exchange",
    "FaultServer",
    "Loopback",
    "Peer",
    "answers",
    "attempt",
    "body_for",
    "exchange",
    "fetch_twice",
    "head",
    "new_client",
    "repeats",
    "run",
    "says_nothing",
    "serving",
    "settle",
]

# In virtual time, which advances immediately if everything waits.
STUCK_S = 1000.0

# In real time, for endless loops.
ENDLESS_S = 120.0

# A response that leaves the connection open.
GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"


async def settle(turns: int = 20) -> None:
    """Run the loop for some turns, so that all ready callbacks have run."""
    for _ in range(turns):
        await asyncio.sleep(0)


class Peer:
    """The server's end of one connection.

    Attributes:
        address: That of the client.
        heads: Request line and headers of every request that was read.
        sent_bytes: The number of bytes written to the connection.
        is_gone: Set when the client has closed its end.
        is_followed: Set when another connection was made after this one.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader = reader
        self._writer = writer
        self._is_half_closed = False
        self.address = writer.get_extra_info("peername")
        self.heads: list[bytes] = []
        self.sent_bytes = 0
        self.is_gone = asyncio.Event()
        self.is_followed = asyncio.Event()

    async def request(self) -> bytes:
        """Read a request and return its body, which must have a Content-Length."""
        head = await self._reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        _, has_length, rest = head.lower().partition(b"\r\ncontent-length:")
        length = int(rest.split(b"\r\n")[0]) if has_length else 0
        return await self._reader.readexactly(length)

    async def request_head(self) -> None:
        """Read the head of a request; of its body, buffers may hold a part."""
        self.heads.append(await self._reader.readuntil(b"\r\n\r\n"))

    async def read(self) -> bytes:
        return await self._reader.read(65536)

    async def send(self, *parts: bytes) -> None:
        """Send all parts, waiting for a slow client."""
        for part in parts:
            if self._is_half_closed:
                raise BrokenPipeError("nothing can be sent after half_close")
            self._writer.write(part)
            self.sent_bytes += len(part)
            await self._writer.drain()

    async def send_apart(self, *parts: bytes) -> None:
        """Send each part when the one before has been read."""
        for part in parts:
            await self.send(part)
            # One turn until the client's end is readable, and one to read it; in the third,
            # this coroutine would still run before the client.
            await settle(3)

    def close(self) -> None:
        self._writer.close()

    def half_close(self) -> None:
        """Stop sending, and continue reading."""
        self._is_half_closed = True
        self._writer.write_eof()

    def reset(self) -> None:
        """Reset the connection, so that the client gets ECONNRESET."""
        connection = self._writer.get_extra_info("socket")
        linger = struct.pack("ii", 1, 0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._writer.transport.abort()

    async def gone(self) -> None:
        """Read and discard until the client has closed its end."""
        with contextlib.suppress(OSError):
            while await self._reader.read(65536):
                pass
        self.is_gone.set()

    async def serve(self, body: bytes = b"good") -> None:
        """Answer every request until the client has closed its end."""
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
        try:
            while True:
                await self.request()
                is_head = self.heads[-1].startswith(b"HEAD ")
                await self.send(head if is_head else head + body)
        except (asyncio.IncompleteReadError, OSError):
            self.is_gone.set()

    async def play(self, script: "Script | None") -> None:
        """Play a script and then answer requests, until the client is gone."""
        try:
            if script is not None:
                await script(self)
            await self.serve()
        except (asyncio.IncompleteReadError, OSError):
            self.is_gone.set()
        finally:
            self._writer.transport.abort()


Script = Callable[[Peer], Awaitable[None]]


class Loopback(Resolver):
    """Resolves every name to 127.0.0.1 without a thread, in a fixed number of turns.

    Args:
        ask: Called with each name first; it may wait, or raise.
    """

    def initialize(self, ask: Callable[[str], Awaitable[None]] | None = None) -> None:
        self._ask = ask

    async def resolve(
        self, host: str, port: int, family: int = socket.AF_UNSPEC
    ) -> list[tuple[int, Any]]:
        if self._ask is not None:
            await self._ask(host)
        return [(socket.AF_INET, ("127.0.0.1", port))]


class FaultServer:
    """Plays one script per connection, in order, and then answers normally.

    Args:
        then: The script of further connections; None answers normally.
        ssl: A context for TLS; None for plain TCP.

    Attributes:
        peers: The connections so far.
        url: The URL of its root, with the slash.
    """

    def __init__(
        self,
        *scripts: Script,
        then: Script | None = None,
        ssl: SSLContext | None = None,
    ):
        self._scripts = list(scripts)
        self._then = then
        self._ssl = ssl
        self._tasks: list[asyncio.Task[None]] = []
        self.peers: list[Peer] = []

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    @property
    def requests(self) -> list[str]:
        """Return the head of every request."""
        return [head.decode("latin-1") for peer in self.peers for head in peer.heads]

    async def start(self) -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        # Small, so that few unread bytes are buffered.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        # asyncio sets it only for sockets that name their protocol; it is inherited.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._server = await asyncio.start_server(
            self._connected, sock=listening, ssl=self._ssl
        )
        self.port = listening.getsockname()[1]
        scheme = "http" if self._ssl is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self.port}/"

    async def stop(self) -> None:
        await settle()  # connections that wait are accepted before closing
        self._server.close()
        for task in self._tasks:
            task.cancel()
        results = await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()
        await settle(50)  # until the client has noticed the end, too
        for result in results:
            if isinstance(result, Exception):
                raise result

    def _connected(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        script = self._scripts.pop(0) if self._scripts else self._then
        peer = Peer(reader, writer)
        for earlier in self.peers:
            earlier.is_followed.set()
        self.peers.append(peer)
        self._tasks.append(asyncio.ensure_future(peer.play(script)))

    async def all_gone(self) -> None:
        """Wait until the client has closed every connection."""
        if self._tasks:
            await asyncio.wait(self._tasks)


# Scripts.


def head(*lines: bytes, status: bytes = b"200 OK") -> bytes:
    """Return the head of a response.

    >>> head(b"A: b")
    b'HTTP/1.1 200 OK\\r\\nA: b\\r\\n\\r\\n'
    """
    return b"\r\n".join([b"HTTP/1.1 " + status, *lines, b"", b""])


def answers(*parts: bytes, end: Callable[[Peer], None] | None = None) -> Script:
    """Return a script that reads a request, sends parts and ends the connection.

    Args:
        end: A method of Peer; None leaves the connection open.
    """

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(*parts)
        if end is not None:
            end(peer)

    return script


def repeats(part: bytes, *, after: bytes = b"", pause_s: float = 0.0) -> Script:
    """Return a script that answers with the same part for ever."""

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(after)
        while True:
            await peer.send(part)
            await asyncio.sleep(pause_s)

    return script


async def says_nothing(peer: Peer) -> None:
    """Read everything, and answer nothing."""
    await peer.gone()


# Assertions.


@dataclasses.dataclass
class Exchange:
    """The result of an exchange with a server that played a script.

    Attributes:
        outcome: The response, or the error.
        server: The server, with the connections that were made to it.
    """

    outcome: Any
    server: FaultServer

    @property
    def was_reused(self) -> bool:
        """Whether the next request came over the same connection."""
        return len(self.server.peers) == 1


def body_for(method: str) -> dict[str, Any]:
    """Return the options of a body for a method that must have one."""
    return {"body": b"x"} if method in ("POST", "PUT", "PATCH") else {}


def new_client(**options: Any) -> Any:
    """Return a new client, by default with one slot."""
    return PooledAsyncHTTPClient(force_instance=True, **({"max_clients": 1} | options))


async def attempt(client: Any, url: str, **options: Any) -> Any:
    """Return the response, with any status, or the error."""
    try:
        return await client.fetch(url, raise_error=False, **options)
    except Exception as exc:  # an outcome like any other
        return exc


@contextlib.asynccontextmanager
async def serving(
    *scripts: Script, ssl: SSLContext | None = None, **options: Any
) -> AsyncIterator[tuple[FaultServer, Any]]:
    """Yield a server, and a client whose connections to it are gone at the end.

    Args:
        options: Of the client, which has one slot by default.
    """
    async with FaultServer(*scripts, ssl=ssl) as server:
        client = new_client(**options)
        try:
            yield server, client
        finally:
            client.close()
        await server.all_gone()


def exchange(
    script: Script,
    *,
    is_https: bool = False,
    client: dict[str, Any] | None = None,
    **options: Any,
) -> Exchange:
    """Fetch from a server that plays a script on its first connection.

    Asserts that the same client then fetches from the same server; that it has closed a
    connection that it did not reuse; and what `run` asserts.

    Args:
        is_https: Whether to fetch with https, although the server has no TLS.
        client: Options of the client.
        options: Of the request.
    """

    async def main() -> Exchange:
        async with serving(script, **(client or {})) as (server, fetching):
            url = server.url.replace("http:", "https:") if is_https else server.url
            outcome = await attempt(fetching, url, **options)
            after = await attempt(fetching, server.url + "after")
            assert getattr(after, "body", after) == b"good", (outcome, after)
            assert len(fetching.queue) == 0, fetching.queue
            assert len(server.peers) in (1, 2), server.peers
            for peer in server.peers[:-1]:
                await peer.is_gone.wait()
        return Exchange(outcome, server)

    return run(main)


def fetch_twice(
    script: Script | None,
    *others: Script,
    between: Callable[[Peer], Awaitable[None]] | None = None,
    **options: Any,
) -> tuple[Any, FaultServer]:
    """Fetch twice, and return the second outcome and the server.

    Args:
        script: Of the first connection; others are of those after it.
        between: Called between the two with the server's end of the connection.
        options: Of the second request.
    """

    async def main() -> tuple[Any, FaultServer]:
        scripts = [script, *others] if script else []
        async with serving(*scripts) as (server, client):
            first = await attempt(client, server.url + "first")
            assert getattr(first, "body", first) == b"good"
            if between is not None:
                await between(server.peers[0])
            second = await attempt(client, server.url + "second", **options)
            third = await attempt(client, server.url + "third")
            assert getattr(third, "body", third) == b"good"
        return second, server

    outcome: tuple[Any, FaultServer] = run(main)
    return outcome


def run(main: Callable[[], Awaitable[Any]]) -> Any:
    """Run a coroutine on a new loop, in virtual time, and return its result.

    Asserts that no task and no timer is left, and that neither the loop nor Tornado
    reported an error.
    """
    reports: list[object] = []
    # Objects from before need not be searched for leaks.  They stay frozen, as at the beginning
    # of a file, because thawing them would make the next collection slow.  Collected first,
    # because frozen garbage stays for ever, and asyncio iterates over all tasks.
    gc.collect()
    gc.freeze()
    asyncio_loop = VirtualClock().new_event_loop()
    asyncio_loop.set_exception_handler(lambda _, report: reports.append(report))
    loop = IOLoop(asyncio_loop=asyncio_loop, make_current=False)
    try:
        with _errors_logged() as records:
            result = loop.run_sync(lambda: _watched(main), timeout=None)
            gc.collect()
    finally:
        loop.close()
    assert not reports, reports
    errors = [record.getMessage() for record in records]
    assert not errors, errors
    return result


async def _watched(main: Callable[[], Awaitable[Any]]) -> Any:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    task = asyncio.current_task()
    assert task is not None
    endless = loop.call_later_really(ENDLESS_S, task.cancel, "it turns in a circle")
    async with asyncio.timeout(STUCK_S):
        result = await main()
    endless.cancel()
    await settle()
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    assert not tasks, tasks
    timers = [timer for timer in loop._scheduled if not timer.cancelled()]
    assert not timers, timers
    return result


@contextlib.contextmanager
def _errors_logged() -> Iterator[list[logging.LogRecord]]:
    """Collect the errors that are logged, by any logger."""
    records: list[logging.LogRecord] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = records.append  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    try:
        yield records
    finally:
        logging.getLogger().removeHandler(handler)
