"""Cancelling a coroutine behaves like cancelling an `asyncio.Task`.

The same programs are performed by generators and by Tasks, and cancelled at every point
where they can be.  What differs by design is in one table, `BY_DESIGN`; each entry has a
program that shows the difference.
"""

from typing import NamedTuple

import pytest

from tests.helpers.fuzzing import FACTOR
from tests.helpers.gencoro.cancelling_examples import EXAMPLES
from tests.helpers.gencoro.cancelling_play import Cancel
from tests.helpers.gencoro.cancelling_programs import written
from tests.helpers.gencoro.cancelling_sides import Sides, as_generators
from tests.helpers.gencoro.comparing import compare_random

ORDINARY_PROGRAMS = 80

# Programs with loops in loops are long, and their points much alike.
MAX_POINTS = 8

# After a first cancel the points of an example are tried at this distance, beginning with the
# same one, the next or the one after: those of three neighbours together are all.
EVERY = 1 if FACTOR > 1 else 3


def test_random_program_is_cancelled_alike(pytestconfig):
    def compare(choices):
        target, pause = choices[-2] % 6, choices[-1] % 6
        with Sides(written(choices)) as sides:
            points = _compared(sides).points
            for kind, number in points[:: 1 + len(points) // MAX_POINTS]:
                _compared(sides, Cancel((kind, number)))
                _compared(
                    sides,
                    Cancel((kind, number), target, "first"),
                    Cancel((kind, number + pause), target, "second"),
                )

    compare_random(pytestconfig, ORDINARY_PROGRAMS, compare)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_cancelled_alike_at_two_points(name):
    with Sides(EXAMPLES[name]) as sides:
        untouched = _compared(sides)
        for target in range(untouched.targets):
            for number, first in enumerate(untouched.points):
                after = _compared(sides, Cancel(first, target)).points
                for second in after[after.index(first) + number % EVERY :: EVERY]:
                    _compared(
                        sides,
                        Cancel(first, target, "first"),
                        Cancel(second, target, "second"),
                    )


def _compared(sides, *cancels):
    seen = sides.play(*cancels)
    assert seen.ours == seen.theirs or seen.asked_twice, (
        f"they differ, cancelled at {cancels}, on\n{as_generators(sides.program)}"
    )
    return seen


class Difference(NamedTuple):
    """A difference, its reason, and a program with what it traces on both sides."""

    what: str
    why: str
    program: str
    ours: list[str]
    theirs: list[str]


BY_DESIGN = [
    Difference(
        what="cancelling before the first turn of the loop",
        why="a body starts at its call, and so it may clean up; a Task's never begins",
        program="""
COROUTINE body(me):
    try:
        WAIT(sleep(1))
    except asyncio.CancelledError as error:
        seen(error)
        raise

COROUTINE main(me):
    future = begun(body, "1")
    future.cancel("early")
    WAIT(sleep(1))
    seen(future)
""",
        ours=["CancelledError('early',)", "cancelled"],
        theirs=["cancelled"],
    ),
    Difference(
        what="the CancelledError that comes out of a body",
        why="asyncio's Future keeps a message only, and makes a new error of it",
        program="""
class Own(asyncio.CancelledError):
    pass

COROUTINE body(me):
    WAIT(None)
    try:
        raise Failure
    finally:
        raise Own("message", "more")

COROUTINE main(me):
    try:
        WAIT(call(1, body))
    except asyncio.CancelledError as error:
        seen(error)
        seen(type(error.__context__).__name__)
""",
        ours=["CancelledError('message',)", "'NoneType'"],
        theirs=["Own('message', 'more')", "'Failure'"],
    ),
    Difference(
        what="the message, for the second who waits",
        why="everybody gets it; a Task forgets it once it has been told",
        program="""
COROUTINE body(me):
    WAIT(sleep(1))

COROUTINE main(me):
    future = call(1, body)
    future.cancel("enough")
    for _ in range(2):
        try:
            WAIT(future)
        except asyncio.CancelledError as error:
            seen(error)
""",
        ours=["CancelledError('enough',)", "CancelledError('enough',)"],
        theirs=["CancelledError('enough',)", "CancelledError()"],
    ),
    Difference(
        what="when the Future of many ends that was cancelled",
        why="a list waits for all of it, in any case; gather for the first that fails",
        program="""
COROUTINE quick(me):
    WAIT(sleep(1))

COROUTINE tidy(me):
    try:
        WAIT(sleep(1))
    finally:
        WAIT(sleep(1))
        seen("clean")

COROUTINE main(me):
    both = gathered([call(1, quick), call(2, tidy)])
    both.cancel("enough")
    try:
        WAIT(both)
    except asyncio.CancelledError as error:
        seen(error)
    WAIT(sleep(2))
""",
        ours=["'clean'", "CancelledError('enough',)"],
        theirs=["CancelledError('enough',)", "'clean'"],
    ),
    Difference(
        what="how the Future of many ends that was cancelled",
        why="it was cancelled, and it says so; what its children say to it is logged",
        program="""
COROUTINE fails(me):
    try:
        WAIT(sleep(1))
    finally:
        raise Failure("in the clean-up")

COROUTINE main(me):
    both = gathered([call(1, fails), call(2, fails)])
    both.cancel("enough")
    try:
        WAIT(both)
    except (Failure, asyncio.CancelledError) as error:
        seen(error)
    seen(both.cancelled())
""",
        ours=["CancelledError('enough',)", "True"],
        theirs=["Failure('in the clean-up',)", "False"],
    ),
    Difference(
        what="what is waited for in two ways, and gathers something that has just failed",
        why="it is asked once; a Task twice, and the gather refuses for the second time",
        program="""
COROUTINE gathers(me):
    failing = late_failure(1, "first")
    failing.add_done_callback(lambda _: cancel(1, "2.1"))
    try:
        WAIT(asyncio.gather(failing, later(2, "second")))
    except (asyncio.CancelledError, Failure) as error:
        seen(error)

COROUTINE waits_twice(me):
    future = call(3, gathers)
    WAIT([future, future])

COROUTINE main(me):
    call(2, waits_twice)
    WAIT(sleep(3))
""",
        ours=["Failure('first',)"],
        theirs=["CancelledError()"],
    ),
    Difference(
        what="what asks for the Task it runs in",
        why="a coroutine is no Task: yield what uses asyncio.timeout, for a Task of its own",
        program="""
async def limited():
    async with asyncio.timeout(UNIT_S):
        await asyncio.sleep(2 * UNIT_S)

COROUTINE main(me):
    WAIT(None)
    for once in (True, False):
        try:
            if once:
                FROM(limited())
            else:
                WAIT(limited())
        except (RuntimeError, TimeoutError) as error:
            seen(type(error).__name__)
""",
        ours=["'RuntimeError'", "'TimeoutError'"],
        theirs=["'TimeoutError'", "'TimeoutError'"],
    ),
    Difference(
        what="cancelling what waits in a circle, or in a chain deeper than the stack",
        why="it is walked down in a loop, where Tasks cancel each other by recursion",
        program="""
futures = {}

COROUTINE waits_for(me):
    WAIT(None)
    try:
        WAIT(futures["ab"[me == "a"]])
    finally:
        seen(me)

COROUTINE main(me):
    for name in "ab":
        futures[name] = waits_for(name)
    WAIT(sleep(1))
    try:
        seen(futures["a"].cancel())
    except RecursionError as error:
        seen(type(error).__name__)
""",
        ours=["True", "'a'", "'b'"],
        theirs=["'RecursionError'"],
    ),
]


@pytest.mark.parametrize("case", BY_DESIGN, ids=lambda case: case.what)
def test_difference_by_design_is_as_described(case):
    with Sides(case.program) as sides:
        played = sides.play()

    assert _seen(played.ours) == case.ours
    assert _seen(played.theirs) == case.theirs


def _seen(events):
    return [event[2] for event in events if event[1:2] == ("seen",)]
