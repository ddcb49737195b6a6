"""gencoro.locks and gencoro.queues: nothing is lost by cancelling, and Tornado's interface.

Tornado's own tests of these modules are in `test_tornado_suites`.
"""

import asyncio
import gc
import inspect
import weakref
from datetime import timedelta

import pytest
import tornado.locks
import tornado.queues

from gencoro import gen, locks, queues

# How each thing is made with nothing to hand out, waited for, and handed over.
THINGS = {
    "Lock": (lambda: _held(locks.Lock()), "acquire", lambda it: it.release()),
    "Semaphore": (lambda: locks.Semaphore(0), "acquire", lambda it: it.release()),
    "BoundedSemaphore": (
        lambda: _held(locks.BoundedSemaphore(1)),
        "acquire",
        lambda it: it.release(),
    ),
    "Condition": (locks.Condition, "wait", lambda it: it.notify()),
    "Queue": (queues.Queue, "get", lambda it: it.put_nowait(42)),
    "PriorityQueue": (queues.PriorityQueue, "get", lambda it: it.put_nowait(42)),
    "LifoQueue": (queues.LifoQueue, "get", lambda it: it.put_nowait(42)),
}


def _held(lock):
    lock.acquire()
    return lock


@gen.coroutine
def _by_yield(wait):
    return (yield wait())


@gen.coroutine
def _in_a_list(wait):
    [result] = yield [wait()]
    return result


@gen.coroutine
def _by_yield_from(wait):
    return (yield from wait())


async def _by_await(wait):
    return await wait()


@gen.coroutine
def _by_a_native_coroutine(wait):
    return (yield _by_await(wait))


WAYS_TO_WAIT = {
    "yield": _by_yield,
    "list": _in_a_list,
    "yield from": _by_yield_from,
    "await": lambda wait: asyncio.ensure_future(_by_await(wait)),
    "wait_for": lambda wait: asyncio.ensure_future(asyncio.wait_for(wait(), 3600)),
}


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("way", WAYS_TO_WAIT)
@pytest.mark.parametrize("thing", THINGS)
def test_what_a_cancelled_waiter_does_not_take_goes_to_the_next(run, thing, way, turns):
    make, name, hand_over = THINGS[thing]

    async def main():
        it = make()
        waiters = [WAYS_TO_WAIT[way](getattr(it, name)) for _ in range(2)]
        await asyncio.sleep(1)
        hand_over(it)
        for _ in range(turns):
            await asyncio.sleep(0)
        waiters[0].cancel()
        await asyncio.wait(waiters, timeout=60)
        return [waiter.done() and not waiter.cancelled() for waiter in waiters]

    assert sorted(run(main)) == [False, True]


ASYNCIO = {
    "Lock": (lambda: _locked(asyncio.Lock()), "acquire", lambda it: it.release()),
    "Semaphore": (lambda: asyncio.Semaphore(0), "acquire", lambda it: it.release()),
    "Queue": (asyncio.Queue, "get", lambda it: it.put_nowait(42)),
}


def _locked(lock):
    acquiring = lock.acquire()
    with pytest.raises(StopIteration):
        acquiring.send(None)
    return lock


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("thing", ASYNCIO)
def test_those_of_asyncio_are_entered_by_a_yield_and_lose_nothing_either(
    run, monkeypatch, thing, turns
):
    monkeypatch.setitem(THINGS, thing, ASYNCIO[thing])
    test_what_a_cancelled_waiter_does_not_take_goes_to_the_next(
        run, thing, "yield", turns
    )


@pytest.mark.parametrize("thing", THINGS)
def test_waiter_whose_time_is_over_leaves_and_takes_nothing(run, thing):
    make, name, hand_over = THINGS[thing]

    async def main():
        it = make()
        late = getattr(it, name)(timeout=timedelta(seconds=1))
        waiting = getattr(it, name)()
        await asyncio.sleep(2)
        hand_over(it)
        assert waiting.done()
        return await late

    if thing == "Condition":
        assert run(main) is False
    else:
        with pytest.raises(TimeoutError):
            run(main)


class _SetOfItems(queues.Queue):
    """A queue as it is written for Tornado: each item once."""

    def _init(self):
        self._queue = set()

    def _get(self):
        self._queue.remove(least := min(self._queue))
        return least

    def _put(self, item):
        if item is not None:
            self._queue.add(item)


@pytest.mark.parametrize(
    ("queue", "items"),
    [
        (queues.Queue, [1, 2, 3]),
        (queues.PriorityQueue, [1, 2, 3]),
        (queues.LifoQueue, [3, 2, 1]),
        (_SetOfItems, [1, 2, 3]),
    ],
)
def test_item_that_is_handed_back_keeps_its_place(run, queue, items):
    async def main():
        it = queue()
        for item in (1, 2, 3):
            it.put_nowait(item)
        taker = _by_yield(lambda: gen.multi([it.get(), gen.sleep(60)]))
        taker.cancel()
        await asyncio.wait([taker])
        return [it.get_nowait() for _ in range(it.qsize())]

    assert run(main) == items


def test_item_that_a_subclass_drops_wakes_up_no_waiter(run):
    async def main():
        it = _SetOfItems()
        waiting = it.get()
        it.put_nowait(None)
        assert not waiting.done()
        it.put_nowait(42)
        return await waiting

    assert run(main) == 42


def test_result_that_was_handed_back_cannot_be_taken_any_more(run):
    @gen.coroutine
    def main():
        queue = queues.Queue()
        kept = queue.get()
        taker = _by_yield(lambda: kept)
        queue.put_nowait(42)
        taker.cancel()
        yield asyncio.wait([taker])
        with pytest.raises(asyncio.CancelledError):
            yield kept
        return (yield queue.get())

    assert run(main) == 42


def test_waits_may_begin_before_the_loop_runs(loop):
    queue = queues.Queue()
    item = queue.get()
    loop.add_callback(queue.put_nowait, 42)

    assert loop.run_sync(lambda: item) == 42


def test_waiters_that_gave_up_are_freed(run):
    async def main():
        event = locks.Event()
        references = []
        for _ in range(3):
            waiting = event.wait(timedelta(seconds=1))
            references.append(weakref.ref(waiting))
            await asyncio.wait([waiting], timeout=2)
            waiting.exception()
        cancelled = event.wait()
        cancelled.cancel()
        references.append(weakref.ref(cancelled))
        del waiting, cancelled
        gc.collect()
        return [reference() for reference in references]

    assert run(main) == [None] * 4


@pytest.mark.parametrize("module", [tornado.locks, tornado.queues])
def test_names_and_parameters_are_those_of_tornado(module):
    ours = locks if module is tornado.locks else queues

    assert sorted(ours.__all__) == sorted(module.__all__)
    for name in module.__all__:
        cls = getattr(module, name)
        for method, function in inspect.getmembers(cls, inspect.isfunction):
            if not method.startswith("_") and not issubclass(cls, Exception):
                mine = getattr(getattr(ours, name), method)
                assert _parameters(mine) == _parameters(function), (name, method)


def _parameters(function):
    parameters = inspect.signature(function).parameters.values()
    return [(parameter.name, parameter.default) for parameter in parameters]


@pytest.mark.parametrize(
    ("refused", "error", "why"),
    [
        (lambda: queues.Queue(None), TypeError, "0 means no limit"),
        (lambda: queues.Queue(-1), ValueError, "can't be negative"),
        (lambda: locks.Semaphore(-1), ValueError, "give 0 or more"),
        (lambda: locks.Lock().release(), RuntimeError, "release unlocked lock"),
        (lambda: locks.BoundedSemaphore().release(), ValueError, "too many times"),
        (lambda: locks.Lock().__enter__(), RuntimeError, "write `with .yield"),
    ],
)
def test_mistakes_are_refused(refused, error, why):
    with pytest.raises(error, match=why):
        refused()
