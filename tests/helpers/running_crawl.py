"""A crawl that a test begins on the running loop and steers."""

import contextlib

from crawler_app.base.config import CrawlConfig
from crawler_app.run.crawl import Crawl
from crawler_app.run.crawl.wiring import wire
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.web.fetcher import make_fetcher
from gencoro import gen

__all__ = ["opened", "until"]


@contextlib.contextmanager
def opened(url, **options):
    """Return a crawl from a URL, to be run; without robots.txt unless that is asked for."""
    config = CrawlConfig((url,), **{"robots": False} | options)
    with (
        contextlib.closing(make_fetcher(config)) as fetcher,
        contextlib.closing(SqliteFrontier()) as frontier,
    ):
        yield Crawl(wire(config, frontier, fetcher))


@gen.coroutine
def until(condition):
    """Wait for the other coroutines to make something true."""
    while not condition():
        yield gen.sleep(0.001)
