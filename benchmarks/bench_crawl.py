"""What a crawl costs: CPU a page, against fetching alone, and memory as it goes on.

Serves a tree of pages from another process, then in turn, each in a process of its own:

    crawl   the whole crawler, with the frontier on disk
    fetch   the same URLs through the same client, and nothing else: the floor

    python benchmarks/bench_crawl.py [--pages 10000] [--rounds 3]

The figures are user + system seconds of the measured process alone, so that the server
does not count, and the ratio of each pair, so that the machine's mood does not either.
"""

import argparse
import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from crawler_app.config import CrawlConfig
from crawler_app.crawler import Crawler
from crawler_app.directory import CrawlDirectory
from crawler_app.fetcher import HttpFetcher
from gencoro import gen
from gencoro.ioloop import IOLoop, PeriodicCallback

PAGE_BYTES = 26_000
PAGES_PER_DIRECTORY = 50
LINKS_PER_PAGE = 100


def path_of(page):
    return f"/{page // PAGES_PER_DIRECTORY}/{page}.html"


def page_html(page, pages):
    """A page like a reference manual's: half of the links near, half of them far."""
    near = page - page % PAGES_PER_DIRECTORY
    links = [f"{near + i}.html" for i in range(PAGES_PER_DIRECTORY) if near + i < pages]
    far = {(7 * page + 1 + 13 * i) % pages for i in range(LINKS_PER_PAGE - len(links))}
    links += [f"..{path_of(target)}#part-{target % 9}" for target in sorted(far)]
    if page + 1 < pages:
        links.append(f"..{path_of(page + 1)}")
    body = "".join(
        f'<li class="entry"><a href="{link}" title="to {link}"><code>{link}</code></a>\n'
        for link in links
    )
    html = f"<!doctype html><title>Page {page}</title><ul>{body}</ul>"
    filler = "<p class=note>Some <em>words</em> that are not links.</p>\n"
    return html + filler * ((PAGE_BYTES - len(html)) // len(filler))


class PageHandler(RequestHandler):
    def initialize(self, pages):
        self.pages = pages

    def get(self, page):
        self.write(page_html(int(page), self.pages))


async def serve(pages):
    application = Application(
        [(r"/\d+/(\d+)\.html", PageHandler, {"pages": pages})],
        log_function=lambda handler: None,
    )
    sockets = bind_sockets(0, "127.0.0.1")
    HTTPServer(application).add_sockets(sockets)
    print(sockets[0].getsockname()[1], flush=True)
    # Until our parent closes the pipe, or dies.
    await asyncio.to_thread(sys.stdin.read)


def cpu_s():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def rss_mb():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def measure_crawl(url, pages, concurrency):
    config = CrawlConfig(seeds=(url + path_of(0),), concurrency=concurrency)
    with (
        tempfile.TemporaryDirectory() as into,
        CrawlDirectory.create(into, config) as directory,
    ):
        frontier = directory.frontier()
        crawler = Crawler(config, frontier, HttpFetcher(config))
        memory = {}

        def sample():
            tenth = crawler.stats["fetched"] * 10 // pages
            memory.setdefault(tenth, round(rss_mb(), 1))

        @gen.coroutine
        def main():
            sampling = PeriodicCallback(sample, 20)
            sampling.start()
            before = cpu_s()
            yield crawler.run()
            sampling.stop()
            return cpu_s() - before

        taken = IOLoop.current().run_sync(main)
        fetched = crawler.stats["fetched"]
        keys = frontier._keys
        key_bytes = (sys.getsizeof(keys) + sum(map(sys.getsizeof, keys))) / len(keys)
        crawler.fetcher.close()
        frontier.close()
    assert fetched == pages, f"{fetched} of {pages} pages"
    return {
        "cpu_ms": taken / pages * 1e3,
        "rss_mb_by_tenth": memory,
        "key_bytes": key_bytes,
    }


def measure_fetch(url, pages, concurrency):
    fetcher = HttpFetcher(CrawlConfig(seeds=(url,), concurrency=concurrency))
    urls = iter([url + path_of(page) for page in range(pages)])

    @gen.coroutine
    def work():
        for page in urls:
            yield fetcher.fetch(page)

    @gen.coroutine
    def main():
        before = cpu_s()
        yield [work() for _ in range(concurrency)]
        return cpu_s() - before

    taken = IOLoop.current().run_sync(main)
    fetcher.close()
    return {"cpu_ms": taken / pages * 1e3}


MEASURES = {"crawl": measure_crawl, "fetch": measure_fetch}


def in_child(what, arguments, url):
    command = [sys.executable, __file__, "--child", what, "--url", url]
    command += ["--pages", str(arguments.pages)]
    command += ["--concurrency", str(arguments.concurrency)]
    return json.loads(subprocess.check_output(command))


def compare(arguments):
    command = [sys.executable, __file__, "--child", "serve"]
    command += ["--pages", str(arguments.pages)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    url = f"http://127.0.0.1:{int(server.stdout.readline())}"
    crawls, fetches = [], []
    try:
        for _ in range(arguments.rounds):
            fetches.append(in_child("fetch", arguments, url))
            crawls.append(in_child("crawl", arguments, url))
    finally:
        server.stdin.close()
        server.wait()
    pairs = zip(crawls, fetches, strict=True)
    ratios = [crawl["cpu_ms"] / fetch["cpu_ms"] for crawl, fetch in pairs]
    size = len(page_html(0, arguments.pages))
    print(
        f"{arguments.pages} pages of {size} bytes, {arguments.rounds} rounds, medians"
    )
    print(f"crawl / fetch   {statistics.median(ratios):.2f}")
    for name, results in (("crawl", crawls), ("fetch", fetches)):
        print(f"{name}           {median(results, 'cpu_ms'):.3f} ms CPU a page")
    print(f"key set         {median(crawls, 'key_bytes'):.0f} bytes a URL")
    print(f"memory, MB, by tenths of the crawl: {crawls[-1]['rss_mb_by_tenth']}")


def median(results, name):
    return statistics.median(result[name] for result in results)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=10)
    parser.add_argument("--child", choices=["serve", *MEASURES], help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child == "serve":
        asyncio.run(serve(arguments.pages))
    elif arguments.child:
        measure = MEASURES[arguments.child]
        result = measure(arguments.url, arguments.pages, arguments.concurrency)
        print(json.dumps(result))
    else:
        compare(arguments)


if __name__ == "__main__":
    main()
