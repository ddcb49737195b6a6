"""tornado.gen, concurrent and stack_context as code of Tornado 2 to 5 uses them.

The golden programs are played by Tornado's names.  For the rest, the tests show what
compat adds: Futures that serve Tornado too, and Runners that can be patched.
"""

import asyncio
import collections
import concurrent.futures
import contextvars
import gc
import json
import operator
import pathlib
import re
import unittest.mock
from datetime import timedelta

import pytest
import tornado.gen
from tornado.concurrent import Future as ModernFuture
from tornado.gen import BadYieldError as EarlyBadYieldError
from tornado.gen import coroutine as modern_coroutine

import gencoro.compat
from gencoro import errors
from gencoro.compat.names import TABLE
from gencoro.introspect import format_tree
from tests.helpers.compat.rows import uses
from tests.helpers.gencoro.freed import Watch
from tests.helpers.legacy.differences import reasons
from tests.legacy.golden import stage

PROGRAMS_BY_FILE = collections.defaultdict(dict)
for _name, _program in stage.load_programs().items():
    PROGRAMS_BY_FILE[_program.__module__.rpartition(".")[2]][_name] = _program

# Those that do otherwise by Tornado's names than by gencoro's.
OTHERWISE = {
    # What they show is as in Tornado 4.5.3 or 5.1.1, and gencoro's own is not.
    "chain_future_ahead_to_a_third_and_to_two_at_once",
    "coroutine_looks_like_its_function",
    "done_callback_of_a_future_does_not_keep_the_contexts",
    "gen_has_the_names_of_its_neighbors",
    "gen_names_that_are_there",
    "loops_started_inside_a_running_one",
    "maybe_future_wraps_all_that_is_no_future",
    "sleep_has_the_contexts_of_its_call",
    "wait_iterator_is_done_when_all_was_given",
    # Today's convert_yielded stays.
    "convert_yielded_prefers_registered_types_to_what_they_are_besides",
    "list_of_yield_points_can_be_converted_but_not_timed",
    "yield_points_cannot_be_converted",
    # A Future that was made outside of a loop resumes on the one that is current then.
    "coroutine_stays_on_the_loop_on_which_it_began",
    # Tornado 5.1.1 logs an InvalidStateError in place of the coroutine's own error.
    "cancelled_coroutine_fails_later",
    # They look at the names themselves.
    "gen_errors_are_plain_exceptions",
    "gen_errors_have_namesakes_elsewhere",
}

# Legacy coroutines are cancelled, and timed out by run_sync, as in Tornado 5; loops become
# current as in both.
AS_IN_TORNADO_5 = {
    "cancelled_coroutine_goes_on_through_further_waits_and_children",
    "cancelled_coroutine_leaves_the_future_alone_that_it_waits_for",
    "closed_loop_leaves_the_futures_alone_that_coroutines_wait_for",
    "coroutine_cancels_itself",
    "coroutine_that_waits_for_a_list_is_cancelled",
    "coroutine_waits_for_one_that_is_cancelled",
    "coroutine_whose_future_is_cancelled_goes_on_to_its_end",
    "list_and_time_limit_are_cancelled",
    "new_loop_becomes_current_only_where_there_is_none",
    "new_loop_that_has_to_be_current_is_refused_beside_another",
    "run_sync_beside_a_coroutine_that_timed_out_before",
    "run_sync_is_left_by_a_callback",
    "run_sync_times_out_and_its_coroutine_goes_on",
}

_SOURCE = "".join(
    file.read_text() for file in pathlib.Path(stage.HERE, "programs").glob("*.py")
)
_OWNERS = {"loop": "ioloop.IOLoop", "IOLoop": "ioloop.IOLoop"}
ROWS_OF_PROGRAMS = TABLE.keys() & {
    f"tornado.{_OWNERS.get(owner, owner)}.{name}"
    for owner, name in re.findall(r"\b(\w+)\.(?=(\w+))", _SOURCE)
}


@pytest.fixture(scope="module")
def installed():
    """Have compat installed for all programs."""
    gencoro.compat.install()
    yield
    gencoro.compat.uninstall()


@uses(*ROWS_OF_PROGRAMS)
@pytest.mark.parametrize("file", PROGRAMS_BY_FILE)
def test_golden_programs_do_by_tornados_names_as_they_did(installed, file):
    expected, in_5, ours = (
        json.loads(pathlib.Path(stage.HERE, "traces", f"{of}.json").read_text())
        for of in ("tornado-4.5.3", "tornado-5.1.1", "gencoro")
    )
    expected |= {name: ours[name] for name in reasons()}
    expected |= {name: in_5[name] for name in AS_IN_TORNADO_5}
    programs = PROGRAMS_BY_FILE[file]

    traces = {
        name: contextvars.copy_context().run(stage.play, program, "tornado")
        for name, program in programs.items()
    }

    different = {name for name in programs if traces[name] != expected[name]}
    assert different == OTHERWISE & programs.keys(), {n: traces[n] for n in different}


@uses("tornado.gen.KeyReuseError")
def test_errors_are_caught_by_names_that_were_imported_before(compat):
    from tornado import gen

    assert gen.BadYieldError is EarlyBadYieldError
    assert issubclass(errors.BadYieldError, EarlyBadYieldError)
    assert issubclass(errors.KeyReuseError, gen.KeyReuseError)


@uses("tornado.gen._make_coroutine_wrapper")
def test_coroutine_wrapper(loop):
    from tornado import gen

    def body():
        yield gen._null_future
        return 42

    assert loop.run_sync(gen._make_coroutine_wrapper(body, replace_callback=True)) == 42


def test_futures_have_their_legacy_methods(loop):
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


def _makers_of_futures():
    from tornado import concurrent, gen

    @gen.coroutine
    def coroutine():
        yield gen.moment

    def answer(callback):
        callback(42)

    return {
        "Future": concurrent.Future,
        "coroutine": coroutine,
        "coroutine that never waits": gen.coroutine(lambda: 42),
        "sleep": lambda: gen.sleep(0),
        "Task": lambda: gen.Task(answer),
        "return_future": concurrent.return_future(answer),
        "with_timeout": lambda: gen.with_timeout(timedelta(seconds=60), coroutine()),
        "with_timeout, done": lambda: gen.with_timeout(
            timedelta(seconds=60), gen.Task(answer)
        ),
        "multi": lambda: gen.multi([coroutine(), None]),
        "Multi": lambda: gen.Multi({"a": coroutine()}),
        "multi_future": lambda: gen.multi_future([]),
        "maybe_future": lambda: gen.maybe_future(42),
        "WaitIterator": lambda: gen.WaitIterator(coroutine()).next(),
        "modern coroutine": modern_coroutine(lambda: 42),
    }


@uses("tornado.gen.Multi", "tornado.concurrent.TracebackFuture")
def test_type_of_every_future_is_future(loop):
    """Programs decide by ``type(result) is gen.Future`` whether to wait for a result."""
    from tornado import concurrent, gen

    async def main():
        return {name: type(make()) for name, make in _makers_of_futures().items()}

    assert gen.Future is concurrent.Future is concurrent.TracebackFuture
    types = loop.run_sync(main)
    assert [name for name in types if types[name] is not gen.Future] == []


@pytest.mark.parametrize("how", ["multi", "with_timeout"])
def test_cancelled_group_logs_only_errors_that_it_did_not_pass_on(loop, caplog, how):
    from tornado import gen

    @gen.coroutine
    def child():
        yield gen.sleep(0.001)
        raise KeyError("late")

    def group_of(children):
        if how == "multi":
            return gen.multi(children)
        return gen.with_timeout(timedelta(0), children[0], quiet_exceptions=KeyError)

    async def main():
        children = [child(), child()]
        group = group_of(children)
        assert group.cancel() and group.cancelled()
        await asyncio.wait(children)
        await gen.sleep(0.01)
        return [type(child.exception()) for child in children]

    assert loop.run_sync(main) == [KeyError, KeyError]
    gc.collect()
    logged = [record.getMessage() for record in caplog.records]
    assert logged == ["Multiple exceptions in yield list"] * 2 * (how == "multi")


@pytest.mark.parametrize("how", ["multi", "with_timeout"])
def test_group_is_freed_by_its_end(loop, how):
    from tornado import gen

    watch = Watch()

    async def main():
        futures = watch.of(gen.Future()), watch.of(gen.Future())
        if how == "multi":
            group = watch.of(gen.multi(futures))
        else:
            group = watch.of(gen.with_timeout(timedelta(seconds=60), futures[0]))
        for future in futures:
            future.set_result(None)
        await group
        del future, futures, group
        await gen.sleep(0)
        assert len(watch) == 0

    gc.disable()
    try:
        loop.run_sync(main)
    finally:
        gc.enable()


def test_introspection_looks_through_a_group(loop):
    from tornado import gen

    @gen.coroutine
    def child(future):
        yield future

    @gen.coroutine
    def parent(future):
        yield gen.multi([gen.with_timeout(timedelta(seconds=60), child(future))])

    async def main():
        future = gen.Future()
        outer = parent(future)
        tree = format_tree()
        future.set_result(None)
        await outer
        return [line.strip().partition(" at ")[0] for line in tree.splitlines()]

    lines = loop.run_sync(main)

    group = lines.index("parent()") + 1
    assert lines[group].startswith("'-- [0] time limit, ")
    assert lines[group + 1] == "-> child()"


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


def test_coroutines_of_both_kinds_yield_each_other(loop):
    from tornado import gen

    @modern_coroutine
    def modern():
        yield gen.sleep(0)
        raise gen.Return([(yield legacy())])

    @gen.coroutine
    def legacy():
        raise gen.Return((yield gen.Task(loop.add_callback)))

    @gen.coroutine
    def main():
        return (yield modern())

    assert loop.run_sync(main) == [None]


def test_subclass_of_task_is_a_yield_point_as_until_tornado_3(loop):
    from tornado import gen

    class Op(gen.Task):  # as in motor 0.1 and momoko 1.0
        def get_result(self):
            (result, error), _ = super().get_result()
            if error is not None:
                raise error
            return result

    def find(key, callback):
        found = (key, None) if key else (None, KeyError("gone"))
        loop.add_callback(callback, *found)

    @gen.engine
    def main(callback):
        with pytest.raises(KeyError, match="gone"):
            yield Op(find, "")
        callback([(yield Op(find, "a")), (yield [Op(find, "b"), gen.Task(find, "c")])])

    found = loop.run_sync(lambda: gen.Task(main))

    assert found == ["a", ["b", (("c", None), {})]]


@pytest.mark.parametrize("patch", ["set", "mock"])
def test_runner_is_patched_by_tornados_name(loop, monkeypatch, patch):
    from tornado import gen

    run, names = gen.Runner.run, []

    def traced(self):
        names.append((self.gen.__name__, isinstance(self, gen.Runner)))
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

    assert names == [("main", True)] * 2


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


def test_converters_of_tornado_serve_legacy_coroutines(loop):
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


@uses(
    "tornado.gen._NullFuture.__await__",
    "tornado.gen.convert_yielded",
    "tornado.platform.asyncio.to_asyncio_future",
)
@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize(
    "name", ["gen.convert_yielded", "platform.asyncio.to_asyncio_future"]
)
def test_native_coroutines_await_what_can_be_yielded(loop, is_done, name):
    from tornado import gen

    convert = operator.attrgetter(name)(tornado)

    async def main():
        job = concurrent.futures.Future()
        loop.add_callback(lambda: is_done or job.set_result(42))
        if is_done:
            job.set_result(42)
        turns = []
        loop.add_callback(turns.append, "moment")
        await gen.moment
        loop.add_callback(turns.append, "None")
        await convert(None)
        return turns, await convert(job)

    assert loop.run_sync(main) == (["moment", "None"], 42)
