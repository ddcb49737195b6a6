"""Futures and Tasks other than asyncio's C classes, such as those of nest_asyncio."""

import asyncio
import subprocess
import sys

import pytest

from gencoro import gen
from gencoro.ioloop import IOLoop

# What nest_asyncio.apply() does, except that it also makes loops run inside themselves.
IN_PYTHON = """
import asyncio
asyncio.Task = asyncio.tasks._CTask = asyncio.tasks.Task = asyncio.tasks._PyTask
asyncio.Future = asyncio.futures._CFuture = asyncio.futures.Future = (
    asyncio.futures._PyFuture
)
import sys
if sys.version_info >= (3, 14):  # where Tasks in Python need their own books
    for name, function in list(vars(asyncio.tasks).items()):
        if name.startswith("_py_"):
            kept = name.removeprefix("_py" if hasattr(asyncio.tasks, name[3:]) else "_py_")
            setattr(asyncio.tasks, kept, function)
    asyncio.current_task = asyncio.tasks.current_task
    asyncio.all_tasks = asyncio.tasks.all_tasks
"""

IMPORTS = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
import asyncio, concurrent.futures, datetime, sys
from gencoro import gen
from gencoro.introspect import format_tree, suspended
from gencoro.ioloop import IOLoop, PeriodicCallback
from gencoro.legacy.futures import LegacyFuture
from gencoro.testing import gen_test
"""

PROGRAM = """
async def native(value=1):
    await asyncio.sleep(0)
    return value

async def failing():
    await asyncio.sleep(0)
    raise KeyError("failed")

@gen.coroutine
def yield_each():
    loop, made = asyncio.get_running_loop(), []
    for make in [
        native,
        lambda: asyncio.ensure_future(native()),
        lambda: [native(), asyncio.ensure_future(native()), gen.sleep(0)],
        lambda: {"native": native()},
        lambda: asyncio.gather(native(), gen.sleep(0)),
        lambda: gen.with_timeout(datetime.timedelta(seconds=60), native()),
        lambda: gen.maybe_future(asyncio.ensure_future(native())),
        lambda: asyncio.wait_for(native(), 60),
        lambda: loop.run_in_executor(None, len, "ab"),
        failing,
    ]:
        try:
            made.append((yield make()))
        except KeyError as exc:
            made.append(exc)
    return made

@gen.coroutine
def take_as_they_come():
    tasks = [asyncio.ensure_future(native(number)) for number in range(3)]
    iterator, taken = gen.WaitIterator(*tasks), []
    while not iterator.done():
        taken.append((yield iterator.next()))
    return taken

@gen.coroutine
def cancel():
    waiting = gen.multi([asyncio.ensure_future(asyncio.sleep(60)), gen.sleep(60)])
    yield gen.moment
    waiting.cancel()
    try:
        yield waiting
    except asyncio.CancelledError:
        return [child.cancelled() for child in waiting.children]

@gen.coroutine
def call_back():
    loop, called = IOLoop.current(), []
    async def call():
        await asyncio.sleep(0)
        called.append("native")
    periodic = PeriodicCallback(call, 1)
    periodic.start()
    loop.add_callback(call)
    loop.add_future(asyncio.ensure_future(native()), lambda done: called.append("done"))
    while len(called) < 4:
        yield gen.sleep(0.002)
    periodic.stop()
    return sorted(set(called))

@gen.coroutine
def show():
    waiting = stuck()
    yield gen.moment
    tree = format_tree(asyncio.get_running_loop())
    told = [one.function for one in suspended()], "sleep" in tree, "Named" in tree
    waiting.cancel()
    yield gen.moment
    return told

@gen.coroutine
def stuck():
    yield asyncio.create_task(asyncio.sleep(60), name="Named")

@gen.coroutine
def old_style():
    got = yield gen.Task(lambda callback: callback(42))
    value = yield gen.Task(lambda callback: IOLoop.current().add_callback(callback, 43))
    return got, value, (yield [native(), gen.Task(lambda callback: callback(44))])

@gen_test(timeout=0.01)
def test_that_is_stuck():
    yield stuck()

def drop_an_error():
    LegacyFuture().set_exception(KeyError("dropped"))

async def main():
    return [await function() for function in FUNCTIONS]

FUNCTIONS = [yield_each, take_as_they_come, cancel, call_back, show, old_style]
print(asyncio.run(main()))
loop = IOLoop()
print(*(loop.run_sync(function) for function in FUNCTIONS))
print(loop.run_sync(native), loop.run_sync(lambda: None))
loop.close()
drop_an_error()
try:
    test_that_is_stuck()
except TimeoutError as exc:
    print(exc)
"""


def _printed(*parts):
    return subprocess.check_output(
        [sys.executable, "-c", "".join(parts)], text=True, stderr=subprocess.STDOUT
    )


@pytest.mark.parametrize(
    "parts",
    [(IN_PYTHON, IMPORTS, PROGRAM), (IMPORTS, IN_PYTHON, PROGRAM)],
    ids=["before gencoro", "after gencoro"],
)
def test_program_does_the_same_with_tasks_and_futures_in_python(parts):
    printed = _printed(*parts)

    assert printed == _printed(IMPORTS, PROGRAM)
    assert printed.count("44") == 2
    assert "exception was never retrieved: KeyError('dropped')" in printed
    assert "timed out" in printed


class LookAlike:
    """A Future by its methods, not by its class."""

    _asyncio_future_blocking = False

    def __init__(self):
        self._future = asyncio.get_running_loop().create_future()

    def __getattr__(self, name):
        return getattr(self._future, name)

    def __await__(self):
        if not self.done():
            self._asyncio_future_blocking = True
            yield self
        return self.result()


def _look_alike(result=None):
    future = LookAlike()
    if result is None:
        asyncio.get_running_loop().call_soon(future.set_result, 42)
    else:
        future.set_result(result)
    return future


@gen.coroutine
def _call_back_when_done():
    future, called = _look_alike(), asyncio.Future()
    IOLoop.current().add_future(future, lambda done: called.set_result(done.result()))
    return (yield called)


@pytest.mark.parametrize(
    "wait",
    [
        _look_alike,
        lambda: _look_alike(42),
        lambda: gen.with_timeout(2**40, _look_alike()),
        lambda: gen.maybe_future(_look_alike()),
        _call_back_when_done,
    ],
    ids=["pending", "done", "with_timeout", "maybe_future", "add_future"],
)
def test_what_asyncio_takes_for_a_future_is_waited_for(wait):
    @gen.coroutine
    def main():
        one = yield wait()
        many = yield [wait(), {"key": wait()}]
        return one, many

    async def native():
        return await main()

    assert asyncio.run(native()) == (42, [42, {"key": 42}])
