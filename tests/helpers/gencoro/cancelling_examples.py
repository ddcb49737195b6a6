"""Small programs for `cancelling_play`, each with one way to wait or to be cancelled.

They are small so that each can be cancelled at any two points of it.  Each is about what
random programs seldom or never write.
"""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "clean-up that waits": """
COROUTINE inner(me):
    try:
        WAIT(sleep(1))
    finally:
        trace("cleans up")
        WAIT(sleep(1))
        trace("clean")

COROUTINE main(me):
    try:
        WAIT(call(1, inner))
    finally:
        WAIT(sleep(1))
        trace("main is clean")
""",
    "refuses and goes on": """
COROUTINE inner(me):
    for turn in range(3):
        try:
            WAIT(sleep(1))
        except asyncio.CancelledError as error:
            trace("refuses", error)

COROUTINE main(me):
    try:
        WAIT(call(1, inner))
    except asyncio.CancelledError as error:
        trace("main", error)
    return "done"
""",
    "things that are done already": """
COROUTINE inner(me):
    return 1
    WAIT(None)

COROUTINE main(me):
    WAIT(None)
    cancel(1, me, "itself")
    trace("done", WAIT(ready(1)), WAIT(call(2, inner)), WAIT([ready(2), None]))
    trace("nothing", WAIT([]), WAIT({}))
    try:
        WAIT(failed(3))
    except Failure as error:
        trace("failed", error)
    WAIT(later(1, "comes late"))
    trace("goes on")
""",
    "what waits for a Future that has just failed": """
COROUTINE main(me):
    try:
        WAIT(late_failure(0, "unseen?"))
    except Failure as error:
        trace("main", error)
    WAIT(late_failure(1, "again"))
""",
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
    "cancels itself": """
COROUTINE inner(me):
    WAIT(None)
    cancel(1, me, "first")
    cancel(1, me, "second")
    trace("still here")
    try:
        WAIT(sleep(1))
    except asyncio.CancelledError as error:
        trace("inner", error)
    cancel(1, me)
    WAIT(moment)

COROUTINE main(me):
    WAIT(call(2, inner))
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
    "cancels its caller": """
COROUTINE inner(me):
    WAIT(None)
    cancel(1, "2.1", "by the child")
    trace("inner goes on")
    WAIT(sleep(1))

COROUTINE outer(me):
    try:
        WAIT(call(3, inner))
    except asyncio.CancelledError as error:
        trace("outer", error)
        WAIT(sleep(1))

COROUTINE main(me):
    WAIT(call(2, outer))
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
    "list": """
COROUTINE child(me):
    try:
        WAIT(sleep(1))
    finally:
        trace("child", me)

COROUTINE main(me):
    try:
        WAIT([call(1, child), None, later(2, 3), [call(2, child)], ready(5)])
    except asyncio.CancelledError as error:
        trace("main", error)
""",
    "list whose children refuse": """
COROUTINE refuses(me):
    try:
        WAIT(sleep(1))
    except asyncio.CancelledError as error:
        trace("refuses", error)
        WAIT(sleep(1))

COROUTINE fails(me):
    try:
        WAIT(sleep(1))
    except asyncio.CancelledError:
        raise Failure("in the clean-up")

COROUTINE main(me):
    try:
        WAIT(multi(1, [call(2, refuses), call(3, fails), call(4, refuses)]))
    finally:
        trace("main finally")
""",
    "list with a child that fails": """
COROUTINE fails(me):
    WAIT(None)
    raise Failure(me)

COROUTINE goes_on(me):
    WAIT(sleep(1))
    trace("nobody told me to stop")

COROUTINE main(me):
    try:
        WAIT([call(1, fails), call(2, goes_on), call(3, fails)])
    except Failure as error:
        trace("main", error)
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
    "yield from a helper": """
HELPER inner(me):
    try:
        WAIT(sleep(1))
    except asyncio.CancelledError as error:
        trace("helper", error)
        raise
    finally:
        WAIT(None)
        trace("helper finally")

HELPER helper(me):
    FROM(inner(me))
    FROM(sleep(1))
    cancel(1, me, "in the helper")
    FROM(ready(1))
    return FROM(inner(me))

COROUTINE child(me):
    try:
        trace("child", FROM(helper(me)))
    finally:
        trace("child finally")

COROUTINE main(me):
    WAIT(call(2, child))
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
