"""Fetching from a server that plays a script, for the tests of the fetchers."""

import asyncio

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import FetchError
from crawler_app.base.models import Request
from crawler_app.web.fetcher import make_fetcher
from gencoro import gen
from gencoro.ioloop import IOLoop
from gencoro.virtual_clock import VirtualClock
from tests.helpers.http import peers
from tests.helpers.http.faulty import FaultServer, Peer, answers

__all__ = ["LIMIT", "answer", "fetch", "fetch_from", "run", "run_with", "sends"]

LIMIT = 100_000


def sends(*parts):
    """Return a script that reads a request, sends parts and closes the connection."""
    return answers(*parts, end=Peer.close)


def answer(body=b"", status="200 OK", **headers):
    """Return a script that sends a response; ``_`` in a header's name is a hyphen."""
    return sends(peers.answer(body, status, **headers))


def run(main, client="requests"):
    """Run a coroutine on a new loop, and return its result.

    Args:
        client: Time is virtual if neither a thread nor a library of it has its own clock.
    """
    is_virtual = client in ("pooled", "simple")
    make_loop = VirtualClock().new_event_loop if is_virtual else asyncio.new_event_loop
    loop = IOLoop(asyncio_loop=make_loop(), make_current=False)
    try:
        return loop.run_sync(main, timeout=60)
    finally:
        loop.close()


def run_with(server, main, client="requests"):
    """Run a coroutine function while a server is up, and return its result."""

    @gen.coroutine
    def serving():
        yield server.start()
        try:
            return (yield main())
        finally:
            yield server.stop()

    return run(serving, client)


def fetch(client, url, *more, extra=None, **options):
    """Return a fetcher's outcomes, Fetched or FetchError, in sequence.

    The first URL is the seed by default.  To be yielded; a single outcome is not a list.

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
                    answers.append((yield fetcher.fetch(Request(each, extra))))
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
    ssl=None,
    **options,
):
    """Fetch from a server that plays a script; return the outcome and the server.

    Args:
        paths: One for each fetch; "/" if there is none.
    """
    options = {"max_body_bytes": LIMIT, "request_timeout_s": 20.0} | options
    server = FaultServer(then=script, ssl=ssl)

    def main():
        start = f"{scheme}://{host}:{server.port}"
        return fetch(client, *[start + path for path in paths or ["/"]], **options)

    return run_with(server, main, client), server
