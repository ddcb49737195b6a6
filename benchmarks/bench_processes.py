"""A crawl by several processes beside a crawl by one: pages a second, and CPU a page.

nginx serves a tree of pages on several hosts, with links between them.  ``gencrawl crawl``
crawls it with one process and with several, in interleaved rounds:

    python benchmarks/bench_processes.py [--processes 2] [--pages 10000] [--rounds 3]
    python benchmarks/bench_processes.py --page-bytes 26000 --bare

Both figures are without the start-up, which is measured with a single page each time.  The
CPU time is that of all processes of the crawl.  nginx needs a core too: where there are only
as many cores as processes, the ratio of pages a second cannot exceed the bound that is
printed, which follows from the CPU time of the crawl and of nginx.  Needs Linux and nginx.
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path
from typing import NamedTuple

from crawl_runs import run
from crawl_site import ALONE_PATH, Layout, address_of, path_of, served_site

HOSTS = (2, 20)

# Two processes beside one, where a core is idle for each and for nginx.
MIN_SPEED = 1.8
MAX_CPU = 1.1


class Cost(NamedTuple):
    """What a crawl of the site has taken, in milliseconds a page.

    Attributes:
        took: On the clock.
        cpu: CPU time of the crawl.
        nginx: CPU time of nginx.
    """

    took: float
    cpu: float
    nginx: float


def command(seeds, processes, arguments):
    """Return the command that crawls a site into a new directory."""
    bare = ["--no-archive", "--no-index"] if arguments.bare else []
    return [
        *(sys.executable, "-m", "crawler_app", "crawl", *seeds, "--into", "crawl"),
        *("--quiet", "--no-robots", "--scope", "any", "--no-sitemaps", *bare),
        # Enough fetches from each host that no process waits for nginx.
        *("--concurrency", str(arguments.concurrency), "--per-host", "10"),
        *("--processes", str(processes)),
    ]


def cpu_of(pid):
    """Return the CPU time of a process so far, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def crawl(site, seeds, processes, arguments):
    """Crawl; return the seconds on the clock, of CPU, and of nginx's CPU."""
    nginx = site.nginx._process.pid
    before, began_at = cpu_of(nginx), time.monotonic()
    ran = run(command(seeds, processes, arguments))
    return time.monotonic() - began_at, ran.cpu_s, cpu_of(nginx) - before


def measure_once(site, processes, arguments):
    """Return the cost of a page."""
    url, hosts = site.nginx.url, site.layout.hosts
    alone = crawl(site, [url + ALONE_PATH], processes, arguments)
    site.nginx.take_visit(1)
    port = site.nginx.port
    seeds = [f"http://{address_of(n)}:{port}{path_of(n)}" for n in range(hosts)]
    whole = crawl(site, seeds, processes, arguments)
    visit = site.nginx.take_visit(site.pages)
    if visit != (site.pages, 0, 0):
        raise SystemExit(f"{processes} processes: the crawl was not whole: {visit}")
    return Cost(
        *((w - a) / site.pages * 1000 for w, a in zip(whole, alone, strict=True))
    )


def measure(hosts, arguments):
    """Print the figures for a number of hosts; return both ratios."""
    counts = (1, arguments.processes)
    costs = {count: [] for count in counts}
    layout = Layout(arguments.pages, arguments.page_bytes, hosts, is_absolute=True)
    with served_site(layout) as site:
        for number in range(arguments.rounds):
            for count in counts if number % 2 else reversed(counts):
                costs[count].append(measure_once(site, count, arguments))
    for count in counts:
        means = Cost(*map(statistics.median, zip(*costs[count], strict=True)))
        print(
            f"{hosts:3} hosts, {count} processes: {means.took:.3f} ms a page, CPU "
            f"{means.cpu:.3f} ms, nginx {means.nginx:.3f} ms"
        )
    one, several = (costs[count] for count in counts)
    speed = statistics.median(
        a.took / b.took for a, b in zip(one, several, strict=True)
    )
    cpu = statistics.median(b.cpu / a.cpu for a, b in zip(one, several, strict=True))
    cores = os.cpu_count() or 1
    bound = statistics.median(
        a.took * cores / (b.cpu + b.nginx) for a, b in zip(one, several, strict=True)
    )
    print(
        f"    pages a second {speed:.2f}x, at most {bound:.2f}x on {cores} cores; CPU a "
        f"page {cpu:.2f}x"
    )
    return speed, cpu


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--page-bytes", type=int, default=2500)
    parser.add_argument("--hosts", type=int, nargs="+", default=HOSTS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=20)
    parser.add_argument(
        "--bare", action="store_true", help="without an archive and an index"
    )
    parser.add_argument(
        "--check", action="store_true", help="exit with 1 if a bar is missed"
    )
    arguments = parser.parse_args()
    short = []
    for hosts in arguments.hosts:
        speed, cpu = measure(hosts, arguments)
        if speed < MIN_SPEED:
            short.append(
                f"{hosts} hosts: {speed:.2f}x the pages, the bar is {MIN_SPEED}"
            )
        if cpu > MAX_CPU:
            short.append(f"{hosts} hosts: {cpu:.2f}x the CPU, the bar is {MAX_CPU}")
    print(*short, sep="\n")
    return 1 if short and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
