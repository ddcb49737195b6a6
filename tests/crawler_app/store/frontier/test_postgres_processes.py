"""Workers in processes of their own, which are killed and stopped, and a server that crashes."""

import contextlib
import random
import signal
import time

import pytest

from crawler_app.base.models import State
from crawler_app.store.frontier.postgres.blocking_reader import PostgresReader
from tests.helpers.counting import counts_are_those_of_the_records
from tests.helpers.fuzzing import FACTOR, examples
from tests.helpers.postgres import make_crawl
from tests.helpers.postgres_server import CRASH, newest_binaries, running

pytestmark = pytest.mark.skipif(
    newest_binaries() is None, reason="PostgreSQL is not installed"
)

PAGES = min(examples(150), 10_000)
WORKERS = min(1 + FACTOR, 8)
KILLS = min(examples(1), 10)
CRASHES = min(FACTOR - 1, 3)
ALIVE_S = 0.3

# Of pages that a worker has under way, holds, or has not recorded.
AT_ONCE = 2 * (8 + 10 + 25)

WORKER = """
import contextlib, sys, time
from crawler_app.base.config import CrawlConfig
from crawler_app.run.crawl.host_updates import HostUpdates
from crawler_app.run.crawl.wiring import wire
from crawler_app.run.crawl.worker_crawl import WorkerCrawl
from crawler_app.web.fetcher import make_fetcher
from crawler_app.store.frontier.postgres import step_sender
from crawler_app.store.frontier.postgres.location import CrawlLocation
from crawler_app.store.frontier.postgres.postgres_frontier import PostgresFrontier
from crawler_app.store.frontier.postgres.worker_state import LeaseRules
from gencoro import gen
from gencoro.ioloop import IOLoop

url, seed, alive_s, skew_s = sys.argv[1:]
step_sender.StepSender.alive_s = float(alive_s)
config = CrawlConfig((seed,), robots=False, concurrency=8)
clock = lambda: time.time() + float(skew_s)

@gen.coroutine
def main():
    location, rules = CrawlLocation(url, "test"), LeaseRules.of(config)
    frontier = PostgresFrontier(location, rules, clock=clock)
    updates = HostUpdates(frontier)
    fetcher = make_fetcher(config, updates.cookies_set)
    with contextlib.closing(frontier), contextlib.closing(fetcher):
        yield frontier.open()
        print("open", flush=True)
        parts = wire(config, frontier, fetcher, clock=clock, host_observer=updates)
        yield WorkerCrawl(parts).run()

IOLoop.current().run_sync(main)
"""


@pytest.fixture
def tree(site):
    """The site is a tree, with a few links across."""
    for number in range(PAGES):
        below = 2 * number + 1, 2 * number + 2, number * 7 % PAGES
        site.page(f"/{number}", *(f"/{n}" for n in below if n < PAGES))
    return site


def test_workers_that_are_killed_or_stopped_lose_nothing(tree, start_script):
    chosen = random.Random(1)
    faults = ["stop"] + ["kill"] * KILLS + ["crash"] * CRASHES
    at = sorted(chosen.sample(range(PAGES // 10, PAGES * 3 // 4), len(faults)))
    chosen.shuffle(faults)
    with running() as server:
        location = make_crawl(server.url)

        def start(skew_s):
            arguments = server.url, f"{tree.url}0", str(ALIVE_S), str(skew_s)
            worker = start_script(WORKER, *arguments)
            assert worker.stdout.readline()
            return worker

        workers = [start(60.0 * (n % 3 - 1)) for n in range(WORKERS)]
        for fault, fetched in zip(faults, at, strict=True):
            while len(tree.paths) < fetched:
                assert any(worker.poll() is None for worker in workers)
                time.sleep(0.001)
            victim = chosen.choice([each for each in workers if each.poll() is None])
            if fault == "crash":
                server.stop(CRASH)
                server.start()
            elif fault == "kill":
                victim.kill()
                victim.wait()
                workers[workers.index(victim)] = start(0.0)
            else:
                victim.send_signal(signal.SIGSTOP)
                time.sleep(2 * ALIVE_S)  # the server's clock is real
                victim.send_signal(signal.SIGCONT)
        for worker in workers:
            assert worker.wait() == 0, worker.communicate()

        with contextlib.closing(PostgresReader(location)) as reader:
            assert reader.count(State.DONE) == PAGES and reader.is_drained()
            counts_are_those_of_the_records(reader)
    assert len(set(tree.paths)) == PAGES
    repeated = len(tree.paths) - PAGES
    assert repeated <= AT_ONCE * (1 + KILLS + WORKERS * CRASHES)
