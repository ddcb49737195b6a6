"""Coroutines that wait for YieldPoints: cancelling, debugging, subclassing, introspection."""

import asyncio
import gc
import logging
import re
import traceback

import pytest

from gencoro import gen, introspect
from gencoro.errors import LeakedCallbackError
from gencoro.ioloop import IOLoop
from gencoro.legacy.engine import engine
from gencoro.legacy.futures import LegacyFuture
from gencoro.legacy.yieldpoints import (
    Callback,
    MultiYieldPoint,
    Wait,
    WaitAll,
    YieldFuture,
    YieldPoint,
)
from tests.helpers.gencoro.outcomes import Failure


class Never(YieldPoint):
    """Is never ready; notes whether it was started."""

    def __init__(self, steps):
        self.steps = steps

    def start(self, runner):
        self.steps.append("started")

    def is_ready(self):
        return False

    def get_result(self):
        raise AssertionError("never ready")


@pytest.fixture
def steps():
    return []


@pytest.fixture
def waiting(steps):
    """A coroutine that yields what a function makes, and tells how that ends."""

    @gen.coroutine
    def waiting(make):
        (yield Callback("before"))()
        try:
            steps.append((yield make()))
        except BaseException as error:
            steps.append(type(error).__name__)
            raise
        finally:
            steps.append("cleaned up")

    return waiting


@pytest.fixture
def sleeper(steps):
    """A coroutine that sleeps and tells when it is cancelled."""

    @gen.coroutine
    def sleeper():
        try:
            yield gen.sleep(60)
        except asyncio.CancelledError:
            steps.append("sleeper cancelled")
            raise

    return sleeper


def _turns(number):
    @gen.coroutine
    def turns():
        for _ in range(number):
            yield gen.moment

    return turns()


@gen.coroutine
def _ending_of(future):
    """Wait for a Future and tell how it ended."""
    try:
        return (yield future)
    except BaseException as error:
        return type(error).__name__


# Cancelling.


@pytest.mark.parametrize(
    "make",
    [
        lambda: [Callback("key"), Wait("key")],
        lambda: Never([]),
        lambda: {"a": Never([]), "b": [gen.moment, None]},
        lambda: MultiYieldPoint([Never([])]),
        lambda: gen.multi([Never([]), gen.moment]),
        lambda: [Callback("a"), WaitAll(["a"])],
        lambda: YieldFuture(gen.sleep(60)),
        lambda: YieldFuture(LegacyFuture()),
    ],
    ids=[
        "Wait",
        "own",
        "dict",
        "MultiYieldPoint",
        "multi",
        "WaitAll",
        "YieldFuture",
        "LegacyFuture",
    ],
)
def test_cancel_is_raised_at_the_yield_and_ends_the_coroutine(
    loop, waiting, steps, make
):
    @gen.coroutine
    def main():
        future = waiting(make)
        yield _turns(3)
        assert (steps, future.cancel()) == ([], True)
        assert (yield _ending_of(future)) == "CancelledError"
        return future.cancelled()

    assert loop.run_sync(main, timeout=10)
    assert steps == ["CancelledError", "cleaned up"]


@pytest.mark.parametrize("turns", [0, 1, 3])
@pytest.mark.parametrize(
    "make",
    [
        lambda sleeper: [Never([]), sleeper()],
        lambda sleeper: {"a": {"b": [Never([])]}, "c": [sleeper()]},
        lambda sleeper: gen.multi([Never([]), sleeper()]),
        lambda sleeper: MultiYieldPoint([Never([]), [sleeper()]]),
        lambda sleeper: YieldFuture(sleeper()),
    ],
    ids=["list", "dict", "multi", "MultiYieldPoint", "YieldFuture"],
)
def test_cancel_reaches_what_the_children_wait_for(loop, steps, sleeper, make, turns):
    @gen.coroutine
    def waits():
        yield make(sleeper)

    @gen.coroutine
    def main():
        future = waits()
        # Without a turn, its first YieldPoint has not been started.
        if turns:
            yield _turns(turns)
        future.cancel()
        return (yield _ending_of(future)), future.cancelled()

    assert loop.run_sync(main, timeout=10) == ("CancelledError", True)
    assert steps == ["sleeper cancelled"]


def test_first_yield_point_cancelled_before_its_turn_is_not_started(loop, steps):
    @gen.coroutine
    def waits():
        try:
            yield Never(steps)
        finally:
            steps.append("cleaned up")

    @gen.coroutine
    def main():
        future = waits()
        future.cancel()
        ending = yield _ending_of(future)
        yield _turns(3)
        return ending

    assert loop.run_sync(main, timeout=10) == "CancelledError"
    assert steps == ["cleaned up"]


def test_body_that_catches_the_cancel_may_go_on_with_its_keys(loop, steps):
    @gen.coroutine
    def stubborn():
        callback = yield Callback("key")
        try:
            yield Wait("key")
        except asyncio.CancelledError:
            steps.append("caught")
        loop.add_callback(callback, 42)
        return (yield Wait("key"))

    @gen.coroutine
    def main():
        future = stubborn()
        yield _turns(3)
        future.cancel()
        return (yield future)

    assert loop.run_sync(main, timeout=10) == 42
    assert steps == ["caught"]


def test_callback_after_the_cancel_is_no_bodys_business(loop, waiting, steps, caplog):
    callbacks = []

    @gen.coroutine
    def main():
        future = waiting(both)
        yield _turns(3)
        future.cancel()
        yield _ending_of(future)
        for callback in callbacks:
            callback("late")
        yield _turns(3)
        return future.cancelled()

    class Kept(Callback):
        def get_result(self):
            callbacks.append(super().get_result())

    def both():
        return [Kept("key"), Wait("key")]

    assert loop.run_sync(main, timeout=10)
    assert steps == ["CancelledError", "cleaned up"]
    assert caplog.records == []


def test_callback_before_the_cancel_arrives_does_not_undo_it(loop, steps):
    callbacks = []

    @gen.coroutine
    def waits():
        callbacks.append((yield Callback("key")))
        steps.append((yield Wait("key")))
        yield Wait("key")

    @gen.coroutine
    def main():
        future = waits()
        yield _turns(3)
        future.cancel()
        callbacks[0]("result")
        return (yield _ending_of(future)), future.cancelled()

    assert loop.run_sync(main, timeout=10) == ("CancelledError", True)
    assert steps == []


def test_cancelled_engine_is_silent(loop, caplog):
    runners = []

    class Watching(YieldPoint):
        def start(self, runner):
            runners.append(runner)

        def is_ready(self):
            return False

    @engine
    def waits():
        yield Watching()

    @gen.coroutine
    def main():
        waits()
        yield _turns(2)
        runners[0].cancel()
        yield _turns(3)
        return runners[0].finished

    assert loop.run_sync(main, timeout=10)
    assert [r for r in caplog.records if r.levelno >= logging.ERROR] == []


def test_leak_fails_the_future_instead_of_leaving_it_pending(loop):
    @gen.coroutine
    def leaks():
        yield Callback(("any", "key"))

    with pytest.raises(
        LeakedCallbackError, match=r"leaks.*\('any', 'key'\).*gen\.Wait"
    ):
        loop.run_sync(leaks, timeout=10)


# Debug mode.


@pytest.fixture
def debug_loop():
    loop = IOLoop(make_current=False)
    loop.asyncio_loop.set_debug(True)
    # Longer than a busy machine makes a quick step take.
    loop.asyncio_loop.slow_callback_duration = 5
    yield loop
    loop.close()


def test_debug_mode_drives_yield_points_as_well(debug_loop, steps, caplog):
    @gen.coroutine
    def work():
        (yield Callback("a"))(1)
        answers = yield [Wait("a"), gen.sleep(0), YieldFuture(gen.sleep(0))]
        try:
            yield Wait("unknown")
        except gen.UnknownKeyError:
            answers.append("unknown")
        return answers

    @gen.coroutine
    def main():
        future = work()
        kind = type(future._runner)
        yield gen.moment
        steps.append((kind, type(future._runner)))
        return (yield future)

    assert debug_loop.run_sync(main) == [1, None, None, "unknown"]
    # A YieldPoint was its first, so it was told at once that it must change.
    [(before, after)] = steps
    assert before is after
    assert after.__name__ == "LegacyWatchedRunner"
    assert caplog.records == []


def test_debug_mode_tells_of_a_coroutine_that_can_never_go_on(debug_loop, caplog):
    @gen.coroutine
    def forgotten():
        yield Callback("key")
        yield Wait("key")

    @gen.coroutine
    def main():
        forgotten()
        yield _turns(3)

    debug_loop.run_sync(main)
    gc.collect()

    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2
    assert all("forgotten(), called at" in message for message in told)
    assert "its Future was dropped" in told[0]
    assert "could never resume" in told[1]


# Runners of others.


class Tracer(gen.Runner):
    """A Runner that notes its steps, with a name of its own."""

    __slots__ = ("name", "notes")

    def __init__(self, name, notes, *args):
        self.name = name
        self.notes = notes
        super().__init__(*args)

    def handle_yield(self, yielded):
        self.notes.append((self.name, "yielded", type(yielded).__name__))
        return super().handle_yield(yielded)

    def run(self):
        self.notes.append((self.name, "run"))
        super().run()


class AttributeTracer(gen.Runner):
    """One without slots."""

    def run(self):
        self.runs = getattr(self, "runs", 0) + 1
        super().run()


def _body():
    (yield Callback("key"))(42)
    yield gen.moment
    return (yield Wait("key"))


def test_derived_runner_sees_each_step_with_yield_points_too(loop, steps):
    @gen.coroutine
    def main():
        generator, future = _body(), LegacyFuture()
        runner = Tracer("tracer", steps, generator, future, next(generator))
        kind = type(runner)
        assert isinstance(runner, Tracer)
        result = yield future
        return result, runner.name, type(runner) is kind, repr(runner)

    result, name, is_same, told = loop.run_sync(main)

    assert (result, name, is_same) == (42, "tracer", True)
    assert told.endswith("_body, ended>")
    yielded = [step for step in steps if step[1] == "yielded"]
    assert yielded == [
        ("tracer", "yielded", "Callback"),
        ("tracer", "yielded", "Moment"),
        ("tracer", "yielded", "Wait"),
    ]
    assert ("tracer", "run") in steps


def test_two_derived_runners_of_one_class_become_one_legacy_class(loop):
    @gen.coroutine
    def main():
        runners = []
        for _ in range(2):
            generator, future = _body(), LegacyFuture()
            runners.append(AttributeTracer(generator, future, next(generator)))
            yield future
        return {type(runner) for runner in runners}

    assert len(loop.run_sync(main)) == 1


def test_runner_made_by_hand_is_cancelled_with_its_future(loop, steps):
    def body():
        try:
            yield [Never(steps), gen.sleep(60)]
        finally:
            steps.append("cleaned up")

    @gen.coroutine
    def main():
        generator, future = body(), LegacyFuture()
        runner = gen.Runner(generator, future, next(generator))
        yield _turns(3)
        runner.cancel()
        ending = yield _ending_of(future)
        return ending, runner.finished, runner.result_future

    assert loop.run_sync(main, timeout=10) == ("CancelledError", True, None)
    assert steps == ["started", "cleaned up"]


# Looking into it.


def _line_after(function, lines):
    return function.__wrapped__.__code__.co_firstlineno + lines


@pytest.fixture
def look(loop, sleeper):
    """Look at a coroutine that waits for what a function makes, and then end it.

    Gives its line and what was seen.
    """

    def look(make, see):
        @gen.coroutine
        def waits():
            (yield Callback("before"))()
            yield make(sleeper)

        @gen.coroutine
        def main():
            future = waits()
            yield _turns(3)
            seen = see(future)
            future.cancel()
            yield _ending_of(future)
            return seen

        return _line_after(waits, 3), loop.run_sync(main, timeout=10)

    return look


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda _: [Callback(1), Wait(1)], "list of Callback and Wait"),
        (lambda _: Never([]), "Never"),
        (lambda _: [Never([]), None], "list of Never and YieldFuture"),
    ],
)
def test_tree_tells_what_kind_of_yield_point_it_is(look, loop, make, told):
    line, tree = look(make, lambda _: introspect.format_tree(loop))

    assert (
        f"waits() at tests/legacy/test_legacy_runner.py:{line}: {told}"
        in tree.splitlines()
    )


def test_tree_tells_which_callback_is_missing(loop):
    @gen.coroutine
    def waits(yield_point):
        yield [Callback("b"), Callback(("any", 1))]
        yield yield_point

    @gen.coroutine
    def main():
        futures = [waits(Wait("b")), waits(WaitAll(["b", ("any", 1)]))]
        yield _turns(3)
        tree = introspect.format_tree(loop)
        for future in futures:
            future.cancel()
            yield _ending_of(future)
        return tree

    tree = loop.run_sync(main, timeout=10)

    assert re.search(r"waits\(\) at \S+: the callback 'b'$", tree, re.MULTILINE)
    assert re.search(
        r"waits\(\) at \S+: the callbacks 'b', \('any', 1\)$", tree, re.MULTILINE
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda sleeper: [Never([]), sleeper()],
        lambda sleeper: {"a": [Never([]), sleeper()]},
        lambda sleeper: MultiYieldPoint([Never([]), sleeper()]),
        lambda sleeper: YieldFuture(sleeper()),
    ],
    ids=["list", "dict", "MultiYieldPoint", "YieldFuture"],
)
def test_tree_and_traceback_lead_through_a_list(look, loop, make):
    def see(future):
        return introspect.format_tree(loop), introspect.traceback_of(future)

    line, (tree, trace) = look(make, see)

    assert re.search(
        rf"^waits\(\) at \S+:{line}: .+\n-> sleeper\(\) at \S+: sleep",
        tree,
        re.MULTILINE,
    )
    summary = traceback.extract_tb(trace)
    assert [entry.name for entry in summary] == ["waits", "sleeper"]
    assert summary[0].lineno == line


# Errors and recursion.


def test_traceback_of_an_error_has_the_users_frames_only(loop):
    class Failing(YieldPoint):
        def start(self, runner):
            raise Failure("of a YieldPoint")

    @gen.coroutine
    def waits():
        (yield Callback("key"))()
        yield Wait("key")
        yield Failing()

    @gen.coroutine
    def main():
        yield waits()

    with pytest.raises(Failure) as caught:
        loop.run_sync(main)

    names = [entry.name for entry in caught.traceback]
    assert names[-3:] == ["main", "waits", "start"]
    assert caught.value.__context__ is None
