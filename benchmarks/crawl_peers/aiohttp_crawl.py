"""Crawl a site with aiohttp and selectolax, as lean as a loop gets: no store, no robots.txt.

python aiohttp_crawl.py URL CONCURRENCY [--scope any]

The references of a page are made unique before they are joined, and URLs are not parsed twice.
"""

import argparse
import asyncio
import sys
from urllib.parse import urljoin

import aiohttp
from selectolax.lexbor import LexborHTMLParser
from yarl import URL

REDIRECTS = (301, 302, 303, 307, 308)


class Crawler:
    def __init__(self, session, start, site):
        self.session = session
        self.site = site
        self.seen = {start}
        self.queue = asyncio.Queue()  # a deque that can be waited for
        self.queue.put_nowait(start)

    async def work(self):
        while True:
            url = await self.queue.get()
            try:
                await self.visit(url)
            except (aiohttp.ClientError, TimeoutError) as exc:
                print(url, exc, file=sys.stderr)
            finally:
                self.queue.task_done()

    async def visit(self, url):
        target = URL(url, encoded=True)
        async with self.session.get(target, allow_redirects=False) as response:
            if response.status in REDIRECTS:
                self.add(url, response.headers["Location"])
            if response.status != 200 or response.content_type != "text/html":
                return
            body = await response.read()
        nodes = LexborHTMLParser(body).css("a[href]")
        hrefs = {node.attributes["href"] for node in nodes} - {None}
        for href in {href.partition("#")[0] for href in hrefs}:
            self.add(url, href)

    def add(self, base, reference):
        url = urljoin(base, reference)
        if url not in self.seen and url.startswith(self.site):
            self.seen.add(url)
            self.queue.put_nowait(url)


async def main(start, concurrency, scope):
    site = urljoin(start, "/") if scope == "host" else "http"
    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:
        crawler = Crawler(session, start, site)
        workers = [asyncio.create_task(crawler.work()) for _ in range(concurrency)]
        await crawler.queue.join()
        for worker in workers:
            worker.cancel()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("concurrency", type=int)
    parser.add_argument("--scope", default="host")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.url, arguments.concurrency, arguments.scope))
