"""Cancelling legacy coroutines, beyond what the golden programs show."""

import asyncio

import pytest

from gencoro import gen as modern_gen
from gencoro.ioloop import IOLoop
from tests.helpers.compat.rows import uses


@pytest.fixture
def seen(compat):
    """Return the list in which the coroutines of a test write what happens to them."""
    return []


@pytest.fixture
def legacy(seen):
    """Make a legacy coroutine that waits, and cleans up in two more turns."""
    from tornado import gen

    @gen.coroutine
    def legacy(yielded):
        try:
            seen.append((yield yielded))
        except BaseException as exc:
            seen.append(type(exc).__name__)
            yield gen.moment
            yield gen.moment
            seen.append("cleaned up")
            raise

    return legacy


async def _waiting_natively(future):
    return await future


@modern_gen.coroutine
def _waiting(future):
    return (yield future)


@uses("tornado.gen.coroutine")
@pytest.mark.parametrize(
    "start",
    [
        _waiting,
        lambda future: asyncio.ensure_future(_waiting_natively(future)),
        lambda future: _waiting([future]),
        lambda future: modern_gen.multi({"legacy": future}),
        lambda future: asyncio.gather(future),
    ],
    ids=["gencoro", "native", "list", "multi", "gather"],
)
def test_cancelled_waiter_cancels_only_the_legacy_coroutines_future(
    loop, legacy, seen, start
):
    from tornado import gen

    async def main():
        pending = gen.Future()
        future = legacy(pending)
        waiter = start(future)
        await asyncio.sleep(0)
        assert waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
        assert future.cancelled() and not pending.done()
        pending.set_result("result")
        await asyncio.sleep(0)

    loop.run_sync(main)

    assert seen == ["result"]


# What a coroutine may yield, to wait for a Future; see `_waits_of`.
WAITS = [
    "future",
    "list",
    "nested",
    "coroutine",
    "multi",
    "Task",
    "YieldFuture",
    "YieldPoints",
    "keys",
    "gencoro",
    "native",
]


def _waits_of(legacy):
    from tornado import gen

    @gen.engine
    def engine(future, callback):
        yield future
        callback()

    def with_key(future):
        future.add_done_callback((yield gen.Callback("key")))
        yield gen.Wait("key")

    return {
        "future": lambda future: future,
        "list": lambda future: [future, gen.sleep(60)],
        "nested": lambda future: [{"a": future, "b": legacy(gen.Future())}, None],
        "coroutine": legacy,
        "multi": lambda future: gen.multi([legacy(future), future]),
        "Task": lambda future: gen.Task(engine, future),
        "YieldFuture": gen.YieldFuture,
        "YieldPoints": lambda future: [gen.YieldFuture(future), legacy(gen.Future())],
        "keys": gen.coroutine(with_key),
        "gencoro": lambda future: _waiting(legacy(future)),
        "native": lambda future: _waiting_natively(legacy(future)),
    }


@pytest.mark.parametrize("is_cancelled", [False, True], ids=["", "cancelled"])
@pytest.mark.parametrize("wait", WAITS)
def test_closed_loop_ends_legacy_coroutines_but_not_their_futures(
    compat, legacy, seen, caplog, wait, is_cancelled
):
    from tornado import gen

    loop = IOLoop(make_current=False)
    pending = gen.Future()

    async def main():
        future = legacy(_waits_of(legacy)[wait](pending))
        for _ in range(3):
            await asyncio.sleep(0)
        if is_cancelled:
            future.cancel()

    loop.run_sync(main)
    loop.close()

    assert set(seen) == {"CancelledError", "cleaned up"}
    assert seen.count("CancelledError") == seen.count("cleaned up")
    assert not pending.done()
    pending.set_result(42)
    assert caplog.records == []
