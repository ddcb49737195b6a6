"""The crawler of "500 Lines or Less", its decorator replaced and nothing else of note.

It was written for Python 3.4's ``@asyncio.coroutine``: bodies that ``yield from`` Futures,
each other, and what are native coroutines today (``Queue.get``, ``Queue.join``).
"""

import asyncio
import urllib.parse

from tornado.simple_httpclient import SimpleAsyncHTTPClient
from turbohtml import parse

from gencoro import gen


class Crawler:
    def __init__(self, root_url, max_redirect=3, max_tasks=4):
        self.max_redirect = max_redirect
        self.max_tasks = max_tasks
        self.q = asyncio.Queue()
        self.seen_urls = set()
        self.statuses = {}
        self.client = SimpleAsyncHTTPClient(force_instance=True)
        self.add_url(root_url, max_redirect)

    def add_url(self, url, max_redirect):
        if url not in self.seen_urls:
            self.seen_urls.add(url)
            self.q.put_nowait((url, max_redirect))

    @gen.coroutine
    def crawl(self):
        workers = [self.work() for _ in range(self.max_tasks)]
        yield from self.q.join()
        for worker in workers:
            worker.cancel()
        return workers

    @gen.coroutine
    def work(self):
        while True:
            url, max_redirect = yield from self.q.get()
            try:
                yield from self.fetch(url, max_redirect)
            finally:
                self.q.task_done()

    @gen.coroutine
    def fetch(self, url, max_redirect):
        response = yield from self.client.fetch(
            url, follow_redirects=False, raise_error=False
        )
        self.statuses[urllib.parse.urlsplit(url).path] = response.code
        if response.code in (301, 302):
            if max_redirect > 0:
                target = urllib.parse.urljoin(url, response.headers["Location"])
                self.add_url(target, max_redirect - 1)
            return
        for link in self.parse_links(response):
            self.add_url(link, self.max_redirect)

    def parse_links(self, response):
        for anchor in parse(response.body).select("a[href]"):
            yield urllib.parse.urljoin(response.effective_url, anchor.attrs["href"])


def test_generator_style_crawler_of_2015_runs(site):
    site.page("/", "/a", "/old", "/older", "/missing")
    site.page("/a", "/b", "/loop")
    site.page("/b", "/")
    site.redirect("/old", to="/new")
    site.redirect("/older", to="/old")
    site.page("/new")
    site.redirect("/loop", to="/loop")

    async def main():
        crawler = Crawler(site.url)
        workers = await asyncio.wait_for(crawler.crawl(), 10)
        await asyncio.wait(workers)
        crawler.client.close()
        return crawler, workers

    crawler, workers = asyncio.run(main())

    assert crawler.statuses == {
        "/": 200,
        "/a": 200,
        "/b": 200,
        "/new": 200,
        "/old": 302,
        "/older": 302,
        "/loop": 302,
        "/missing": 404,
    }
    assert sorted(site.paths) == sorted(crawler.statuses)
    assert all(worker.cancelled() for worker in workers)
