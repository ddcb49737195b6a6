"""The cost of the dashboard for a crawl: CPU, and the duration of the crawl.

Crawls a tree of small pages from nginx, with archive and index, each time in a new
process, in interleaved rounds:

    alone    without the dashboard
    watched  with the dashboard and an open page
    dead     the same, and a second browser that never reads its data

    python benchmarks/bench_dashboard.py [--pages 10000] [--rounds 9]
    python benchmarks/bench_dashboard.py --quick
    python benchmarks/bench_dashboard.py --check

Ratios are computed within one round only.  Needs Linux and nginx (Debian: nginx-light).
"""

import argparse
import json
import platform
import statistics
import sys
from pathlib import Path

from crawl_runs import run
from crawl_site import Layout, served_site

SCRIPT = Path(__file__).resolve().parent / "crawl_peers" / "watched_crawl.py"

OPTIONS_BY_CASE = {
    "alone": [],
    "watched": ["--dashboard", "--viewers=1"],
    "dead": ["--dashboard", "--viewers=1", "--dead=1"],
}

# The maximum ratio of a figure to that of a crawl alone.
BARS = {"cpu_s": 1.03, "took_s": 1.03}


def measure(site, rounds, concurrency):
    """Return the reports of each case, one per round.

    Every other round runs in reverse order, so that other load affects all cases alike.
    """
    reports_by_case = {case: [] for case in OPTIONS_BY_CASE}
    for number in range(rounds):
        for case in list(OPTIONS_BY_CASE)[:: 1 if number % 2 else -1]:
            command = [sys.executable, SCRIPT, site.nginx.url + "/", str(concurrency)]
            ran = run([*command, *OPTIONS_BY_CASE[case]])
            visit = site.nginx.take_visit(site.pages)
            if visit != (site.pages, 0, 0):
                raise SystemExit(f"{case}: the crawl was not whole: {visit}")
            reports_by_case[case].append(json.loads(ran.output))
    return reports_by_case


def ratio(reports_by_case, case, figure):
    """Return the median over the rounds of the ratio to the crawl alone."""
    pairs = zip(reports_by_case[case], reports_by_case["alone"], strict=True)
    return statistics.median(one[figure] / alone[figure] for one, alone in pairs)


def show(reports_by_case):
    print(f"{'':10}{'CPU':>8}{'s':>8}{'time':>8}{'s':>8}")
    for case, reports in reports_by_case.items():
        cells = []
        for figure in BARS:
            cells.append(f"{ratio(reports_by_case, case, figure):.3f}x")
            median = statistics.median(report[figure] for report in reports)
            cells.append(f"{median:.2f}")
        print(f"{case:10}" + "".join(f"{cell:>8}" for cell in cells))


def shortfalls(reports_by_case):
    """Return a sentence for each bar that is missed."""
    return [
        f"{case}: {figure} is {found:.3f} of a crawl alone, the bar is {bar:.2f}"
        for case in ("watched", "dead")
        for figure, bar in BARS.items()
        if (found := ratio(reports_by_case, case, figure)) > bar
    ]


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, help="10000 without it")
    parser.add_argument("--rounds", type=int, help="9 without it")
    parser.add_argument("--concurrency", type=int, default=10)
    parser.add_argument(
        "--quick", action="store_true", help="a rough look: 1000 pages, three rounds"
    )
    parser.add_argument(
        "--check", action="store_true", help="exit 1 and name each bar not reached"
    )
    arguments = parser.parse_args()
    arguments.pages = arguments.pages or (1000 if arguments.quick else 10_000)
    arguments.rounds = arguments.rounds or (3 if arguments.quick else 9)
    return arguments


def main():
    arguments = parse_arguments()
    with served_site(Layout(arguments.pages)) as site:
        reports_by_case = measure(site, arguments.rounds, arguments.concurrency)
    show(reports_by_case)
    print(
        f"{arguments.pages} pages, {arguments.concurrency} fetches at once; medians of "
        f"{arguments.rounds} rounds; Python {platform.python_version()}"
    )
    if not arguments.check:
        return 0
    short = shortfalls(reports_by_case)
    print(*short or ["Every bar is reached."], sep="\n")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
