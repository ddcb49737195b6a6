"""What 100,000 things cost that wait, and what ends them: beside asyncio, as ratios of CPU time.

    python benchmarks/bench_many.py            the table
    python benchmarks/bench_many.py --check    exit 1 if a bar is not reached

Each ratio is that of the best of some rounds, in which the two sides take turns.
"""

import argparse
import asyncio
import datetime
import gc
import sys
import time

from gencoro import gen
from gencoro.ioloop import IOLoop

MANY = 100_000
FAN = 2_000
LIMIT = datetime.timedelta(seconds=60)


@gen.coroutine
def link(inner):
    yield inner


@gen.coroutine
def nap():
    yield gen.moment


async def native(inner):
    return await inner


async def native_nap():
    await asyncio.sleep(0)


async def seconds_of(wait_for, gather):
    """Wait with a time limit for many Futures that then become done."""
    loop = asyncio.get_running_loop()
    futures = [loop.create_future() for _ in range(MANY)]
    waiting = [wait_for(future) for future in futures]
    await asyncio.sleep(0)
    for future in futures:
        future.set_result(None)
    await gather(waiting)


async def time_limits():
    await seconds_of(lambda future: link(gen.with_timeout(LIMIT, future)), gen.multi)


async def time_limits_of_asyncio():
    seconds = LIMIT.total_seconds()
    await seconds_of(
        lambda future: asyncio.ensure_future(asyncio.wait_for(future, seconds)),
        lambda waiting: asyncio.gather(*waiting),
    )


async def in_order_of_completion():
    iterator = gen.WaitIterator(*[nap() for _ in range(MANY)])
    while not iterator.done():
        await iterator.next()


async def in_order_of_completion_of_asyncio():
    for future in asyncio.as_completed([native_nap() for _ in range(MANY)]):
        await future


async def cancel_chain(depth):
    chain = asyncio.get_running_loop().create_future()
    for _ in range(depth):
        chain = link(chain)
    start = time.process_time()
    chain.cancel()
    await asyncio.wait([chain])
    return time.process_time() - start


def run(function, *args):
    """Return the CPU seconds of a run, or those that it returns."""
    gc.collect()
    start = time.process_time()
    measured_s = asyncio.run(function(*args))
    return time.process_time() - start if measured_s is None else measured_s


def close_fan():
    """Close a loop with coroutines that wait for one which waits for as many."""
    held = []

    async def begin():
        shared = link([link(gen.Future()) for _ in range(FAN)])
        held.extend(link(shared) for _ in range(FAN))
        await asyncio.sleep(0)

    loop = IOLoop()
    loop.run_sync(begin)
    start = time.process_time()
    loop.close()
    return time.process_time() - start


def close_fan_of_asyncio():
    loop = asyncio.new_event_loop()

    async def begin():
        inner = [asyncio.ensure_future(native(gen.Future())) for _ in range(FAN)]
        shared = asyncio.ensure_future(native(asyncio.gather(*inner)))
        held = [asyncio.ensure_future(native(shared)) for _ in range(FAN)]
        await asyncio.sleep(0.001)
        return held

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        held = runner.run(begin())
        start = time.process_time()
    del held
    return time.process_time() - start


# Name, bar, what is measured, and what it is divided by.
ROWS = [
    (
        "with_timeout / asyncio.wait_for",
        1.0,
        lambda: run(time_limits),
        lambda: run(time_limits_of_asyncio),
    ),
    (
        "WaitIterator / asyncio.as_completed",
        1.0,
        lambda: run(in_order_of_completion),
        lambda: run(in_order_of_completion_of_asyncio),
    ),
    (
        f"cancelling a chain of {MANY} / of {MANY // 4}",
        6.0,
        lambda: run(cancel_chain, MANY),
        lambda: run(cancel_chain, MANY // 4),
    ),
    (
        f"closing a loop, {FAN} wait for one that waits for {FAN} / asyncio.Runner",
        4.0,
        close_fan,
        close_fan_of_asyncio,
    ),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="rounds (default 3)")
    parser.add_argument("--check", action="store_true", help="exit 1 over a bar")
    options = parser.parse_args()
    is_over = False
    for name, bar, measure, beside in ROWS:
        rounds = [(measure(), beside()) for _ in range(options.rounds)]
        ours_s, theirs_s = map(min, zip(*rounds))
        ratio = ours_s / theirs_s
        is_over |= ratio > bar
        told = f"{ours_s * 1000:.0f} ms / {theirs_s * 1000:.0f} ms"
        print(f"{name}: {ratio:.2f} (bar {bar}; {told})")
    if options.check and is_over:
        sys.exit(1)


if __name__ == "__main__":
    main()
