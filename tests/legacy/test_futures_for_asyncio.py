"""The Future of Tornado 4 works wherever asyncio expects a Future."""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import gc
import threading

import pytest

from gencoro import gen
from gencoro.legacy.adaptors import return_future
from gencoro.legacy.futures import LegacyFuture
from tests.helpers.gencoro.outcomes import Failure

CANCELLED = asyncio.CancelledError


def _done(outcome):
    """Return a Future that has its outcome."""
    future = LegacyFuture()
    _set(future, outcome)
    return future


def _later(outcome):
    """Return a Future that gets its outcome in a later turn."""
    future = LegacyFuture()
    asyncio.get_running_loop().call_later(0, _set, future, outcome)
    return future


def _set(future, outcome):
    if isinstance(outcome, Failure):
        future.set_exception(outcome)
    elif outcome is CANCELLED:
        future.cancel()
    else:
        future.set_result(outcome)


KINDS = pytest.mark.parametrize("make", [_done, _later], ids=["done", "later"])


async def _wait_for(awaitable):
    """Wait for it: a hanging test ends here."""
    async with asyncio.timeout(5):
        return await awaitable


async def _as_completed(*futures):
    return [await _wait_for(next_one) for next_one in asyncio.as_completed(futures)]


async def _in_task_group(*futures):
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_wait_for(future)) for future in futures]
    return [task.result() for task in tasks]


# Ways to wait for one Future, that give its result.
WAYS = {
    "await": _wait_for,
    "gather": lambda future: _first(asyncio.gather(future)),
    "wait_for": lambda future: asyncio.wait_for(future, 5),
    "shield": asyncio.shield,
    "as_completed": lambda future: _first(_as_completed(future)),
    "wrap in a Task": lambda future: asyncio.create_task(_wait_for(future)),
    "ensure_future": asyncio.ensure_future,
    "TaskGroup": lambda future: _first(_in_task_group(future)),
    "yield in a coroutine": lambda future: _first(_yielding([future])),
    "with_timeout": lambda future: gen.with_timeout(_now() + 5, future),
}

EACH_WAY = pytest.mark.parametrize("wait", WAYS.values(), ids=WAYS)


async def _first(awaitable):
    return (await awaitable)[0]


@gen.coroutine
def _yielding(futures):
    return (yield futures)


def _now():
    return gen.IOLoop.current().time()


# Waiting for one.


@KINDS
@EACH_WAY
@pytest.mark.parametrize("outcome", [42, Failure("of a Future"), CANCELLED])
def test_outcome_arrives(make, wait, outcome):
    async def main():
        waiting = asyncio.ensure_future(wait(make(outcome)))
        await asyncio.wait([waiting], timeout=5)
        if waiting.cancelled():
            return CANCELLED
        error = waiting.exception()
        # A TaskGroup wraps the errors of its tasks.
        [error] = getattr(error, "exceptions", [error])
        return error or waiting.result()

    assert asyncio.run(main()) is outcome


@EACH_WAY
def test_waiter_goes_on_in_a_later_turn_and_not_within_set_result(wait):
    steps = []

    async def waits(future):
        steps.append(await wait(future))

    async def main():
        future = LegacyFuture()
        waiting = asyncio.create_task(waits(future))
        await asyncio.sleep(0.001)
        future.set_result(42)
        steps.append("set")
        await _wait_for(waiting)

    asyncio.run(main())

    assert steps == ["set", 42]


# Waiting for several.


@KINDS
def test_wait_returns_when_all_are_done_or_the_first_is(make):
    async def main():
        pending = LegacyFuture()
        futures = [make(1), make(2)]
        every = await asyncio.wait(futures, timeout=5)
        first = await asyncio.wait(
            [futures[0], pending], return_when=asyncio.FIRST_COMPLETED, timeout=5
        )
        return every == (set(futures), set()), first == ({futures[0]}, {pending})

    assert asyncio.run(main()) == (True, True)


# Giving up.


def test_cancelled_waiter_cancels_it_and_a_shielded_one_does_not():
    async def main():
        plain, shielded = LegacyFuture(), LegacyFuture()
        tasks = [
            asyncio.create_task(_wait_for(plain)),
            asyncio.create_task(_wait_for(asyncio.shield(shielded))),
        ]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=5)
        return [task.cancelled() for task in tasks], plain.done(), shielded.done()

    assert asyncio.run(main()) == ([True, True], True, False)


def test_cancel_message_is_kept():
    async def main():
        future = LegacyFuture()
        future.cancel("enough")
        with pytest.raises(asyncio.CancelledError, match="enough"):
            await future

    asyncio.run(main())


def test_cancelled_return_future_calls_no_callback_and_logs_no_error(caplog):
    @return_future
    def ask(callback):
        asyncio.get_running_loop().call_soon(callback, "too late")

    async def main():
        called = []
        future = ask(called.append)
        accepted = future.cancel()
        await asyncio.sleep(0)
        return accepted, future.cancelled(), called

    assert asyncio.run(main()) == (True, True, [])
    assert caplog.records == []


# Its loop.


@pytest.fixture
def made_early():
    """A Future that was made when there was no loop at all."""
    assert asyncio._get_running_loop() is None
    return LegacyFuture()


def test_future_set_without_a_loop_is_awaited_on_several_loops():
    future = _done(42)

    async def main():
        return await _wait_for(asyncio.gather(future, future)), await future

    assert [asyncio.run(main()) for _ in range(3)] == [([42, 42], 42)] * 3


@pytest.mark.parametrize("wait", [WAYS["await"], WAYS["yield in a coroutine"]])
def test_future_waited_for_in_vain_is_waited_for_by_the_next_loop(made_early, wait):
    async def in_vain():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(made_early), 0.001)

    async def main():
        asyncio.get_running_loop().call_later(0.001, made_early.set_result, 42)
        return await _wait_for(wait(made_early))

    asyncio.run(in_vain())

    assert asyncio.run(main()) == 42


@pytest.mark.parametrize("is_given", [False, True])
def test_run_until_complete_takes_it(is_given):
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        asyncio.set_event_loop(None if is_given else loop)
        future = LegacyFuture(loop=loop) if is_given else LegacyFuture()
        loop.call_soon(future.set_result, 42)

        seen = loop.run_until_complete(future), future.get_loop()
        asyncio.set_event_loop(None)

    assert seen == (42, loop)


def test_pending_future_of_another_running_loop_is_refused(made_early):
    async def bind():
        waiting = asyncio.ensure_future(asyncio.shield(made_early))
        await asyncio.sleep(0)
        await asyncio.to_thread(asyncio.run, elsewhere())
        made_early.set_result(None)
        await waiting

    async def elsewhere():
        with pytest.raises(RuntimeError, match="attached to a different loop"):
            await made_early

    asyncio.run(bind())


# Threads.


def test_future_set_by_another_thread_wakes_the_loop_that_sleeps():
    async def main():
        future, sleeping = LegacyFuture(), threading.Event()

        def work():
            sleeping.wait(5)
            future.set_result(threading.current_thread())

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            pool.submit(work)
            # No timer runs meanwhile, so that nothing else can wake the loop.
            waiting = asyncio.ensure_future(_return(future))
            asyncio.get_running_loop().call_soon(sleeping.set)
            await waiting
        return waiting.result() is not threading.current_thread()

    assert asyncio.run(main())


async def _return(future):
    return await future


def test_callback_runs_on_the_setting_thread_and_the_waiter_on_its_own():
    threads = {}

    async def main():
        future = LegacyFuture()
        future.add_done_callback(
            lambda _: threads.update(callback=threading.current_thread())
        )
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            asyncio.get_running_loop().call_soon(pool.submit, future.set_result, None)
            await _wait_for(future)
        threads["waiter"] = threading.current_thread()

    asyncio.run(main())

    assert threads["waiter"] is threading.main_thread()
    assert threads["callback"] is not threading.main_thread()


def test_callback_with_a_context_runs_on_the_loop_of_its_adder():
    threads = []

    async def main():
        future, called = LegacyFuture(), asyncio.Event()

        def callback(_done):
            threads.append(threading.current_thread())
            called.set()

        future.add_done_callback(callback, context=contextvars.copy_context())
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            pool.submit(future.set_result, None).result()
        await _wait_for(called.wait())

    asyncio.run(main())

    assert threads == [threading.current_thread()]


# What it is.


def test_repr_tells_its_state_and_its_callbacks():
    pending, cancelled = LegacyFuture(), LegacyFuture()
    pending.add_done_callback(print)
    cancelled.cancel()
    failed = _done(Failure("k"))
    failed.exception()

    assert repr(LegacyFuture()) == "<LegacyFuture pending>"
    assert repr(pending) == "<LegacyFuture pending cb=[print()]>"
    assert repr(cancelled) == "<LegacyFuture cancelled>"
    assert repr(_done(42)) == "<LegacyFuture finished result=42>"
    assert repr(failed) == "<LegacyFuture finished exception=Failure('k')>"


def test_callback_with_a_context_runs_within_it_in_a_later_turn():
    variable = contextvars.ContextVar("variable")
    calls = []

    async def main():
        context = contextvars.copy_context()
        context.run(variable.set, "theirs")
        for future in (_done(None), _later(None)):
            future.add_done_callback(
                lambda _: calls.append(variable.get()), context=context
            )
        calls.append("added")
        await asyncio.sleep(0.001)

    asyncio.run(main())

    assert calls == ["added", "theirs", "theirs"]


def test_removed_callback_is_not_called_and_is_counted():
    calls = []
    future = LegacyFuture()
    for callback in (calls.append, print, calls.append):
        future.add_done_callback(callback)

    removed = future.remove_done_callback(calls.append)
    future.remove_done_callback(print)
    future.set_result(42)

    assert (removed, calls) == (2, [])


# Debug mode.


def test_debug_mode_tells_where_it_was_made():
    async def main():
        return repr(LegacyFuture())

    told = asyncio.run(main(), debug=True)

    line = main.__code__.co_firstlineno + 1
    assert told == f"<LegacyFuture pending created at {__file__}:{line}>"


@KINDS
def test_debug_mode_waits_for_it_as_well(make):
    async def main():
        return await _wait_for(asyncio.gather(make(42), _yielding([make(43)])))

    assert asyncio.run(main(), debug=True) == [42, [43]]


# Unretrieved errors.


@pytest.mark.parametrize("debug", [False, True])
def test_unretrieved_error_is_logged_once_as_in_tornado(caplog, debug):
    gc.collect()  # what other tests have left
    caplog.clear()

    async def main():
        future = _done(Failure("unseen"))
        future.add_done_callback(lambda _: None)
        del future
        gc.collect()

    asyncio.run(main(), debug=debug)

    # In debug mode asyncio may have something to say of a slow machine.
    [record] = [r for r in caplog.records if "never retrieved" in r.getMessage()]
    assert (record.name, record.levelname) == ("tornado.application", "ERROR")
    assert record.exc_info[1].args == ("unseen",)


def test_future_set_on_another_loops_thread_resumes_the_waiter_on_its_own():
    future = LegacyFuture()
    waiting = threading.Event()

    async def set_it():
        waiting.wait(10)
        future.set_result(42)

    @gen.coroutine
    def waits():
        # The step has ended, and so the wait begun, before the loop calls this.
        asyncio.get_running_loop().call_soon(waiting.set)
        return (yield future), threading.current_thread()

    async def main():
        return await waits()

    thread = threading.Thread(target=lambda: asyncio.run(set_it()))
    thread.start()
    result, where = asyncio.run(main())
    thread.join()

    assert result == 42
    assert where is threading.current_thread()
