"""How it is measured: time in interleaved rounds, memory in a process for each peer.

Rule: figures of one round belong together.  Only they are divided by each other, so that
the ratio holds although the machine's speed drifts.
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

# So many that what the process itself takes meanwhile does not count.
SUSPENDED = 100_000
# A Task begins in the next turn.  Started all at once they would make the loop's queue
# grow, and what it grew by would count as theirs.
STARTED_AT_ONCE = 1_000
STATM = Path("/proc/self/statm")


class Row(NamedTuple):
    """One shape under one loop.

    Attributes:
        shape: Its name among the peers' shapes.
        title: As it is shown.
        times: Operations in one sample: some 10 milliseconds of them.
        loop: The loop that runs it.
        unit: What its figures are, "us" (microseconds of CPU) or "bytes".
    """

    shape: str
    title: str
    times: int
    loop: str = "asyncio"
    unit: str = "us"


class Results:
    """Figures by row and peer, one of each round."""

    def __init__(self):
        self._figures = {}

    def add(self, row, peer, figure):
        self._figures.setdefault((row, peer), []).append(figure)

    def replace(self, others):
        """Take what was measured anew."""
        self._figures.update(others._figures)

    def has(self, row, peer):
        return (row, peer) in self._figures

    def median(self, row, peer):
        return statistics.median(self._figures[row, peer])

    def ratio(self, row, peer):
        """Return the median of the rounds' ratios: the peer's figure by gencoro's."""
        pairs = zip(
            self._figures[row, peer], self._figures[row, "gencoro"], strict=True
        )
        return statistics.median(theirs / ours for theirs, ours in pairs)


def measure_time(rows, peers, rounds):
    """Measure each row for each peer that has it, once in every round.

    Every other round goes backwards, so that what the machine does meanwhile, and what
    one peer leaves to the next, meets all of them.
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
    """Return the microseconds that one operation takes, of CPU time.

    CPU time, because others use the machine too, and nothing here waits for anything
    but the loop's next turn.
    """
    # What the others left; from here on the collector runs when it wants to, since it
    # is part of what makes garbage dear.
    gc.collect()
    began = time.process_time()
    await repeat(times)
    return (time.process_time() - began) / times * 1e6


def can_measure_memory():
    return STATM.exists()


def measure_memory(row, peers, script):
    """Measure what one suspended coroutine takes, by a new process for each peer.

    Args:
        script: What calls `print_memory` when it is started with ``--child PEER``.
    """
    results = Results()
    for peer in peers:
        command = [sys.executable, script, "--child", peer]
        results.add(row, peer, float(subprocess.check_output(command)))
    return results


def print_memory(peer):
    """Suspend many coroutines, print the bytes one of them takes, end the process."""
    with asyncio.Runner() as runner:
        print(runner.run(suspended_bytes(peer)), flush=True)
        # Ending each of them properly would take longer than all the rest, and asyncio
        # would complain of every Task.
        os._exit(0)


async def suspended_bytes(peer):
    loop = asyncio.get_running_loop()
    start = shapes_of(peer, loop)["suspended"]
    make_unfinished = unfinished_of(peer, loop)
    unfinished = [make_unfinished() for _ in range(SUSPENDED)]
    gc.collect()
    # What they wait for is there by now, so that the coroutine alone counts.
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
