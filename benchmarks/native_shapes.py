"""The shapes of `shapes` for ``async def``: with a Task for each child, and without.

A plain ``await child()`` starts nothing: it is a call.  So it cannot have a list of
concurrent children, and it suspends its Task.
"""

import asyncio

from shapes import CHAIN_LEVELS, ERROR_LEVELS, LIST_CHILDREN, LONG

__all__ = ["AWAIT_SHAPES", "EAGER_SHAPES", "TASK_SHAPES"]


async def child_ready():
    return 1


def child_waiting_once(soon):
    async def child():
        await soon()
        return 1

    return child


def ready_in_task(create_task, soon):
    async def repeat(times):
        for _ in range(times):
            await create_task(child_ready())

    return repeat


def ready_awaited(create_task, soon):
    async def repeat(times):
        for _ in range(times):
            await child_ready()

    return repeat


def once_in_task(create_task, soon):
    child = child_waiting_once(soon)

    async def repeat(times):
        for _ in range(times):
            await create_task(child())

    return repeat


def once_awaited(create_task, soon):
    child = child_waiting_once(soon)

    async def repeat(times):
        for _ in range(times):
            await child()

    return repeat


def many_in_tasks(create_task, soon):
    child = child_waiting_once(soon)

    async def repeat(times):
        for _ in range(times):
            tasks = [create_task(child()) for _ in range(LIST_CHILDREN)]
            await asyncio.gather(*tasks)

    return repeat


def chain_in_tasks(create_task, soon):
    async def level(levels):
        if levels == 1:
            return await soon()
        return await create_task(level(levels - 1))

    async def repeat(times):
        for _ in range(times):
            await create_task(level(CHAIN_LEVELS))

    return repeat


def chain_awaited(create_task, soon):
    async def level(levels):
        if levels == 1:
            return await soon()
        return await level(levels - 1)

    async def repeat(times):
        for _ in range(times):
            await level(CHAIN_LEVELS)

    return repeat


def switch(create_task, soon):
    async def repeat(times):
        for _ in range(times):
            await asyncio.sleep(0)

    return repeat


def error_in_tasks(create_task, soon):
    async def level(levels):
        if levels == 1:
            await soon()
            raise LookupError("no such page")
        await create_task(level(levels - 1))

    async def repeat(times):
        for _ in range(times):
            try:
                await create_task(level(ERROR_LEVELS))
            except LookupError:
                pass

    return repeat


def error_awaited(create_task, soon):
    async def level(levels):
        if levels == 1:
            await soon()
            raise LookupError("no such page")
        await level(levels - 1)

    async def repeat(times):
        for _ in range(times):
            try:
                await level(ERROR_LEVELS)
            except LookupError:
                pass

    return repeat


def limited_task(create_task, soon):
    child = child_waiting_once(soon)

    async def repeat(times):
        for _ in range(times):
            await asyncio.wait_for(create_task(child()), LONG.total_seconds())

    return repeat


def queue_awaited(create_task, soon):
    async def repeat(times):
        queue = asyncio.Queue(10)
        for _ in range(times):
            await queue.put(None)
            await queue.get()

    return repeat


def suspended(create_task, soon):
    async def wait_for(future):
        await future

    return lambda future: create_task(wait_for(future))


TASK_SHAPES = {
    "ready": ready_in_task,
    "once": once_in_task,
    "many": many_in_tasks,
    "chain": chain_in_tasks,
    "switch": switch,
    "error": error_in_tasks,
    "limited": limited_task,
    "suspended": suspended,
}

AWAIT_SHAPES = {
    "ready": ready_awaited,
    "once": once_awaited,
    "chain": chain_awaited,
    "error": error_awaited,
    "queue": queue_awaited,
    "helper_ready": ready_awaited,
    "helper_once": once_awaited,
}

EAGER_SHAPES = {"ready": ready_in_task, "once": once_in_task}
