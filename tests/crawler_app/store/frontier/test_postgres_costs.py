"""What a step reads and locks is bounded, and steps do not deadlock."""

import asyncpg
import pytest

from crawler_app.base.models import State
from crawler_app.store.frontier.postgres import postgres_frontier, step_changes
from crawler_app.store.frontier.postgres.connecting import WORKER_SETTINGS
from crawler_app.store.frontier.postgres.postgres_frontier import PostgresFrontier
from gencoro import gen
from tests.helpers.postgres import LEASE_S, PAGE, found, make_crawl

HOSTS = 2_000

# Each host has one URL in the queue: of depth 2, or a retry that is due.
FILL = f"""
INSERT INTO host (id, name, gap_s, known_until, turn)
SELECT number, number || '.test', 0, 'infinity', $1::integer
FROM generate_series(1, {HOSTS}) AS number
"""
QUEUE = "INSERT INTO queue SELECT id << 10, $1::float8, id, 2, 2, 0, 0 FROM host"

READ = """
SELECT sum(pg_stat_get_xact_tuples_fetched(oid))::bigint
FROM pg_class WHERE relnamespace = $1::regnamespace
"""

WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = $1"


@pytest.fixture
def connect(postgres_url):
    """Return a function that connects to a new crawl, and finds a deadlock soon."""
    place = make_crawl(postgres_url)

    def connect():
        settings = {"search_path": place.schema, "deadlock_timeout": "100ms"}
        return asyncpg.connect(place.url, server_settings=WORKER_SETTINGS | settings)

    return connect


@pytest.mark.parametrize(
    "call",
    [
        "hosts_in_turn(10, NULL, NULL, 1.0, false)",
        "hosts_in_turn(10, 1, NULL, 1.0, true)",
        "hosts_in_turn(10, 2, NULL, 1.0, true)",
        "first_host(NULL, NULL, 1.0)",
        "first_host(1, NULL, 1.0)",
        "first_host(2, NULL, 1.0)",
    ],
)
def test_hosts_that_have_not_their_turn_are_not_read(connect, run_sync, call):
    @gen.coroutine
    def rows_read():
        connection = yield connect()
        yield connection.execute(FILL.replace("$1", "2"))
        yield connection.execute(QUEUE.replace("$1", "NULL"))
        (schema,) = yield connection.fetchrow("SELECT current_schema()")
        transaction = connection.transaction()
        yield transaction.start()
        before = yield connection.fetchval(READ, schema)
        yield connection.fetchval(f"SELECT {call}")
        after = yield connection.fetchval(READ, schema)
        yield connection.close()
        return after - before

    assert run_sync(rows_read) < 100


def test_host_with_an_unrecorded_turn_is_found_once(connect, run_sync):
    @gen.coroutine
    def found_hosts():
        connection = yield connect()
        yield connection.execute(FILL.replace("$1", "1"))
        yield connection.execute(QUEUE.replace("$1", "NULL"))
        yield connection.execute("DELETE FROM queue WHERE host_id > 3")
        yield connection.execute("UPDATE host SET turn = 2 WHERE id = 3")
        hosts = []
        for max_turn in (2, 1, 2):
            call = f"SELECT hosts_in_turn(10, {max_turn}, NULL, 1.0, true)"
            hosts.append((yield connection.fetchval(call)))
        noted = yield connection.fetch("SELECT DISTINCT turn FROM host WHERE id <= 3")
        yield connection.close()
        return hosts, [turn for (turn,) in noted]

    assert run_sync(found_hosts) == ([[1, 2, 3], [], [1, 2, 3]], [2])


def test_many_due_retries_are_requeued_in_several_steps(connect, run_sync):
    @gen.coroutine
    def left_by_each_step():
        connection = yield connect()
        yield connection.execute(FILL.replace("$1", "NULL"))
        yield connection.execute(QUEUE.replace("$1", "0.5"))
        left = []
        for _ in range(2):
            yield connection.execute("SELECT take_back(1, 1.0)")
            sql = "SELECT count(*) FROM queue WHERE due_at IS NOT NULL"
            left.append((yield connection.fetchval(sql)))
        yield connection.close()
        return left

    assert run_sync(left_by_each_step) == [HOSTS - 1_000, HOSTS - 2_000]


def test_step_has_time_for_its_links(workers, monkeypatch):
    """However many links the pages of one flush have; otherwise it would be sent forever."""
    monkeypatch.setattr(step_changes, "MAX_LINKS", 10)
    monkeypatch.setattr(postgres_frontier, "MAX_LINKS", 10)
    worker = workers()
    worker.add([found("x")])
    claim = worker.claim(0.0, LEASE_S)
    sent = []
    make_step = worker._sender.make_step
    worker._sender.make_step = lambda body: sent.append(body) or make_step(body)

    PostgresFrontier.add(worker, [found(n) for n in range(25)], claim)
    for start in range(25, 40, 5):
        PostgresFrontier.add(worker, [found(n) for n in range(start, start + 5)], claim)
    PostgresFrontier.finish(worker, claim, PAGE, 1.0, [found("last")])
    assert worker.is_due(1.0)
    while worker.is_behind:
        worker.settle()

    links = [sum(len(source[2]) for source in body["links"]) for body in sent]
    assert (sum(links), max(links)) == (41, 10)
    assert len(worker.urls()) == 42 and len(worker.urls(State.DONE)) == 1


# Hosts with URLs that are due, with claims that were taken back, and with notes.
LOCKS = "SELECT update_hosts(1, $1, $2, $3, '{3,9}', 1, 0)"


@pytest.mark.parametrize(
    ("one", "two"),
    [(([9], [], 0), ([3], [], 1)), (([3], [9], 0), ([9], [3], 0))],
    ids=["due and noted", "due and lost"],
)
def test_steps_that_lock_the_same_hosts_do_not_deadlock(connect, run_sync, one, two):
    def arguments(ready, lost, place):
        return ready, lost, f"[[{place}, 2.0, null, null, null, null, null]]"

    @gen.coroutine
    def locked_by_both():
        holder, *workers = yield [connect() for _ in range(3)]
        yield holder.execute(FILL.replace("$1", "NULL"))
        yield holder.execute(QUEUE.replace("$1", "NULL"))
        # Both wait for the first host that they want, or have it and wait for the other.
        transaction = holder.transaction()
        yield transaction.start()
        yield holder.execute("SELECT FROM host WHERE id = 3 FOR NO KEY UPDATE")
        steps = []
        for connection, step in zip(workers, (two, one), strict=True):
            steps.append(connection.fetchval(LOCKS, *arguments(*step)))
            steps[-1] = gen.convert_yielded(steps[-1])
            pid = connection.get_server_pid()
            while not (yield holder.fetchval(WAITING, pid)):
                yield gen.moment
        yield transaction.rollback()
        done = yield steps
        yield [each.close() for each in (holder, *workers)]
        return done

    assert run_sync(locked_by_both) == [True, True]
