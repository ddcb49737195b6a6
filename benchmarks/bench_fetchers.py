"""The cost of coroutines and of a thread for each fetch when servers are slow.

The comparison of the chapter "A Web Crawler With asyncio Coroutines" (500 Lines or
Less), with our two fetchers and with plain threads.  A server on loopback delays each
response, as on the Web; each competitor fetches the same pages from it in its own process,
in interleaved rounds:

    pooled    our AsyncHTTPClient, coroutines in one thread
    requests  our fetcher over requests: coroutines that wait for a pool of threads
    threads   requests and a pool of threads with a session each, and none of our code

    python benchmarks/bench_fetchers.py [--pages 1000] [--rounds 5] [--latency 0.03]
    python benchmarks/bench_fetchers.py --quick

Wall time is from the first request to the last byte; CPU is user + system time of the
whole process, and memory its peak.  The cost of a single page with the same command is
measured each time and subtracted.  Fetched pages are counted by the server.  Needs Linux
and requests.
"""

import argparse
import asyncio
import contextlib
import json
import os
import platform
import statistics
import sys
import threading
import time
from typing import NamedTuple

from crawl_runs import run

COMPETITORS = ("pooled", "requests", "threads")
OURS = COMPETITORS[0]
CONCURRENCIES = (10, 100, 500)

BODY = b"<!doctype html><title>A page</title>" + b"<p>some words" * 190
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b"
    % (len(BODY), BODY)
)


class Figures(NamedTuple):
    """The figures of one competitor at one concurrency, one per round."""

    wall_s: list[float]
    cpu_ms: list[float]
    peak_mb: list[float]
    grown_mb: list[float]


class SlowServer:
    """A server on its own thread that delays each response.

    Attributes:
        url: The prefix of the pages' URLs.
        requests: The number of requests so far.
    """

    def __init__(self, latency_s):
        self.requests = 0
        self._latency_s = latency_s
        self._is_ready = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(),))

    def __enter__(self):
        self._thread.start()
        self._is_ready.wait()
        return self

    def __exit__(self, *exc_info):
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()

    async def _serve(self):
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        server = await self._loop.create_server(
            lambda: _Answering(self), "127.0.0.1", 0, backlog=2048
        )
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        self._is_ready.set()
        await self._stopped.wait()
        server.close()

    def answer_later(self, transport):
        self.requests += 1
        self._loop.call_later(self._latency_s, transport.write, ANSWER)


class _Answering(asyncio.Protocol):
    def __init__(self, server):
        self._server = server
        self._received = b""

    def connection_made(self, transport):
        self._transport = transport

    def data_received(self, data):
        self._received += data
        while b"\r\n\r\n" in self._received:
            _, _, self._received = self._received.partition(b"\r\n\r\n")
            self._server.answer_later(self._transport)


def measure(server, arguments):
    """Return figures by competitor and concurrency.

    Every other round runs in reverse order, so that other load affects all alike.
    """
    cells = [(who, n) for n in arguments.concurrency for who in COMPETITORS]
    figures = {cell: Figures([], [], [], []) for cell in cells}
    for number in range(arguments.rounds):
        for cell in cells if number % 2 else reversed(cells):
            alone, _ = measure_once(server, *cell, 1)
            whole, wall_s = measure_once(server, *cell, arguments.pages)
            mine = figures[cell]
            mine.wall_s.append(wall_s)
            mine.cpu_ms.append(
                (whole.cpu_s - alone.cpu_s) / (arguments.pages - 1) * 1e3
            )
            mine.peak_mb.append(whole.peak_rss_mb)
            mine.grown_mb.append(whole.peak_rss_mb - alone.peak_rss_mb)
    return figures


def measure_once(server, who, concurrency, pages):
    before = server.requests
    child = [sys.executable, os.path.abspath(__file__), "--child", who]
    ran = run([*child, server.url, str(concurrency), str(pages)])
    report = json.loads(ran.output)
    assert server.requests - before == pages, (who, server.requests - before)
    assert report["bytes"] == pages * len(BODY), (who, report)
    return ran, report["wall_s"]


# The competitors, each in its own process.


def fetch_as(who, url, concurrency, pages):
    """Fetch the pages; print the time and the number of bytes."""
    # As in bench_crawl, each competitor imports only what it needs.
    fetch_all = fetch_by_threads if who == "threads" else fetch_by_coroutines
    urls = [f"{url}{number}" for number in range(pages)]
    wall_s, size = fetch_all(who, urls, concurrency)
    print(json.dumps({"wall_s": wall_s, "bytes": size}))


def fetch_by_coroutines(who, urls, concurrency):
    from crawler_app.base.config import CrawlConfig
    from crawler_app.base.models import Request
    from crawler_app.web.fetcher import make_fetcher
    from gencoro import gen
    from gencoro.ioloop import IOLoop

    @gen.coroutine
    def work(fetcher, waiting):
        size = 0
        for url in waiting:
            fetched = yield fetcher.fetch(Request(url))
            size += len(fetched.body)
        return size

    @gen.coroutine
    def main():
        config = CrawlConfig((urls[0],), client=who, concurrency=concurrency)
        waiting = iter(urls)
        with contextlib.closing(make_fetcher(config)) as fetcher:
            began_at = time.monotonic()
            sizes = yield [work(fetcher, waiting) for _ in range(concurrency)]
            return time.monotonic() - began_at, sum(sizes)

    return IOLoop.current().run_sync(main)


def fetch_by_threads(_who, urls, concurrency):
    from concurrent.futures import ThreadPoolExecutor

    import requests

    of_this_thread = threading.local()

    def fetch(url):
        if not hasattr(of_this_thread, "session"):
            of_this_thread.session = requests.Session()
            # Otherwise each request looks for a proxy in the environment.
            of_this_thread.session.trust_env = False
        response = of_this_thread.session.get(
            url, timeout=(20, 60), allow_redirects=False
        )
        return len(response.content)

    with ThreadPoolExecutor(concurrency) as executor:
        began_at = time.monotonic()
        size = sum(executor.map(fetch, urls))
        return time.monotonic() - began_at, size


# The table.


def print_table(figures, arguments):
    for concurrency in arguments.concurrency:
        title = f"{concurrency} at once"
        print(row_text(title, "wall s", "", "CPU ms", "", "peak MB", "grown MB"))
        for who in COMPETITORS:
            mine = figures[who, concurrency]
            print(
                row_text(
                    f"  {who}",
                    f"{statistics.median(mine.wall_s):.2f}",
                    f"{ratio(figures, who, concurrency, 'wall_s'):.2f}x",
                    f"{statistics.median(mine.cpu_ms):.2f}",
                    f"{ratio(figures, who, concurrency, 'cpu_ms'):.2f}x",
                    f"{max(mine.peak_mb):.0f}",
                    f"{statistics.median(mine.grown_mb):.0f}",
                )
            )
        print()


def row_text(label, *cells):
    return f"{label:16}" + "".join(f"{cell:>10}" for cell in cells)


def ratio(figures, who, concurrency, name):
    """Return the median over the rounds of the ratio of a competitor's figure to ours."""
    theirs = getattr(figures[who, concurrency], name)
    ours = getattr(figures[OURS, concurrency], name)
    return statistics.median(a / b for a, b in zip(theirs, ours, strict=True))


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--latency", type=float, default=0.03, help="seconds (default 0.03)"
    )
    parser.add_argument("--concurrency", type=int, nargs="+", default=CONCURRENCIES)
    parser.add_argument("--quick", action="store_true", help="one round")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds = 1
    if arguments.pages < 2 or arguments.rounds < 1:
        parser.error("--pages must be 2 or more, --rounds 1 or more")
    return arguments


def main():
    if sys.argv[1:2] == ["--child"]:
        who, url, concurrency, pages = sys.argv[2:]
        fetch_as(who, url, int(concurrency), int(pages))
        return
    arguments = parse_arguments()
    with SlowServer(arguments.latency) as server:
        figures = measure(server, arguments)
    print_table(figures, arguments)
    print(
        f"{arguments.pages} pages of {len(BODY)} bytes, each after "
        f"{arguments.latency * 1e3:.0f} ms; medians of {arguments.rounds} rounds; "
        f"Python {platform.python_version()}; {os.cpu_count()} cores."
    )


if __name__ == "__main__":
    main()
