"""What the frontier in PostgreSQL costs a page, beside the one in SQLite.

A thousand hosts; each page has twenty links, of which three are new.  Ten pages are finished,
committed and claimed at once.  There is no network, no archive and no index.  The rounds of the
two are interleaved; the server is Debian's, with fsync off, and has a temporary directory.

    python benchmarks/bench_postgres.py [--pages 20000] [--workers 2]
    python benchmarks/bench_postgres.py --minutes 60 [--pace 250]

With the second, one worker finishes pages at a steady rate, and what grows is printed.
"""

import argparse
import contextlib
import itertools
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from frontier_load import LEASE_S, Site, cpu_of_server, page_of
from postgres_over_time import over_time

from crawler_app.store.frontier.postgres.blocking_reader import PostgresReader
from crawler_app.store.frontier.postgres.connecting import connect
from crawler_app.store.frontier.postgres.crawls import begin
from crawler_app.store.frontier.postgres.install import install
from crawler_app.store.frontier.postgres.location import CrawlLocation, StoreLocation
from crawler_app.store.frontier.postgres.postgres_frontier import PostgresFrontier
from crawler_app.store.frontier.postgres.worker_state import LeaseRules
from crawler_app.store.frontier.sqlite import SqliteFrontier
from gencoro import gen
from gencoro.ioloop import IOLoop
from tests.helpers.postgres_server import running

BATCH = 10
ROUNDS = 10
# Of workers; each has links of its own.
numbers = itertools.count(1)


def finish_batch(frontier, site):
    """Finish pages; return how many, and the CPU time without that of the links."""
    now = time.time()
    claims = []
    while len(claims) < BATCH and (claim := frontier.claim(now, LEASE_S)) is not None:
        claims.append((claim, page_of(claim), site.links()))
    began = time.process_time()
    for claim, outcome, links in claims:
        frontier.finish(claim, outcome, now, links)
    frontier.flush()
    return len(claims), time.process_time() - began


class Sqlite:
    """A frontier in a file."""

    def __init__(self, directory, site):
        self._frontier = SqliteFrontier(directory / "frontier.sqlite3")
        self._site = site
        self._frontier.add(site.seeds())

    def pages(self, pages):
        """Finish pages; return the CPU time of each."""
        cpu_s = done = 0
        while done < pages:
            finished, took_s = finish_batch(self._frontier, self._site)
            began = time.process_time()
            self._frontier.next_at(time.time())
            cpu_s += took_s + time.process_time() - began
            done += finished
        return cpu_s / done


class Postgres:
    """A worker of a frontier in PostgreSQL."""

    def __init__(self, location, site):
        self._loop = IOLoop(make_current=False)
        store = StoreLocation(
            str(uuid.uuid4())
        )  # two that share one wait for each other
        self._frontier = PostgresFrontier(
            location, LeaseRules(), store=store, buffered=BATCH
        )
        self._site = site
        self._loop.run_sync(self._frontier.open)
        self._frontier.add(site.seeds())
        self._frontier.flush()
        self._loop.run_sync(self._frontier.exchange)

    def pages(self, pages):
        return self._loop.run_sync(lambda: self._pages(pages))

    @gen.coroutine
    def _pages(self, pages):
        cpu_s = done = 0
        while done < pages:
            finished, took_s = finish_batch(self._frontier, self._site)
            began = time.process_time()
            yield self._frontier.exchange()
            cpu_s += took_s + time.process_time() - began
            done += finished
        return cpu_s / done


def beside_sqlite(location, directory, pages, postmaster):
    """Print the CPU time a page of both, and of the server."""
    sqlite, postgres = Sqlite(directory, Site(0)), Postgres(location, Site(0))
    figures = []
    for _ in range(ROUNDS):
        began = cpu_of_server(postmaster)
        client_s = postgres.pages(pages // ROUNDS)
        server_s = (cpu_of_server(postmaster) - began) / (pages // ROUNDS)
        figures.append((sqlite.pages(pages // ROUNDS), client_s, server_s))
    for name, values in zip(
        ("SQLite", "PostgreSQL, worker", "PostgreSQL, server"),
        zip(*figures, strict=True),
        strict=True,
    ):
        print(f"{name:20} {statistics.median(values) * 1e3:.3f} ms of CPU a page")


def print_sizes(location):
    """Print the size of a known URL, by table, and the dead rows of those that change."""

    @gen.coroutine
    def read():
        connection = yield connect(location)
        urls = yield connection.fetchval("SELECT count(*) FROM url")
        rows = yield connection.fetch(
            "SELECT regexp_replace(relname, '_[0-9]+$', ''),"
            " sum(pg_total_relation_size(relid))::bigint, sum(n_dead_tup)::bigint"
            " FROM pg_stat_user_tables WHERE schemaname = $1 GROUP BY 1 ORDER BY 2 DESC",
            location.schema,
        )
        yield connection.close()
        return urls, rows

    urls, rows = IOLoop(make_current=False).run_sync(read)
    print(f"{sum(row[1] for row in rows) / urls:.0f} bytes a URL known, of {urls:,}")
    for name, size_bytes, dead in rows[:5]:
        print(f"  {name:10} {size_bytes / urls:6.1f} bytes  {dead:8,} dead rows")


WAITING = """
SELECT count(*), count(*) FILTER (WHERE wait_event_type = 'Lock') FROM pg_stat_activity
WHERE state = 'active' AND query LIKE 'SELECT frontier_step%'
"""


class LockWaits:
    """Looks, in a thread, how many steps under way wait for another's lock."""

    def __init__(self, location):
        self._steps = self._waiting = 0
        self._location = location
        self._has_ended = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc_info):
        self._has_ended.set()
        self._thread.join()

    def _look(self):
        with contextlib.closing(PostgresReader(self._location)) as reader:
            while not self._has_ended.wait(0.01):
                ((steps, waiting),) = reader._fetch(WAITING)
                self._steps += steps
                self._waiting += waiting

    def share(self):
        return self._waiting / self._steps


def together(location, number, pages, postmaster):
    """Have several workers finish pages, each in a process.

    Returns how many they finish a second, the server's CPU time for each, and the share of
    their steps that wait for a lock.
    """
    command = [sys.executable, __file__, "--pages", str(pages), "--url", location.url]
    workers = [
        subprocess.Popen(
            [*command, "--worker", str(next(numbers))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(number)
    ]
    for worker in workers:
        worker.stdout.readline()  # it has added its seeds
    cpu_s, began = cpu_of_server(postmaster), time.perf_counter()
    with LockWaits(location) as waits:
        for worker in workers:
            worker.stdin.write("\n")
            worker.stdin.flush()
        for worker in workers:
            worker.stdout.readline()
    took_s, cpu_s = time.perf_counter() - began, cpu_of_server(postmaster) - cpu_s
    for worker in workers:
        worker.communicate("\n")
    return number * pages / took_s, cpu_s / number / pages, waits.share()


def work(location, number, pages):
    """Be one of several workers."""
    postgres = Postgres(location, Site(number))
    print("ready", flush=True)
    sys.stdin.readline()
    postgres.pages(pages)
    print("done", flush=True)
    sys.stdin.readline()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=int, help="run at a steady pace for so long")
    parser.add_argument("--pace", type=float, default=250, help="pages a second")
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        return work(CrawlLocation(options.url, "bench"), options.worker, options.pages)
    with (
        tempfile.TemporaryDirectory() as directory,
        running() as server,
    ):
        location = CrawlLocation(server.url, "bench")
        postmaster = server.process.pid
        loop = IOLoop(make_current=False)
        if options.minutes is not None:
            loop.run_sync(lambda: begin(location, "{}", gap_s=1.0, max_pages=10**9))
            loop.run_sync(
                lambda: over_time(location, options.minutes, options.pace, postmaster)
            )
            return None
        loop.run_sync(lambda: install(location))
        beside_sqlite(location, Path(directory), options.pages, postmaster)
        print_sizes(location)
        pages = options.pages // 4
        numbers_of_workers = (1, options.workers)
        rounds = [
            [together(location, n, pages // n, postmaster) for n in numbers_of_workers]
            for _ in range(ROUNDS // 2)
        ]
        for number, found in zip(
            numbers_of_workers, zip(*rounds, strict=True), strict=True
        ):
            speed, cpu_s, waits = map(statistics.median, zip(*found, strict=True))
            print(
                f"{number} workers: {speed:.0f} pages/s, server {cpu_s * 1e3:.3f} ms a page, "
                f"{waits:.1%} of the steps under way wait for a lock"
            )
        ratios = [many[0] / one[0] for one, many in rounds]
        print(
            "speed of several to one: " + ", ".join(f"{r:.2f}" for r in sorted(ratios))
        )
    return None


if __name__ == "__main__":
    main()
