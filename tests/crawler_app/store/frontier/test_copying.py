"""Copying a crawl from files to PostgreSQL, where it is crawled to its end."""

import contextlib
import json

import asyncpg
import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Candidate, Outcome, Role, State
from crawler_app.base.reasons import Reason, reason_of_word
from crawler_app.commands.exit_status import FAILED, OK, USAGE
from crawler_app.run.crawler import Crawler
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.moving import move_frontier
from crawler_app.store.frontier.postgres import copying
from crawler_app.store.frontier.postgres.connecting import connect
from crawler_app.store.frontier.postgres.install import uninstall
from crawler_app.store.frontier.postgres.location import CrawlLocation
from crawler_app.store.frontier.sqlite import SqliteFrontier
from gencoro import gen
from tests.crawler_app.run.processes.conftest import started_web
from tests.helpers.counting import counts_are_those_of_the_records
from tests.helpers.postgres import SteppedFrontier
from tests.helpers.scripts import start_python

NAME = "copied"
FETCHED = (State.DONE, State.FAILED)
VOLATILE = {
    *("made_at", "started_at", "ended_at", "last_at", "took_s", "mean_s"),
    *("archive", "slowest", "largest", "most_linked", "examples"),
}
NOW = 1_700_000_000.0
HOSTS = ("a.test", "b.test", "c.test")


def found(host, path, depth=1, refusal=None, role=Role.LINK):
    return Candidate(f"http://{host}/{path}", host, depth, 10, refusal, role)


def page(reason=Reason.OK, state=State.DONE, **fields):
    return Outcome(state, reason, 200, "text/html", 20, 0.5, **fields)


def open_file(directory):
    """Open the frontier of a new crawl."""
    config = CrawlConfig(("http://a.test/",), max_pages=100, robots=False)
    return SqliteFrontier(CrawlDirectory.create(directory, config).frontier_path)


def fill(frontier):
    """Crawl a little, so that there are URLs of every kind, with something in each column."""
    links = [
        *(found("a.test", path) for path in ("private", "gone", "later")),
        found("b.test", "logo", role=Role.ASSET),
        found("c.test", "moved"),
        *(found(host, f"{n}?x={n}") for n in range(4) for host in HOSTS),
        *(found(host, "deep", 9, Reason.TOO_DEEP) for host in HOSTS),
        found("a.test", "n" * 600, 1, Reason.NOFOLLOW),
    ]
    outcome_by_path = {
        "/moved": page(Reason.REDIRECT, redirect_to="http://b.test/target"),
        "/private": Outcome(State.EXCLUDED, Reason.ROBOTS),
        "/gone": Outcome(
            State.FAILED, reason_of_word("http_404"), 404, error="not\0there \x1a"
        ),
    }
    seed = found("a.test", "", 0)
    frontier.add([seed])
    for host in HOSTS:
        frontier.note_response(f"http://{host}", f"http://{host}/x")
    while (claim := frontier.claim(NOW, 60.0)) is not None:
        path = claim.url.partition(".test")[2]
        if path.startswith("/2"):
            frontier.hold_host(claim.host, NOW + 1.0)
            frontier.release(claim)
        elif path == "/later":
            frontier.retry(claim, NOW + 4e4)
        else:
            more = links if path == "/" else ()
            if path == "/moved":
                more = [found("b.test", "target")]
            outcome = outcome_by_path.get(path, page(title="\x1a é"))
            frontier.finish(claim, outcome, NOW, more)
    frontier.flush()


@pytest.fixture
def location(postgres_url, run_sync):
    location = CrawlLocation(postgres_url, NAME)

    def drop():
        with contextlib.suppress(Exception):  # it does not exist
            run_sync(lambda: uninstall(location))

    drop()
    yield location
    drop()


def pages_left(location, run_sync):
    @gen.coroutine
    def ask():
        connection = yield connect(location)
        try:
            return (yield connection.fetchval("SELECT pages_left FROM crawl"))
        finally:
            yield connection.close()

    return run_sync(ask)


def test_every_url_is_there_as_it_was(tmp_path, location, run_sync):
    with contextlib.closing(open_file(tmp_path / "crawl")) as file:
        fill(file)
        wanted = list(file.records())
    tries = sum(record.tries for record in wanted)

    copied = run_sync(lambda: move_frontier(tmp_path / "crawl", location, partitions=5))

    assert copied == len(wanted) > 20 and tries == 1
    frontier = SteppedFrontier(location.url, location.crawl, NOW)
    with contextlib.closing(frontier):
        assert list(frontier.records()) == wanted
        counts_are_those_of_the_records(frontier)
        assert frontier.known_url("http://a.test") == "http://a.test/x"
        begun = [r for r in wanted if r.state in FETCHED and not r.role.is_non_page]
        assert pages_left(location, run_sync) == 100 - len(begun)
        # Hosts and URLs that come later get numbers of their own.
        assert frontier.add([found("d.test", "")]) == 1
        # Only what may be claimed is, and a refusal may end.
        claims, now = [], NOW + 2.0
        while (claim := frontier.claim(now, 9e9)) is not None:
            claims.append(claim.url)
            frontier.finish(claim, page(), now)
            now += 2.0  # the gap of the hosts
        assert sorted(claims) == sorted(
            ["http://d.test/"]
            + [r.url for r in wanted if r.state is State.QUEUED and not r.tries]
        )
        assert frontier.add([found("b.test", "deep")]) == 1
    assert CrawlDirectory.open(tmp_path / "crawl").config().crawl_name == NAME


def test_redirect_before_a_url_is_known_as_one(tmp_path, location, run_sync):
    with contextlib.closing(open_file(tmp_path / "crawl")) as file:
        file.add([found("c.test", "moved", 0)])
        redirect = page(Reason.REDIRECT, redirect_to="http://a.test/end")
        claim = file.claim(NOW, 60.0)
        file.finish(claim, redirect, NOW, [found("a.test", "end")])

    run_sync(lambda: move_frontier(tmp_path / "crawl", location))

    frontier = SteppedFrontier(location.url, location.crawl, NOW)
    with contextlib.closing(frontier):
        claim = frontier.claim(NOW, 60.0)
        assert claim.url == "http://a.test/end"
        assert frontier.find(claim.url).via == "http://c.test/moved"
        assert frontier.redirect_before(claim, "http://c.test/moved") is not None


def test_failing_copy_changes_nothing(tmp_path, location, gencrawl, monkeypatch):
    with contextlib.closing(open_file(tmp_path / "crawl")) as file:
        fill(file)
    saved = (tmp_path / "crawl/crawl.json").read_text()
    words = ("postgres", "copy", tmp_path / "crawl", location.url, "--crawl", NAME)

    def fail(*_):
        raise asyncpg.ConnectionDoesNotExistError("it has gone")

    with monkeypatch.context() as patch:
        # When the URLs are copied.
        patch.setattr(copying._Copy, "_set_sequences", fail)
        ended = gencrawl(*words)
    assert ended.status == FAILED and "it has gone" in ended.err
    assert (tmp_path / "crawl/crawl.json").read_text() == saved
    listed = gencrawl("postgres", "list", location.url).out.splitlines()
    assert [line for line in listed if line.startswith(NAME)] == [
        f"{NAME}  has not begun"
    ]
    with CrawlDirectory.open(tmp_path / "crawl"):
        locked = gencrawl(*words)
    assert locked.status == USAGE and "is being crawled by" in locked.err

    assert gencrawl(*words).status == OK
    again = gencrawl(*words)
    assert again.status == USAGE and "in PostgreSQL already" in again.err
    # Killed after the commit: the directory is as before, and the rest is done again.
    (tmp_path / "crawl/crawl.json").write_text(saved)
    assert gencrawl(*words).status == OK
    assert json.loads((tmp_path / "crawl/crawl.json").read_text())["frontier"]
    open_file(tmp_path / "other").close()
    words = ("postgres", "copy", tmp_path / "other", location.url, "--crawl", NAME)
    taken = gencrawl(*words)
    assert taken.status == USAGE and "has begun already" in taken.err


def without_times(found):
    """Leave out what differs from run to run, and the order in which things were found."""
    match found:
        case dict():
            return {
                name: without_times(value)
                for name, value in found.items()
                if name not in VOLATILE
            }
        case list():
            return sorted(map(without_times, found), key=json.dumps)
    return found


@pytest.fixture
def stop_in_the_middle(run_sync):
    """Crawl until some pages are fetched; those under way are completed."""

    @gen.coroutine
    def until_stopped(config, web):
        crawler = Crawler(config)
        running = crawler.run()
        wanted = web.requests.total() + 30
        while web.requests.total() < wanted:
            yield gen.sleep(0.002)
        crawler.stop()
        return (yield running)

    return lambda config, web: run_sync(lambda: until_stopped(config, web))


def test_crawl_that_was_stopped_is_finished_by_two_workers(
    gencrawl, tmp_path, location, stop_in_the_middle
):
    whole, moved = tmp_path / "whole", tmp_path / "moved"
    server = (location.url, "--crawl", NAME)
    with started_web() as web:
        wanted = web.tree(120)
        seed = web.url(0, "0")
        options = ["--scope", "any", "--no-robots", "--quiet"]
        gencrawl("crawl", seed, "--into", whole, *options)
        config = CrawlConfig(
            (seed,),
            into=str(moved),
            scope="any",
            robots=False,
        )
        stopped = stop_in_the_middle(config, web).summary
        assert stopped.done and stopped.left

        copied = gencrawl("postgres", "copy", moved, *server)
        assert copied.status == OK and f"gencrawl resume {moved}" in copied.out
        assert gencrawl.json("status", *server, "--json")["done"] == stopped.done
        with start_python("-m", "crawler_app", "resume", moved, "--quiet") as first:
            gencrawl(
                "postgres", "work", *server, "--into", tmp_path / "second", "--quiet"
            )
        assert first.returncode == OK

        assert set(web.requests) == set(wanted) and set(web.requests.values()) == {2}
    summaries, reports = (
        [
            without_times(gencrawl.json(name, *where, *form))
            for where in ([whole], server)
        ]
        for name, form in {"status": ["--json"], "report": ["--format", "json"]}.items()
    )
    # It is not begun again with what is left of the frontier in the directory.
    again = gencrawl("crawl", seed, "--into", moved, *options)
    assert again.status == USAGE and "whose frontier is in PostgreSQL" in again.err
    assert summaries[0] == summaries[1]
    assert reports[0] == reports[1]
