"""Stage 7: ``@coroutine``: what it decorates returns a Future, and waits with ``yield``.

    python docs/story/7_coroutine.py URL [--connections N] [--timeout S]

It runs on asyncio's loop and Futures, and on the Runner of ``runner.py``.
"""

import asyncio
import socket
from collections.abc import Generator
from typing import Any

from runner import Return, coroutine, run_sync
from web import Job, Site, address_of, main, request_for

__all__ = ["crawl", "crawl_all"]


@coroutine
def crawl_all(
    site: Site, connections: int, timeout: float
) -> Generator[Any, Any, None]:
    """Have workers take the jobs from a queue, until all of them are done."""
    queue: asyncio.Queue[Job | None] = asyncio.Queue()
    queue.put_nowait(site.start)
    workers = [work(queue, site, timeout) for _ in range(connections)]
    joined = asyncio.ensure_future(queue.join())
    # A worker ends before only if it fails.
    yield asyncio.wait([joined, *workers], return_when=asyncio.FIRST_COMPLETED)
    joined.cancel()
    for _ in workers:
        queue.put_nowait(None)
    yield workers


@coroutine
def work(queue: Any, site: Site, timeout: float) -> Generator[Any, Any, None]:
    """Visit one URL after the other; None ends it."""
    while (job := (yield queue.get())) is not None:
        try:
            for new_job in (yield visit(site, job, timeout)):
                queue.put_nowait(new_job)
        finally:
            queue.task_done()


@coroutine
def visit(site: Site, job: Job, timeout: float) -> Generator[Any, Any, list[Job]]:
    """Fetch one URL; return the jobs that it leads to."""
    try:
        received = yield fetch(job.url, timeout)
        raise Return(site.read(job, received))
    except OSError as error:
        site.fail(job, error)
        return []


@coroutine
def fetch(url: str, timeout: float) -> Generator[Any, Any, bytes]:
    """Return what the server sends until it closes the connection."""
    end = asyncio.get_running_loop().time() + timeout
    connecting = asyncio.open_connection(*address_of(url), family=socket.AF_INET)
    reader, writer = yield asyncio.wait_for(connecting, timeout)
    try:
        writer.write(request_for(url))
        left = end - asyncio.get_running_loop().time()
        return (yield asyncio.wait_for(reader.read(), left))
    finally:
        writer.close()


def crawl(site: Site, connections: int, timeout: float) -> None:
    """Fetch all pages in this thread, with several connections at a time."""
    run_sync(lambda: crawl_all(site, connections, timeout))


if __name__ == "__main__":
    main(crawl)
