"""The operations that are measured ("shapes"), written with ``yield``.

A shape is a function of ``gen``, a namespace with the decorator ``coroutine``, and of
``soon``, which returns something that is done in the loop's next turn.  It returns a
function that repeats the operation a given number of times; its result can be awaited.

Rule: gencoro and Tornado run exactly the same source; so do Twisted and the floor, except
for yielding a list and `gen.moment`.  `native_shapes` has the same shapes for ``await``.
"""

import asyncio
import datetime

__all__ = [
    "CHAIN_LEVELS",
    "ERROR_LEVELS",
    "GENERATOR_SHAPES",
    "LIST_CHILDREN",
    "LONG",
    "TORNADO_SHAPES",
]

LONG = datetime.timedelta(minutes=1)
LIST_CHILDREN = 100
CHAIN_LEVELS = 50
ERROR_LEVELS = 10


def ready(gen, soon):
    """A child that never waits."""

    @gen.coroutine
    def child():
        return 1
        yield

    @gen.coroutine
    def repeat(times):
        for _ in range(times):
            yield child()

    return repeat


def once(gen, soon):
    """A child that waits once."""
    child = child_waiting_once(gen, soon)

    @gen.coroutine
    def repeat(times):
        for _ in range(times):
            yield child()

    return repeat


def many(gen, soon):
    """A list of children that wait once each."""
    child = child_waiting_once(gen, soon)

    @gen.coroutine
    def repeat(times):
        for _ in range(times):
            yield [child() for _ in range(LIST_CHILDREN)]

    return repeat


def child_waiting_once(gen, soon):
    @gen.coroutine
    def child():
        yield soon()
        return 1

    return child


def chain(gen, soon):
    """A chain of coroutines, the innermost of which waits once."""

    @gen.coroutine
    def level(levels):
        if levels == 1:
            return (yield soon())
        return (yield level(levels - 1))

    @gen.coroutine
    def repeat(times):
        for _ in range(times):
            yield level(CHAIN_LEVELS)

    return repeat


def switch(gen, soon):
    """Yielding control to the loop."""

    @gen.coroutine
    def repeat(times):
        for _ in range(times):
            yield gen.moment

    return repeat


def error(gen, soon):
    """An error that propagates through a chain."""

    @gen.coroutine
    def level(levels):
        if levels == 1:
            yield soon()
            raise LookupError("no such page")
        yield level(levels - 1)

    @gen.coroutine
    def repeat(times):
        for _ in range(times):
            try:
                yield level(ERROR_LEVELS)
            except LookupError:
                pass

    return repeat


def limited(gen, soon):
    """A child that waits once, with a time limit."""
    child = child_waiting_once(gen, soon)

    @gen.coroutine
    def repeat(times):
        for _ in range(times):
            yield gen.with_timeout(LONG, child())

    return repeat


def queue(gen, soon):
    """An item through a queue of asyncio, in which nothing has to wait."""

    @gen.coroutine
    def repeat(times):
        queue = asyncio.Queue(10)
        for _ in range(times):
            yield queue.put(None)
            yield queue.get()

    return repeat


def helper_ready(gen, soon):
    """An undecorated generator that never waits."""

    def helper():
        return 1
        yield

    @gen.coroutine
    def repeat(times):
        for _ in range(times):
            yield from helper()

    return repeat


def helper_once(gen, soon):
    """An undecorated generator that waits once."""

    def helper():
        yield soon()
        return 1

    @gen.coroutine
    def repeat(times):
        for _ in range(times):
            yield from helper()

    return repeat


def suspended(gen, soon):
    """Not an operation: starts one coroutine that waits for its argument."""

    @gen.coroutine
    def wait_for(future):
        yield future

    return wait_for


GENERATOR_SHAPES = {
    "ready": ready,
    "once": once,
    "many": many,
    "chain": chain,
    "switch": switch,
    "error": error,
    "helper_ready": helper_ready,
    "helper_once": helper_once,
    "suspended": suspended,
}

# Those that only gencoro and Tornado have.
TORNADO_SHAPES = GENERATOR_SHAPES | {"limited": limited, "queue": queue}
