"""The CPU time of the turns of an event loop, and the number of steps of a function."""

import contextlib
import gc
import sys
import time
from asyncio import Handle

__all__ = ["steps_of", "turns_below"]


@contextlib.contextmanager
def turns_below(max_s):
    """Fail if the loop's thread takes more CPU time than this for one callback or step.

    The garbage collector ignores the objects of earlier tests meanwhile.
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

    gc.collect()
    gc.freeze()
    Handle._run = measured
    try:
        yield
    finally:
        Handle._run = run
        gc.unfreeze()
    assert longest_s < max_s, slowest


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
