"""Stage 2: a pool of threads, each of which waits as stage 1 does.

python docs/story/2_threads.py URL [--connections N] [--timeout S]
"""

import threading
from importlib import import_module
from queue import Queue

from web import Job, Site, main

__all__ = ["crawl"]

# Its name begins with a digit, so it cannot be named in an import statement.
visit = import_module("1_blocking").visit


class Pool:
    """Threads that take jobs from one queue, and put new ones into it."""

    def __init__(self, site: Site, threads: int, timeout: float) -> None:
        self._site = SharedSite(site)
        self._timeout = timeout
        self._jobs: Queue[Job] = Queue()
        self._errors: list[BaseException] = []
        for _ in range(threads):
            # Daemons: they wait for jobs for ever, and must not keep the program alive.
            threading.Thread(target=self._work, daemon=True).start()

    def run(self) -> None:
        """Visit every URL; raise the error of a thread, if there was one."""
        self._jobs.put(self._site.start)
        self._jobs.join()
        if self._errors:
            raise self._errors[0]

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                for new_job in visit(self._site, job, self._timeout):
                    self._jobs.put(new_job)
            except BaseException as error:  # a fault of ours; `run` raises it
                self._errors.append(error)
            finally:
                # After the new jobs were put in: otherwise `join` could return in between.
                self._jobs.task_done()


class SharedSite:
    """A site that several threads may use: one at a time.

    Without the lock two threads can find the same URL unseen, and both fetch it.
    """

    def __init__(self, site: Site) -> None:
        self.start = site.start
        self._site = site
        self._lock = threading.Lock()

    def read(self, job: Job, received: bytes) -> list[Job]:
        with self._lock:
            return self._site.read(job, received)

    def fail(self, job: Job, error: OSError) -> None:
        with self._lock:
            self._site.fail(job, error)


def crawl(site: Site, connections: int, timeout: float) -> None:
    """Visit all URLs with as many threads as there may be connections."""
    Pool(site, connections, timeout).run()


if __name__ == "__main__":
    main(crawl)
