"""Stack contexts apply in native coroutines, but not in other threads and shared streams."""

import asyncio
import gc
import re
import socket
import threading
import weakref

import pytest
from tornado.iostream import IOStream, StreamClosedError

from gencoro import gen, introspect
from gencoro.legacy.stack_context import (
    ExceptionStackContext,
    StackContext,
    _state,
    run_with_stack_context,
)
from tests.helpers.gencoro.outcomes import Failure

NONE = ((), None)


class Request:
    """A context manager that sets the current request while it is entered."""

    present = None
    entered = 0

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.before, Request.present = Request.present, self.name
        Request.entered += 1

    def __exit__(self, *_exc_info):
        Request.present = self.before


def _within(name, function):
    """Call a function within the context of a request, and return what it returns."""
    return run_with_stack_context(StackContext(lambda: Request(name)), function)


@pytest.fixture
def steps():
    """Return a list to which `seen` adds the present request."""
    assert Request.present is None
    yield []
    assert Request.present is None
    assert _state.contexts == NONE


@pytest.fixture
def native(steps):
    """A native coroutine that records the current request at each step."""

    async def native():
        steps.append(Request.present)
        await asyncio.sleep(0)
        steps.append(Request.present)
        await gen.sleep(0.001)
        steps.append(Request.present)
        await _native_inside(steps)
        return Request.present

    return native


async def _native_inside(steps):
    await asyncio.sleep(0)
    steps.append(Request.present)


@pytest.fixture
def coroutine(steps):
    """A coroutine of gencoro that does the same."""

    @gen.coroutine
    def coroutine():
        for _ in range(4):
            steps.append(Request.present)
            yield gen.moment
        return Request.present

    return coroutine


# Native coroutines (Tornado #2383).


def test_yielded_native_coroutine_is_in_the_callers_context(loop, native, steps):
    @gen.coroutine
    def handler():
        yield gen.moment
        first = yield native()
        second = yield from native()
        yield gen.moment
        return first, second, Request.present

    @gen.coroutine
    def main():
        return (yield _within("A", handler)), Request.present

    assert loop.run_sync(main) == (("A", "A", "A"), None)
    assert steps == ["A"] * 8


def test_ours_awaited_by_a_native_one_is_within_its_context(loop, coroutine, steps):
    async def native():
        await asyncio.sleep(0)
        return await coroutine()

    @gen.coroutine
    def main():
        return (yield _within("A", lambda: gen.convert_yielded(native())))

    assert loop.run_sync(main) == "A"
    assert steps == ["A"] * 4


def test_native_coroutine_leaves_a_deactivated_context(loop, steps):
    go_on = asyncio.Event()

    async def native():
        steps.append(Request.present)
        await go_on.wait()
        steps.append(Request.present)

    @gen.coroutine
    def main():
        with StackContext(lambda: Request("A")) as deactivate:
            future = gen.convert_yielded(native())
        yield gen.moment
        deactivate()
        go_on.set()
        yield future

    loop.run_sync(main)

    assert steps == ["A", None]


@pytest.mark.parametrize("ending", ["error", "cancel", "time-out"])
def test_native_coroutine_ends_within_its_context(loop, steps, ending):
    async def native():
        try:
            await asyncio.sleep(60 if ending != "error" else 0)
            raise Failure("inside")
        finally:
            steps.append(Request.present)
            await asyncio.sleep(0)
            steps.append(Request.present)

    @gen.coroutine
    def main():
        future = _within("A", lambda: gen.convert_yielded(native()))
        yield gen.moment
        if ending != "error":
            future.cancel()
        try:
            yield future
        except (Failure, asyncio.CancelledError) as error:
            return type(error)

    expected = Failure if ending == "error" else asyncio.CancelledError
    assert loop.run_sync(main) is expected
    assert steps == ["A", "A"]


def test_native_coroutine_within_a_context_looks_like_itself(loop):
    async def native():
        await asyncio.sleep(0)
        await gen.sleep(0)

    @gen.coroutine
    def main():
        task = _within("A", lambda: gen.convert_yielded(native()))
        yield gen.moment
        told = repr(task), [frame.f_code.co_name for frame in task.get_stack()]
        tree = introspect.format_tree(loop)
        yield task
        return told, tree

    (told, stack), tree = loop.run_sync(main)

    assert "native() running at" in told
    assert stack == ["native"]
    assert re.search(
        r"^native\(\) at \S*test_contexts_reach.py:\d+ \(Task-", tree, re.MULTILINE
    )


# Coroutines and callbacks.


def test_asyncios_own_callbacks_know_the_contexts(loop):
    seen = []

    @gen.coroutine
    def main():
        asyncio_loop = asyncio.get_running_loop()
        with ExceptionStackContext(lambda *_: None) as deactivate:
            asyncio_loop.call_soon(lambda: seen.append(_state.contexts[1] is not None))
            asyncio_loop.call_later(
                0, lambda: seen.append(_state.contexts[1] is not None)
            )
        yield gen.sleep(0.001)
        deactivate()
        asyncio_loop.call_soon(lambda: seen.append(_state.contexts))
        yield gen.moment

    loop.run_sync(main)

    assert seen == [True, True, NONE]


# Threads.


def _look():
    return _state.contexts, threading.current_thread() is not threading.main_thread()


@pytest.mark.parametrize(
    "start",
    [
        lambda loop: loop.run_in_executor(None, _look),
        lambda _: asyncio.get_running_loop().run_in_executor(None, _look),
        lambda _: gen.convert_yielded(asyncio.to_thread(_look)),
    ],
    ids=["IOLoop.run_in_executor", "run_in_executor", "asyncio.to_thread"],
)
def test_executor_works_with_none(loop, start):
    @gen.coroutine
    def main():
        with ExceptionStackContext(lambda *_: None):
            future = start(loop)
        return (yield future)

    assert loop.run_sync(main) == (NONE, True)


@pytest.mark.parametrize(
    "start",
    [
        lambda loop, *call: loop.run_in_executor(None, *call),
        lambda _, *call: gen.convert_yielded(asyncio.to_thread(*call)),
    ],
    ids=["run_in_executor", "asyncio.to_thread"],
)
def test_callback_from_another_thread_runs_within_none(loop, start):
    seen = []

    @gen.coroutine
    def main():
        with ExceptionStackContext(lambda *_: None):
            future = start(
                loop, loop.add_callback, lambda: seen.append(_state.contexts)
            )
        yield future
        yield gen.moment

    loop.run_sync(main)

    assert seen == [NONE]


# Streams.


@pytest.fixture
def sockets():
    ours, theirs = socket.socketpair()
    yield ours, theirs
    ours.close()
    theirs.close()


def test_stream_is_not_tied_to_the_context_of_its_first_use(loop, sockets):
    """The first read makes the loop watch the socket, which it then does for ever."""
    seen, contexts = [], []

    @gen.coroutine
    def read(stream):
        line = yield stream.read_until(b"\n")
        seen.append((line, Request.present))

    @gen.coroutine
    def main():
        ours, theirs = map(IOStream, sockets)
        context = StackContext(lambda: Request("first"))
        contexts.append(weakref.ref(context))
        first = run_with_stack_context(context, lambda: read(ours))
        del context
        yield gen.moment
        yield theirs.write(b"1\n")
        yield first
        del first
        entered = Request.entered
        second = _within("second", lambda: read(ours))
        yield gen.moment
        yield theirs.write(b"2\n")
        yield second
        third = read(ours)
        yield gen.moment
        theirs.close()
        with pytest.raises(StreamClosedError):
            yield third
        gc.collect()
        return contexts[0](), Request.entered - entered

    kept, entered = loop.run_sync(main)

    assert seen == [(b"1\n", "first"), (b"2\n", "second")]
    assert kept is None
    # The second reader's own: its block, its steps.
    assert entered <= 3
