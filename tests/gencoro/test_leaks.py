"""Coroutines that have ended are freed by reference counts alone.

The collector is off during each test, so an object that a weak reference still reaches has
a strong reference, or is part of a cycle.
"""

import asyncio
import gc
from datetime import timedelta

import pytest

from gencoro import gen
from gencoro.futures import app_log
from gencoro.ioloop import IOLoop
from gencoro.virtual_clock import VirtualClock
from tests.helpers.gencoro.freed import Watch
from tests.helpers.gencoro.outcomes import Failure


class Odd:
    """What cannot be converted."""

    def __init__(self, new):
        self.thing = new()


@gen.convert_yielded.register(Odd)
def _fail_to_convert(odd):
    raise Failure(odd.thing is None)


@pytest.fixture
def new(monkeypatch):
    """Make things to be freed by reference counts alone."""
    # pytest keeps log records, and these keep the traceback of their error.
    monkeypatch.setattr(app_log, "disabled", True)
    gc.collect()
    gc.disable()
    yield Watch()
    gc.enable()


@pytest.fixture
def loop(new):
    """Make a virtual loop; a test runs it with `_turn`."""
    loop = VirtualClock().new_event_loop()
    asyncio.set_event_loop(loop)
    yield loop
    asyncio.set_event_loop(None)
    loop.close()


def _run_for(loop, duration):
    loop.call_later(duration, loop.stop)
    loop.run_forever()


@gen.coroutine
def _work(new, argument, *, fail=False):
    local = new()
    yield gen.sleep(1)
    yield gen.moment
    if fail:
        raise Failure
    return bool(local and argument)


@gen.coroutine
def _waits(new, make, caught=()):
    local = new()
    try:
        yield make()
    except caught:
        pass
    yield gen.sleep(1)
    return bool(local)


SITUATIONS = {
    "success": lambda new: _work(new, new()),
    "failure": lambda new: _work(new, new(), fail=True),
    "failure at once": lambda new: _fail_at_once(new, new()),
    "failure of an inner one": lambda new: _waits(
        new, lambda: _work(new, new(), fail=True)
    ),
    "caught failure": lambda new: _waits(
        new, lambda: _work(new, new(), fail=True), Failure
    ),
    "caught failure of one that fails at once": lambda new: _waits(
        new, lambda: _fail_at_once(new, new()), Failure
    ),
    "failure in a list": lambda new: _waits(
        new, lambda: [_work(new, new(), fail=True), _work(new, new())]
    ),
    "caught failure in a dict": lambda new: _waits(
        new, lambda: {"a": [_work(new, new(), fail=True)]}, Failure
    ),
    "several failures": lambda new: _waits(
        new, lambda: [_work(new, new(), fail=True), _work(new, new(), fail=True)]
    ),
    "in time": lambda new: _waits(
        new, lambda: gen.with_timeout(timedelta(seconds=9), _work(new, new()))
    ),
    "failure in time": lambda new: _waits(
        new,
        lambda: gen.with_timeout(timedelta(seconds=9), _work(new, new(), fail=True)),
        Failure,
    ),
    "too late": lambda new: _waits(
        new,
        lambda: gen.with_timeout(timedelta(seconds=0.1), _work(new, new())),
        TimeoutError,
    ),
    "failure too late": lambda new: _waits(
        new,
        lambda: gen.with_timeout(timedelta(seconds=0.1), _work(new, new(), fail=True)),
        TimeoutError,
    ),
    "native coroutine that was entered": lambda new: _waits(
        new, lambda: asyncio.sleep(1, new())
    ),
    "failure in a native coroutine that was entered": lambda new: _waits(
        new, lambda: _broken_queue(new).get(), Failure
    ),
    "failure after a native coroutine that was entered": lambda new: _fails_after_sleep(
        new, new()
    ),
    "mistake": lambda new: _waits(new, lambda: 42, gen.BadYieldError),
    "mistake in a list": lambda new: _waits(new, lambda: [42], gen.BadYieldError),
    "mistake that is not caught": lambda new: _waits(new, lambda: [[42]]),
    "failure of a converter": lambda new: _waits(new, lambda: Odd(new), Failure),
    "failure of a converter that is not caught": lambda new: _waits(
        new, lambda: Odd(new)
    ),
    "failure that a WaitIterator hands on": lambda new: _waits(
        new, lambda: gen.WaitIterator(_work(new, new(), fail=True)).next(), Failure
    ),
    "early end after another": lambda new: _again(new, "return"),
    "early failure after an early end": lambda new: _again(new, "raise"),
    "wait after an early end": lambda new: _again(new, "wait"),
    "late failure after an early end": lambda new: _again(new, "wait and raise"),
    "failure after an early end and a yield": lambda new: _again(
        new, "yield and raise"
    ),
    "error that is returned early": lambda new: _again(new, "return an error"),
}


@gen.coroutine
def _does(new, argument, what):
    local = new()
    if "wait" in what:
        yield gen.sleep(1)
    if "yield" in what:
        yield gen.maybe_future(None)
    if "raise" in what:
        raise Failure(bool(local and argument))
    try:
        raise Failure
    except Failure as error:
        return error if "error" in what else None


def _again(new, what):
    """Call a coroutine whose last call has ended before its first yield."""
    _does(new, new(), "return")
    return _does(new, new(), what)


def _broken_queue(new):
    class Broken(asyncio.Queue):
        def _get(self):
            local = new()
            raise Failure(bool(local))

    queue = Broken()
    queue.put_nowait(42)
    return queue


@gen.coroutine
def _fails_after_sleep(new, argument):
    local = yield asyncio.sleep(1, new())
    raise Failure(bool(local and argument))


@gen.coroutine
def _fail_at_once(new, argument):
    local = new()
    raise Failure(bool(local and argument))
    yield


@pytest.mark.parametrize("situation", SITUATIONS)
def test_coroutine_that_ended_is_freed_by_reference_counts(loop, new, situation):
    future = SITUATIONS[situation](new)
    _run_for(loop, 5)
    done = future.done()

    # Somebody looks at it, as the one who waits for it would.
    future.exception()
    del future

    assert done
    assert new.references
    assert len(new) == 0
    assert _ours_in_cycles() == []


def _ours_in_cycles():
    """Return the objects of gencoro that only the garbage collector can free."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    ours = [thing for thing in gc.garbage if "gencoro" in type(thing).__module__]
    gc.set_debug(0)
    gc.garbage.clear()
    return ours


def test_cancelled_coroutine_is_freed(loop, new):
    future = _waits(new, lambda: _work(new, new()))
    _run_for(loop, 0.5)

    future.cancel()
    _run_for(loop, 0.1)

    assert future.cancelled()
    assert len(new) == 0


def test_cancelled_sleep_is_freed_before_its_time(loop, new):
    future = gen.sleep(3600)
    future.thing = new()

    future.cancel()
    del future

    assert len(new) == 0


def test_finished_sleep_is_freed(loop, new):
    future = gen.sleep(1)
    future.thing = new()
    _run_for(loop, 2)

    del future

    assert len(new) == 0


def test_unawaited_coroutine_runs_to_its_end_and_is_freed(loop, new):
    _work(new, new())
    _run_for(loop, 0.5)
    while_it_runs = len(new)

    _run_for(loop, 5)

    assert while_it_runs == 2
    assert len(new) == 0


@gen.coroutine
def _fail_later(new, argument):
    local = new()
    yield gen.moment
    raise Failure(bool(local and argument))


@gen.coroutine
def _returns(new, value):
    local = new()
    yield gen.moment
    return bool(local) and value


SCRIPTS = {
    "result": lambda new: lambda: _returns(new, 1),
    "no yieldable": lambda new: lambda: bool(new()),
    "error of the function": lambda new: lambda: _raise(new()),
    "error at once": lambda new: lambda: _fail_at_once(new, new()),
    "error later": lambda new: lambda: _fail_later(new, new()),
    "time-out": lambda new: lambda: _waits(new, lambda: gen.sleep(60)),
}


def _raise(thing):
    raise Failure(bool(thing))


@pytest.mark.parametrize("script", SCRIPTS)
def test_run_sync_leaves_nothing_behind(new, script):
    loop = IOLoop(make_current=False)

    try:
        loop.run_sync(SCRIPTS[script](new), timeout=0.01)
    except (Failure, gen.BadYieldError, TimeoutError):
        pass

    assert new.references
    assert len(new) == 0
    loop.close()


# A Future that lives longer than those who have waited for it.

WAYS_TO_GIVE_UP = {
    "with_timeout": lambda shared: gen.with_timeout(SOON, shared),
    "with_timeout, cancelled": lambda shared: gen.with_timeout(MUCH_LATER, shared),
    "with_timeout of a list": lambda shared: gen.with_timeout(
        SOON, [_done(shared), shared, _done(shared)]
    ),
    "with_timeout of a dict, cancelled": lambda shared: gen.with_timeout(
        MUCH_LATER, {"shared": shared, "done": _done(shared)}
    ),
    "with_timeout of nested lists": lambda shared: gen.with_timeout(
        SOON, [[None, {"shared": shared}], [shared], _done(shared)]
    ),
    "with_timeout of nested lists, cancelled": lambda shared: gen.with_timeout(
        MUCH_LATER, {"shared": [shared, [shared]], "done": [None]}
    ),
    "WaitIterator": lambda shared: gen.WaitIterator(gen.sleep(0.1), shared).next(),
    "WaitIterator, cancelled": lambda shared: gen.WaitIterator(shared).next(),
    "WaitIterator, too late": lambda shared: gen.with_timeout(
        SOON, gen.WaitIterator(shared).next()
    ),
    "chain_future": lambda shared: _chained(shared),
    "shield": asyncio.shield,
}
SOON, MUCH_LATER = timedelta(seconds=0.1), timedelta(hours=1)


def _done(shared):
    done = shared.get_loop().create_future()
    done.set_result(None)
    return done


def _chained(shared):
    target = shared.get_loop().create_future()
    gen.chain_future(shared, target)
    return target


@pytest.mark.parametrize("way", WAYS_TO_GIVE_UP)
def test_future_keeps_nothing_of_those_who_gave_up(loop, new, way):
    shared = loop.create_future()
    callbacks = []

    for _ in range(2):
        future = _waits(new, lambda: WAYS_TO_GIVE_UP[way](shared), TimeoutError)
        _run_for(loop, 0.5)
        future.cancel()
        del future
        _run_for(loop, 5)
        callbacks.append(len(shared._callbacks or ()))

    assert new.references
    assert len(new) == 0
    assert callbacks[0] == callbacks[1] <= 1


# Suspended: collected when they cannot be resumed; see also RunnerGCTest of Tornado.


@gen.coroutine
def _suspended(make, steps):
    try:
        yield make()
    finally:
        steps.append("finally")


def test_coroutine_that_cannot_be_reached_is_collected_and_cleans_up(loop):
    steps = []
    _suspended(lambda: _suspended(loop.create_future, steps), steps)
    before = list(steps)

    gc.collect()

    assert before == []
    assert steps == ["finally", "finally"]
