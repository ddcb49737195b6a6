"""The CPU cost of a fetch and of a crawl, compared with other clients and crawlers.

nginx serves a tree of pages.  Each competitor fetches, or discovers and fetches, all
of them in its own process, in interleaved rounds:

    fetch   the URLs are known: little more than the client
    crawl   from the first page by its links; ours keeps its frontier on disk, and
            optionally an archive and an index

    python benchmarks/bench_crawl.py [--pages 10000] [--rounds 3] [--peers DIR]
    python benchmarks/bench_crawl.py --page-bytes 26000 --hosts 20 --absolute
    python benchmarks/bench_crawl.py --web
    python benchmarks/bench_crawl.py --quick
    python benchmarks/bench_crawl.py --memory
    python benchmarks/bench_crawl.py --parts
    python benchmarks/bench_crawl.py --check

The figures are the user + system time of the competitor's whole process, without nginx.
The start-up time is measured each time with a single page and subtracted.  Fetched pages
are counted in nginx's log, and not by the competitors.  Needs Linux and nginx (Debian:
nginx-light); wget2 is a separate package.
"""

import argparse
import itertools
import json
import os
import platform
import statistics
import sys

from crawl_field import CANDIDATES, find_competitors, install_peers
from crawl_parts import NAMES, print_parts
from crawl_runs import measure, ratio, run
from crawl_site import Layout, served_site

OURS_BY_TABLE = {"fetch": "fetch:pooled", "crawl": "crawl:gencoro"}
HEADING_BY_TABLE = {
    "fetch": "CPU of a fetch, the URLs known",
    "crawl": "CPU of a page of a whole crawl",
}

# The minimum ratio of a peer's figure to ours.
BARS = {
    ("fetch:curl", "fetch:pooled"): 2.0,
    ("fetch:simple", "fetch:pooled"): 5.0,
    ("crawl:aiohttp", "crawl:gencoro"): 1.0,
    ("crawl:wget2-files", "crawl:gencoro"): 1 / 1.5,
}
WEB_BARS = {
    ("crawl:aiohttp", "crawl:gencoro"): 1.0,
    ("crawl:aiohttp", "crawl:both"): 1 / 1.6,
}

# Our maximum time for one page, in milliseconds.
BARS_MS = {"crawl:gencoro": 0.301, "crawl:both": 0.8}

USUAL = (10_000, 2_500, 1)  # pages, their size, hosts

# Most pages of the web are large, full of tags, and on many hosts.
WEB_PAGES = 4_000
WEB_PAGE_BYTES = 130_000
WEB_HOSTS = 1_000
WEB_NAMES = (
    "crawl:gencoro",
    "crawl:both",
    "crawl:aiohttp",
    "crawl:wget2",
    "crawl:wget",
    "crawl:scrapy",
)

MEMORY_PAGES = 20_000
MEMORY_BAR_MB = 150.0


def compare(competitors, arguments, *, is_tls=False):
    """Measure and print the tables; return a sentence for each bar that is missed."""
    layout = Layout(
        arguments.pages,
        arguments.page_bytes,
        arguments.hosts,
        arguments.absolute,
        arguments.web,
        is_tls,
    )
    with served_site(layout) as site:
        figures, remarks = measure(
            competitors, site, arguments.rounds, arguments.concurrency
        )
    for table in HEADING_BY_TABLE:
        print_table(table, competitors, figures)
    print_crawl_by_fetch(figures)
    print(conditions(arguments, site), *remarks, sep="\n")
    ours = tuple(OURS_BY_TABLE.values())
    bars, bars_ms = (WEB_BARS, {}) if arguments.web else (BARS, BARS_MS)
    return shortfalls(figures, bars, bars_ms) + [
        text for text in remarks if text.startswith(ours)
    ]


def print_table(table, competitors, figures):
    rows = [
        figures_text(competitor, figures, OURS_BY_TABLE[table])
        for competitor in competitors
        if competitor.name.startswith(f"{table}:") and competitor.name in figures
    ]
    if rows:
        print(row_text(HEADING_BY_TABLE[table], "ratio", "ms", "start ms", "peak MB"))
        print(*rows, "", sep="\n")


def figures_text(competitor, figures, ours):
    mine = figures[competitor.name]
    return row_text(
        competitor.title,
        f"{ratio(figures, competitor.name, ours):.2f}x" if ours in figures else "",
        f"{statistics.median(mine.cpu_ms):.3f}",
        f"{statistics.median(mine.startup_ms):.0f}",
        f"{max(mine.peak_rss_mb):.0f}",
    )


def row_text(label, *cells):
    return f"{label:44}" + "".join(f"{cell:>11}" for cell in cells)


def print_crawl_by_fetch(figures):
    """Print the ratio of our crawl to fetching alone with the same client."""
    for crawl in ("crawl:gencoro", "crawl:curl", "crawl:simple"):
        if crawl in figures:
            fetch = "fetch:" + json.loads(figures[crawl].outputs[0])["client"]
            if fetch in figures:
                print(f"{crawl} / {fetch}: {ratio(figures, crawl, fetch):.2f}")


def conditions(arguments, site):
    """Return a sentence that describes the conditions of the measurement."""
    machine = f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores"
    return (
        f"{arguments.pages} pages of {site.size // site.pages} bytes on "
        f"{arguments.hosts} hosts, {site.layout.scheme}, "
        f"{arguments.concurrency} fetches at once; medians of {arguments.rounds} "
        f"rounds; Python {platform.python_version()}; {machine}."
    )


def shortfalls(figures, bars, bars_ms):
    """Return a sentence for each bar that is missed or was not measured."""
    sentences = []
    for (peer, ours), bar in bars.items():
        if peer not in figures or ours not in figures:
            sentences.append(f"{peer} / {ours}: not measured")
        elif (found := ratio(figures, peer, ours)) < bar:
            sentences.append(f"{peer} / {ours} is {found:.2f}, the bar is {bar:.2f}")
    for name, bar in bars_ms.items():
        if name not in figures:
            sentences.append(f"{name}: not measured")
        elif (found := statistics.median(figures[name].cpu_ms)) > bar:
            sentences.append(f"{name} takes {found:.2f} ms, the bar is {bar:.2f}")
    return sentences


def measure_memory(competitors, concurrency):
    """Crawl a larger site once, print our memory, and return sentences on missed bars."""
    found = [one for one in competitors if one.name == OURS_BY_TABLE["crawl"]]
    if not found:
        return ["memory: not measured"]
    with served_site(Layout(MEMORY_PAGES)) as site:
        command = found[0].command_for(site.nginx.url + "/", concurrency)
        ran = run([*command, f"--sample={MEMORY_PAGES}"])
        visit = site.nginx.take_visit(MEMORY_PAGES)
    report = json.loads(ran.output)
    print(f"Memory of a crawl of {visit.pages} pages")
    print(f"at most         {ran.peak_rss_mb:.0f} MB")
    print(f"at the end      {report['final_rss_mb']:.0f} MB")
    print(f"by tenths, MB   {list(report['rss_mb_by_tenth'].values())}")
    print(f"key set         {report['key_bytes']:.0f} bytes a URL")
    if visit != (MEMORY_PAGES, 0, 0):
        return [f"memory: the crawl was not whole: {visit}"]
    if ran.peak_rss_mb >= MEMORY_BAR_MB:
        return [f"memory: {ran.peak_rss_mb:.0f} MB, the bar is {MEMORY_BAR_MB:.0f}"]
    return []


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [*HEADING_BY_TABLE, *(candidate.name for candidate in CANDIDATES)]
    parser.add_argument("--pages", type=int, help="10000 without it")
    parser.add_argument("--page-bytes", type=int, help="the size of a page, or 2500")
    parser.add_argument(
        "--hosts",
        type=int,
        help="1 without it; distribute the pages over this many hosts; some competitors stay on the first",
    )
    parser.add_argument(
        "--absolute", action="store_true", help="links name the host, also their own"
    )
    parser.add_argument("--rounds", type=int, help="3 without it")
    parser.add_argument("--concurrency", type=int, default=10)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=names,
        metavar="NAME",
        help=f"a table, or some of its rows: {', '.join(names)}",
    )
    parser.add_argument(
        "--peers",
        metavar="DIR",
        help="a virtual environment with the peers from PyPI; made if it is not there",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a rough look: 1000 pages, one round"
    )
    parser.add_argument(
        "--memory", action="store_true", help=f"only our memory, {MEMORY_PAGES} pages"
    )
    parser.add_argument(
        "--parts",
        action="store_true",
        help="only what each part costs, for pages of three sizes and up to 1000 hosts",
    )
    parser.add_argument(
        "--web",
        action="store_true",
        help=f"whole crawls of {WEB_PAGES} compressed pages of {WEB_PAGE_BYTES} bytes with many"
        f" tags on {WEB_HOSTS} hosts, over https and over http",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="only what has a bar, and memory; exit 1 and name each bar not reached",
    )
    arguments = parser.parse_args()
    usual = (WEB_PAGES, WEB_PAGE_BYTES, WEB_HOSTS) if arguments.web else USUAL
    pages, page_bytes, hosts = usual
    arguments.pages = arguments.pages or (1000 if arguments.quick else pages)
    arguments.page_bytes = arguments.page_bytes or page_bytes
    arguments.hosts = arguments.hosts or hosts
    arguments.absolute |= arguments.web
    arguments.rounds = arguments.rounds or (1 if arguments.quick else 3)
    if arguments.pages < 2 or arguments.rounds < 1 or arguments.concurrency < 1:
        parser.error("--pages must be 2 or more, --rounds and --concurrency 1 or more")
    return arguments


def chosen(arguments):
    names = set(arguments.only or (WEB_NAMES if arguments.web else HEADING_BY_TABLE))
    if arguments.parts:
        names = set(NAMES)
    if arguments.check and not arguments.only:
        bars = WEB_BARS if arguments.web else BARS
        names = {*itertools.chain(*bars), *BARS_MS}
    return [
        candidate
        for candidate in CANDIDATES
        if not names.isdisjoint((candidate.name, candidate.name.partition(":")[0]))
    ]


def main():
    arguments = parse_arguments()
    pythons = [sys.executable]
    if arguments.peers:
        pythons.append(install_peers(arguments.peers))
    competitors, absent = find_competitors(chosen(arguments), pythons)
    short = []
    if arguments.parts:
        print_parts(competitors, arguments.rounds, arguments.concurrency)
        print(*absent, sep="\n")
        return 0
    if not arguments.memory:
        short += compare(competitors, arguments, is_tls=arguments.web)
        if arguments.web:
            short += compare(competitors, arguments)
        for sentence in absent:
            print(sentence)
    if arguments.memory or (arguments.check and not arguments.web):
        short += measure_memory(competitors, arguments.concurrency)
    if not arguments.check:
        return 0
    print(*short or ["Every bar is reached."], sep="\n")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
