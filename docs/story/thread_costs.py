"""What a thread costs, beside a generator: memory while it waits, and a switch to it.

    python docs/story/thread_costs.py [COUNT ...]

Each figure is from a process of its own.  In it the threads, or the generators, stand in a
ring, and each wakes up the next.  Needs Linux.
"""

import resource
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from pathlib import Path

__all__ = ["KINDS", "main", "measure"]

COUNTS = (10, 100, 1000)
STEPS = 20_000
PAGE_BYTES = resource.getpagesize()


def memory_bytes() -> int:
    """Return how much memory this process occupies."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


def switches() -> int:
    """Return how often a thread of this process has made way for another."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_nvcsw + usage.ru_nivcsw


def ring_of_threads(count: int) -> Callable[[], None]:
    """Start threads that wait; return a function that goes round the ring."""
    turns = [threading.Semaphore(0) for _ in range(count)]
    rounds = max(1, STEPS // count)
    ended = threading.Event()

    def run(place: int) -> None:
        for _ in range(rounds):
            turns[place].acquire()
            turns[(place + 1) % count].release()
        if place == count - 1:
            ended.set()

    for place in range(count):
        threading.Thread(target=run, args=(place,), daemon=True).start()

    def go_round() -> None:
        turns[0].release()
        ended.wait()

    return go_round


def ring_of_generators(count: int) -> Callable[[], None]:
    """Start generators that wait; return a function that goes round the ring."""
    rounds = max(1, STEPS // count)

    def run() -> Generator[None, None, None]:
        for _ in range(rounds + 1):
            yield

    ready = deque(run() for _ in range(count))
    for generator in ready:
        next(generator)

    def go_round() -> None:
        for _ in range(rounds * count):
            generator = ready.popleft()
            next(generator)
            ready.append(generator)

    return go_round


KINDS = {"threads": ring_of_threads, "generators": ring_of_generators}


def measure(kind: str, count: int) -> tuple[float, float, float]:
    """Return bytes for each, and switches and microseconds for each step of the ring."""
    before = memory_bytes()
    go_round = KINDS[kind](count)
    time.sleep(0.1)  # until all threads wait
    size = (memory_bytes() - before) / count
    switches_before, began_at = switches(), time.perf_counter()
    go_round()
    took_s = time.perf_counter() - began_at
    steps = max(1, STEPS // count) * count
    return size, (switches() - switches_before) / steps, took_s / steps * 1e6


def main(arguments: list[str]) -> None:
    """Print a table; or one row of figures, if a kind is given."""
    if arguments and arguments[0] in KINDS:
        print(*measure(arguments[0], int(arguments[1])))
        return
    print(f"{'':16}{'KB each':>10}{'switches':>10}{'us a step':>10}")
    for kind in KINDS:
        for count in arguments or COUNTS:
            command = [sys.executable, __file__, kind, str(count)]
            run = subprocess.run(command, check=True, capture_output=True, text=True)
            size, switched, took_us = map(float, run.stdout.split())
            row = f"{size / 1000:>10.1f}{switched:>10.2f}{took_us:>10.2f}"
            print(f"{f'{count} {kind}':16}{row}")


if __name__ == "__main__":
    main(sys.argv[1:])
