"""A crawl directory with records, made without a crawl."""

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Candidate, Outcome, State
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.stores import open_stores

AT = 1_700_000_000.0


@pytest.fixture
def crawled(tmp_path):
    """Return a function that makes one: so many URLs are done, and so many queued."""

    def crawled(done=0, queued=0):
        config = CrawlConfig(("http://a.test/",), archive=False, index=False)
        directory = CrawlDirectory.create(tmp_path / "crawl", config)
        with directory, open_stores(directory, config) as stores:
            frontier = stores.frontier
            frontier.add(
                Candidate(f"http://a.test/{n}", "a.test") for n in range(done + queued)
            )
            for n in range(done):
                claim = frontier.claim(0.0, 60.0)
                frontier.finish(claim, Outcome(State.DONE, "ok", 200), AT + n)
        return directory

    return crawled
