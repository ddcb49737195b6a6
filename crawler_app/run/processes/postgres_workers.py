"""Main process of workers that share a PostgreSQL frontier.

The server leases the URLs and enforces the limits; the main process starts the workers, shows
them as one, and stops them.
"""

import contextlib
from collections.abc import Generator
from typing import Any

from crawler_app.base.models import State
from crawler_app.run.crawl_worker import CrawlWorker, WorkerResult
from crawler_app.run.directory.uploading import warn_of_rest
from crawler_app.run.processes.coordination import Coordinator
from crawler_app.run.processes.part_process import PartProcess
from crawler_app.run.processes.parts_run import PartsRun
from crawler_app.run.processes.process_messages import Status
from gencoro import gen

__all__ = ["CrawlWorkers", "PostgresWorkersRun"]

ENDED = (State.DONE, State.FAILED, State.EXCLUDED)


class PostgresWorkersRun(PartsRun):
    """Runs the processes of several workers; see `PartsRun`."""

    _module = "crawler_app.run.processes.postgres_worker_process"

    def _make_coordinator(self) -> Coordinator:
        return Coordinator(self.config.processes, max_pages=None, has_levels=False)

    def count(self, state: State) -> int:
        """Return how many URLs of the whole crawl are in a state.

        All processes have these numbers from the server; the latest are those with most
        URLs that have ended.
        """
        latest = max(self._statuses, key=_ended)
        return latest.count_by_state.get(state, 0)

    def _note_status(self, process: PartProcess, status: Status) -> None:
        super()._note_status(process, status)
        self.limit_reached = self.limit_reached or status.limit_reached

    def _decide(self) -> None:
        """Do nothing: the server decides when the crawl ends."""


def _ended(status: Status) -> int:
    return sum(status.count_by_state.get(state, 0) for state in ENDED)


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
            self._crawl = run = PostgresWorkersRun(self.config)
            if self._is_stopped:
                run.stop()
            with self._watch(run):
                yield run.run()
        yield gen.moment  # as for a single worker
        return self._done(run, run.limit_reached)
