"""Samples which part of the crawler its CPU time is spent in.

A signal interrupts the process after a while of CPU time, and the innermost frame of
crawler_app says the part that the main thread's time since the last signal went to.  What is
left of the process's time is that of the other threads.
"""

import collections
import contextlib
import signal
import time

__all__ = ["cpu_samples"]

# The kernel rounds it up to its clock tick, which is 4 ms on most machines.
EVERY_S = 0.001

# By a beginning of the path below crawler_app; the longest counts.
PART_BY_PATH = {
    "web/httpclient/": "fetch",
    "web/fetcher/": "fetch",
    "base/http_headers.py": "fetch",
    "web/documents/": "HTML",
    "web/sandbox/": "HTML",
    "web/documents/link_cache.py": "links",
    "base/urls.py": "links",
    "run/crawl/admission.py": "links",
    "run/crawl/scope.py": "links",
    "run/crawl/traps.py": "links",
    "store/frontier/": "frontier",
    "store/archive/": "archive",
    "store/index/": "index",
}


@contextlib.contextmanager
def cpu_samples():
    """Add up the CPU time of each part in the mapping that is returned."""
    samples = collections.Counter()
    process_began, last = time.process_time(), time.thread_time()

    def sample(signum, frame):
        nonlocal last
        now = time.thread_time()
        samples[part_of(frame)] += now - last
        last = now

    before = signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
    try:
        yield samples
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        whole = time.process_time() - process_began
        samples["threads"] = whole - sum(samples.values())


def part_of(frame):
    while frame is not None:
        _, found, path = frame.f_code.co_filename.rpartition("/crawler_app/")
        if found:
            known = [
                beginning for beginning in PART_BY_PATH if path.startswith(beginning)
            ]
            return PART_BY_PATH[max(known, key=len)] if known else "rest"
        frame = frame.f_back
    return "rest"
