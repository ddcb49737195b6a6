"""Several processes that are workers of a crawl in PostgreSQL, despite kills."""

import contextlib
import os
import re
import signal

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import State
from crawler_app.commands.exit_status import FAILED, OK
from crawler_app.run.crawl_worker import begin_shared
from crawler_app.run.processes.crawl_workers import CrawlWorkers
from crawler_app.show.dashboard.metrics import Metrics
from crawler_app.store.frontier.postgres.connecting import connect
from crawler_app.store.frontier.postgres.location import CrawlLocation
from gencoro import gen
from gencoro.ioloop import IOLoop
from tests.crawler_app.run.processes.conftest import workers_of
from tests.helpers.metrics import values_in
from tests.helpers.postgres import postgres, postgres_url
from tests.helpers.postgres_server import CRASH
from tests.helpers.postgres_server import running as running_server
from tests.helpers.scripts import start_gencrawl, wait_until

__all__ = ["postgres", "postgres_url"]

NAME = "shared"


@pytest.fixture
def server(gencrawl, postgres_url):
    """The arguments that name a crawl, which does not exist before and after."""
    arguments = (postgres_url, "--crawl", NAME)
    gencrawl("postgres", "drop", *arguments)
    yield arguments
    gencrawl("postgres", "drop", *arguments)


@pytest.fixture
def crawl(web, postgres_url, server, tmp_path):
    """The arguments that begin it."""
    return [
        *("crawl", web.url(0, "0"), "--scope", "any", "--no-robots", "--quiet"),
        *("--frontier", postgres_url, "--crawl", NAME, "--into", tmp_path / "crawl"),
    ]


def forget_the_dead(url):
    """Let the leases of the processes that are gone expire, as the server does after a while."""

    @gen.coroutine
    def forget():
        connection = yield connect(CrawlLocation(url, NAME))
        names = yield connection.fetch("SELECT id, name FROM worker")
        for number, name in names:
            pid = name.split()[1]
            if not os.path.exists(f"/proc/{pid}"):
                yield connection.execute(
                    "UPDATE worker SET alive_until = 0 WHERE id = $1", number
                )
        yield connection.close()

    loop = IOLoop(make_current=False)
    loop.run_sync(forget)
    loop.close()


def test_processes_are_workers_of_one_crawl(
    web, gencrawl, server, tmp_path, run_sync, postgres_url
):
    wanted = web.tree(60)
    into = str(tmp_path / "crawl")
    config = CrawlConfig(
        (web.url(0, "0"),),
        into=into,
        scope="any",
        robots=False,
        processes=2,
        frontier=postgres_url,
        crawl_name=NAME,
    )
    watched = []

    @contextlib.contextmanager
    def watch(run):
        watched.append(run)
        yield

    run_sync(lambda: begin_shared(config))
    done = run_sync(CrawlWorkers(config, watch=watch).run)

    assert set(web.requests) == set(wanted) and set(web.requests.values()) == {1}
    assert (done.fetched, done.left) == (len(wanted), 0)
    # The numbers are those of the whole crawl, which both have.
    assert watched[0].count(State.DONE) == len(wanted)
    metrics = values_in(Metrics(watched[0]).render()[0].decode())
    assert metrics["gencrawl_urls", "done"] == len(wanted)
    assert metrics["gencrawl_fetched_total",] == len(wanted)
    parts = [tmp_path / "crawl" / f"part-{n}" for n in range(2)]
    assert all((part / "crawl.sqlite").exists() for part in parts)
    status = gencrawl.json("status", into, "--json")
    assert (status["done"], status["indexed_pages"]) == (len(wanted), 60)
    # With more or fewer processes, every part stays readable.
    for processes in (3, 1):
        again = gencrawl(
            "postgres", "work", *server, "--into", into, "--processes", processes
        )
        assert again.status == OK and "made 0 fetches" in again.out, again.err
        assert gencrawl.json("status", *server, "--json")["indexed_pages"] == 60


def test_crawl_that_is_deleted_ends_all_with_one_error(web, gencrawl, crawl, server):
    web.tree(60)
    web.sites[1].hold("/1")
    running = start_gencrawl(*crawl, "--processes", 2)
    wait_until(lambda: len(web.requests) > 5)
    wait_until(lambda: len(gencrawl.json("status", *server, "--json")["workers"]) == 2)

    gencrawl("postgres", "drop", *server)
    _, err = running.communicate()
    web.sites[1].let_go("/1")

    assert running.returncode == FAILED
    assert re.fullmatch("gencrawl: server error: shared at .* was deleted: .*\n", err)


def test_killed_worker_is_replaced_and_no_orphan_is_left(
    web, gencrawl, crawl, server, tmp_path, postgres_url
):
    wanted = web.tree(100)
    web.sites[99 % 4].hold("/99")  # so that it cannot end before
    running = start_gencrawl(*crawl, "--processes", 2, "--concurrency", 4)
    wait_until(lambda: len(web.requests) > 20)
    victim = workers_of(running.pid)[0]
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: len({*workers_of(running.pid)} - {victim}) == 2)
    forget_the_dead(postgres_url)
    wait_until(lambda: len(web.requests) > 60)
    children = workers_of(running.pid)
    running.kill()
    _, err = running.communicate()
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in children))
    web.sites[99 % 4].let_go("/99")
    forget_the_dead(postgres_url)
    ended = gencrawl("resume", tmp_path / "crawl", "--quiet")

    assert ended.status == OK, ended.err
    assert err.count("it is started again") == 1
    assert set(web.requests) == set(wanted)
    status = gencrawl.json("status", *server, "--json")
    assert (status["left"], status["done"]) == (0, len(wanted))
    assert status["indexed_pages"] >= 100


def test_worker_that_dies_while_the_server_is_away_is_restarted(web, tmp_path):
    wanted = web.tree(100)
    web.sites[99 % 4].hold("/99")  # so that it cannot end before
    with running_server() as server:
        running = start_gencrawl(
            *("crawl", web.url(0, "0"), "--scope", "any", "--no-robots", "--quiet"),
            *("--frontier", server.url, "--crawl", NAME),
            *("--into", tmp_path / "crawl", "--processes", 2, "--concurrency", 4),
        )
        wait_until(lambda: len(web.requests) > 20)
        server.stop(CRASH)
        os.kill(workers_of(running.pid)[0], signal.SIGKILL)
        lines = iter(running.stderr.readline, "")
        assert any("is started when the server answers" in line for line in lines)
        server.start()
        web.sites[99 % 4].let_go("/99")
        forget_the_dead(server.url)
        _, err = running.communicate()

    assert running.returncode == OK, err
    assert set(web.requests) == set(wanted)


def test_workers_end_if_the_main_process_is_killed_during_an_outage(
    web, tmp_path, postgres
):
    web.tree(400)
    with running_server() as server:
        running = start_gencrawl(
            *("crawl", web.url(0, "0"), "--scope", "any", "--no-robots", "--quiet"),
            *("--frontier", server.url, "--into", tmp_path / "crawl"),
            *("--processes", 2),
        )
        wait_until(lambda: len(web.requests) > 20)
        server.stop(CRASH)
    children = workers_of(running.pid)
    running.kill()
    running.communicate()

    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in children))
