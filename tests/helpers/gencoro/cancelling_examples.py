"""Small programs for `cancelling_play`, each with one way to wait or to be cancelled.

They are small so that each can be cancelled at two points of it.  Each is about what random
programs seldom or never write; lists, helpers, refusals and clean-ups are in most of those.
"""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "what waits for a Future that has just been cancelled": """
COROUTINE main(me):
    waited_for = hold(1, later(1, "value"))
    try:
        trace("main", WAIT(waited_for))
    except asyncio.CancelledError as error:
        trace("main", error)
    trace("state", waited_for)
    WAIT(sleep(1))
""",
    "cancels itself in its last step": """
COROUTINE returns(me):
    WAIT(None)
    cancel(1, me, "in the last step")
    return "lost"

COROUTINE raises(me):
    WAIT(None)
    cancel(2, me, "in the last step")
    raise Failure("kept")

COROUTINE main(me):
    for function in (returns, raises):
        try:
            WAIT(call(3, function))
        except (asyncio.CancelledError, Failure) as error:
            trace("main", error)
""",
    "two wait for one": """
shared = []

COROUTINE worker(me):
    try:
        WAIT(sleep(1))
    finally:
        WAIT(None)
        trace("worker finally")

COROUTINE first(me):
    try:
        FROM(shared[0])
    finally:
        trace("first finally")

async def second(me):
    await asyncio.sleep(0)
    try:
        await shared[0]
    except asyncio.CancelledError:
        trace("second refuses")

COROUTINE main(me):
    shared.append(call(1, worker))
    WAIT([call(2, first), native(3, second)])
""",
    "native coroutine that never begins": """
async def between(me):
    trace("begun")
    try:
        await asyncio.sleep(0)
    finally:
        trace("ended")

COROUTINE main(me):
    try:
        WAIT([native(1, between), native(2, between)])
    except asyncio.CancelledError as error:
        trace("main", error)
        WAIT(native(3, between))
""",
    "gather of what refuses": """
COROUTINE refuses(me):
    try:
        WAIT(sleep(1))
    except asyncio.CancelledError as error:
        trace("refuses", error)

COROUTINE main(me):
    try:
        WAIT(hold(1, asyncio.gather(call(2, refuses))))
    except asyncio.CancelledError as error:
        trace("main", error)
""",
    "Tasks that wait for Tasks": """
async def outer(me):
    await task(2, inner)

async def inner(me):
    try:
        await hold(3, asyncio.gather(late_failure(0, "at once"), later(1, "later")))
    finally:
        trace("cancels", asyncio.current_task().cancelling())

COROUTINE main(me):
    WAIT(task(1, outer))
""",
    "asyncio.wait": """
COROUTINE child(me):
    try:
        WAIT(sleep(2))
    finally:
        WAIT(None)
        trace("child", me)

async def waits(me):
    futures = [call(1, child), call(2, child), later(1, 0)]
    done, rest = await asyncio.wait(futures, timeout=UNIT_S)
    trace(len(done), len(rest))
    for future in futures:
        future.cancel("left over")
    await asyncio.wait(futures)

COROUTINE main(me):
    WAIT(task(3, waits))
""",
    "WaitIterator": """
COROUTINE quick(me):
    WAIT(sleep(1))
    return "quick"

COROUTINE slow(me):
    try:
        WAIT(sleep(2))
    finally:
        trace("slow finally")

COROUTINE main(me):
    iterator = WaitIterator(call(1, slow), call(2, quick), later(3, "latest"))
    while not iterator.done():
        try:
            trace("next", WAIT(iterator.next()))
        except asyncio.CancelledError as error:
            trace("main", error)
""",
    "job that runs": """
COROUTINE main(me):
    try:
        trace("main", WAIT(job(1, 2, begun=True)))
    except asyncio.CancelledError as error:
        trace("main", error)
    finished = job(2, 0)
    WAIT(sleep(1))
    trace("main", WAIT(finished))
    WAIT([job(3, 1, begun=True, error=True), sleep(1)])
""",
}
