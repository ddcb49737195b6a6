"""tornado.gen and tornado.concurrent as code of Tornado 2 to 5 uses them."""

import asyncio
import logging
import threading
import unittest.mock

import pytest
import tornado.gen
import tornado.ioloop
from tornado.concurrent import Future as ModernFuture
from tornado.gen import BadYieldError as EarlyBadYieldError
from tornado.gen import coroutine as modern_coroutine

from tests.helpers.compat.rows import uses


def ask(question, callback):
    tornado.ioloop.IOLoop.current().add_callback(callback, f"{question} Yes.")


@uses(
    "tornado.gen.engine",
    "tornado.gen.Task",
    "tornado.gen.Callback",
    "tornado.gen.Wait",
    "tornado.gen.WaitAll",
)
def test_callback_style(loop):
    from tornado import gen

    @gen.engine
    def host(name, callback):
        tea = yield gen.Task(ask, f"Tea, {name}?")
        ask("Milk?", callback=(yield gen.Callback("milk")))
        ask("Sugar?", callback=(yield gen.Callback("sugar")))
        ask("Cake?", callback=(yield gen.Callback("cake")))
        milk = yield gen.Wait("milk")
        callback([tea, milk, *(yield gen.WaitAll(["sugar", "cake"]))])

    answers = []
    loop.add_callback(host, "Ann", lambda a: (answers.extend(a), loop.stop()))
    loop.start()

    assert answers == ["Tea, Ann? Yes.", "Milk? Yes.", "Sugar? Yes.", "Cake? Yes."]


@uses("tornado.gen.Arguments", "tornado.gen._argument_adapter")
def test_arguments_of_a_callback(loop):
    from tornado import gen

    def measure(callback):
        callback(3, unit="m")

    @gen.coroutine
    def main():
        return (yield gen.Task(measure))

    assert loop.run_sync(main) == gen.Arguments((3,), {"unit": "m"})
    got = []
    gen._argument_adapter(got.append)(1, 2)
    assert got == [gen.Arguments((1, 2), {})]


@uses(
    "tornado.gen.YieldPoint",
    "tornado.gen.MultiYieldPoint",
    "tornado.gen.YieldFuture",
    "tornado.gen._contains_yieldpoint",
    "tornado.gen.Runner",
    "tornado.gen.coroutine",
)
def test_yield_points_of_ones_own(loop):
    from tornado import gen

    class Loud(gen.YieldPoint):
        def __init__(self, question):
            self.question = question

        def start(self, runner):
            assert isinstance(runner, gen.Runner)
            self.runner = runner
            runner.register_callback(self)
            ask(self.question, callback=runner.result_callback(self))

        def is_ready(self):
            return self.runner.is_ready(self)

        def get_result(self):
            return self.runner.pop_result(self).upper()

    future = gen.Future()
    loop.add_callback(future.set_result, "later")

    @gen.coroutine
    def main():
        both = [Loud("Cake?"), gen.YieldFuture(future)]
        assert gen._contains_yieldpoint(both)
        raise gen.Return(((yield Loud("Tea?")), (yield gen.MultiYieldPoint(both))))

    assert loop.run_sync(main) == ("TEA? YES.", ["CAKE? YES.", "later"])


@uses("tornado.gen.multi", "tornado.gen.multi_future", "tornado.gen.Multi")
def test_lists_in_parallel(loop):
    from tornado import gen

    @gen.coroutine
    def main():
        tasks = {"tea": gen.Task(ask, "Tea?")}
        return [
            (yield gen.multi(tasks)),
            (yield gen.Multi([gen.moment])),
            (yield gen.multi_future([gen.sleep(0)])),
        ]

    assert loop.run_sync(main) == [{"tea": "Tea? Yes."}, [None], [None]]


@uses(
    "tornado.gen.BadYieldError",
    "tornado.gen.KeyReuseError",
    "tornado.gen.UnknownKeyError",
    "tornado.gen.LeakedCallbackError",
)
def test_errors_are_caught_under_tornados_names(loop):
    from tornado import gen

    @gen.coroutine
    def yields_nonsense():
        yield object()

    @gen.coroutine
    def uses_a_key_twice():
        yield gen.Callback("k")
        yield gen.Callback("k")

    @gen.coroutine
    def waits_for_nobody():
        yield gen.Wait("k")

    @gen.coroutine
    def leaks():
        yield gen.Callback("k")

    for coroutine, error in [
        (yields_nonsense, gen.BadYieldError),
        (uses_a_key_twice, gen.KeyReuseError),
        (waits_for_nobody, gen.UnknownKeyError),
        (leaks, gen.LeakedCallbackError),
    ]:
        with pytest.raises(error):
            loop.run_sync(coroutine)
    # Whoever imported the name before install() catches it too.
    assert gen.BadYieldError is EarlyBadYieldError


@uses(
    "tornado.gen.ReturnValueIgnoredError",
    "tornado.concurrent.ReturnValueIgnoredError",
    "tornado.concurrent.return_future",
    "tornado.concurrent._non_deprecated_return_future",
    "tornado.auth._non_deprecated_return_future",
)
def test_return_future(loop):
    from tornado import auth, concurrent, gen

    @concurrent.return_future
    def asked(question, callback):
        ask(question, callback)

    assert auth._non_deprecated_return_future is concurrent.return_future

    @concurrent._non_deprecated_return_future
    def wrong(callback):
        return 42

    got = []

    @gen.coroutine
    def main():
        future = asked("Tea?", callback=got.append)
        assert isinstance(future, concurrent.Future)
        return (yield future)

    assert loop.run_sync(main) == "Tea? Yes."
    assert got == ["Tea? Yes."]
    with pytest.raises(concurrent.ReturnValueIgnoredError):
        wrong()
    with pytest.raises(gen.ReturnValueIgnoredError):
        wrong()


@uses(
    "tornado.concurrent.run_on_executor",
    "tornado.concurrent.futures",
    "tornado.ioloop.ThreadPoolExecutor",
)
def test_run_on_executor(loop):
    from tornado import concurrent, ioloop

    class Adder:
        executor = concurrent.futures.ThreadPoolExecutor(1)
        assert isinstance(executor, ioloop.ThreadPoolExecutor)
        io_loop = loop

        @concurrent.run_on_executor
        def add(self, a, b):
            return a + b

        @concurrent.run_on_executor(executor="executor", io_loop="io_loop")
        def multiply(self, a, b):
            return a * b, threading.current_thread() is threading.main_thread()

    got = []

    def main():
        Adder().add(40, 2, callback=lambda result: (got.append(result), loop.stop()))

    loop.add_callback(main)
    loop.start()
    assert got == [42]
    assert loop.run_sync(lambda: Adder().multiply(6, 7)) == (42, False)
    Adder.executor.shutdown()


@uses("tornado.gen.with_timeout")
def test_with_timeout_takes_a_loop(loop):
    from tornado import gen

    future = gen.Future()
    late = loop.time() + 0.001

    with pytest.raises(gen.TimeoutError):
        loop.run_sync(lambda: gen.with_timeout(late, future, io_loop=loop))
    with pytest.raises(gen.TimeoutError):
        loop.run_sync(lambda: gen.with_timeout(late, future, loop))


@uses("tornado.gen._null_future", "tornado.gen._make_coroutine_wrapper")
def test_private_names(loop):
    from tornado import gen

    def body():
        yield gen._null_future
        yield gen.moment
        return 42

    coroutine = gen._make_coroutine_wrapper(body, replace_callback=True)

    assert loop.run_sync(coroutine) == 42


@uses(
    "tornado.concurrent.Future",
    "tornado.concurrent.TracebackFuture",
    "tornado.concurrent._DummyFuture",
    "tornado.gen.Future",
)
@pytest.mark.parametrize(
    "name",
    ["concurrent.Future", "concurrent.TracebackFuture", "gen.Future", "_DummyFuture"],
)
def test_legacy_futures_call_back_while_they_are_set(compat, caplog, name):
    from tornado import concurrent, gen

    classes = {
        "concurrent.Future": concurrent.Future,
        "concurrent.TracebackFuture": concurrent.TracebackFuture,
        "gen.Future": gen.Future,
        "_DummyFuture": concurrent._DummyFuture,
    }
    future = classes[name]()  # no loop is running, nor is there one
    calls = []
    future.add_done_callback(lambda done: calls.append(("first", done.result())))
    future.add_done_callback(lambda done: 1 / 0)
    future.add_done_callback(lambda done: calls.append(("last", done.result())))

    future.set_result(42)
    assert calls == [("first", 42), ("last", 42)]
    future.add_done_callback(lambda done: calls.append("at once"))
    assert calls[-1] == "at once"

    [record] = caplog.records
    assert (record.name, record.levelno) == ("tornado.application", logging.ERROR)
    assert record.getMessage().startswith("Exception in callback ")


def test_legacy_future_has_exc_info(compat):
    from tornado.concurrent import TracebackFuture

    future = TracebackFuture()
    try:
        1 / 0  # noqa: B018
    except ZeroDivisionError as exc:
        future.set_exc_info((type(exc), exc, exc.__traceback__))

    assert future.exc_info()[0] is ZeroDivisionError


def test_futures_of_coroutines_and_of_tornado_have_the_methods_of_once(loop):
    from tornado import gen

    @gen.coroutine
    def fails():
        yield gen.sleep(0)
        raise KeyError("k")

    async def main():
        future, timer = fails(), gen.sleep(0)
        assert (future.running(), future.exc_info()) == (True, None)
        await asyncio.wait([future, timer])
        assert future.exc_info()[:2] == (KeyError, future.exception(timeout=1))
        assert timer.exc_info() is None
        assert timer.result(timeout=1) is None

    loop.run_sync(main)


def test_any_future_is_an_instance_of_tornados(loop):
    from tornado import concurrent, gen

    @gen.coroutine
    def coroutine():
        yield gen.moment

    class Mine(concurrent.Future):
        pass

    async def main():
        return asyncio.get_running_loop().create_future(), coroutine()

    for future in loop.run_sync(main):
        assert isinstance(future, concurrent.Future)
        assert concurrent.is_future(future)
        assert not isinstance(future, Mine)
    assert issubclass(asyncio.Future, concurrent.Future)
    assert isinstance(Mine(), concurrent.Future)
    assert type(Mine()) is Mine


def test_modern_code_keeps_asyncios_timing(loop):
    """What was imported before install() makes asyncio's own Futures."""

    async def main():
        future, calls = ModernFuture(), []
        future.add_done_callback(calls.append)
        future.set_result(42)
        assert calls == []
        await asyncio.sleep(0)
        assert calls == [future]

    assert ModernFuture is asyncio.Future
    loop.run_sync(main)


def test_legacy_futures_serve_asyncio(loop):
    from tornado.concurrent import Future

    async def main():
        first, second = Future(), Future()
        loop.add_callback(first.set_result, 1)
        loop.add_callback(second.set_result, 2)
        return await asyncio.wait_for(asyncio.gather(first, second), 5)

    assert loop.run_sync(main) == [1, 2]


def test_coroutines_of_both_kinds_yield_each_other(loop):
    from tornado import gen

    @modern_coroutine
    def modern():
        yield gen.sleep(0)
        raise gen.Return((yield legacy()))

    @gen.coroutine
    def legacy():
        answer = yield gen.Task(ask, "Tea?")
        raise gen.Return(answer)

    @gen.coroutine
    def main():
        return (yield modern())

    assert loop.run_sync(main) == "Tea? Yes."


@pytest.mark.parametrize("patch", ["set", "mock"])
def test_runner_is_patched_by_tornados_name(loop, monkeypatch, patch):
    from tornado import gen

    run, names = gen.Runner.run, []

    def traced(self):
        names.append(self.gen.__name__)
        run(self)

    @gen.coroutine
    def main():
        yield gen.moment
        yield gen.sleep(0)

    if patch == "set":
        monkeypatch.setattr(gen.Runner, "run", traced)
        loop.run_sync(main)
        monkeypatch.undo()
    else:
        with unittest.mock.patch.object(gen.Runner, "run", traced):
            loop.run_sync(main)
    loop.run_sync(main)

    assert names == ["main"] * 2


def test_runner_is_made_and_derived_by_hand(loop):
    from tornado import gen

    class Counting(gen.Runner):
        steps = 0

        def handle_yield(self, yielded):
            Counting.steps += 1
            return super().handle_yield(yielded)

    def body():
        yield gen.sleep(0.001)
        yield gen.sleep(0.001)
        return 42

    def main():
        future, generator = gen.Future(), body()
        runner = Counting(generator, future, next(generator))
        assert isinstance(runner, gen.Runner)
        return future

    assert loop.run_sync(main) == 42
    assert Counting.steps == 2


def test_coroutine_takes_a_callback(loop):
    from tornado import gen

    @gen.coroutine
    def answer():
        yield gen.moment
        return 42

    got = []

    def main():
        answer(callback=lambda value: (got.append(value), loop.stop()))

    loop.add_callback(main)
    loop.start()

    assert got == [42]


def test_converters_registered_with_tornado_serve_legacy_coroutines(loop):
    from tornado import gen

    class Thing:
        pass

    def convert(thing):
        future = gen.Future()
        future.set_result("converted")
        return future

    tornado.gen.convert_yielded.register(Thing, convert)

    @gen.coroutine
    def main():
        return (yield Thing())

    assert loop.run_sync(main) == "converted"
