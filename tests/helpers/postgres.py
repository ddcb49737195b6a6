"""A crawl on a PostgreSQL server, and a frontier on it that waits for each step."""

import atexit
import contextlib
import functools
import math
import os
import shutil
import subprocess
from pathlib import Path

import asyncpg
import pytest

from crawler_app.base.errors import ConfigError
from crawler_app.base.models import Candidate, Outcome, Role, State
from crawler_app.base.reasons import PROVISIONAL
from crawler_app.store.frontier.postgres import private_server
from crawler_app.store.frontier.postgres.blocking_reader import PostgresReader
from crawler_app.store.frontier.postgres.install import install, uninstall
from crawler_app.store.frontier.postgres.location import CrawlLocation
from crawler_app.store.frontier.postgres.postgres_frontier import PostgresFrontier
from crawler_app.store.frontier.postgres.worker_state import NO_OBSERVER, LeaseRules
from gencoro import gen
from gencoro.ioloop import IOLoop
from tests.helpers.postgres_server import (
    USER,
    newest_binaries,
    running,
    temporary_directory,
    url_of,
)

__all__ = [
    "LEASE_S",
    "PAGE",
    "SteppedFrontier",
    "empty_crawl",
    "found",
    "make_crawl",
    "paths",
    "postgres",
    "postgres_url",
    "prepared_servers",
    "run_sql",
    "url_for_workers",
    "workers",
]

LEASE_S = 300.0
# What `prepared_servers` replaces.
make_data = private_server._run_initdb

RIGHTS = Path(__file__).parents[2] / "docs" / "postgres.rst"
PAGE = Outcome(State.DONE, "ok", 200, "text/html", 100, took_s=0.1)


def found(path, depth=0, host="a.test", role=Role.LINK):
    """Return a candidate."""
    return Candidate(f"http://{host}/{path}", host, depth, 5, None, role)


def paths(claims):
    """Return the last parts of the URLs of claims."""
    return [claim and claim.url.rpartition("/")[2] for claim in claims]


@pytest.fixture(scope="session")
def postgres():
    """Return the directory of a server that runs, which is where its socket is."""
    if newest_binaries() is None:
        pytest.skip("PostgreSQL is not installed")
    with running() as server:
        yield server.directory


@pytest.fixture
def postgres_url(postgres):
    """Return the URL of its database."""
    return url_of(postgres)


@pytest.fixture
def prepared_servers(monkeypatch):
    """Have the crawls of this process begin with a copy of their server's first data.

    Making them takes a third of a second of CPU time, and a copy a tenth of that.
    """

    def copy(new, _):
        subprocess.run(["cp", "-a", f"{_first_data()}/.", new], check=True)

    monkeypatch.setattr(private_server, "_run_initdb", copy)


@functools.cache
def _first_data():
    """Return the data of a crawl's server, as the crawler makes them."""
    directory = temporary_directory()
    atexit.register(shutil.rmtree, directory)
    data = directory / "data"
    data.mkdir(mode=0o700)
    who = private_server._user_for_root()
    if who is not None:
        os.chown(data, *who)
    make_data(data, who)
    return data


@pytest.fixture
def workers(postgres_url):
    """Return a function that makes a worker of one crawl; the first makes the crawl."""
    made = []

    def make(**options):
        if made:
            made.append(made[0].another())
        else:
            made.append(SteppedFrontier.of_new_crawl(postgres_url, **options))
        return made[-1]

    yield make
    for worker in made:
        worker.close()


def make_crawl(url, crawl="test"):
    """Make a crawl, which replaces one of the same name; return its location."""
    location = CrawlLocation(url, crawl)
    loop = IOLoop(make_current=False)
    with contextlib.suppress(ConfigError):
        loop.run_sync(lambda: uninstall(location))
    loop.run_sync(lambda: install(location, partitions=2))
    loop.close()
    return location


# Everything but what `install` writes, and the numbers begin again.  Like the deletion of a
# crawl, it locks first what each step locks first.
EMPTY = """
    LOCK TABLE worker IN ACCESS EXCLUSIVE MODE;
    DO $$
    DECLARE
        name regclass;
    BEGIN
        FOR name IN SELECT oid FROM pg_class WHERE relnamespace = current_schema::regnamespace
            AND relkind IN ('r', 'p') AND NOT relispartition AND relname != 'crawl'
        LOOP
            EXECUTE format('DELETE FROM %s', name);
        END LOOP;
        FOR name IN SELECT oid FROM pg_class WHERE relnamespace = current_schema::regnamespace
            AND relkind = 'S'
        LOOP
            EXECUTE format('ALTER SEQUENCE %s RESTART', name);
        END LOOP;
    END $$
"""


def empty_crawl(url, crawl="test", *, gap_s=0.0, max_pages=None, max_bytes=None):
    """Make a crawl, or empty the one of the same name, in a third of the time.

    For tests that leave its functions and its rights alone; others use `make_crawl`.
    """
    location = CrawlLocation(url, crawl)

    @gen.coroutine
    def empty():
        path = {"search_path": f'"{location.schema}"'}
        connection = yield asyncpg.connect(url, server_settings=path)
        try:
            yield connection.execute(EMPTY)
            yield connection.execute(
                "UPDATE crawl SET created_at = now(), gap_s = $1, pages_left = $2,"
                " bytes_left = $3, config = NULL",
                *(gap_s, max_pages, max_bytes),
            )
        finally:
            yield connection.close()

    try:
        with contextlib.closing(IOLoop(make_current=False)) as loop:
            loop.run_sync(empty)
    except asyncpg.UndefinedTableError:
        make_crawl(url, crawl)
        return empty_crawl(
            url, crawl, gap_s=gap_s, max_pages=max_pages, max_bytes=max_bytes
        )
    return location


def run_sql(url, *statements):
    """Run statements on a server."""

    @gen.coroutine
    def run():
        connection = yield asyncpg.connect(url)
        for statement in statements:
            yield connection.execute(statement)
        yield connection.close()

    with contextlib.closing(IOLoop(make_current=False)) as loop:
        loop.run_sync(run)


def url_for_workers(url):
    """Give a user the rights to a crawl that the documentation names; return its URL."""
    _, _, block = RIGHTS.read_text().partition(":: postgresql\n\n")
    statements = block[: block.index("\n\n")]

    @gen.coroutine
    def grant():
        connection = yield asyncpg.connect(url)
        for statement in statements.splitlines():
            with contextlib.suppress(asyncpg.DuplicateObjectError):
                yield connection.execute(statement)
        yield connection.close()

    with contextlib.closing(IOLoop(make_current=False)) as loop:
        loop.run_sync(grant)
    return url.replace(f"{USER}@", "crawler@")


class SteppedFrontier(PostgresFrontier):
    """A worker's frontier that exchanges with the server around each call.

    So it always agrees with the server.  The time of both is that of the last call,
    which may be ahead of the server by ``skew_s``.
    """

    skew_s = 0.0

    def __init__(self, url, crawl="test", now=0.0, **options):
        self.now = now
        self.observer = NO_OBSERVER
        self._loop = IOLoop(make_current=False)
        self.location = CrawlLocation(url, crawl)
        super().__init__(
            self.location,
            LeaseRules(),
            buffered=0,
            clock=lambda: self.now,
            server_clock=lambda: self.now - self.skew_s,
            **options,
        )
        self._loop.run_sync(self.open)
        self.settle()

    @classmethod
    def of_new_crawl(cls, url, crawl="test", **options):
        """Return the first worker of a crawl, which replaces one of the same name."""
        empty_crawl(url, crawl, **options)
        return cls(url, crawl)

    def another(self):
        """Return another worker of the same crawl."""
        return SteppedFrontier(self.location.url, self.location.crawl, self.now)

    def settle(self):
        """Send everything, and get the counts."""
        self.flush()
        self._state.counted_at = -math.inf
        self._loop.run_sync(lambda: self.exchange(self.observer))

    def add(self, candidates, via=None):
        super().add(candidates, via)
        self.settle()
        return self._state.last_queued

    def claim(self, now, lease_s, max_depth=None):
        self.now = now
        super().claim(now, lease_s, max_depth)  # there is none: it asks for one
        self.settle()
        while self._state.leases.unready_by_origin:
            self.settle()
        claim = super().claim(now, lease_s, max_depth)
        self._state.starved = 0
        return claim

    def finish(self, claim, outcome, now, outlinks=(), again=None):
        self.now = now
        super().finish(claim, outcome, now, outlinks, again)
        self.settle()
        return self._state.last_queued

    def retry(self, claim, due_at):
        super().retry(claim, due_at)
        self.settle()

    def release(self, claim):
        super().release(claim)
        self.settle()

    def respell(self, claim, url):
        super().respell(claim, url)
        self.settle()

    def hold_host(self, host, free_at):
        super().hold_host(host, free_at)
        self.settle()

    def shorten_hold(self, host, held_to, free_at):
        super().shorten_hold(host, held_to, free_at)
        self.settle()

    def note_response(self, origin, url):
        super().note_response(origin, url)
        self.settle()

    def requeue_failed(self, reasons):
        requeued = super().requeue_failed(reasons)
        self.settle()
        return requeued

    def requeue_urls(self, urls):
        requeued = super().requeue_urls(urls)
        self.settle()
        return requeued

    def next_at(self, now):
        self.now = now
        self.settle()
        return super().next_at(now)

    def depth_in_work(self, now):
        self.now = now
        self.settle()
        return super().depth_in_work(now)

    def knows(self, key):
        """Return whether any worker knows a URL; the worker itself asks only its memory."""
        if super().knows(key):
            return True
        record = self.find(key)
        reason = record and record.outcome and record.outcome.reason
        return record is not None and reason not in PROVISIONAL

    def known_url(self, origin):
        return super().known_url(origin) or PostgresReader.known_url(self, origin)

    def close(self):
        self.leave()
        self.settle()
        self._loop.run_sync(self._sender.close)
        self.die()

    def die(self):
        """End without leaving the crawl."""
        super().close()
        self._loop.run_sync(lambda: gen.sleep(0))  # in which the transport closes
        self._loop.close()
