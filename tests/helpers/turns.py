"""The CPU time of the turns of an event loop."""

import contextlib
import gc
import time
from asyncio import Handle

__all__ = ["turns_below"]


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
