"""One worker of a frontier in PostgreSQL at a modest pace, for minutes or hours.

Hosts have a gap, pages are limited, and one page in fifty is retried, so that each statement of
a step that leaves dead rows behind is made.  Every minute it prints what a page costs, how long
a step takes, and the tables whose rows change.
"""

import statistics
import time

from frontier_load import LEASE_S, Site, cpu_of_server, page_of

from crawler_app.store.frontier.postgres.connecting import connect
from crawler_app.store.frontier.postgres.postgres_frontier import PostgresFrontier
from crawler_app.store.frontier.postgres.worker_state import LeaseRules
from gencoro import gen

__all__ = ["over_time"]

BATCH = 10
RETRIED_ONE_IN = 50
RETRY_AFTER_S = 3.0
MINUTE_S = 60.0
SAMPLE_EVERY_S = 5.0

# What changes; all others are only inserted into.
CHANGING = ("queue", "claim", "host", "amount", "worker", "crawl")

DEAD = """
SELECT relname, n_dead_tup FROM pg_stat_user_tables
WHERE schemaname = $1 AND relname = ANY ($2)
"""
SIZE = "SELECT sum(pg_total_relation_size(format('%I.%I', $1::text, name)::regclass))::bigint"
SIZES = f"{SIZE} FROM unnest($2::text[]) AS name"
ALL_SIZES = """
SELECT sum(pg_total_relation_size(relid))::bigint FROM pg_stat_user_tables
WHERE schemaname = $1
"""


class Steady:
    """A worker that finishes a given number of pages a second."""

    def __init__(self, location, pace):
        self.pages = self.tries = 0
        self.cpu_s = 0.0
        self.steps_s = []
        self._location = location
        self._pace = pace
        self._site = Site(0)

    @gen.coroutine
    def run(self, until):
        """Work until a time of the monotonic clock."""
        frontier = PostgresFrontier(self._location, LeaseRules(), buffered=BATCH)
        yield frontier.open()
        frontier.add(self._site.seeds())
        began = time.monotonic()
        while (now := time.monotonic()) < until:
            ahead_s = self.tries / self._pace - (now - began)
            if ahead_s > 0:
                yield gen.sleep(ahead_s)
            self._end_claims(frontier)
            frontier.flush()
            used_s, sent = time.process_time(), time.perf_counter()
            yield frontier.exchange()
            self.cpu_s += time.process_time() - used_s
            self.steps_s.append(time.perf_counter() - sent)
        frontier.leave()
        yield frontier.run()
        frontier.close()

    def _end_claims(self, frontier):
        now = time.time()
        while (claim := frontier.claim(now, LEASE_S)) is not None:
            self.tries += 1
            is_retried = self.tries % RETRIED_ONE_IN == 0
            links = () if is_retried else self._site.links()
            used_s = time.process_time()
            if is_retried:
                frontier.retry(claim, now + RETRY_AFTER_S)
            else:
                frontier.finish(claim, page_of(claim), now, links)
                self.pages += 1
            self.cpu_s += time.process_time() - used_s


@gen.coroutine
def over_time(location, minutes, pace, postmaster):
    """Finish pages for so long; print a line a minute, and what is left in the end."""
    connection = yield connect(location)
    worker = Steady(location, pace)
    running = worker.run(time.monotonic() + minutes * MINUTE_S)
    print("minute  pages  client  server   step   99%  size  changing: size  dead rows")
    for minute in range(1, minutes + 1):
        yield _watch_a_minute(worker, connection, location, minute, postmaster)
    yield running
    yield _print_live_size(connection, location)
    yield connection.close()


@gen.coroutine
def _watch_a_minute(worker, connection, location, minute, postmaster):
    pages, cpu_s = worker.pages, worker.cpu_s
    server_s = cpu_of_server(postmaster)
    worker.steps_s.clear()
    dead = dict.fromkeys(CHANGING, 0)
    for _ in range(int(MINUTE_S / SAMPLE_EVERY_S)):
        yield gen.sleep(SAMPLE_EVERY_S)
        for name, rows in (yield connection.fetch(DEAD, location.schema, CHANGING)):
            dead[name] = max(dead[name], rows)
    pages = max(worker.pages - pages, 1)
    steps = statistics.quantiles(worker.steps_s, n=100)
    size = yield connection.fetchval(ALL_SIZES, location.schema)
    changing = yield connection.fetchval(SIZES, location.schema, CHANGING)
    print(
        f"{minute:6} {pages:6}"
        f" {(worker.cpu_s - cpu_s) / pages * 1e3:7.3f}"
        f" {(cpu_of_server(postmaster) - server_s) / pages * 1e3:7.3f}"
        f" {steps[49] * 1e3:6.1f} {steps[98] * 1e3:5.1f}"
        f" {size / 1e6:5.0f} {changing / 1e6:15.1f} "
        + " ".join(f"{name} {rows}" for name, rows in dead.items()),
        flush=True,
    )


@gen.coroutine
def _print_live_size(connection, location):
    """Compare the size of what changes with its size without dead rows."""
    for name in CHANGING:
        before = yield connection.fetchval(SIZES, location.schema, [name])
        yield connection.execute(f"VACUUM FULL {name}")
        after = yield connection.fetchval(SIZES, location.schema, [name])
        print(f"{name:8} {before / 1e6:7.2f} MB, of which {after / 1e6:7.2f} are live")
