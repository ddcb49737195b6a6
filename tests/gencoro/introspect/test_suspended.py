"""Suspended coroutines: kept while somebody may resume them, collected after that."""

import asyncio
import gc
import weakref

import pytest

from gencoro import gen
from gencoro.ioloop import IOLoop
from gencoro.virtual_clock import VirtualClock


@pytest.fixture
def event_loop():
    """Make a current loop with virtual time."""
    loop = VirtualClock().new_event_loop()
    asyncio.set_event_loop(loop)
    yield loop
    asyncio.set_event_loop(None)
    loop.close()


@gen.coroutine
def _suspended(make, steps):
    try:
        yield make()
    finally:
        steps.append("finally")


def test_suspended_coroutine_whose_future_is_held_is_never_collected(event_loop):
    steps = []
    waited_for = weakref.WeakSet()

    def make():
        future = event_loop.create_future()
        waited_for.add(future)
        return future

    future = _suspended(make, steps)
    gc.collect()
    [inner] = waited_for
    inner.set_result(None)
    event_loop.call_later(1, event_loop.stop)
    event_loop.run_forever()

    assert future.done()
    assert steps == ["finally"]


def test_suspended_coroutine_is_kept_by_the_one_that_waits_for_it(event_loop):
    steps = []
    outer = _suspended(lambda: _suspended(event_loop.create_future, steps), steps)

    gc.collect()

    assert not outer.done()
    assert steps == []


def test_coroutine_that_nobody_can_reach_is_collected_and_cleans_up(event_loop):
    steps = []
    _suspended(lambda: _suspended(event_loop.create_future, steps), steps)
    before = list(steps)

    gc.collect()

    assert before == []
    assert steps == ["finally", "finally"]


def test_coroutines_suspended_in_a_closed_loop_are_collected_and_clean_up():
    steps = []
    loop = IOLoop()
    loop.call_later(0.001, loop.stop)

    def main():
        _suspended(lambda: gen.sleep(60), steps)
        return _suspended(lambda: _suspended(lambda: [gen.sleep(60)], steps), steps)

    with pytest.raises(RuntimeError, match="stopped"):
        loop.run_sync(main)
    loop.close()
    del loop
    gc.collect()

    assert steps == ["finally"] * 3


def test_endless_coroutine_is_collected_after_its_loop_was_closed():
    steps = []

    @gen.coroutine
    def endless():
        try:
            while True:
                yield gen.sleep(0.001)
        finally:
            steps.append("finally")

    loop = IOLoop()
    loop.run_sync(lambda: _nap_beside(endless))
    loop.close()
    del loop
    gc.collect()

    assert steps == ["finally"]


@gen.coroutine
def _nap_beside(endless):
    endless()
    yield gen.sleep(0.01)
