"""A crawl by several processes beside a crawl by one: pages a second, and CPU a page.

nginx serves a tree of pages on several hosts, with links between them.  ``gencrawl crawl``
crawls it with one process and with several, in interleaved rounds:

    python benchmarks/bench_processes.py [--processes 2] [--pages 10000] [--rounds 3]
    python benchmarks/bench_processes.py --page-bytes 26000 --bare
    python benchmarks/bench_processes.py --frontier

Several processes share a PostgreSQL server of the crawl's own, whose CPU time is not counted.  With
``--frontier``, all are workers of a crawl on another (Debian's, with fsync off), whose CPU time is
printed apart.

Both figures are without the start-up, which is measured with a single page each time.  The
CPU time is that of all processes of the crawl.  nginx needs a core too: where there are only
as many cores as processes, the ratio of pages a second cannot exceed the bound that is
printed, which follows from the CPU time of the crawl and of nginx.  Needs Linux and nginx.
"""

import argparse
import contextlib
import os
import statistics
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from crawl_runs import run
from crawl_site import ALONE_PATH, Layout, address_of, path_of, served_site

from tests.helpers.postgres_server import running

HOSTS = (2, 20)

# Two processes beside one, where a core is idle for each and for nginx.
MIN_SPEED = 1.7
MAX_CPU = 1.2


class Cost(NamedTuple):
    """What a crawl of the site has taken, in milliseconds a page.

    Attributes:
        took: On the clock.
        cpu: CPU time of the crawl.
        nginx: CPU time of nginx.
        server: CPU time of PostgreSQL.
    """

    took: float
    cpu: float
    nginx: float
    server: float


def command(seeds, processes, arguments):
    """Return the command that crawls a site into a new directory."""
    bare = ["--no-archive", "--no-index"] if arguments.bare else []
    return [
        *(sys.executable, "-m", "crawler_app", "crawl", *seeds, "--into", "crawl"),
        *("--quiet", "--no-robots", "--scope", "any", "--no-sitemaps", *bare),
        # Enough fetches from each host that no process waits for nginx.
        *("--concurrency", str(arguments.concurrency), "--per-host", "10"),
        *("--processes", str(processes)),
        *(("--frontier", arguments.url) if arguments.frontier else ()),
    ]


def cpu_of(pid):
    """Return the CPU time of a process so far, and of children that have ended, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def crawl(site, seeds, processes, arguments):
    """Crawl; return the seconds on the clock, and of CPU: the crawl's and the servers'."""
    servers = [site.nginx._process.pid, arguments.server]
    before, began_at = [cpu_of(pid) for pid in servers], time.monotonic()
    ran = run(command(seeds, processes, arguments))
    took_s = time.monotonic() - began_at
    if arguments.frontier:
        run([sys.executable, "-m", "crawler_app", "postgres", "drop", arguments.url])
    after = [cpu_of(pid) for pid in servers]
    nginx, server = (b - a for a, b in zip(before, after, strict=True))
    return took_s, ran.cpu_s, nginx, server if arguments.frontier else 0.0


@contextlib.contextmanager
def postgres(arguments):
    """Run a server, if one is asked for."""
    arguments.server = os.getpid()
    if not arguments.frontier:
        yield
        return
    with running() as server:
        arguments.server, arguments.url = server.process.pid, server.url
        yield


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
            + (f", PostgreSQL {means.server:.3f} ms" if arguments.frontier else "")
        )
    one, several = (costs[count] for count in counts)
    speed = statistics.median(
        a.took / b.took for a, b in zip(one, several, strict=True)
    )
    cpu = statistics.median(b.cpu / a.cpu for a, b in zip(one, several, strict=True))
    cores = os.cpu_count() or 1
    bound = statistics.median(
        a.took * cores / (b.cpu + b.nginx + b.server)
        for a, b in zip(one, several, strict=True)
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
    parser.add_argument(
        "--frontier", action="store_true", help="with the frontier in PostgreSQL"
    )
    arguments = parser.parse_args()
    with postgres(arguments):
        measured = [(hosts, *measure(hosts, arguments)) for hosts in arguments.hosts]
    short = []
    for hosts, speed, cpu in measured:
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
