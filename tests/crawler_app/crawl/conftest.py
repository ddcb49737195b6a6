"""A crawler of the `site`."""

import contextlib
from typing import NamedTuple

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler_app.config import CrawlConfig
from crawler_app.crawl import Crawl
from crawler_app.fetcher import HttpFetcher
from crawler_app.frontier.memory import MemoryFrontier
from gencoro import gen


@pytest.fixture
def crawl(site, run_sync):
    """Crawl the site in this process, to the end; return the crawler.

    Without asking for robots.txt, unless the test is about that.
    """
    frontiers = []

    def run(path="/", *, frontier=None, fetcher=HttpFetcher, stores=None, **options):
        options = {"retry_pause_s": 0.01, "robots": False} | options
        config = CrawlConfig(seeds=(site.url.rstrip("/") + path,), **options)
        frontier = MemoryFrontier() if frontier is None else frontier
        frontiers.append(frontier)
        made = []

        @gen.coroutine
        def main():
            with contextlib.closing(fetcher(config)) as opened:
                made.append(Crawl(config, frontier, opened, **(stores or {})))
                yield made[0].run()

        run_sync(main)
        return made[0]

    yield run
    for frontier in frontiers:
        frontier.close()


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "crawl"


@pytest.fixture
def cli(gencrawl, site, directory):
    """Run a command on the one directory; return its exit status and what it printed."""

    def cli(command, *options):
        if command == "crawl":
            options = ("--into", directory, "--quiet", *options)
            return gencrawl("crawl", site.url, *options)
        return gencrawl(command, directory, *options)

    return cli


class Capture(NamedTuple):
    path: str
    status: int
    payload: bytes
    profile: str


@pytest.fixture
def captures(site, directory):
    """Read the captures in the archive; the profile is that of a revisit."""

    def read():
        found = []
        for path in sorted(directory.glob("*.warc.gz")):
            with path.open("rb") as file:
                for record in ArchiveIterator(file, check_digests="raise"):
                    payload = record.content_stream().read()
                    if record.rec_type in ("response", "revisit"):
                        found.append(capture_of(record, payload))
        return found

    def capture_of(record, payload):
        header = record.rec_headers.get_header
        path = "/" + header("WARC-Target-URI").removeprefix(site.url)
        profile = (header("WARC-Profile") or "").rpartition("/")[2]
        assert bool(profile) is (record.rec_type == "revisit")
        status = int(record.http_headers.get_statuscode())
        return Capture(path, status, payload, profile)

    return read


@pytest.fixture
def record_of(site):
    """Look up what a crawler's frontier knows of a path of the site."""

    def look_up(crawler, path):
        url = site.url.rstrip("/") + path
        found = [r for r in crawler.frontier.records() if r.url == url]
        assert len(found) <= 1, "a URL is met once"
        return found[0] if found else None

    return look_up
