"""Some of the patterns with ``async def``: those that it makes shorter, or different.

``docs/patterns.rst`` shows them; ``tests/docs/test_patterns.py`` runs each one.
"""

import asyncio
import functools

from gencoro import gen


async def fetch_pair(fetch):
    fetching = fetch("/news"), fetch("/sky")
    news, sky = await asyncio.gather(*fetching)
    return news, sky


async def fetch_as_they_come(fetch, urls, show):
    pages = gen.WaitIterator(*(fetch(url) for url in urls))
    async for page in pages:
        show(urls[pages.current_index], page)


async def read_all(read, names, pool):
    loop = asyncio.get_running_loop()
    run = functools.partial(loop.run_in_executor, pool, read)
    reading = [run(name) for name in names]
    return await asyncio.gather(*reading)


async def titles(rows):
    return [row["title"] async for row in rows]


async def fetch_in_time(fetch, url, seconds):
    try:
        async with asyncio.timeout(seconds):
            return await fetch(url)
    except TimeoutError:
        return None  # the fetch was cancelled


async def process(items, handle, workers):
    queue = asyncio.Queue(maxsize=workers)
    async with asyncio.TaskGroup() as group:
        working = [work(queue, handle) for _ in range(workers)]
        tasks = [group.create_task(each) for each in working]
        for item in items:
            await queue.put(item)
        await queue.join()
        for task in tasks:
            task.cancel()


async def work(queue, handle):
    while True:
        item = await queue.get()
        try:
            await handle(item)
        finally:
            queue.task_done()
