"""Legacy coroutines that have ended are freed by reference counts alone.

The collector is off during each test, as in tests/gencoro/test_leaks.py.
"""

import asyncio
import contextlib
import functools

import pytest

from gencoro import gen
from gencoro.ioloop import IOLoop
from gencoro.legacy.adaptors import Task, return_future
from gencoro.legacy.engine import engine
from gencoro.legacy.stack_context import (
    ExceptionStackContext,
    StackContext,
    _state,
    run_with_stack_context,
    wrap,
)
from gencoro.legacy.yieldpoints import (
    Callback,
    MultiYieldPoint,
    Wait,
    YieldFuture,
    YieldPoint,
)
from gencoro.virtual_clock import VirtualClock
from tests.helpers.gencoro.outcomes import Failure


class Odd(YieldPoint):
    """Holds a thing, and fails at the stage of this name."""

    def __init__(self, new, stage):
        self.thing = new()
        self.stage = stage

    def start(self, runner):
        self._reach("start")

    def is_ready(self):
        self._reach("is_ready")
        return True

    def get_result(self):
        self._reach("get_result")

    def _reach(self, stage):
        if stage == self.stage:
            raise Failure(stage)


@pytest.fixture
def loop(new):
    """Make a virtual loop; a test runs it with `_run_for`."""
    loop = VirtualClock().new_event_loop()
    asyncio.set_event_loop(loop)
    yield loop
    asyncio.set_event_loop(None)
    loop.close()


def _run_for(loop, duration):
    loop.call_later(duration, loop.stop)
    loop.run_forever()


def _later(callback, *args):
    IOLoop.current().call_later(1, callback, *args)


@gen.coroutine
def _keys(new, argument, fail=False):
    local = new()
    new.of(_state.contexts[1]) if _state.contexts[1] else None
    callback = yield Callback("key")
    _later(callback, new())
    del callback
    got = yield Wait("key")
    if fail:
        raise Failure
    return bool(local and argument and got)


@gen.coroutine
def _waits(new, make, caught=()):
    local = new()
    (yield Callback("before"))(new())
    try:
        yield make()
    except caught:
        pass
    yield [Wait("before"), gen.sleep(1)]
    return bool(local)


def _entering(function):
    """Call a function within one context of each kind."""
    with contextlib.ExitStack() as entered:
        entered.enter_context(ExceptionStackContext(lambda *_: False))
        entered.enter_context(StackContext(contextlib.nullcontext))
        return function()


def _ask(new, argument, callback):
    local = new()
    _later(callback, new())
    del local, argument


def _ask_and_fail(new, _argument, callback):
    _later(_fail, new())


def _fail_to_ask(_new, _argument, callback):
    raise Failure


def _ignore(*_args):
    pass


def _fail(_thing):
    raise Failure


# Each starts something and returns its Future.
SITUATIONS = {
    "success": lambda new: _keys(new, new()),
    "failure": lambda new: _keys(new, new(), fail=True),
    "leak": lambda new: _leak(new, new()),
    "failure of an inner one": lambda new: _waits(
        new, lambda: _keys(new, new(), fail=True)
    ),
    "caught failure of an inner one": lambda new: _waits(
        new, lambda: _keys(new, new(), fail=True), Failure
    ),
    "list": lambda new: _waits(
        new, lambda: [_keys(new, new()), Odd(new, None), _keys(new, new())]
    ),
    "failure in a list": lambda new: _waits(
        new, lambda: [_keys(new, new(), fail=True), Odd(new, None)]
    ),
    "caught failures in a dict": lambda new: _waits(
        new,
        lambda: {"a": [_keys(new, new(), fail=True)], "b": Odd(new, "get_result")},
        Failure,
    ),
    "failing start": lambda new: _waits(new, lambda: Odd(new, "start"), Failure),
    "failing start of the first": lambda new: _yields(new, lambda: Odd(new, "start")),
    "failing is_ready of the first": lambda new: _yields(
        new, lambda: Odd(new, "is_ready")
    ),
    "failing result of the first": lambda new: _yields(
        new, lambda: Odd(new, "get_result")
    ),
    "failing list that is the first": lambda new: _yields(
        new, lambda: [Odd(new, None), _keys(new, new(), fail=True)]
    ),
    "failing is_ready": lambda new: _waits(new, lambda: Odd(new, "is_ready")),
    "failing result": lambda new: _waits(new, lambda: Odd(new, "get_result"), Failure),
    "YieldFuture": lambda new: _waits(new, lambda: YieldFuture(_keys(new, new()))),
    "MultiYieldPoint": lambda new: _waits(
        new, lambda: MultiYieldPoint([_keys(new, new()), Odd(new, None)])
    ),
    "unknown key": lambda new: _waits(
        new, lambda: Wait("unknown"), gen.UnknownKeyError
    ),
    "Task": lambda new: Task(_ask, new, new()),
    "Task in a coroutine": lambda new: _waits(new, lambda: Task(_ask, new, new())),
    "failure of a Task": lambda new: Task(_ask_and_fail, new, new()),
    "failure of a Task at once": lambda new: Task(_fail_to_ask, new, new()),
    "caught failure of a Task": lambda new: _waits(
        new, lambda: Task(_ask_and_fail, new, new()), Failure
    ),
    "return_future": lambda new: return_future(_ask)(new, new()),
    "return_future with a callback": lambda new: return_future(_ask)(
        new, new(), functools.partial(_ignore, new())
    ),
    "failure of return_future": lambda new: return_future(_ask_and_fail)(new, new()),
    "engine": lambda new: Task(engine(_engine), new, new()),
    "within contexts": lambda new: _entering(lambda: _keys(new, new())),
    "failure within contexts": lambda new: _entering(
        lambda: _waits(new, lambda: _keys(new, new(), fail=True))
    ),
    "plain coroutine within contexts": lambda new: _entering(
        lambda: _plain(new, new())
    ),
    "native coroutine within contexts": lambda new: _entering(
        lambda: gen.convert_yielded(_native(new, new()))
    ),
    "context inside of a coroutine": lambda new: _enters(new, new()),
}


@gen.coroutine
def _yields(new, make):
    local = new()
    yield make()
    return bool(local)


@gen.coroutine
def _leak(new, argument):
    local = new()
    yield Callback("key")
    return bool(local and argument)


def _engine(new, argument, callback):
    local = new()
    yield gen.moment
    result = yield Task(_ask, new, argument)
    callback(bool(local and result))


@gen.coroutine
def _plain(new, argument):
    local = new()
    yield gen.sleep(1)
    yield gen.moment
    return bool(local and argument)


async def _native(new, argument):
    local = new()
    await asyncio.sleep(1)
    return bool(local and argument)


@gen.coroutine
def _enters(new, argument):
    local = new()
    yield gen.moment
    inner = run_with_stack_context(
        new.of(StackContext(contextlib.nullcontext)), lambda: _keys(new, argument)
    )
    yield inner
    return bool(local)


@pytest.fixture
def begin(new, loop):
    """Begin a situation in a turn of the loop; return a list of its Future."""

    def begin(situation):
        # No frame here holds the Future: the traceback of an error holds the frames.
        begun = []
        loop.call_soon(lambda: begun.append(SITUATIONS[situation](new)))
        _run_for(loop, 0)
        runner = getattr(begun[0], "_runner", None)
        if runner is not None:
            new.of(runner)
            new.of(runner.gen)
        return begun

    return begin


@pytest.mark.parametrize("debug", [False, True], ids=["", "debug"])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_end_leaves_nothing(new, loop, begin, situation, debug):
    loop.set_debug(debug)
    begun = begin(situation)
    while_waiting = len(new)
    _run_for(loop, 10)

    [future] = begun
    assert future.done()
    assert while_waiting > 0
    future.cancelled() or future.exception()
    del future
    begun.clear()
    _run_for(loop, 0)
    assert len(new) == 0


@pytest.mark.parametrize("turns", [0, 1, 5])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_cancel_leaves_nothing(new, loop, begin, situation, turns):
    begun = begin(situation)
    for _ in range(turns):
        _run_for(loop, 0)

    future = begun.pop()
    future.cancel()
    # The callback is called all the same, and ignored.
    _run_for(loop, 10)
    assert future.done()
    future.cancelled() or future.exception()
    del future
    _run_for(loop, 0)
    assert len(new) == 0


def test_wrapped_call_is_freed_with_what_it_holds(new):
    def begin():
        with ExceptionStackContext(functools.partial(_ignore, new())):
            return wrap(functools.partial(_ignore, new()))

    wrapped = begin()
    wrapped()
    alive = len(new)
    del wrapped

    assert alive == 2
    assert len(new) == 0


def test_error_that_went_through_contexts_is_freed(new):
    class Watched(Failure):
        pass

    def fail():
        raise new.of(Watched())

    wrapped = _entering(lambda: wrap(fail))
    with pytest.raises(Watched):
        wrapped()

    assert len(new) == 0
