"""What a crawl costs before its first fetch and after its last, by the URLs that it knows.

The frontier of a crawl is filled without a network, an archive or an index: two thirds of the URLs
are still queued.  The figures are user + system time and peak memory of whole processes.

    python benchmarks/bench_known.py [--urls 1000 1000000]
    python benchmarks/bench_known.py --check        # 1,000, 1 and 5 million URLs
"""

import argparse
import multiprocessing
import random
import sys
import tempfile
from pathlib import Path

from crawl_runs import run

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Candidate, Outcome, State
from crawler_app.base.reasons import Reason
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.stores import open_stores

# Nothing listens there.
HOST = "127.0.0.1:9"
LINKS = 3

COMMANDS = {
    "status": ("status", "{directory}"),
    "resume": ("resume", "{directory}", "--quiet", "--max-pages", "1"),
}

# By command and number of URLs: seconds of CPU, start-up included, and MB.
BARS = {
    ("status", 1_000): (0.25, 100),
    ("status", 1_000_000): (0.3, 100),
    ("status", 5_000_000): (0.3, 100),
    ("resume", 1_000_000): (1.0, 200),
    ("resume", 5_000_000): (1.5, 400),
}


def fill(directory, urls):
    """Make a directory that knows a number of URLs; each third has been fetched."""
    seeds = (f"http://{HOST}/",)
    config = CrawlConfig(seeds, into=str(directory), archive=False, index=False)
    chosen = random.Random(urls)
    with (
        CrawlDirectory.create(directory, config) as made,
        open_stores(made, config) as stores,
    ):
        frontier = stores.frontier
        frontier.add([Candidate(config.seeds[0], HOST)])
        for now in range(urls // LINKS):
            claim = frontier.claim(now, 3600.0)
            first = 1 + now * LINKS
            links = [
                Candidate(f"http://{HOST}/docs/part-{n % 99}/page-{n}.html", HOST, 1)
                for n in range(first, min(first + LINKS, urls))
            ]
            frontier.finish(claim, outcome(chosen), now, links)


def outcome(chosen):
    if chosen.random() < 0.001:
        return Outcome(State.FAILED, Reason.TIMEOUT, error="nothing came for 60 s")
    size, took_s = chosen.randrange(50_000), chosen.random()
    return Outcome(State.DONE, Reason.OK, 200, "text/html", size, took_s, "A page")


def measure(urls):
    """Print the figures for a number of URLs; return a sentence for each missed bar."""
    short = []
    with tempfile.TemporaryDirectory() as parent:
        directory = Path(parent, "crawl")
        # In a process of its own: the peak of a process counts that of its parent.
        filling = multiprocessing.Process(target=fill, args=(directory, urls))
        filling.start()
        filling.join()
        if filling.exitcode:
            raise SystemExit(filling.exitcode)
        size_mb = sum(each.stat().st_size for each in directory.iterdir()) / 1e6
        for name, arguments in COMMANDS.items():
            command = [part.format(directory=directory) for part in arguments]
            ran = run([sys.executable, "-m", "crawler_app", *command], may_fail=True)
            print(
                f"{urls:>11,}{size_mb:>9.0f}{name:>10}"
                f"{ran.cpu_s:>9.2f}{ran.peak_rss_mb:>9.0f}",
                flush=True,
            )
            cpu_s, rss_mb = BARS.get((name, urls), (float("inf"), float("inf")))
            if ran.cpu_s > cpu_s or ran.peak_rss_mb > rss_mb:
                short.append(
                    f"{name} with {urls:,} URLs takes {ran.cpu_s:.2f} s and "
                    f"{ran.peak_rss_mb:.0f} MB, the bars are {cpu_s} s and {rss_mb} MB"
                )
    return short


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=int, nargs="+", default=[1_000, 1_000_000])
    parser.add_argument(
        "--check", action="store_true", help="exit 1 and name each bar not reached"
    )
    arguments = parser.parse_args()
    numbers = [1_000, 1_000_000, 5_000_000] if arguments.check else arguments.urls
    print(f"{'URLs':>11}{'MB':>9}{'command':>10}{'CPU s':>9}{'peak MB':>9}")
    short = [sentence for urls in numbers for sentence in measure(urls)]
    if not arguments.check:
        return 0
    print(*short or ["Every bar is reached."], sep="\n")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
