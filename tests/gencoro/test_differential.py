"""Random programs behave the same on gencoro as on Tornado.

What differs by design is in one table, `BY_DESIGN`; each entry has a program that
shows the difference, and that `programs` never writes, except for the turn in which a list
is done or an error in it is logged.
"""

from typing import NamedTuple

import pytest
import tornado.gen

from gencoro import gen
from gencoro.waiting import TimeLimit
from gencoro.yieldables import MultiFuture
from tests.helpers.gencoro.comparing import compare_random
from tests.helpers.gencoro.playing import play
from tests.helpers.gencoro.programs import written

ORDINARY_PROGRAMS = 500


def test_a_random_program_does_the_same_on_both(pytestconfig):
    def compare(choices):
        program = written(choices)

        ours = play(program, gen)
        theirs = play(program, tornado.gen)

        if ours != theirs:
            ours = _played_as_in_tornado(program)
        assert ours == theirs, f"they differ on\n{program}"

    compare_random(pytestconfig, ORDINARY_PROGRAMS, compare)


def _played_as_in_tornado(program):
    """Perform a program with lists that are done, and whose errors are logged, as Tornado's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MultiFuture, "wait_for", _wait_for_each)
        patch.setattr(TimeLimit, "_leave", _stay)
        return play(program, gen)


def _wait_for_each(multi, children):
    """Add a callback to each child, as Tornado does."""
    multi.children = children
    unfinished = {child for child in children if not child.done()}

    def end(child):
        unfinished.remove(child)
        if not unfinished:
            multi._settle()

    for child in dict.fromkeys(children):
        if child in unfinished:
            child.add_done_callback(end, context=multi._context)
    if not unfinished:
        multi._settle()


def _stay(limit, future):
    """Let a list stay on its children after a time-out, as Tornado does."""
    future.remove_done_callback(limit._take_outcome)
    return [future]


class Difference(NamedTuple):
    """What differs, why, and the program with both last words about it."""

    what: str
    why: str
    body: str
    ours: str
    theirs: str | None


BY_DESIGN = [
    Difference(
        what="cancelling the Future of a coroutine",
        why="it cancels the body, as asyncio.Task does; Tornado's body runs on",
        body="""
            later(1, 1).add_done_callback(lambda _: future.cancel())
            try:
                yield sleep(2)
                trace("seen", "ran on")
            except BaseException as error:
                trace("seen", error)
        """,
        ours="CancelledError() after NoneType",
        theirs="'ran on'",
    ),
    Difference(
        what="`yield from` a native coroutine",
        why="@asyncio.coroutine allowed it, and Tornado 4.5 did",
        body="""
            async def native():
                return 1
            native_coroutine = native()
            try:
                trace("seen", (yield from native_coroutine))
            except TypeError:
                native_coroutine.close()
                trace("seen", "refused")
        """,
        ours="1",
        theirs="'refused'",
    ),
    Difference(
        what="the turn in which a list is done",
        why="it looks at the children one by one, from the last; Tornado hears of each",
        body="""
            first, last = later(3, 1), later(1, 2)
            last.add_done_callback(lambda _: first.set_result(0))
            first.add_done_callback(lambda _: trace("seen", both))
            both = gen.multi([first, last])
            yield both
        """,
        ours="[0, 2]",
        theirs="pending",
    ),
    Difference(
        what="an error in a list after a time-out",
        why="it is logged at once; Tornado waits for all of the list, and so is kept by a child "
        "that never ends",
        body="""
            import logging
            errors, handler = [], logging.Handler()
            handler.emit = errors.append
            logger = logging.getLogger("tornado.application")
            logger.addHandler(handler)
            never = asyncio.get_running_loop().create_future()
            try:
                yield timeout(1, [late_failure(2, 0), never])
            except gen.TimeoutError:
                yield sleep(2)
            logger.removeHandler(handler)
            trace("seen", len(errors))
        """,
        ours="1",
        theirs="0",
    ),
    Difference(
        what="with_timeout of None or moment",
        why="every yieldable is taken; Tornado's fails in an assertion of its own",
        body="""
            try:
                trace("seen", (yield timeout(1, None)))
            except AssertionError:
                trace("seen", "failed")
        """,
        ours="None",
        theirs="'failed'",
    ),
    Difference(
        what="an error in a registered converter",
        why="it is raised at the yield; in Tornado the coroutine waits for ever",
        body="""
            class Odd:
                pass
            @gen.convert_yielded.register(Odd)
            def convert(odd):
                raise Failure("odd")
            yield sleep(1)
            try:
                yield Odd()
            except Failure as error:
                trace("seen", error)
        """,
        ours="Failure('odd',) after NoneType",
        theirs=None,
    ),
    Difference(
        what="WaitIterator.next() with nothing left",
        why="an error, where Tornado waits for ever",
        body="""
            try:
                yield gen.WaitIterator().next()
            except Exception as error:
                trace("seen", type(error).__name__)
        """,
        ours="'GencoroError'",
        theirs=None,
    ),
    Difference(
        what="a Future of another loop",
        why="an error, where Tornado waits for ever, or is resumed on a wrong thread",
        body="""
            loop = asyncio.new_event_loop()
            foreign = loop.create_future()
            loop.close()
            try:
                yield foreign
            except gen.BadYieldError as error:
                trace("seen", error)
        """,
        ours="BadYieldError() after NoneType",
        theirs=None,
    ),
    Difference(
        what="a coroutine that yields its own Future",
        why="an error, where Tornado waits for ever",
        body="""
            yield gen.moment
            try:
                yield future
            except gen.BadYieldError as error:
                trace("seen", error)
        """,
        ours="BadYieldError() after NoneType",
        theirs=None,
    ),
    Difference(
        what="the base of BadYieldError",
        why="all errors of gencoro have one base",
        body="""
            trace("seen", gen.BadYieldError.__base__.__name__)
            yield gen.moment
        """,
        ours="'GencoroError'",
        theirs="'Exception'",
    ),
]


@pytest.mark.parametrize("case", BY_DESIGN, ids=lambda case: case.what)
def test_difference_by_design_is_as_described(case):
    program = f"""
future = None
@gen.coroutine
def body():
{case.body}
def main():
    global future
    future = body()
    return future
"""

    assert _seen(program, gen) == case.ours
    assert _seen(program, tornado.gen) == case.theirs


def _seen(program, module):
    """Return what the program has seen; None if it waits for ever."""
    events = play(program, module)[:-1]
    return next((event[2] for event in events if event[1] == "seen"), None)
