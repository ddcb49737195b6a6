"""Starting, ending and `status` do not read every URL."""

import asyncio

import pytest
from tornado.httputil import HTTPHeaders

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Candidate, Fetched, Outcome, State
from crawler_app.base.reasons import Reason
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.stores import begin_recrawl, open_stores
from crawler_app.store import database
from crawler_app.store.frontier import saved_keys
from crawler_app.store.index.columns import columns_of

HOST = "127.0.0.1:9"  # nothing listens there
FEW, MANY = 1_000, 10_000
LINKS = 10

# Steps of SQLite's virtual machine that are counted as one.
GRAIN = 10


@pytest.fixture
def steps(monkeypatch):
    """A list of the steps that SQLite makes, GRAIN at a time."""
    found = []
    connect = database._connect

    def watched(*arguments):
        db = connect(*arguments)
        db.set_progress_handler(lambda: found.append(GRAIN), GRAIN)
        return db

    monkeypatch.setattr(database, "_connect", watched)
    return found


def url(number):
    return f"http://{HOST}/part-{number % 9}/page-{number}.html"


def end_some(stores, urls):
    """End some of the URLs as pages, archived and indexed; the others stay queued."""
    stores.frontier.add([Candidate(url(0), HOST)])
    for now in range(urls // LINKS):
        claim = stores.frontier.claim(now, 3600.0)
        first = 1 + now * LINKS
        links = [Candidate(url(n), HOST, 1) for n in range(first, first + LINKS)]
        body = f"<title>{now}</title>".encode()
        headers = HTTPHeaders({"Content-Type": "text/html"})
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
        stores.archive.write(
            Fetched(
                claim.url, 200, headers, body, 0.1, b"GET / HTTP/1.1\r\n\r\n", head
            ),
            now,
        )
        stores.index.put(claim.url, columns_of(f"{now}", "", ""), now)
        outcome = Outcome(State.DONE, Reason.OK, 200, "text/html", len(body), 0.1)
        stores.frontier.finish(claim, outcome, now, links)


async def fill(path, urls):
    """Make the directory of a recrawl that knows a number of URLs."""
    config = CrawlConfig((url(0),), into=str(path))
    with CrawlDirectory.create(path, config) as directory:
        for is_first in (True, False):
            with open_stores(directory, config) as stores:
                end_some(stores, urls)
                assert stores.frontier.total() == urls + 1
            if is_first:
                begin_recrawl(directory, config)


@pytest.fixture(scope="module")
def directories(tmp_path_factory):
    paths = []
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(saved_keys, "MAX_UNSAVED", FEW // 2)
    for urls in (FEW, MANY):
        paths.append(tmp_path_factory.mktemp("crawls") / str(urls))
        asyncio.run(fill(paths[-1], urls))
    monkeypatch.undo()
    return paths


@pytest.mark.parametrize(
    "command",
    [("status",), ("search", "12"), ("resume", "--quiet", "--max-pages", "1")],
)
def test_steps_do_not_grow_with_the_number_of_urls(
    directories, gencrawl, steps, command
):
    name, *options = command
    taken = []
    for directory in directories:
        steps.clear()
        gencrawl(name, directory, *options)
        taken.append(sum(steps))

    assert taken[0] > 0
    assert taken[1] - taken[0] < 1000
