"""A program that uses all that is legacy, for runs of Python with strict options.

It prints each warning that it got, as ``file:line: text``.  What it expects it checks
without ``assert``, which some of these options take away.
"""

import asyncio
import concurrent.futures
import contextlib
import datetime
import logging
import signal
import socket
import sys
import threading
import warnings

from tornado.iostream import IOStream

from gencoro import concurrent as facade
from gencoro import gen, introspect, stack_context
from gencoro.ioloop import IOLoop, PeriodicCallback

SOON = datetime.timedelta(milliseconds=1)
LATER = datetime.timedelta(seconds=30)

features = []
logged = []


def feature(function):
    """Register a coroutine that uses a feature; it is called with the loop."""
    features.append(gen.coroutine(function))
    return function


def check(found, expected):
    """Make sure of something."""
    if found != expected:
        raise RuntimeError(f"found {found!r}, expected {expected!r}")


@contextlib.contextmanager
def request(entered):
    entered.append("in")
    yield
    entered.append("out")


def add(a, b, callback):
    IOLoop.current().add_callback(callback, a + b)


@feature
def keys(loop):
    loop.add_callback((yield gen.Callback("a")), 1)
    loop.add_callback((yield gen.Callback("b")), 2, three=3)
    check((yield gen.Wait("a")), 1)
    check((yield gen.Wait("b")), gen.Arguments((2,), {"three": 3}))
    for key in (b"a", "b"):
        (yield gen.Callback(key))(key)
    check((yield gen.WaitAll([b"a", "b"])), [b"a", "b"])


@feature
def errors_of_keys(_loop):
    try:
        yield gen.Wait("unknown")
    except gen.UnknownKeyError:
        (yield gen.Callback("key"))()
    try:
        yield gen.Callback("key")
    except gen.KeyReuseError:
        yield gen.Wait("key")

    @gen.coroutine
    def leak():
        yield gen.Callback("leaked")

    try:
        yield leak()
    except gen.LeakedCallbackError as error:
        check("leaked" in str(error), True)


@feature
def tasks(_loop):
    check((yield gen.Task(add, 40, 2)), 42)
    check((yield [gen.Task(add, 1, 1), gen.sleep(0)]), [2, None])


@feature
def own_yield_points(loop):
    class Ticks(gen.YieldPoint):
        def start(self, runner):
            self.runner = runner
            runner.register_callback(self)
            loop.add_callback(runner.result_callback(self), "ticked")

        def is_ready(self):
            return self.runner.is_ready(self)

        def get_result(self):
            return self.runner.pop_result(self)

    check((yield Ticks()), "ticked")
    check((yield [Ticks(), gen.sleep(0)]), ["ticked", None])
    check((yield {"a": [Ticks()], "b": None}), {"a": ["ticked"], "b": None})
    check((yield gen.Multi([Ticks()])), ["ticked"])
    check((yield gen.MultiYieldPoint([Ticks()])), ["ticked"])
    check((yield gen.YieldFuture(gen.sleep(0))), None)


@feature
def engines(_loop):
    @gen.engine
    def work(callback):
        result = yield gen.Task(add, 40, 2)
        callback(result)

    check((yield gen.Task(work)), 42)
    failed = gen.TracebackFuture()

    @gen.engine
    def returns():
        yield gen.moment
        return 42

    def handle(*error):
        failed.set_result(error)
        return True

    with stack_context.ExceptionStackContext(handle):
        returns()
    check((yield failed)[0], gen.ReturnValueIgnoredError)


@feature
def returned_futures(_loop):
    results = []
    add_later = facade.return_future(add)
    check((yield add_later(40, 2)), 42)
    yield add_later(1, 2, results.append)
    yield add_later(3, 4, callback=results.append)
    check(results, [3, 7])


@feature
def callback_arguments(loop):
    results = []

    @gen.coroutine
    def work():
        yield gen.moment
        return 42

    class Worker:
        executor = concurrent.futures.ThreadPoolExecutor(1)

        @facade.run_on_executor
        def work(self):
            return 43

    class LoopWorker:
        executor = facade.dummy_executor

        @facade.run_on_executor(executor="executor", io_loop="loop")
        def work(self):
            return 44

    yield work(callback=results.append)
    yield Worker().work(callback=results.append)
    yield LoopWorker().work(callback=results.append)
    yield gen.sleep(0.001)
    check(results, [42, 43, 44])
    Worker.executor.shutdown()


@feature
def futures(_loop):
    future = facade.TracebackFuture()
    check((future.running(), future.exc_info()), (True, None))
    try:
        raise KeyError(b"key")
    except KeyError:
        future.set_exc_info(sys.exc_info())
    check(future.exc_info()[1], future.exception(timeout=1))
    try:
        yield future
    except KeyError:
        check("finished exception=KeyError(b'key')" in repr(future), True)


@feature
def contexts(loop):
    entered, handled = [], []

    async def native():
        await asyncio.sleep(0)
        return 42

    @gen.coroutine
    def inner():
        yield gen.moment
        yield native()

    def fail():
        raise ValueError("handled")

    def handle(_typ, value, _traceback):
        handled.append(value.args)
        return True

    yield stack_context.run_with_stack_context(
        stack_context.StackContext(lambda: request(entered)), inner
    )
    check((entered[:2], entered.count("in")), (["in", "out"], entered.count("out")))
    with stack_context.ExceptionStackContext(handle) as deactivate:
        loop.add_callback(fail)
        wrapped = stack_context.wrap(fail)
        with stack_context.NullContext():
            check(stack_context._state.contexts, ((), None))
    yield gen.moment
    wrapped()
    deactivate()
    check(handled, [("handled",)] * 2)
    try:
        with stack_context.StackContext(lambda: request(entered)):
            yield gen.moment
    except stack_context.StackContextInconsistentError:
        pass


@feature
def loops(loop):
    IOLoop.clear_instance()
    loop.install()
    check((IOLoop.instance() is loop, IOLoop.initialized()), (True, True))
    IOLoop.clear_instance()
    calls = []
    loop.handle_callback_exception = calls.append
    loop.add_callback(int, "no number")
    loop.add_callback_from_signal(calls.append, "signal")
    for deadline in (SOON, loop.time(), 0):
        loop.add_timeout(deadline, calls.append, "time")
    loop.remove_timeout(loop.add_timeout(LATER, calls.append, "never"))
    loop.spawn_callback(calls.append, "spawned")
    yield gen.sleep(0.01)
    check(len(calls), 6)
    del loop.handle_callback_exception


@feature
def periodic(loop):
    ticked = gen.TracebackFuture()

    def tick():
        ticks.stop()
        ticked.set_result(None)

    ticks = PeriodicCallback(tick, 1, loop)
    ticks.start()
    yield gen.with_timeout(LATER, ticked, io_loop=loop)


@feature
def blocking(loop):
    if hasattr(signal, "setitimer"):
        loop.set_blocking_log_threshold(60)
        yield gen.moment
        loop.set_blocking_log_threshold(None)


@feature
def runners(_loop):
    def body():
        (yield gen.Callback("key"))(42)
        return (yield gen.Wait("key"))

    future, generator = gen.TracebackFuture(), body()
    gen.Runner(generator, future, next(generator))
    check((yield future), 42)


@feature
def cancelled(_loop):
    @gen.coroutine
    def waits():
        yield gen.Callback("key")
        yield gen.Wait("key")

    future = waits()
    yield gen.sleep(0)
    check("waits() at" in introspect.format_tree(), True)
    future.cancel()
    try:
        yield future
    except asyncio.CancelledError:
        check(future.cancelled(), True)


@feature
def streams(_loop):
    ours, theirs = map(IOStream, socket.socketpair())
    with stack_context.StackContext(lambda: request([])):
        reading = ours.read_until(b"\n")
    yield theirs.write(b"line\n")
    check((yield reading), b"line\n")
    ours.close()
    theirs.close()


@feature
def threads(loop):
    done = gen.TracebackFuture()
    thread = threading.Thread(
        target=lambda: loop.add_callback(done.set_result, stack_context._state.contexts)
    )
    thread.start()
    check((yield done), ((), None))
    thread.join()


def main():
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())
    logging.getLogger().addHandler(handler)
    with warnings.catch_warnings(record=True) as told:
        loop = IOLoop(make_current=False)
        # A busy machine is no feature; debug mode would tell of it.
        loop.asyncio_loop.slow_callback_duration = 30
        for one in features:
            loop.run_sync(lambda one=one: one(loop), timeout=30)
        loop.close()
    check(logged, [])
    for warning in told:
        print(f"{warning.filename}:{warning.lineno}: {warning.message}")


if __name__ == "__main__":
    main()
