"""crawler_app crawls a page and the two that it links to, without a network."""

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Fetched
from crawler_app.run.crawl import Crawl
from crawler_app.run.crawl.wiring import wire
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.web.fetcher.request_policy import RequestPolicy
from gencoro import gen
from gencoro.ioloop import IOLoop

SITE = "http://site.test"
LINKS = b'<a href="/slow">slow</a> <a href="/quick">quick</a>'
SECONDS_BY_PATH = {"/": 1, "/slow": 3, "/quick": 1}


class Network:
    """A fetcher that takes some time for each page."""

    def __init__(self, config):
        self.policy = RequestPolicy(config, "")

    @gen.coroutine
    def fetch(self, request):
        path = request.url.removeprefix(SITE)
        yield gen.sleep(SECONDS_BY_PATH[path])
        body = LINKS if path == "/" else b"Hello"
        return Fetched(request.url, 200, {"Content-Type": "text/html"}, body, 0.0)

    def close(self):
        pass


def main():
    config = CrawlConfig(
        (f"{SITE}/",),
        concurrency=2,
        per_host=2,
        host_gap_s=0,
        robots=False,
        sitemaps=False,
    )
    clock = IOLoop.current().asyncio_loop.time
    return Crawl(wire(config, SqliteFrontier(), Network(config), clock=clock)).run()


if __name__ == "__main__":
    IOLoop.current().run_sync(main)
