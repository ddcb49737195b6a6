"""Crawl a site with crawler_app, the frontier on disk; print its memory and its files.

    python gencoro_crawl.py URL CONCURRENCY
        [--client NAME] [--archive] [--index] [--scope SCOPE] [--sample PAGES] [--parts]

With --sample it looks at its memory as it goes on, which the others do not; with --parts, at what
it is doing.
"""

import argparse
import json
import resource
import sys
import tempfile
from pathlib import Path

from cpu_samples import cpu_samples

from crawler_app.base.config import CrawlConfig
from crawler_app.run.crawl import Crawl
from crawler_app.run.crawl.wiring import wire
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.stores import open_stores
from crawler_app.web.fetcher import make_fetcher
from gencoro.ioloop import IOLoop, PeriodicCallback

SAMPLE_EVERY_MS = 20


def rss_mb():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * resource.getpagesize() / 1e6, 1)


def sample_memory(crawler, pages):
    """Return memory by tenths of the crawl, which is filled while it runs."""
    rss_by_tenth = {}

    def sample():
        rss_by_tenth.setdefault(crawler.stats["fetched"] * 10 // pages, rss_mb())

    PeriodicCallback(sample, SAMPLE_EVERY_MS).start()
    return rss_by_tenth


def key_bytes(keys):
    recent = sys.getsizeof(keys._recent) + sum(map(sys.getsizeof, keys._recent))
    return (recent + sum(map(sys.getsizeof, keys._buckets))) / len(keys)


def crawl(into, config, arguments, report):
    with (
        CrawlDirectory.create(into, config) as directory,
        open_stores(directory, config) as stores,
    ):
        crawler = Crawl(
            wire(
                config,
                stores.frontier,
                make_fetcher(config),
                archive=stores.archive,
                index=stores.index,
            )
        )
        if arguments.sample:
            report["rss_mb_by_tenth"] = sample_memory(crawler, arguments.sample)
        if arguments.parts:
            with cpu_samples() as report["samples"]:
                IOLoop.current().run_sync(crawler.run)
        else:
            IOLoop.current().run_sync(crawler.run)
        if arguments.sample:
            report["final_rss_mb"] = rss_mb()
            report["key_bytes"] = key_bytes(stores.frontier._keys)
        crawler.fetcher.close()


def main(arguments):
    client = {"client": arguments.client} if arguments.client else {}
    config = CrawlConfig(
        (arguments.url,),
        concurrency=arguments.concurrency,
        archive=arguments.archive,
        index=arguments.index,
        robots=False,
        scope=arguments.scope,
        **client,
    )
    report = {"client": config.client}
    with tempfile.TemporaryDirectory() as into:
        crawl(into, config, arguments, report)
        files = Path(into).iterdir()
        report["bytes"] = {path.name: path.stat().st_size for path in files}
    print(json.dumps(report))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("concurrency", type=int)
    parser.add_argument("--client")
    parser.add_argument("--archive", action="store_true")
    parser.add_argument("--index", action="store_true")
    parser.add_argument("--scope", default="host")
    parser.add_argument("--sample", type=int, metavar="PAGES")
    parser.add_argument("--parts", action="store_true")
    main(parser.parse_args())
