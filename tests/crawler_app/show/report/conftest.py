"""Crawls on disk made by hand, and their reports."""

import contextlib
import dataclasses
import zlib

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Candidate, Fetched, Outcome, Role, State
from crawler_app.base.urls import host_of
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.stores import begin_recrawl, open_stores
from crawler_app.show.report import gather
from gencoro.ioloop import IOLoop

ORIGIN = "http://a.test"
HTML = "text/html; charset=utf-8"
GOOD_HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Strict-Transport-Security": "max-age=63072000",
    "Cache-Control": "no-cache",
}


def url_of(path):
    return path if "://" in path else f"{ORIGIN}{path}"


class HandMade:
    """A crawl whose URLs get the outcomes that the test sets, in the order of its calls."""

    def __init__(self, directory, config):
        self.directory = directory
        self._config = config
        self._open = contextlib.ExitStack()
        self._begin()

    def _begin(self):
        stores = open_stores(self.directory, self._config)
        self._stores = self._open.enter_context(stores)
        self._claims = {}

    def begin_again(self):
        """Begin another crawl into the directory."""
        self._open.close()
        begin_recrawl(self.directory, self._config)
        self._begin()

    def page(
        self,
        path,
        body="",
        content_type=HTML,
        via="",
        archived=True,
        role=Role.LINK,
        **outcome,
    ):
        url, octets = url_of(path), body.encode()
        fields = {"state": State.DONE, "reason": "ok", "status": 200, "took_s": 0.01}
        fields |= {"content_type": content_type, "size_bytes": len(octets)}
        fields["digest"] = f"{zlib.crc32(octets):016x}"
        self.end(path, Outcome(**fields | outcome), via, role)
        archive = self._stores.archive
        if archived and archive is not None:
            headers = {"Content-Type": content_type, **GOOD_HEADERS}
            fetched = Fetched(url, 200, headers, octets, 0.01)
            loop = IOLoop(make_current=False)
            loop.run_sync(lambda: archive.write(fetched, 1000.0))
            loop.close()

    def redirect(self, path, to, via=""):
        outcome = Outcome(State.DONE, "redirect", 301, redirect_to=url_of(to))
        self.end(path, outcome, via)

    def fail(
        self,
        path,
        reason="http_404",
        status=404,
        via="",
        error="",
        role=Role.LINK,
    ):
        self.end(path, Outcome(State.FAILED, reason, status, error=error), via, role)

    def soft_404(self, path):
        self._stores.frontier.note_soft_404(ORIGIN, url_of(path))

    def end(self, path, outcome, via="", role=Role.LINK):
        frontier = self._stores.frontier
        url = url_of(path)
        candidate = Candidate(url, host_of(url), role=role)
        frontier.add([candidate], self._claims.get(url_of(via)))
        claim = self._claims[url] = frontier.claim(1000.0, 60.0)
        assert claim.url == url
        frontier.finish(claim, dataclasses.replace(outcome), 1000.0)

    def refuse(self, path, reason):
        url = url_of(path)
        self._stores.frontier.add([Candidate(url, host_of(url), refusal=reason)])

    def queue(self, path):
        url = url_of(path)
        self._stores.frontier.add([Candidate(url, host_of(url))])

    def close(self):
        self._open.close()

    def report(self, **options):
        self._stores.frontier.flush()
        return gather(self.directory, **options)


@pytest.fixture
def make_crawl(tmp_path):
    """Return a function that begins such a crawl."""
    made = []

    def make_crawl(name="crawl", **options):
        config = CrawlConfig((f"{ORIGIN}/",), index=False, **options)
        directory = CrawlDirectory.create(tmp_path / name, config)
        made.append(HandMade(directory, config))
        return made[-1]

    yield make_crawl
    for crawl in made:
        crawl.close()


@pytest.fixture
def crawl(make_crawl):
    return make_crawl()
