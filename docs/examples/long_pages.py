"""Crawl everything below a URL; list the longest pages and the links that lead elsewhere."""

import sys

from crawler_app import CrawlConfig, Crawler
from gencoro import gen
from gencoro.ioloop import IOLoop


@gen.coroutine
def on_page(page):
    yield gen.moment  # where a database would be written to
    pages.append((len(page.text.split()), page.url))


def on_link(link):
    if not link.url.startswith(sys.argv[1]):
        print(f"out of it: {link.text} -> {link.url}")


pages = []
config = CrawlConfig(seeds=(sys.argv[1],), scope="prefix", max_pages=200)
IOLoop.current().run_sync(Crawler(config, on_page=on_page, on_link=on_link).run)
print(*sorted(pages, reverse=True)[:10], sep="\n")
