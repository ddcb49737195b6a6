"""Stage 6: the same crawler with ``async def``, on asyncio.

python docs/story/6_asyncio.py URL [--connections N] [--timeout S]
"""

import asyncio
import socket

from web import Job, Site, address_of, main, request_for

__all__ = ["crawl", "crawl_all", "fetch"]


async def crawl_all(site: Site, connections: int, timeout: float) -> None:
    """Have workers take the jobs from a queue, until all of them are done."""
    queue: asyncio.Queue[Job] = asyncio.Queue()
    queue.put_nowait(site.start)
    # An error of a worker cancels the others, and what is inside the block.
    async with asyncio.TaskGroup() as group:
        workers = [
            group.create_task(work(queue, site, timeout)) for _ in range(connections)
        ]
        await queue.join()
        for worker in workers:
            worker.cancel()


async def work(queue: "asyncio.Queue[Job]", site: Site, timeout: float) -> None:
    """Visit one URL after the other, until cancelled."""
    while True:
        job = await queue.get()
        try:
            for new_job in await visit(site, job, timeout):
                queue.put_nowait(new_job)
        finally:
            queue.task_done()


async def visit(site: Site, job: Job, timeout: float) -> list[Job]:
    """Fetch one URL; return the jobs that it leads to."""
    try:
        async with asyncio.timeout(timeout):
            received = await fetch(job.url)
        return site.read(job, received)
    except OSError as error:
        site.fail(job, error)
        return []


async def fetch(url: str) -> bytes:
    """Return what the server sends until it closes the connection."""
    host, port = address_of(url)
    reader, writer = await asyncio.open_connection(host, port, family=socket.AF_INET)
    try:
        writer.write(request_for(url))
        return await reader.read()
    finally:
        writer.close()


def crawl(site: Site, connections: int, timeout: float) -> None:
    """Fetch all pages in this thread, with several connections at a time."""
    asyncio.run(crawl_all(site, connections, timeout))


if __name__ == "__main__":
    main(crawl)
