"""The peers that are measured, with their shapes for one loop.

Twisted and uvloop are measured if they are installed; `absent` reports them if not.
"""

import asyncio
import functools
import platform
import sys
from types import SimpleNamespace

import floor
import tornado
import tornado.gen
from native_shapes import AWAIT_SHAPES, EAGER_SHAPES, TASK_SHAPES
from shapes import (
    GENERATOR_SHAPES,
    LIST_CHILDREN,
    TORNADO_SHAPES,
    child_waiting_once,
)

import gencoro.gen

try:
    import twisted
    from twisted.internet import defer
except ImportError:
    twisted = None
try:
    import uvloop
except ImportError:
    uvloop = None

__all__ = [
    "LOOP_FACTORIES",
    "PEERS",
    "TITLES",
    "absent",
    "shapes_of",
    "unfinished_of",
    "versions",
]

TITLES = {
    "gencoro": "gencoro",
    "tornado": "tornado.gen",
    "twisted": "inlineCallbacks",
    "task": "asyncio.Task",
    "eager": "eager Task",
    "await": "await",
    "floor": "floor",
}

_absent = {
    peer
    for peer, has in {"twisted": twisted, "eager": sys.version_info >= (3, 12)}.items()
    if not has
}
PEERS = tuple(peer for peer in TITLES if peer not in _absent)

LOOP_FACTORIES = {"asyncio": asyncio.new_event_loop}
if uvloop:
    LOOP_FACTORIES["uvloop"] = uvloop.new_event_loop


def absent():
    """Return a sentence for each optional package that is not installed."""
    sentences = []
    if not twisted:
        sentences.append("Twisted is not installed: no column for inlineCallbacks.")
    if "eager" not in PEERS:
        sentences.append("Tasks that start at once came with Python 3.12.")
    if not uvloop:
        sentences.append("uvloop is not installed: no rows under uvloop.")
    return sentences


def versions():
    """Return the names of the measured packages, with their versions."""
    names = [f"Python {platform.python_version()}", f"Tornado {tornado.version}"]
    if twisted:
        names.append(f"Twisted {twisted.__version__}")
    if uvloop:
        names.append(f"uvloop {uvloop.__version__}")
    return names


def future_soon(loop):
    create_future, call_soon = loop.create_future, loop.call_soon

    def soon():
        future = create_future()
        call_soon(future.set_result, None)
        return future

    return soon


def deferred_soon(loop):
    Deferred, call_soon = defer.Deferred, loop.call_soon

    def soon():
        deferred = Deferred()
        call_soon(deferred.callback, None)
        return deferred

    return soon


def start_eagerly(loop, coroutine):
    return asyncio.Task(coroutine, loop=loop, eager_start=True)


def twisted_many(gen, soon):
    child = child_waiting_once(gen, soon)

    @gen.coroutine
    def repeat(times):
        for _ in range(times):
            yield defer.gatherResults([child() for _ in range(LIST_CHILDREN)])

    return repeat


def twisted_switch(gen, soon):
    @gen.coroutine
    def repeat(times):
        for _ in range(times):
            yield soon()

    return repeat


TWISTED_SHAPES = GENERATOR_SHAPES | {"many": twisted_many, "switch": twisted_switch}


def shapes_of(peer, loop):
    """Return a peer's shapes by name; each is a function that repeats its operation."""
    if peer == "twisted":
        return twisted_shapes(loop)
    shapes, way = {
        "gencoro": (TORNADO_SHAPES, gencoro.gen),
        "tornado": (TORNADO_SHAPES, tornado.gen),
        "floor": (floor.FLOOR_SHAPES, floor.gen),
        "task": (TASK_SHAPES, asyncio.create_task),
        "eager": (EAGER_SHAPES, functools.partial(start_eagerly, loop)),
        "await": (AWAIT_SHAPES, asyncio.create_task),
    }[peer]
    soon = future_soon(loop)
    return {name: shape(way, soon) for name, shape in shapes.items()}


def twisted_shapes(loop):
    gen = SimpleNamespace(coroutine=defer.inlineCallbacks)
    soon = deferred_soon(loop)
    made = {name: shape(gen, soon) for name, shape in TWISTED_SHAPES.items()}
    return {
        name: repeat if name == "suspended" else awaitable(repeat, loop)
        for name, repeat in made.items()
    }


def awaitable(repeat, loop):
    # A Deferred cannot be awaited in a Task.
    return lambda times: repeat(times).asFuture(loop)


def unfinished_of(peer, loop):
    """Return a function that creates an unfinished Future of the peer's kind."""
    return defer.Deferred if peer == "twisted" else loop.create_future
