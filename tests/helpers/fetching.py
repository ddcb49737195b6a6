"""A server that breaks the rules, and fetching from it: for the tests of the fetchers.

The servers run on the loop of the client and speak raw bytes, since no HTTP server can
be told to break the rules.
"""

import asyncio
import contextlib

from crawler_app.config import CrawlConfig
from crawler_app.errors import FetchError
from crawler_app.fetcher import make_fetcher
from gencoro import gen
from gencoro.ioloop import IOLoop
from gencoro.virtual_clock import VirtualClock

__all__ = ["LIMIT", "RawServer", "answer", "fetch", "fetch_from", "run", "sends"]

LIMIT = 100_000


class RawServer:
    """Answers every connection with what a script writes.

    Attributes:
        connections: How many there were.
        requests: The head of every request, as it came.
        sent_bytes: What was handed to the connections.
    """

    def __init__(self, script, *, reads_requests=True, **options):
        self._script = script
        self._reads_requests = reads_requests
        self._options = options
        self._tasks = set()
        self._is_stopped = asyncio.Event()
        self.connections = 0
        self.requests = []
        self.sent_bytes = 0

    async def start(self):
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", 0, **self._options
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self):
        self._server.close()
        self._is_stopped.set()
        await asyncio.gather(*self._tasks)
        await self._server.wait_closed()

    async def send(self, writer, content):
        writer.write(content)
        self.sent_bytes += len(content)
        await writer.drain()

    async def _serve(self, reader, writer):
        self.connections += 1
        self._tasks.add(asyncio.current_task())
        answer = asyncio.ensure_future(self._answer(reader, writer))
        stop = asyncio.ensure_future(self._is_stopped.wait())
        await asyncio.wait([answer, stop], return_when=asyncio.FIRST_COMPLETED)
        answer.cancel()
        stop.cancel()
        await asyncio.wait([answer, stop])
        writer.transport.abort()
        with contextlib.suppress(
            asyncio.CancelledError, asyncio.IncompleteReadError, OSError
        ):
            answer.result()  # the client may have gone, or the test is over

    async def _answer(self, reader, writer):
        if self._reads_requests:
            head = await reader.readuntil(b"\r\n\r\n")
            self.requests.append(head.decode("latin-1"))
        await self._script(self, writer)
        writer.close()
        await writer.wait_closed()


def sends(*parts):
    """Return a script that sends some bytes and closes the connection."""

    async def script(server, writer):
        for part in parts:
            await server.send(writer, part)

    return script


def answer(body=b"", status="200 OK", **headers):
    """Return a script that sends a response; ``_`` in a header's name is a hyphen."""
    headers = {"Content_Length": len(body), **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    head = "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode("latin-1")
    return sends(head + body)


def run(main, client="requests"):
    """Run a coroutine on a loop of its own, and return its result.

    Args:
        client: Where no thread and no library has a clock of its own, time is virtual.
    """
    is_virtual = client in ("pooled", "simple")
    make_loop = VirtualClock().new_event_loop if is_virtual else asyncio.new_event_loop
    loop = IOLoop(asyncio_loop=make_loop(), make_current=False)
    try:
        return loop.run_sync(main, timeout=60)
    finally:
        loop.close()


def fetch(client, url, *more, extra=None, **options):
    """Return a fetcher's answers, Fetched or FetchError, one after the other.

    The first URL is the seed if no option says otherwise.  To be yielded; a single
    answer is no list.

    Args:
        extra: Headers of each request.
    """

    @gen.coroutine
    def fetch():
        fetcher = make_fetcher(
            CrawlConfig(**{"seeds": (url,), "client": client} | options)
        )
        answers = []
        try:
            for each in (url, *more):
                try:
                    answers.append((yield fetcher.fetch(each, extra)))
                except FetchError as exc:
                    answers.append(exc)
        finally:
            fetcher.close()
        return answers if more else answers[0]

    return fetch()


def fetch_from(
    client,
    script,
    *paths,
    scheme="http",
    host="127.0.0.1",
    server_options=None,
    **options,
):
    """Fetch from a server that follows a script; return the answer and the server.

    Args:
        paths: One for each fetch; "/" if there is none.
    """
    options = {"max_body_bytes": LIMIT, "request_timeout_s": 20.0} | options
    server = RawServer(script, **(server_options or {}))

    @gen.coroutine
    def main():
        yield server.start()
        try:
            start = f"{scheme}://{host}:{server.port}"
            urls = [start + path for path in paths or ["/"]]
            return (yield fetch(client, *urls, **options))
        finally:
            for _ in range(10):
                yield gen.moment  # for whoever is about to connect
            yield server.stop()

    return run(main, client), server
