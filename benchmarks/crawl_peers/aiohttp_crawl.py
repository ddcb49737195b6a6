"""Crawl a site as one does with aiohttp and selectolax: a set, a queue, no store.

python aiohttp_crawl.py URL CONCURRENCY [--scope any]
"""

import argparse
import asyncio
import sys
from urllib.parse import urldefrag, urljoin

import aiohttp
from selectolax.lexbor import LexborHTMLParser


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
        async with self.session.get(url, allow_redirects=False) as response:
            if response.status != 200 or response.content_type != "text/html":
                return
            body = await response.read()
        for link in LexborHTMLParser(body).css("a[href]"):
            target = urldefrag(urljoin(url, link.attributes["href"] or "")).url
            if target not in self.seen and target.startswith(self.site):
                self.seen.add(target)
                self.queue.put_nowait(target)


async def main(start, concurrency, scope):
    site = urljoin(start, "/") if scope == "host" else "http:"
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
