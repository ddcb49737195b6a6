"""The cost of a coroutine, compared with tornado.gen, inlineCallbacks, asyncio and a floor.

Runs the same work with each of them in one process, in interleaved rounds, and prints
microseconds (and bytes), with the ratio to gencoro.

    python benchmarks/bench_runner.py [--rounds 25] [--quick] [--write]
    python benchmarks/bench_runner.py --check

The floor is the minimum for an implementation in Python.
"""

import argparse
import os
import platform
import statistics
import sys
from pathlib import Path

from measuring import (
    Row,
    can_measure_memory,
    measure_memory,
    measure_time,
    print_memory,
)
from peers import LOOP_FACTORIES, PEERS, TITLES, absent, versions
from report import as_picture, as_tables, as_text

# The minimum ratio of a peer's figure to gencoro's, by shape and peer.
#
# A child that waits once is not as cheap as a Task that starts at once: even the floor, without
# a check, is within a tenth of that.
BARS = {
    "ready": {"tornado": 1.5, "eager": 1.0},
    "once": {"tornado": 1.5, "task": 1.2, "eager": 0.92},
    "many": {"tornado": 1.5, "task": 1.2},
    "chain": {"tornado": 1.5},
    "switch": {"tornado": 1.5},
    "error": {"tornado": 1.0},
    "limited": {"tornado": 1.2, "task": 1.05},
    "queue": {"await": 1 / 1.5},
    "suspended": {"task": 1.0},
}
# The minimum median of these ratios, for the rows in microseconds.
MEDIAN_BARS = {"tornado": 1.8}

SHAPE_ROWS = (
    Row("ready", "child that never waits", 5000),
    Row("once", "child that waits once", 1200),
    Row("many", "list of 100 such children", 20),
    Row("chain", "chain 50 deep", 50),
    Row("switch", "bare switch", 4000),
    Row("error", "error through 10 levels", 200),
    Row("limited", "child that waits once, with_timeout", 800),
    Row("queue", "item through asyncio.Queue", 8000),
)
MEMORY_ROW = Row("suspended", "memory while suspended", 1, unit="bytes")
HELPER_ROWS = (
    Row("helper_ready", "helper that never waits", 100_000),
    Row("helper_once", "helper that waits once", 2500),
)
UVLOOP_ROWS = tuple(
    row._replace(title=f"uvloop: {row.title}", loop="uvloop") for row in SHAPE_ROWS[:3]
)

DOCS = Path(__file__).resolve().parent.parent / "docs" / "speed"


def measured_rows():
    rows = SHAPE_ROWS
    if can_measure_memory():
        rows += (MEMORY_ROW,)
    rows += HELPER_ROWS
    if "uvloop" in LOOP_FACTORIES:
        rows += UVLOOP_ROWS
    return rows


def measure(rows, peers, rounds):
    results = measure_time([row for row in rows if row.unit == "us"], peers, rounds)
    if MEMORY_ROW in rows:
        # A plain await suspends its Task, which is measured already.
        suspending = [peer for peer in peers if peer not in ("await", "eager")]
        results.replace(measure_memory(MEMORY_ROW, suspending, __file__))
    return results


def compare(rounds, quick, write):
    rows = measured_rows()
    if quick:
        rows = tuple(row._replace(times=max(row.times // 4, 1)) for row in rows)
    notes = [*conditions(rounds), *absent()]
    results = measure(rows, PEERS, rounds)
    print(as_text(results, rows, PEERS), *notes, sep="\n")
    if write:
        write_docs(results, rows, notes)


def write_docs(results, rows, notes):
    DOCS.mkdir(exist_ok=True)
    tables = as_tables(results, rows, PEERS, notes)
    (DOCS / "tables.inc").write_text(tables, encoding="utf-8")
    picture = as_picture(results, rows_with_bars(rows), PEERS, notes[0])
    (DOCS / "peers.svg").write_text(picture, encoding="utf-8")


def rows_with_bars(rows):
    return [row for row in rows if row.shape in BARS and row.loop == "asyncio"]


def conditions(rounds):
    """Return sentences that describe the conditions of the measurement."""
    machine = f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores"
    sentences = [f"Medians of {rounds} rounds; {', '.join(versions())}; {machine}."]
    if not can_measure_memory():
        sentences.append("Memory was not measured: it needs /proc/self/statm.")
    return sentences


def check(rounds):
    """Return a sentence for each bar that is missed in two measurements."""
    rows = [
        row for row in measured_rows() if row.shape in BARS and row.loop != "uvloop"
    ]
    peers = [peer for peer in PEERS if peer not in ("twisted", "floor")]
    results = measure(rows, peers, rounds)
    short = [row for row in rows if shortfalls(results, [row])]
    if short or median_shortfalls(results, rows):
        # Noise does not recur in the same row, but a slower gencoro does.
        results.replace(measure(short or rows, peers, 2 * rounds))
    print(as_text(results, rows, peers))
    return shortfalls(results, rows) + median_shortfalls(results, rows)


def shortfalls(results, rows):
    return [
        sentence
        for row in rows
        for peer, bar in BARS[row.shape].items()
        if peer in PEERS
        and (sentence := shortfall(row.title, results.ratio(row, peer), peer, bar))
    ]


def median_shortfalls(results, rows):
    sentences = []
    for peer, bar in MEDIAN_BARS.items():
        ratios = [results.ratio(row, peer) for row in rows if row.unit == "us"]
        sentence = shortfall("median", statistics.median(ratios), peer, bar)
        sentences += [sentence] if sentence else []
    return sentences


def shortfall(what, ratio, peer, bar):
    if ratio >= bar:
        return ""
    return f"{what}: {TITLES[peer]} / gencoro is {ratio:.2f}, the bar is {bar}"


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, help="25 without it, 15 with --check")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--quick", action="store_true", help="a rough look, in seconds")
    what.add_argument("--write", action="store_true", help="renew docs/speed as well")
    what.add_argument(
        "--check",
        action="store_true",
        help="compare the ratios with their bars; exit 1 if one is not reached",
    )
    what.add_argument("--child", choices=PEERS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rounds is not None and arguments.rounds < 1:
        parser.error("--rounds must be 1 or more")
    return arguments


def main():
    arguments = parse_arguments()
    if arguments.child:
        print_memory(arguments.child)
    elif arguments.check:
        short = check(arguments.rounds or 15)
        print(*short or ["Every bar is reached."], sep="\n")
        return 1 if short else 0
    else:
        rounds = arguments.rounds or (5 if arguments.quick else 25)
        compare(rounds, arguments.quick, arguments.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
