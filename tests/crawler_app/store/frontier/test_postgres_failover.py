"""Servers that take over from one another, and a disk that fills up."""

import contextlib
import dataclasses
import shutil
import subprocess
import time

import pytest

from crawler_app.base.errors import LeaseLostError
from crawler_app.base.models import State
from crawler_app.store.frontier.postgres.blocking_reader import PostgresReader
from crawler_app.store.frontier.postgres.location import CrawlLocation
from crawler_app.store.frontier.postgres.postgres_frontier import PostgresFrontier
from crawler_app.store.frontier.postgres.step_sender import ALIVE_S
from gencoro import gen
from tests.helpers.counting import counts_are_those_of_the_records
from tests.helpers.fuzzing import FACTOR
from tests.helpers.postgres import LEASE_S, PAGE, SteppedFrontier, found, make_crawl
from tests.helpers.postgres_server import (
    CRASH,
    USER,
    newest_binaries,
    running,
    temporary_directory,
)
from tests.helpers.shared_crawl import PATHS, until_fetched

pytestmark = pytest.mark.skipif(
    newest_binaries() is None, reason="PostgreSQL is not installed"
)

SYNCHRONOUS = "ALTER SYSTEM SET synchronous_standby_names = '*'"


@pytest.fixture
def pair():
    """Return a primary, a replica of it, and a URL of both."""
    with contextlib.ExitStack() as stack:
        primary = stack.enter_context(running())
        directory = temporary_directory()
        stack.callback(shutil.rmtree, directory)
        replica = primary.follower(directory)
        stack.callback(lambda: replica.process.poll() is None and replica.stop())
        both = f"{primary.directory},{replica.directory}"
        yield primary, replica, f"postgresql://{USER}@/postgres?host={both}"


def promote(replica):
    replica.query("SELECT pg_promote()")


def catch_up(primary, replica):
    """Wait until the replica has everything."""
    at = primary.query("SELECT pg_current_wal_flush_lsn()")
    behind = f"SELECT pg_last_wal_replay_lsn() < '{at}'"
    while replica.query(behind) != "f":
        time.sleep(0.05)


@pytest.mark.skipif(FACTOR == 1, reason="takes seconds; runs with FUZZ_FACTOR")
def test_workers_go_on_with_a_replica_that_takes_over(crawl, tree, pair):
    primary, replica, url = pair
    primary.query(SYNCHRONOUS)
    primary.query("SELECT pg_reload_conf()")

    @gen.coroutine
    def fail_over(crawls):
        yield from until_fetched(crawls, 20)
        primary.stop(CRASH)
        promote(replica)

    _, reader = crawl(urls=[url] * 2, during=fail_over)

    assert sorted(reader.urls(State.DONE)) == sorted(reader.urls())
    assert sorted(tree.paths) == PATHS
    counts_are_those_of_the_records(reader)


def finish(worker, claim):
    """Finish a claim with an outcome that names it, and two links."""
    number = int(claim.url.rpartition("/")[2])
    links = [found(n, 1) for n in (number + 1_000, number + 2_000) if n < 3_000]
    outcome = dataclasses.replace(PAGE, title=claim.url)
    with contextlib.suppress(LeaseLostError):
        worker.finish(claim, outcome, worker.now, links)


def test_commits_that_a_replica_lacks_are_made_again(pair):
    """Numbers that they have given out are given again, to others."""
    primary, replica, url = pair
    make_crawl(url)
    workers = [SteppedFrontier(url) for _ in range(2)]
    workers[0].add([found(n) for n in range(60)])
    for worker in workers:
        finish(worker, worker.claim(0.0, LEASE_S))
    catch_up(primary, replica)
    replica.query("ALTER SYSTEM SET primary_conninfo = ''")
    replica.query("SELECT pg_reload_conf()")
    while replica.query("SELECT count(*) FROM pg_stat_wal_receiver") != "0":
        time.sleep(0.05)
    held = [(w, w.claim(0.0, LEASE_S)) for _ in range(20) for w in workers]
    for worker, claim in held[:20]:
        finish(worker, claim)

    primary.stop(CRASH)
    promote(replica)
    workers.append(SteppedFrontier(url))
    workers[-1].claim(0.0, LEASE_S)
    for worker, claim in held[21::2]:  # one says nothing of what it had
        finish(worker, claim)
    while not workers[0].is_drained():
        for worker in workers:
            claim = worker.claim(ALIVE_S, LEASE_S)
            if claim is not None:
                finish(worker, claim)

    with contextlib.closing(PostgresReader(CrawlLocation(url, "test"))) as reader:
        records = list(reader.records())
        assert {record.url for record in records} == {
            found(n).url for n in range(3_000) if n % 1_000 < 60
        }
        assert all(record.outcome.title == record.url for record in records)
        counts_are_those_of_the_records(reader)
    for worker in workers:
        worker.close()


@pytest.fixture
def small_disk():
    """Return a directory on a file system of its own."""
    directory = temporary_directory()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100m", "gencrawl", directory]
    try:
        if subprocess.run(mount, check=False, capture_output=True).returncode:
            pytest.skip("only root may mount a file system")
        try:
            yield directory
        finally:
            subprocess.run(["umount", directory], check=True)
    finally:
        directory.rmdir()


def test_disk_that_is_full_pauses_a_worker(small_disk, caplog):
    with running(small_disk, "--wal-segsize=1") as server:
        make_crawl(server.url)
        worker = SteppedFrontier(server.url)
        worker.add([found("x")])
        ballast = small_disk / "ballast"
        links = [found("y" * 1_000 + str(n), 1) for n in range(2_000)]
        PostgresFrontier.finish(worker, worker.claim(0.0, LEASE_S), PAGE, 1.0, links)
        worker.flush()

        @gen.coroutine
        def fill_and_clear():
            # Unbuffered: closing it has nothing left to write.
            with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
                while True:
                    file.write(bytes(1 << 16))
            exchange = worker.exchange()
            while not worker._sender.is_away:
                assert not exchange.done()
                yield gen.sleep(0.005)
            ballast.unlink()
            if server.process.poll() is not None:
                server.start()
            yield exchange

        worker._loop.run_sync(fill_and_clear)

        assert worker.urls(State.DONE) == [found("x").url]
        assert len(worker.urls(State.QUEUED)) == len(links)
        worker.close()
    assert "No space left on device" in caplog.text
