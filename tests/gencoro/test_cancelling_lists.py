"""Cancelling a list or a dict cancels what is in it; nothing else does."""

import asyncio
import logging

import pytest

from gencoro import gen


class Failure(Exception):
    pass


def _pending():
    return asyncio.get_running_loop().create_future()


def test_cancelling_through_lists_and_dicts_cancels_every_child(run):
    ended = []

    @gen.coroutine
    def child(name):
        try:
            yield gen.sleep(60)
        finally:
            ended.append(name)

    @gen.coroutine
    def parent():
        done = gen.maybe_future(1)
        try:
            yield [child("a"), {"b": child("b"), "done": done}, gen.moment, child("c")]
        finally:
            ended.append("parent")

    async def main():
        future = parent()
        assert future.cancel("enough")
        with pytest.raises(asyncio.CancelledError, match="enough"):
            await future
        return future.cancelled()

    assert run(main)
    assert ended == ["a", "b", "c", "parent"]


def test_list_is_cancelled_though_its_children_refuse(run, caplog):
    @gen.coroutine
    def stubborn(outcome):
        try:
            yield gen.sleep(60)
        except asyncio.CancelledError:
            yield gen.sleep(1)
        if outcome is None:
            raise ValueError("in cleaning up")
        return outcome

    async def main():
        future = gen.multi([stubborn(1), stubborn(None)])
        await asyncio.sleep(0)
        assert future.cancel()
        with pytest.raises(asyncio.CancelledError):
            await future
        return future.cancelled(), asyncio.get_running_loop().time()

    with caplog.at_level(logging.ERROR):
        assert run(main) == (True, 1.0)
    assert "in cleaning up" in caplog.text


def test_cancelling_a_list_again_says_whether_anything_was_left_to_cancel(run):
    async def main():
        future = gen.multi([_pending(), _pending()])
        return future.cancel(), future.cancel()

    assert run(main) == (True, False)


@pytest.mark.parametrize("ending", ["fails", "is cancelled"])
def test_child_of_a_list_that_ends_early_does_not_end_the_others(run, ending):
    @gen.coroutine
    def goes_on():
        yield gen.sleep(5)
        return asyncio.get_running_loop().time()

    async def main():
        other = goes_on()
        early = _pending()
        future = gen.multi([early, other])
        if ending == "fails":
            early.set_exception(Failure())
        else:
            early.cancel()
        with pytest.raises((Failure, asyncio.CancelledError)):
            await future
        return await other

    assert run(main) == 5


def test_cancelling_a_list_that_is_done_does_nothing(run):
    async def main():
        empty, full = gen.multi([]), gen.multi([gen.moment])
        return empty.cancel(), full.cancel(), await empty, await full

    assert run(main) == (False, False, [], [None])


def test_circle_through_lists_is_cancelled(run):
    ended = []
    futures = {}

    @gen.coroutine
    def waits_for(name, other):
        yield gen.moment
        try:
            yield [futures[other]]
        finally:
            ended.append(name)

    async def main():
        futures["a"] = waits_for("a", "b")
        futures["b"] = waits_for("b", "a")
        futures["own"] = waits_for("own", "own")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        answers = futures["a"].cancel(), futures["own"].cancel()
        await asyncio.wait(futures.values())
        return answers, [future.cancelled() for future in futures.values()]

    assert run(main) == ((True, True), [True] * 3)
    assert sorted(ended) == ["a", "b", "own"]


def test_chain_of_lists_that_is_deeper_than_the_stack_is_cancelled(run):
    ended = []

    @gen.coroutine
    def link(inner):
        try:
            yield [inner]
        finally:
            ended.append(1)

    async def main():
        chain = gen.sleep(60)
        for _ in range(5000):
            chain = link(chain)
        chain.cancel()
        await asyncio.wait([chain])
        return chain.cancelled()

    assert run(main)
    assert len(ended) == 5000


def test_what_many_ways_lead_to_is_asked_once(run):
    # Forty layers of two that both wait for the layer below: a million million ways.
    @gen.coroutine
    def layer(below):
        yield below

    async def main():
        below = [gen.sleep(60)]
        for _ in range(40):
            below = [layer(below), layer(below)]
        top = gen.multi(below)
        answer = top.cancel()
        await asyncio.wait([top])
        return answer, top.cancelled()

    assert run(main) == (True, True)


def test_list_that_a_child_of_it_waits_for_is_cancelled(run):
    ended = []

    @gen.coroutine
    def waits_for_its_list():
        yield gen.moment
        try:
            yield whole
        finally:
            ended.append(1)

    async def main():
        nonlocal whole
        whole = gen.multi([waits_for_its_list()])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        answer = whole.cancel("enough")
        await asyncio.wait([whole])
        return answer, whole.cancelled()

    whole = None

    assert run(main) == (True, True)
    assert ended == [1]
