"""Stage 5: workers that take their jobs from a queue, on the Tasks of stage 4.

python docs/story/5_queue.py URL [--connections N] [--timeout S]
"""

import contextlib
from collections import deque
from importlib import import_module
from typing import Any

from loop import Loop
from web import Job, Site, main

__all__ = ["Queue", "crawl", "crawl_all", "with_timeout"]

# Its name begins with a digit, so it cannot be named in an import statement.
stage_4 = import_module("4_generators")
Cancelled, Future, Task = stage_4.Cancelled, stage_4.Future, stage_4.Task
Waiting = stage_4.Waiting


class Queue:
    """Jobs that wait for workers, and workers that wait for jobs."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._items: deque[Any] = deque()
        self._getters: deque[Any] = deque()  # Futures of those that wait for an item
        self._unfinished = 0
        self._finished = Future(loop)  # of the items that are unfinished now

    def put(self, item: Any) -> None:
        if not self._unfinished:
            self._finished = Future(self._loop)
        self._unfinished += 1
        self._items.append(item)
        self._wake_next()

    def get(self) -> Waiting:
        """Wait for an item, and return it."""
        while not self._items:
            getter = Future(self._loop)
            self._getters.append(getter)
            try:
                yield from getter
            except Cancelled:
                if getter.done:  # it was woken for an item that another can take
                    self._wake_next()
                else:
                    self._getters.remove(getter)
                raise
        return self._items.popleft()

    def _wake_next(self) -> None:
        if self._items and self._getters:
            self._getters.popleft().set()

    def task_done(self) -> None:
        """Report that the work on one item is done."""
        self._unfinished -= 1
        if not self._unfinished:
            self._finished.set()

    def join(self) -> Waiting:
        """Wait until the work on every item is done."""
        if self._unfinished:
            yield from self._finished


def crawl_all(loop: Loop, site: Site, connections: int, timeout: float) -> Waiting:
    """Have workers take the jobs from a queue, until all of them are done."""
    queue = Queue(loop)
    queue.put(site.start)
    work_of_one = [work(loop, queue, site, timeout) for _ in range(connections)]
    workers = [Task(loop, work) for work in work_of_one]
    try:
        # A worker ends before `join` only if it fails.
        first = yield from first_done(loop, [Task(loop, queue.join()), *workers])
        first.result()
    finally:
        yield from end(workers)


def end(tasks: list[Any]) -> Waiting:
    """Cancel Tasks, and wait until they have cleaned up."""
    for task in tasks:
        task.cancel()
    for task in tasks:
        with contextlib.suppress(Exception, Cancelled):  # the first error is known
            yield from task


def work(loop: Loop, queue: Queue, site: Site, timeout: float) -> Waiting:
    """Visit one URL after the other, until cancelled."""
    while True:
        job = yield from queue.get()
        try:
            for new_job in (yield from visit(loop, site, job, timeout)):
                queue.put(new_job)
        finally:
            # After the new jobs were put in: otherwise `join` could end in between.
            queue.task_done()


def visit(loop: Loop, site: Site, job: Job, timeout: float) -> Waiting:
    """Fetch one URL; return the jobs that it leads to."""
    try:
        fetch = stage_4.fetch(loop, job.url)
        # While this page is parsed, the others are on their way.
        return site.read(job, (yield from with_timeout(loop, timeout, fetch)))
    except OSError as error:
        site.fail(job, error)
        return []


def with_timeout(loop: Loop, timeout: float, generator: Waiting) -> Waiting:
    """Return the result of a generator, which is cancelled if it takes too long.

    Raises:
        TimeoutError: it has taken too long.
    """
    task = stage_4.start(loop, timeout, generator)
    try:
        yield task  # waits, and does not take the result
    except Cancelled:  # the worker was cancelled
        task.cancel()
        raise
    try:
        return task.result()
    except Cancelled:  # the timer has cancelled the fetch
        raise TimeoutError from None


def first_done(loop: Loop, tasks: list[Any]) -> Waiting:
    """Return the first of the Tasks that is done."""
    first = Future(loop)
    for task in tasks:
        task.when_done(lambda task: first.done or first.set(task))
    return (yield from first)


def crawl(site: Site, connections: int, timeout: float) -> None:
    """Fetch all pages in this thread, with several connections at a time."""
    loop = Loop()
    stage_4.run(loop, crawl_all(loop, site, connections, timeout))


if __name__ == "__main__":
    main(crawl)
