"""The CPU time of the turns of an event loop, and the number of steps of a function."""

import contextlib
import gc
import statistics
import sys
import time
from asyncio import Handle

__all__ = ["steps_of", "turns_below"]


@contextlib.contextmanager
def turns_below(max_s):
    """Fail if the loop's thread takes more CPU time than this for one callback or step.

    The garbage collector ignores the objects of earlier tests meanwhile.

    Args:
        max_s: Where `_slowness` is 1; more where it is more.
    """
    longest_s, slowest = 0.0, None
    run = Handle._run

    def measured(handle):
        nonlocal longest_s, slowest
        what = handle._callback  # the handle forgets it when it is cancelled
        before = time.thread_time()
        run(handle)
        took_s = time.thread_time() - before
        if took_s > longest_s:
            longest_s, slowest = took_s, what

    slowness = _slowness()
    gc.collect()
    gc.freeze()
    Handle._run = measured
    try:
        yield
    finally:
        Handle._run = run
        gc.unfreeze()
    assert longest_s < max_s * max(slowness, _slowness()), slowest


def _slowness():
    """Return how slow the machine is now, beside one that is fast enough for every bound.

    What runs beside a test takes a part of the caches and of the speed of its core, and the
    CPU time of the same work doubles.
    """
    times_s = []
    for _ in range(5):
        before = time.thread_time()
        total = 0
        for number in range(100_000):
            total += number * number
        times_s.append(time.thread_time() - before)
    return max(1.0, statistics.median(times_s) / 0.009)


def steps_of(function):
    """Return how many lines of Python a call takes, which no clock and no load changes."""
    steps = 0

    def count(frame, event, argument):
        nonlocal steps
        steps += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        function()
    finally:
        sys.settrace(before)
    return steps
