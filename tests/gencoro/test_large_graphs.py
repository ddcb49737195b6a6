"""Cancelling and closing graphs of coroutines that are deep, wide, shared and circular.

``FUZZ_FACTOR`` makes them larger, too: up to 10,000 coroutines each.
"""

import asyncio
import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st

from gencoro import gen
from gencoro.cancelling import _Walk
from gencoro.ioloop import IOLoop
from gencoro.virtual_clock import VirtualClock
from tests.helpers.fuzzing import FACTOR, examples

MAX_SIZE = min(10_000, 100 * FACTOR)

# Of a coroutine: its Runner, what it yields, and the Task of a native coroutine.  Each is
# asked once, even if there are millions of ways to it.
NODES_EACH = 3

WAYS = {
    "yielded": lambda inner: inner,
    "list": lambda inner: [inner],
    "dict": lambda inner: {"key": inner},
    "awaited": lambda inner: _native(inner),
    "gathered": lambda inner: asyncio.gather(inner),
}

parts = st.tuples(
    st.sampled_from(["chain", "fan", "circle"]),
    st.integers(1, MAX_SIZE),
    st.sampled_from(sorted(WAYS)),
    st.integers(0, 1000),
)


async def _native(inner):
    return await inner


class Graph:
    """Coroutines by number, and the numbers of those that each waits for."""

    def __init__(self, parts):
        self.futures = [gen.Future()]
        self.inner = [()]
        for kind, size, way, start in parts:
            # Each `gather` on the way takes some levels of Python's stack.
            size = min(size, 20) if way == "gathered" else size
            getattr(self, kind)(size, WAYS[way], start % len(self.futures))

    def add(self, way, *inner):
        number = len(self.futures)
        self.futures.append(self.wait(way, number))
        self.inner.append(inner)
        return number

    @gen.coroutine
    def wait(self, way, number):
        yield gen.moment  # until all of them have been created
        inner = [self.futures[other] for other in self.inner[number]]
        yield way(inner[0]) if len(inner) == 1 else inner

    def chain(self, size, way, start):
        for _ in range(size):
            start = self.add(way, start)
        return start

    def fan(self, size, way, start):
        self.add(way, *[self.add(way, start) for _ in range(size)])

    def circle(self, size, way, start):
        first = self.add(way, start)
        # With a size of 1, it waits for itself.
        self.inner[first] = (self.chain(size - 1, way, first), start)

    def ended_by(self, number):
        """Return what ends if one of them is cancelled.

        That is what it waits for, and what waits for nothing else but that; a list waits
        for all of its children.
        """
        outer = [[] for _ in self.inner]
        for waiting, inner in enumerate(self.inner):
            for other in inner:
                outer[other].append(waiting)
        ended = self._reached_from(number)
        left = list(ended)
        while left:
            for waiting in outer[left.pop()]:
                if waiting not in ended and ended.issuperset(self.inner[waiting]):
                    ended.add(waiting)
                    left.append(waiting)
        return ended

    def _reached_from(self, number):
        found, left = {number}, [number]
        while left:
            new = set(self.inner[left.pop()]) - found
            found |= new
            left += new
        return found


@given(st.lists(parts, min_size=1, max_size=4), st.integers(0, 10**6))
@settings(max_examples=examples(60), deadline=None, derandomize=FACTOR == 1)
def test_reachable_coroutines_end_and_the_rest_ends_with_the_loop(parts, place):
    async def main():
        graph = Graph(parts)
        for _ in range(4):
            await asyncio.sleep(0)
        number = place % len(graph.futures)
        expected = graph.ended_by(number)
        answers = []
        asked = _count_answers(lambda: answers.append(graph.futures[number].cancel()))
        assert answers == [True]
        assert asked <= NODES_EACH * len(expected)
        await asyncio.sleep(1)  # in virtual time: until nothing can run any more
        done = {one for one, future in enumerate(graph.futures) if future.done()}
        assert done == expected
        return graph

    asyncio.set_event_loop(VirtualClock().new_event_loop())
    with contextlib.closing(IOLoop.current()) as loop:
        graph = loop.run_sync(main)
        rest = [future for future in graph.futures[1:] if not future.done()]
        asked = _count_answers(loop.close)
    asyncio.set_event_loop(None)

    assert all(future.cancelled() for future in graph.futures[1:])
    assert asked <= NODES_EACH * len(rest)


def _count_answers(function):
    """Call a function; return the number of coroutines, lists and Tasks it has asked to end."""
    asked = []
    visit = _Walk._visit

    def counting(self, node, outer):
        asked.append(node)
        return visit(self, node, outer)

    _Walk._visit = counting
    try:
        function()
    finally:
        _Walk._visit = visit
    return len(asked)
