"""asyncio's call graph (Python 3.14) includes coroutines of gencoro."""

import asyncio
import gc
import weakref

import pytest

from gencoro import gen
from gencoro.virtual_clock import VirtualClock
from tests.helpers.gencoro.outcomes import Failure

pytestmark = pytest.mark.skipif(
    not hasattr(asyncio, "capture_call_graph"),
    reason="this Python's asyncio has no call graph; it came with 3.14",
)


@pytest.fixture(params=[True, False], ids=["debug", "no debug"])
def any_run(request):
    """Return a function that runs a native coroutine on a loop with virtual time."""
    return _runner(debug=request.param)


@pytest.fixture
def run():
    """Return the same for a loop in debug mode."""
    return _runner(debug=True)


def _runner(debug):
    def run(main):
        new_loop = VirtualClock().new_event_loop
        with asyncio.Runner(debug=debug, loop_factory=new_loop) as runner:
            return runner.run(main())

    return run


# A chain with everything that can be between two coroutines.


@gen.coroutine
def _inner(answered):
    return (yield from _part_of_inner(answered))


def _part_of_inner(answered):
    return (yield answered)


async def _native(answered):
    return await _inner(answered)


@gen.coroutine
def _middle(answered):
    return (yield _native(answered))


@gen.coroutine
def _main(answered):
    answers = yield [gen.sleep(1), {"middle": _middle(answered)}]
    return answers[1]["middle"]


async def _root(answered):
    return await _main(answered)


def _levels(future):
    """Return the names of each level's functions, from a Future up to its last waiter."""
    levels = []
    awaited_by = [asyncio.capture_call_graph(future)]
    while awaited_by:
        [graph] = awaited_by
        levels.append([entry.frame.f_code.co_name for entry in graph.call_stack])
        awaited_by = graph.awaited_by
    return levels


def test_graph_goes_from_the_innermost_future_up_to_the_root_task(run):
    async def main():
        answered = asyncio.Future()
        root = asyncio.create_task(_root(answered), name="the root")
        await asyncio.sleep(2)

        levels, text = _levels(answered), asyncio.format_call_graph(answered)

        answered.set_result(42)
        assert await root == 42
        return levels, text

    levels, text = run(main)

    in_dict, in_list = [], []
    assert levels == [
        [],
        ["_part_of_inner", "_inner"],
        ["_native"],
        ["_middle"],
        in_dict,
        in_list,
        ["_main"],
        ["_root"],
    ]
    for name in ["_part_of_inner", "_inner", "_middle", "_main"]:
        assert f" in generator {name}()\n" in text
    assert "* Task(name='the root'" in text
    assert text.endswith(" in async _root()")


def test_future_that_several_wait_for_is_awaited_by_each(run):
    async def main():
        answered = asyncio.Future()
        waiting = [_inner(answered), _middle(answered)]
        await asyncio.sleep(1)

        graph = asyncio.capture_call_graph(answered)

        answered.set_result(None)
        await asyncio.gather(*waiting)
        return {entry.future for entry in graph.awaited_by}, waiting[0]

    awaited_by, first = run(main)

    assert len(awaited_by) == 2
    assert first in awaited_by


# What is over leaves nothing behind.


def _succeed(future):
    future.set_result(None)


def _fail(future):
    future.set_exception(Failure())


def _cancel(future):
    future.cancel()


ENDS = {"success": _succeed, "failure": _fail, "cancelling": _cancel}

YIELDED = {
    "a Future": lambda future: future,
    "a list": lambda future: [future, None],
    "nested": lambda future: [{"a": [future]}, [gen.moment]],
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("kind", YIELDED)
def test_done_future_has_no_waiter(run, kind, end):
    @gen.coroutine
    def waits(future):
        try:
            yield YIELDED[kind](future)
        except (Failure, asyncio.CancelledError):
            pass
        return future._asyncio_awaited_by

    async def main():
        future = asyncio.Future()
        waiting = waits(future)
        before = future._asyncio_awaited_by
        ENDS[end](future)
        return before, await waiting, future._asyncio_awaited_by

    before, resumed, after = run(main)

    assert len(before) == 1
    assert not resumed
    assert not after


def test_future_abandoned_after_an_error_has_no_waiter(run):
    async def main():
        future = asyncio.Future()
        waiting = _inner(future)
        waiting._runner.handle_exception(Failure, Failure(), None)
        with pytest.raises(Failure):
            await waiting
        return future._asyncio_awaited_by

    assert not run(main)


def test_coroutine_is_freed_while_what_it_waited_for_lives_on(run):
    async def main():
        children = [asyncio.Future(), asyncio.Future()]
        waiting = weakref.ref(_inner(children))
        suspended = waiting() is not None
        for child in children:
            child.set_result(None)
        await asyncio.sleep(1)
        return suspended, waiting()

    gc.disable()
    try:
        suspended, waiting = run(main)
    finally:
        gc.enable()

    assert suspended
    assert waiting is None


# What is seen, and when.


def test_waits_are_noted_in_debug_mode_only(any_run):
    async def main():
        future = asyncio.Future()
        waiting = _inner([future])
        noted = bool(future._asyncio_awaited_by)
        future.set_result(None)
        await waiting
        return noted, asyncio.get_running_loop().get_debug()

    noted, debug = any_run(main)

    assert noted == debug


def test_coroutine_that_a_native_one_awaits_is_seen_in_any_mode(any_run):
    async def main():
        answered = asyncio.Future()
        inner = _inner(answered)
        root = asyncio.ensure_future(_await(inner))
        await asyncio.sleep(1)
        levels = _levels(inner)
        answered.set_result(None)
        await root
        return levels, _levels(inner)

    suspended, ended = any_run(main)

    assert suspended == [["_part_of_inner", "_inner"], ["_await"]]
    assert ended == [[]]


async def _await(future):
    return await future
