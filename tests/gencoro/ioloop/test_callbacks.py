"""gencoro.ioloop.callbacks, gencoro.context_hook: contexts and error handlers of callbacks."""

import asyncio
import concurrent.futures
import contextvars
import socket
import sys
import weakref

import pytest

from gencoro import context_hook, gen
from gencoro.ioloop import IOLoop, PeriodicCallback, callbacks
from tests.helpers.gencoro.outcomes import Failure

legacy = pytest.mark.filterwarnings("ignore:.* is legacy. :DeprecationWarning")


class Notes:
    """Surroundings that note what they are asked for; those of nobody else are asked."""

    def __init__(self):
        self.notes = []
        self.depth = 0

    def run(self, callback):
        self.notes.append("run")
        return callback()

    def wrap(self, handler):
        self.notes.append("wrap")
        return handler

    def without_carried(self, function, *args):
        return function(*args)

    def without(self, function, *args, **kwargs):
        self.depth += 1
        try:
            return function(*args, **kwargs)
        finally:
            self.depth -= 1


@pytest.fixture
def surroundings(monkeypatch):
    notes = Notes()
    monkeypatch.setattr(context_hook, "hook", notes)
    return notes


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    yield ours, theirs
    ours.close()
    theirs.close()


def _stop(loop):
    """Return a callback that takes any arguments and stops the loop."""
    return lambda *_args: loop.stop()


# Doors through which a callback enters, each with one way to have it called.
def _by_add_future(loop, callback):
    future = loop.asyncio_loop.create_future()
    future.set_result(None)
    loop.add_future(future, lambda _done: callback())


def _by_executor_future(loop, callback):
    future = concurrent.futures.Future()
    future.set_result(None)
    loop.add_future(future, lambda _done: callback())


DOORS = {
    "add_callback": lambda loop, callback: loop.add_callback(callback),
    "add_callback_from_signal": lambda loop, callback: loop.add_callback_from_signal(
        callback
    ),
    "spawn_callback": lambda loop, callback: loop.spawn_callback(callback),
    "call_later": lambda loop, callback: loop.call_later(0, callback),
    "call_at": lambda loop, callback: loop.call_at(loop.time(), callback),
    "add_timeout": lambda loop, callback: loop.add_timeout(loop.time(), callback),
    "add_future": _by_add_future,
    "add_future of an executor": _by_executor_future,
}

EACH_DOOR = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)


# Surroundings.


@legacy
@EACH_DOOR
def test_callback_runs_through_the_surroundings(loop, surroundings, door):
    door(loop, loop.stop)
    loop.start()

    assert set(surroundings.notes) == {"run"}


@legacy
@pytest.mark.parametrize("door", ["add_callback_from_signal", "spawn_callback"])
def test_callback_without_an_owner_is_scheduled_without_context(
    loop, surroundings, monkeypatch, door
):
    depths = []
    schedule = loop.asyncio_loop.call_soon_threadsafe

    def noting(*args, **kwargs):
        depths.append(surroundings.depth)
        return schedule(*args, **kwargs)

    monkeypatch.setattr(loop.asyncio_loop, "call_soon_threadsafe", noting)
    monkeypatch.setattr(loop.asyncio_loop, "call_soon", noting)
    DOORS[door](loop, loop.stop)
    first = depths[0]
    loop.start()

    assert first == 1


def test_socket_handler_is_wrapped_and_its_file_watched_without_context(
    loop, surroundings, pair
):
    ours, theirs = pair
    depths = []
    watch = loop.asyncio_loop.add_reader

    def noting(*args):
        depths.append(surroundings.depth)
        return watch(*args)

    loop.asyncio_loop.add_reader = noting
    loop.add_handler(ours, _stop(loop), loop.READ)
    theirs.send(b"x")
    loop.start()
    loop.update_handler(ours, loop.WRITE)
    loop.update_handler(ours, loop.READ)
    loop.remove_handler(ours)

    assert surroundings.notes == ["wrap"]
    assert depths == [1, 1]


def test_error_is_heard_of_without_surroundings(loop, surroundings):
    depths = []

    def handle(callback):
        depths.append(surroundings.depth)
        loop.stop()

    loop.handle_callback_exception = handle
    loop.add_callback(int, "no number")
    loop.start()

    assert depths == [1]


# Errors.


@legacy
@EACH_DOOR
def test_error_of_a_callback_reaches_the_method_of_that_loop_alone(loop, door):
    seen, others = [], []
    other = IOLoop(make_current=False)
    other.handle_callback_exception = others.append

    def fail():
        raise Failure("in a callback")

    def handle(callback):
        seen.append((callable(callback), sys.exc_info()[1].args))
        loop.stop()

    loop.handle_callback_exception = handle
    door(loop, fail)
    loop.start()
    other.close()

    assert (seen, others) == ([(True, ("in a callback",))], [])


def test_error_of_a_socket_handler_is_reported_with_the_handler(loop, pair):
    def fail(sock, _events):
        sock.recv(1)
        raise Failure("in a handler")

    seen = []
    loop.handle_callback_exception = lambda callback: (
        seen.append((callback, sys.exc_info()[0])),
        loop.stop(),
    )
    ours, theirs = pair
    loop.add_handler(ours, fail, loop.READ)
    theirs.send(b"x")
    loop.start()
    loop.remove_handler(ours)

    assert seen == [(fail, Failure)]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_interrupt_leaves_the_loop_and_no_handler_hears_of_it(loop, interrupt):
    def fail():
        raise interrupt

    seen = []
    loop.handle_callback_exception = seen.append
    loop.add_callback(fail)

    with pytest.raises(interrupt):
        loop.start()

    assert seen == []


def test_cancelled_callback_is_no_error(loop, caplog):
    def cancelled():
        loop.add_callback(loop.stop)
        raise asyncio.CancelledError

    loop.add_callback(cancelled)
    loop.start()

    assert caplog.records == []


@pytest.mark.parametrize("kind", ["ours", "native", "Future", "list"])
def test_coroutine_that_was_a_callback_fails_audibly(loop, caplog, kind):
    async def native():
        await asyncio.sleep(0)
        raise Failure(kind)

    @gen.coroutine
    def ours():
        yield gen.moment
        raise Failure(kind)

    def future():
        failed = loop.asyncio_loop.create_future()
        failed.set_exception(Failure(kind))
        return failed

    callback = {
        "ours": ours,
        "native": native,
        "Future": future,
        "list": lambda: [ours()],
    }
    loop.add_callback(callback[kind])
    for _turn in range(10):
        loop.add_callback(loop.stop)
        loop.start()

    [record] = caplog.records
    assert record.name == "tornado.application"
    assert record.exc_info[1].args == (kind,)


# add_future.


@pytest.mark.parametrize("make", [concurrent.futures.Future, None])
def test_callback_of_a_future_has_the_context_variables_of_its_adder(loop, make):
    variable = contextvars.ContextVar("variable", default="outside")
    seen = []
    future = make() if make else loop.asyncio_loop.create_future()

    def add():
        variable.set("adder")
        loop.add_future(future, lambda _: (seen.append(variable.get()), loop.stop()))

    contextvars.copy_context().run(add)
    loop.add_callback(future.set_result, None)
    loop.start()

    assert seen == ["adder"]


@pytest.mark.parametrize("thing", [42, None, "future", iter(())])
def test_add_future_refuses_what_is_no_future_and_names_the_cure(loop, thing):
    with pytest.raises(
        TypeError, match=r"not a Future; convert it with gen\.convert_yielded"
    ):
        loop.add_future(thing, print)


def test_stop_of_a_closed_loop_does_nothing():
    loop = IOLoop(make_current=False)
    loop.close()

    loop.stop()


WAYS_TO_CALL = {
    "add_callback": lambda loop, tick: loop.add_callback(tick),
    "spawn_callback": lambda loop, tick: loop.spawn_callback(tick),
    "call_later": lambda loop, tick: loop.call_later(0, tick),
    "add_future": lambda loop, tick: loop.add_future(gen.sleep(0), lambda _: tick()),
    "PeriodicCallback": lambda loop, tick: PeriodicCallback(tick, 1).start(),
}


def generator():
    yield


async def async_generator():
    yield


@pytest.mark.parametrize("way", WAYS_TO_CALL)
@pytest.mark.parametrize(
    ("function", "cure"),
    [(generator, "with @gen.coroutine"), (async_generator, "`async for`")],
)
def test_callback_without_its_decorator_is_told_once(
    loop, caplog, monkeypatch, way, function, cure
):
    monkeypatch.setattr(callbacks, "_noted_codes", weakref.WeakSet())
    calls = []

    def tick():
        calls.append(None)
        return function()

    @gen.coroutine
    def main():
        while len(calls) < 2:
            WAYS_TO_CALL[way](loop, tick)
            yield gen.sleep(0.001)

    loop.run_sync(main)

    [record] = caplog.records
    assert (record.name, record.levelname) == ("tornado.application", "ERROR")
    assert f"callback {function.__name__}() is a generator" in record.getMessage()
    assert cure in record.getMessage()


def test_callback_that_runs_its_own_generator_is_not_a_mistake(loop, caplog):
    generator = iter(range(2) for _ in range(2))

    loop.add_callback(lambda: generator)
    loop.run_sync(lambda: gen.sleep(0.001))

    assert caplog.records == []
