"""Several workers of a crawl in PostgreSQL, in a process each."""

import contextlib
from collections.abc import Generator
from typing import Any

from crawler_app.run.crawl_worker import CrawlWorker, WorkerResult
from crawler_app.run.directory.uploading import warn_of_rest
from crawler_app.run.processes.workers_run import WorkersRun
from gencoro import gen

__all__ = ["CrawlWorkers"]


class CrawlWorkers(CrawlWorker):
    """Several workers of a crawl, in a process and a part of the directory each."""

    @gen.coroutine
    def run(self) -> Generator[Any, Any, WorkerResult]:
        """Crawl until no worker has anything left.

        Raises:
            ConfigError: the directory or the server cannot be used.
            StorageError: the disk has failed, or the server refuses a step.
            CrawlerError: a process has died again and again.
        """
        with self._directory() as directory, contextlib.ExitStack() as cleanup:
            cleanup.callback(warn_of_rest, directory)
            # Another number of processes than before adds parts, or leaves some as they are.
            directory.make_parts(self.config.processes)
            directory.save(self.config)
            self._crawl = run = WorkersRun(self.config)
            if self._is_stopped:
                run.stop()
            with self._watch(run):
                yield run.run()
        yield gen.moment  # as for a single worker
        return self._done(run, run.limit_reached)
