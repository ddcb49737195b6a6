"""gencoro.coroutines: functions decorated with @gen.coroutine."""

import asyncio
import concurrent.futures
import contextvars
import functools
import gc
import inspect
import sys
import traceback
import unittest.mock

import pytest

from gencoro import gen
from tests.helpers.gencoro.outcomes import Failure
from tests.helpers.scripts import start_python

# Starting and ending.


def test_return_without_a_value_returns_none():
    assert gen.Return().value is None
    assert gen.Return(1).args == (1,)


def test_stop_iteration_in_a_body_is_a_runtime_error(run):
    @gen.coroutine
    def body():
        yield gen.moment
        next(iter([]))

    with pytest.raises(RuntimeError, match="StopIteration"):
        run(body)


# Where no loop is current.

# A program of Tornado's former days.
CALLS_BEFORE_THE_LOOP = """
from gencoro import gen
from gencoro.ioloop import IOLoop
from gencoro.legacy.futures import LegacyFuture

@gen.coroutine
def main():
    print("called")
    yield gen.sleep(0.001)
    IOLoop.current().stop()

future = main()
assert LegacyFuture().get_loop() is future.get_loop()
IOLoop.current().start()
print(future.result())
"""


# asyncio warns of it on Python 3.12 and 3.13, where it creates the loop itself.
def test_call_after_one_that_ended_early_may_end_in_any_way(run):
    @gen.coroutine
    def work(waited_for=None, fails=False):
        value = (yield waited_for) if waited_for else 42
        if fails:
            raise Failure
        return value

    async def main():
        await work()
        early, late = work(fails=True), asyncio.Future()
        await work()
        waiting = work(late)
        await work()
        cancelled = work(asyncio.Future())
        gc.collect()
        await asyncio.sleep(0)
        cancelled.cancel()
        late.set_result("late")
        await asyncio.wait([early, waiting, cancelled])
        return early, waiting, cancelled

    early, waiting, cancelled = run(main)
    frames = traceback.extract_tb(early.exception().__traceback__)
    assert [frame.name for frame in frames] == ["work"]
    assert waiting.result() == "late"
    assert cancelled.cancelled()


def test_recursion_after_an_early_end_takes_no_more_of_the_stack(run):
    @gen.coroutine
    def frames_below(count):
        if count:
            return frames_below(count - 1).result()
        return len(inspect.stack(context=0))
        yield

    async def main():
        return (await frames_below(20)), (await frames_below(20))

    first, second = run(main)
    assert second - first <= 1


def test_call_before_the_loop_creates_it():
    with start_python("-W", "ignore", "-c", CALLS_BEFORE_THE_LOOP) as process:
        assert process.communicate()[0].split() == ["called", "None"]


MADE_BEFORE_THE_LOOP = """
import concurrent.futures, datetime
from gencoro import gen
from gencoro.concurrent import dummy_executor, run_on_executor
from gencoro.ioloop import IOLoop

async def native():
    pass

class Worker:
    executor = dummy_executor

    @run_on_executor
    def job(self):
        pass

soon = datetime.timedelta(seconds=1)
future = MADE
IOLoop.current().run_sync(lambda: future)
"""


@pytest.mark.parametrize(
    "made",
    [
        "gen.sleep(0.001)",
        "gen.multi([])",
        "gen.with_timeout(soon, {})",
        "gen.WaitIterator(dummy_executor.submit(print)).next()",
        "gen.maybe_future(1)",
        "gen.convert_yielded(native())",
        "gen.convert_yielded(concurrent.futures.ThreadPoolExecutor().submit(print))",
        "Worker().job()",
    ],
)
def test_future_made_before_the_loop_creates_it(made):
    program = MADE_BEFORE_THE_LOOP.replace("MADE", made)
    with start_python("-W", "error", "-c", program) as process:
        process.communicate()

    assert process.returncode == 0


# The wrapper.


def test_wrapper_looks_like_its_function():
    def named(a, b=1):
        """Say so."""
        yield a, b

    wrapped = gen.coroutine(named)

    assert (wrapped.__name__, wrapped.__doc__) == ("named", "Say so.")
    assert inspect.getsource(wrapped) == inspect.getsource(named)
    assert list(wrapped.__wrapped__(1)) == list(named(1))
    assert wrapped.__wrapped__ is named
    assert not inspect.isgeneratorfunction(inspect.unwrap(wrapped))
    assert inspect.signature(wrapped) == inspect.signature(named)


def test_methods_of_every_kind_work(run):
    class Things:
        base = 40

        @gen.coroutine
        def method(self, x):
            yield gen.moment
            return self.base + x

        @classmethod
        @gen.coroutine
        def of_class(cls, x):
            yield gen.moment
            return cls.base + x

        @staticmethod
        @gen.coroutine
        def static(x):
            yield gen.moment
            return 40 + x

        @gen.coroutine
        @staticmethod
        def under(x):
            yield gen.moment
            return 40 + x

    @gen.coroutine
    def main():
        things = Things()
        calls = [
            things.method(2),
            things.of_class(2),
            things.static(2),
            Things.under(2),
        ]
        return (yield calls)

    assert run(main) == [42] * 4


def test_partial_of_a_generator_function_works(run):
    def add(a, b):
        yield gen.moment
        return a + b

    assert run(gen.coroutine(functools.partial(add, 40)), 2) == 42


# yield from.


def test_yield_from_takes_generators_futures_and_native_coroutines(run):
    def helper(x):
        yield gen.sleep(1)
        return x

    async def native(x):
        await asyncio.sleep(1)
        return x

    @gen.coroutine
    def main():
        queue = asyncio.Queue()
        queue.put_nowait(4)
        first = yield from helper(1)
        second = yield from native(2)
        third = yield from asyncio.ensure_future(native(3))
        fourth = yield from queue.get()
        yield from asyncio.sleep(1)
        return first, second, third, fourth, asyncio.get_running_loop().time()

    assert run(main) == (1, 2, 3, 4, 4)


def test_future_that_came_by_yield_from_can_be_awaited_too(run):
    @gen.coroutine
    def body(future):
        return (yield from future)

    async def main():
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        waiting = body(future)
        loop.call_soon(future.set_result, 42)
        return await future, await waiting

    assert run(main) == (42, 42)


@pytest.mark.parametrize("kind", ["coroutine", "generator"])
def test_async_def_is_refused_when_it_is_decorated(kind):
    async def native():
        return 42

    async def generator():
        yield 42

    function = native if kind == "coroutine" else generator
    with pytest.raises(TypeError, match="is an `async def` already; drop @gen.corout"):
        gen.coroutine(function)


# Calls that are not run by a loop.


@gen.coroutine
def _later():
    yield gen.moment


def test_call_without_a_loop_says_how_to_run_it():
    with (
        concurrent.futures.ThreadPoolExecutor() as threads,
        pytest.raises(RuntimeError, match="no current event loop") as caught,
    ):
        threads.submit(_later).result()

    (note,) = caught.value.__notes__
    assert note == (
        "_later() was called without an event loop; run it with "
        "IOLoop.current().run_sync(_later), or call it in an `async def` that "
        "asyncio.run() or, from another thread, asyncio.run_coroutine_threadsafe() runs"
    )


REFUSING = [asyncio.create_task]
if sys.version_info < (3, 14):  # from then on it runs what can be awaited
    REFUSING.append(lambda called: asyncio.Runner().run(called))


@pytest.mark.parametrize("run_again", REFUSING)
def test_asyncios_refusal_of_a_started_coroutine_names_the_cure(run, run_again):
    async def main():
        called = _later()
        with pytest.raises(
            (ValueError, TypeError), match="a coroutine was exp"
        ) as caught:
            run_again(called)
        return str(caught.value), repr(called)

    refusal, shown = run(main)

    assert shown == "<CoroutineFuture of _later() pending>"
    assert refusal.endswith(
        f"got {shown}, the Future of a coroutine that has started already; yield or await "
        "it, or run the coroutine's function with IOLoop.current().run_sync(function)"
    )


# Functions that are wrapped before they are decorated.


async def _native():
    return 42


class _Holder:
    def enters_native(self):
        return (yield from _native())


def _enters_native(value):
    return value, (yield from _native())


@pytest.mark.parametrize(
    ("function", "result"),
    [
        (_Holder().enters_native, 42),
        (functools.partial(_enters_native, 1), (1, 42)),
    ],
)
def test_method_or_partial_may_enter_a_native_coroutine(run, function, result):
    assert run(gen.coroutine(function)) == result


class _AsyncCallable:
    async def __call__(self):
        return 42


@pytest.mark.parametrize(
    "function",
    [
        functools.partial(_native),
        _AsyncCallable(),
        functools.partial(_AsyncCallable()),
        _AsyncCallable().__call__,
        unittest.mock.AsyncMock(),
    ],
)
def test_call_that_is_an_async_def_is_refused_as_that_is(function):
    with pytest.raises(TypeError, match="is an `async def` already"):
        gen.coroutine(function)


def _wrapped(function):
    """Hide a function, as many decorators do."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


class _WrappedMethod:
    @_wrapped
    async def method(self):
        return 42


@pytest.mark.parametrize(
    "function",
    [
        _wrapped(_native),
        _wrapped(_wrapped(_native)),
        functools.partial(_wrapped(_native)),
        _wrapped(functools.partial(_native)),
        _wrapped(_AsyncCallable().__call__),
        _WrappedMethod().method,
    ],
)
def test_wrapped_async_def_is_refused_when_it_is_called(run, function):
    with pytest.raises(TypeError, match="is an `async def` already; drop @gen.corout"):
        run(gen.coroutine(function))


def _returns_coroutine():
    return _native()


@functools.wraps(_native)
def _native_run_to_its_end():
    return "result"


@pytest.mark.parametrize("function", [_returns_coroutine, _wrapped(_returns_coroutine)])
def test_plain_function_may_return_a_native_coroutine(run, function):
    @gen.coroutine
    def main():
        native = yield gen.coroutine(function)()
        return (yield native)

    assert run(main) == 42


def test_wrapper_may_return_what_is_no_native_coroutine(run):
    assert run(gen.coroutine(_native_run_to_its_end)) == "result"


# Context variables.

variable = contextvars.ContextVar("variable", default="default")


def test_body_runs_in_one_copy_of_the_callers_context(run):
    seen = []

    @gen.coroutine
    def body():
        seen.append(variable.get())
        token = variable.set("body")
        for waited_for in (gen.moment, gen.sleep(1), [gen.sleep(1)]):
            yield waited_for
            seen.append(variable.get())
        variable.reset(token)
        seen.append(variable.get())

    async def main():
        variable.set("caller")
        await body()
        return variable.get()

    assert run(main) == "caller"
    assert seen == ["caller", "body", "body", "body", "caller"]
