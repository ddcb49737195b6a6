"""The cost of stack contexts: for programs without them, and for a callback inside them.

Rows are operations; columns are how much legacy code a program uses::

    plain     gencoro.legacy is not loaded
    loaded    it is loaded, and no context was ever entered
    begun     a context was entered once, elsewhere; the operation runs outside of it
    within    the operation runs inside contexts

A program cannot go back, so each column runs in its own process; they take turns.  The
ratios to "plain" come first, then microseconds of CPU.

    python benchmarks/bench_contexts.py [--rounds 9]
"""

import argparse
import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import time
import warnings

from peers import shapes_of

from gencoro.ioloop import IOLoop

COLUMNS = ("plain", "loaded", "begun", "within")

# Operations in one sample, and the number of samples.  The fastest sample counts: other
# load on the machine makes some samples slower, and none faster.
TIMES = {"ready": 5000, "once": 1000, "switch": 3000, "many": 20, "callback": 3000}
TITLES = {
    "ready": "coroutine that never waits",
    "once": "coroutine that waits once",
    "switch": "bare switch",
    "many": "list of 100 that wait once",
    "callback": "IOLoop.add_callback",
}
SAMPLES = 7

# The number of contexts around a callback, and of contexts exited before it.
CHAINS = (1, 100, 10_000)


def operations(io_loop):
    """Return the operations: functions of the repeat count, whose results are awaited."""
    shapes = shapes_of("gencoro", io_loop.asyncio_loop)
    named = {name: shapes[name] for name in TIMES if name != "callback"}
    return {**named, "callback": lambda times: call_back(io_loop, times)}


async def call_back(io_loop, times):
    done = asyncio.Event()
    for _ in range(times):
        io_loop.add_callback(bool)
    io_loop.add_callback(done.set)
    await done.wait()


def cost_us(io_loop, operation, times):
    figures = []
    for _ in range(SAMPLES):
        began = time.process_time()
        io_loop.asyncio_loop.run_until_complete(operation(times))
        figures.append((time.process_time() - began) / times * 1e6)
    return min(figures)


def contexts_of(column):
    """Prepare the process for a column; return the contexts in which it measures."""
    if column == "plain":
        return []
    warnings.simplefilter("ignore", DeprecationWarning)
    from gencoro.stack_context import ExceptionStackContext, StackContext

    if column == "loaded":
        return []
    contexts = [
        StackContext(contextlib.nullcontext),
        ExceptionStackContext(lambda *_exc_info: False),
    ]
    if column == "within":
        return contexts
    with contexts[0]:
        return []


def measure_column(column):
    io_loop = IOLoop()
    with contextlib.ExitStack() as stack:
        for context in contexts_of(column):
            stack.enter_context(context)
        figures = {
            name: cost_us(io_loop, operation, TIMES[name])
            for name, operation in operations(io_loop).items()
        }
    io_loop.close()
    return figures


def measure_chains():
    """Return the cost of a wrapped call by the kind and the length of its chain."""
    warnings.simplefilter("ignore", DeprecationWarning)
    from gencoro.stack_context import ExceptionStackContext, wrap

    figures = {}
    for are_left in (False, True):
        for length in CHAINS:
            with contextlib.ExitStack() as stack:
                for _ in range(length):
                    context = ExceptionStackContext(lambda *_exc_info: False)
                    deactivate = stack.enter_context(context)
                    if are_left:
                        deactivate()
                call = wrap(bool)
            figures[are_left, length] = call_us(call)
    return figures


def call_us(call, times=20_000):
    figures = []
    for _ in range(SAMPLES):
        began = time.process_time()
        for _ in range(times):
            call()
        figures.append((time.process_time() - began) / times * 1e6)
    return min(figures)


def measure(rounds):
    """Measure every column once per round; every other round in reverse order."""
    figures = []
    for number in range(rounds):
        order = COLUMNS if number % 2 else COLUMNS[::-1]
        figures.append({column: measure_in_child(column) for column in order})
    return figures


def measure_in_child(column):
    command = [sys.executable, __file__, "--child", column]
    return json.loads(subprocess.check_output(command))


def print_columns(figures):
    width = max(map(len, TITLES.values()))
    print(" " * width, *(f"{column:>14}" for column in COLUMNS))
    for name, title in TITLES.items():
        cells = []
        for column in COLUMNS:
            ratio = statistics.median(
                f[column][name] / f["plain"][name] for f in figures
            )
            us = statistics.median(f[column][name] for f in figures)
            cells.append(f"{ratio:5.2f} {us:7.2f}us")
        print(f"{title:{width}}", *cells)


def print_chains(figures):
    print("\nA wrapped call, by the contexts of its chain:")
    for (are_left, length), us in figures.items():
        what = "of which all were deactivated" if are_left else "active"
        ratio = us / figures[are_left, CHAINS[0]]
        print(f"{length:7} {what:30} {ratio:5.2f} {us:7.2f}us")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--child", choices=COLUMNS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds must be 1 or more")
    if arguments.child:
        print(json.dumps(measure_column(arguments.child)))
        return
    print_columns(measure(arguments.rounds))
    print_chains(measure_chains())


if __name__ == "__main__":
    main()
