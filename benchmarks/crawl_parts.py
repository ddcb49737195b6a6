"""What each part of a crawl costs, by the size of its pages and the number of its hosts.

The parts are the CPU time of a crawl with archive and index, divided by samples of what it was
doing.
"""

import collections
import json
import statistics

from crawl_runs import measure, run
from crawl_site import Layout, served_site

__all__ = ["NAMES", "print_parts"]

# Larger pages take longer, so fewer of them are as exact.
LAYOUTS = (
    Layout(3_000, 2_500),
    Layout(1_000, 26_000),
    Layout(400, 100_000),
    Layout(3_000, 2_500, hosts=20, is_absolute=True),
    Layout(3_000, 2_500, hosts=1_000, is_absolute=True),
)

# The competitors that are measured.
BARE, BOTH = "crawl:gencoro", "crawl:both"
PEERS = {"crawl:aiohttp": "aiohttp", "crawl:scrapy": "Scrapy"}
NAMES = (BARE, BOTH, *PEERS)

SAMPLED = ("fetch", "HTML", "links", "frontier", "archive", "index", "threads", "rest")
PART_BY_FILE = {
    "frontier.sqlite3": "frontier",
    "archive-00001.warc.gz": "archive",
    "archive.sqlite3": "archive",
    "crawl.sqlite": "index",
}
STORES = ("frontier", "archive", "index")

CPU_HEADS = (*SAMPLED, "both", "bare", *PEERS.values())
STORE_HEADS = (*(f"{store} KB" for store in STORES), "peak MB")


def print_parts(competitors, rounds, concurrency):
    """Print a table of CPU time and one of the stores; return the problems."""
    cpu_rows, store_rows, remarks = [], [], []
    for layout in LAYOUTS:
        with served_site(layout) as site:
            figures, found = measure(competitors, site, rounds, concurrency)
            shares = sampled_shares(competitors, site, concurrency)
        hosts = f"{layout.hosts:,} hosts" if layout.hosts > 1 else "1 host"
        title = f"{layout.page_bytes / 1000:g} KB, {hosts}"
        cpu_rows.append((title, *cpu_cells(figures, shares)))
        store_rows.append((title, *store_cells(figures[BOTH], layout.pages)))
        remarks += found
    print_table("ms CPU a page", CPU_HEADS, cpu_rows)
    print_table("of a page, with both", STORE_HEADS, store_rows)
    print(f"Medians of {rounds} rounds; {concurrency} fetches at once.", *remarks)
    return remarks


def sampled_shares(competitors, site, concurrency):
    """Return the share of each part in the CPU time of a crawl with archive and index."""
    (both,) = (one for one in competitors if one.name == BOTH)
    command = both.command_for(site.urls()[0], concurrency, site.layout.hosts)
    samples = json.loads(run([*command, "--parts"]).output)["samples"]
    site.nginx.take_visit(site.pages)
    total = sum(samples.values())
    return {part: samples.get(part, 0) / total for part in SAMPLED}


def cpu_cells(figures, shares):
    ms = {name: statistics.median(each.cpu_ms) for name, each in figures.items()}
    yield from (f"{shares[part] * ms[BOTH]:.3f}" for part in SAMPLED)
    yield from (
        f"{ms[name]:.3f}" if name in ms else "" for name in (BOTH, BARE, *PEERS)
    )


def store_cells(both, pages):
    bytes_by_part = collections.Counter()
    for name, size in json.loads(both.outputs[-1])["bytes"].items():
        bytes_by_part[PART_BY_FILE.get(name)] += size
    yield from (f"{bytes_by_part[store] / pages / 1000:.2f}" for store in STORES)
    yield f"{max(both.peak_rss_mb):.0f}"


def print_table(head, heads, rows):
    print(f"| {' | '.join((head, *heads))} |")
    print("|---" * (1 + len(heads)) + "|")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print()
