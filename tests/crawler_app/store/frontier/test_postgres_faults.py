"""Failures of the server or the network while workers crawl, and workers that are stopped."""

import contextlib

import asyncpg
import pytest

from crawler_app.base.errors import ServerError
from crawler_app.base.models import State
from crawler_app.store.frontier.postgres import connecting, step_sender
from crawler_app.store.frontier.postgres.postgres_frontier import PostgresFrontier
from crawler_app.store.frontier.postgres.step_sender import ALIVE_S
from gencoro import gen
from tests.helpers.counting import counts_are_those_of_the_records
from tests.helpers.postgres import (
    LEASE_S,
    PAGE,
    SteppedFrontier,
    found,
    make_crawl,
    paths,
    url_for_workers,
)
from tests.helpers.postgres_server import (
    CRASH,
    FAST,
    IMMEDIATE,
    USER,
    Proxy,
    newest_binaries,
    running,
)
from tests.helpers.shared_crawl import PATHS, until_fetched


@pytest.fixture
def server(request):
    """Return a server of this test only, with the settings of its parameter."""
    if newest_binaries() is None:
        pytest.skip("PostgreSQL is not installed")
    with running(**getattr(request, "param", {})) as server:
        yield server


@pytest.fixture
def proxy(postgres):
    with contextlib.closing(Proxy(postgres)) as proxy:
        yield proxy


@pytest.fixture
def short_lease(monkeypatch):
    """A worker is taken for gone soon, so that a test need not wait for long."""
    monkeypatch.setattr(step_sender.StepSender, "alive_s", 0.3)


def nothing_was_lost(reader):
    assert reader.is_drained()
    assert sorted(reader.urls(State.DONE)) == sorted(reader.urls())
    assert len(reader.urls()) == len(PATHS)
    counts_are_those_of_the_records(reader)


def said_once_that_it_was_away(caplog, times=1):
    said = [
        each.getMessage()
        for each in caplog.records
        if each.name == step_sender.__name__
    ]
    away = sum("does not answer, trying again" in text for text in said)
    assert 0 < away <= times
    assert sum("answers again" in text for text in said) == away


# One step.


@pytest.mark.parametrize("loses", ["request", "answer"])
def test_step_whose_result_is_unknown_has_effect_once(proxy, postgres_url, loses):
    make_crawl(postgres_url)
    worker = SteppedFrontier(proxy.url)
    worker.add([found("x"), found("y")])

    def cut(step, *args):
        proxy.loses = loses
        return step(*args)

    first = cut(worker.claim, 0.0, LEASE_S)
    second = cut(worker.claim, 0.0, LEASE_S)
    assert paths([first, second]) == ["x", "y"]
    cut(worker.finish, first, PAGE, 1.0, [found("z", 1)])
    cut(worker.retry, second, 2.0)
    again = cut(worker.claim, 2.0, LEASE_S)

    assert proxy.lost == 5
    assert (again.url, again.tries) == (second.url, 1)
    assert worker.urls(State.DONE, State.QUEUED) == [first.url, found("z").url]
    worker.settle()  # the answer to a step that was repeated has no numbers
    counts_are_those_of_the_records(worker)
    worker.close()


def test_links_of_a_page_that_was_not_taken_are_found_again(proxy, workers):
    """Its lease had ended, and the answer that says so was lost."""
    other = workers()
    other.add([found("x")])
    stopped = SteppedFrontier(proxy.url)
    late = stopped.claim(0.0, LEASE_S)
    taken = other.claim(ALIVE_S, LEASE_S)

    proxy.loses = "answer"
    stopped.finish(late, PAGE, ALIVE_S, [found("z", 1)])
    other.release(taken)
    stopped.finish(stopped.claim(ALIVE_S, LEASE_S), PAGE, ALIVE_S, [found("z", 1)])

    assert proxy.lost == 1
    assert stopped.urls(State.QUEUED) == [found("z").url]
    stopped.close()


def test_message_that_comes_late_has_no_effect(postgres_url, workers, run_sync):
    """It was under way on a connection that was given up; its step was sent again."""
    worker = workers()
    worker.add([found(n) for n in range(3)])
    worker.claim(0.0, LEASE_S)
    call = "SELECT frontier_step($1, $2, $3, $4, 0.0)"
    wants = {"wanted": 1, "lease_s": 9.0, "held": 1, "alive_s": ALIVE_S}
    body = step_sender.encode(
        worker._state.changing().body(worker._state.host_changes) | {"at": 0.0} | wants
    )

    @gen.coroutine
    def arrive():
        connection = yield asyncpg.connect(
            postgres_url, server_settings={"search_path": "gencrawl_test"}
        )
        number, epoch = worker._sender._worker
        yield connection.fetchval(call, number, epoch, worker._sender._step - 1, body)
        yield connection.close()

    run_sync(arrive)

    assert len(worker.urls(State.CLAIMED)) == 1
    assert worker.claim(0.0, LEASE_S) is not None


def test_claim_that_waits_is_not_handed_out_after_a_long_silence(workers):
    """The worker was stopped, and another may have it."""
    stopped, other = workers(), workers()
    stopped.add([found("x"), found("y")])
    stopped._buffered = 2
    assert paths([stopped.claim(0.0, LEASE_S)]) == ["x"]
    assert paths(other.claim(ALIVE_S, LEASE_S) for _ in range(2)) == ["x", "y"]

    stopped.now = ALIVE_S
    assert PostgresFrontier.claim(stopped, ALIVE_S, LEASE_S) is None
    stopped.settle()

    assert not stopped._state.leases.waiting


CUT = """
SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
SET = "ALTER DATABASE postgres SET"
HEAL = [
    "ROLLBACK",
    "SET default_transaction_read_only = off",
    "ALTER DATABASE postgres RESET ALL",
    "ALTER ROLE crawler CONNECTION LIMIT -1",
    CUT,
]


@pytest.mark.parametrize(
    "faults",
    [
        [CUT],
        [f"{SET} default_transaction_read_only = on", CUT],
        [f"{SET} lock_timeout = '1ms'", CUT, "BEGIN", "LOCK TABLE gencrawl_test.queue"],
        ["ALTER ROLE crawler CONNECTION LIMIT 0", CUT],
    ],
    ids=["cut", "read-only", "locked", "no-connection-left"],
)
def test_server_that_is_away_pauses_a_worker_and_loses_nothing(
    postgres_url, workers, caplog, faults
):
    workers()
    worker = SteppedFrontier(url_for_workers(postgres_url))
    worker.add([found("x")])
    claim = worker.claim(0.0, LEASE_S)
    PostgresFrontier.finish(worker, claim, PAGE, 1.0, [found("y", 1)])
    worker.flush()

    @gen.coroutine
    def fail_and_heal():
        connection = yield asyncpg.connect(postgres_url)
        try:
            for statement in faults:
                yield connection.execute(statement)
            exchange = worker.exchange()
            while not worker._sender.is_away:
                assert not exchange.done()
                yield gen.sleep(0.005)
        finally:
            for statement in HEAL:
                yield connection.execute(statement)
            yield connection.close()
        yield exchange

    worker._loop.run_sync(fail_and_heal)

    assert worker.urls(State.DONE) == [claim.url]
    assert paths([worker.claim(2.0, LEASE_S)]) == ["y"]
    worker.close()
    said_once_that_it_was_away(caplog)


LIMITS = {
    "statement_timeout": "1ms",
    "idle_session_timeout": "1ms",
    "default_transaction_isolation": "serializable",
}


def test_limits_that_are_set_for_a_user_do_not_stop_a_worker(
    crawl, postgres_url, caplog
):
    @gen.coroutine
    def limit(crawls):
        yield from until_fetched(crawls, 5)
        connection = yield asyncpg.connect(postgres_url)
        try:
            for name, value in LIMITS.items():
                yield connection.execute(f"ALTER ROLE {USER} SET {name} = '{value}'")
            yield connection.execute(CUT)
            yield from until_fetched(crawls, 40)
        finally:
            yield connection.execute(f"ALTER ROLE {USER} RESET ALL")
            yield connection.close()

    _, reader = crawl(2, during=limit)

    nothing_was_lost(reader)
    said_once_that_it_was_away(caplog, times=2)


def test_worker_does_not_join_another_crawl_of_the_same_name(postgres_url):
    worker = SteppedFrontier.of_new_crawl(postgres_url)
    make_crawl(postgres_url)

    with pytest.raises(ServerError, match="was deleted, and another of that name"):
        worker.add([found("x")])

    assert worker.urls() == []
    worker.die()


# Whole crawls.


def test_server_that_is_started_again_loses_nothing(crawl, tree, server, caplog):
    @gen.coroutine
    def restart(crawls):
        for fetched, how in ((5, FAST), (20, IMMEDIATE), (40, CRASH)):
            yield from until_fetched(crawls, fetched)
            server.stop(how)
            server.start()

    _, reader = crawl(urls=[server.url] * 2, during=restart)

    nothing_was_lost(reader)
    assert sorted(tree.paths) == PATHS
    said_once_that_it_was_away(caplog, times=6)


@pytest.mark.usefixtures("short_lease")
def test_network_that_delays_cuts_and_stalls_loses_nothing(
    crawl, tree, postgres_url, proxy
):
    @gen.coroutine
    def disturb(crawls):
        proxy.delay_s = 0.002
        yield from until_fetched(crawls, 3)
        proxy.cut()
        yield from until_fetched(crawls, 15)
        proxy.flows.clear()
        yield crawls.join(postgres_url)  # fetches the rest
        proxy.flows.set()

    _, reader = crawl(urls=[proxy.url], during=disturb)

    nothing_was_lost(reader)
    # What was under way with this worker, or waited there.
    assert len(tree.paths) <= len(PATHS) + 25


def test_late_message_of_a_stalled_connection_has_no_effect(
    crawl, tree, proxy, monkeypatch
):
    monkeypatch.setattr(connecting, "STEP_TIMEOUT_S", 2.0)

    @gen.coroutine
    def stall(crawls):
        yield from until_fetched(crawls, 10)
        stalled = proxy.flows
        stalled.clear()
        proxy.flow()
        yield from until_fetched(crawls, 30)
        stalled.set()

    _, reader = crawl(urls=[proxy.url], during=stall)

    nothing_was_lost(reader)
    assert sorted(tree.paths) == PATHS


@pytest.mark.usefixtures("short_lease")
@pytest.mark.parametrize("is_stalled", [False, True])
def test_worker_stopped_while_the_server_is_away_ends(
    crawl, tree, postgres_url, proxy, monkeypatch, is_stalled
):
    monkeypatch.setattr(step_sender, "LEAVE_TIMEOUT_S", 0.1)
    recorded = []

    @gen.coroutine
    def stop(crawls):
        yield from until_fetched(crawls, 20)
        recorded.append(crawls[0].frontier.count(State.DONE))
        if is_stalled:
            proxy.flows.clear()
        else:
            proxy.close()
        crawls[0].stop()

    with pytest.raises(ServerError, match="does not answer.*will be fetched again"):
        crawl(urls=[proxy.url], during=stop)
    _, reader = crawl(urls=[postgres_url], continues=True)

    nothing_was_lost(reader)
    assert len(tree.paths) - len(PATHS) <= len(PATHS) - recorded[0]
