"""Measures time in interleaved rounds, and memory in a new process for each peer.

Rule: ratios are computed within one round only, so that they hold although the machine's
speed drifts.
"""

import asyncio
import contextlib
import gc
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from peers import LOOP_FACTORIES, shapes_of, unfinished_of

__all__ = [
    "Results",
    "Row",
    "can_measure_memory",
    "measure_memory",
    "measure_time",
    "print_memory",
]

# Enough to make the memory of the process itself negligible.
SUSPENDED = 100_000
# A Task starts in the next turn.  If all were created at once, the loop's queue would grow
# and be counted as their memory.
STARTED_AT_ONCE = 1_000
STATM = Path("/proc/self/statm")


class Row(NamedTuple):
    """One shape under one loop.

    Attributes:
        shape: The name of the shape.
        title: The title in tables.
        times: The number of operations in one sample, about 10 milliseconds.
        loop: The loop that runs it.
        unit: The unit of its figures, "us" (microseconds of CPU) or "bytes".
    """

    shape: str
    title: str
    times: int
    loop: str = "asyncio"
    unit: str = "us"


class Results:
    """Figures by row and peer, one per round."""

    def __init__(self):
        self._figures = {}

    def add(self, row, peer, figure):
        self._figures.setdefault((row, peer), []).append(figure)

    def replace(self, others):
        """Replace figures by those of another measurement."""
        self._figures.update(others._figures)

    def has(self, row, peer):
        return (row, peer) in self._figures

    def median(self, row, peer):
        return statistics.median(self._figures[row, peer])

    def ratio(self, row, peer):
        """Return the median over the rounds of a peer's figure divided by gencoro's."""
        pairs = zip(
            self._figures[row, peer], self._figures[row, "gencoro"], strict=True
        )
        return statistics.median(theirs / ours for theirs, ours in pairs)


def measure_time(rows, peers, rounds):
    """Measure each row for each peer that has it, once per round.

    Every other round runs in reverse order, so that other load, and effects of one peer on
    the next, affect all alike.
    """
    results = Results()
    with contextlib.ExitStack() as stack:
        runners = {
            name: stack.enter_context(asyncio.Runner(loop_factory=LOOP_FACTORIES[name]))
            for name in {row.loop for row in rows}
        }
        course = list(laps(rows, peers, runners))
        for row, _peer, repeat in course:  # warm up
            runners[row.loop].run(sample_us(repeat, row.times))
        for number in range(rounds):
            for row, peer, repeat in course if number % 2 else reversed(course):
                figure = runners[row.loop].run(sample_us(repeat, row.times))
                results.add(row, peer, figure)
    return results


def laps(rows, peers, runners):
    """Yield each row with each peer that has its shape, and the shape."""
    shapes = {
        (name, peer): shapes_of(peer, runner.get_loop())
        for name, runner in runners.items()
        for peer in peers
    }
    for row in rows:
        for peer in peers:
            repeat = shapes[row.loop, peer].get(row.shape)
            if repeat is not None:
                yield row, peer, repeat


async def sample_us(repeat, times):
    """Return the CPU time of one operation in microseconds.

    CPU time, because the machine has other load, and operations wait only for the loop's
    next turn.
    """
    # Collect the garbage of earlier samples.  After that the collector runs as usual, since
    # it is part of the cost of garbage.
    gc.collect()
    began = time.process_time()
    await repeat(times)
    return (time.process_time() - began) / times * 1e6


def can_measure_memory():
    return STATM.exists()


def measure_memory(row, peers, script):
    """Measure the memory of one suspended coroutine, in a new process for each peer.

    Args:
        script: It calls `print_memory` when it is started with ``--child PEER``.
    """
    results = Results()
    for peer in peers:
        command = [sys.executable, script, "--child", peer]
        results.add(row, peer, float(subprocess.check_output(command)))
    return results


def print_memory(peer):
    """Suspend many coroutines, print the memory of one in bytes, and exit."""
    with asyncio.Runner() as runner:
        print(runner.run(suspended_bytes(peer)), flush=True)
        # A proper end would take longer than everything else, and asyncio would warn
        # about every Task.
        os._exit(0)


async def suspended_bytes(peer):
    loop = asyncio.get_running_loop()
    start = shapes_of(peer, loop)["suspended"]
    make_unfinished = unfinished_of(peer, loop)
    unfinished = [make_unfinished() for _ in range(SUSPENDED)]
    gc.collect()
    # The Futures that they wait for exist already, so that only the coroutines count.
    before = rss_bytes()
    for number, awaited in enumerate(unfinished):
        start(awaited)
        if number % STARTED_AT_ONCE == 0:
            await asyncio.sleep(0)
    await asyncio.sleep(0)
    gc.collect()
    return (rss_bytes() - before) / SUSPENDED


def rss_bytes():
    return int(STATM.read_text().split()[1]) * resource.getpagesize()
