"""Child process of one worker of a PostgreSQL frontier."""

import asyncio
import contextlib
import os
import time
from collections.abc import Generator, Iterator
from typing import Any

from crawler_app.base.errors import ServerAwayError, ServerError
from crawler_app.run.crawl.monitor import Watched
from crawler_app.run.crawl.worker_crawl import WorkerCrawl
from crawler_app.run.crawl_worker import CrawlWorker
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.processes.channel import Channel
from crawler_app.run.processes.process_messages import (
    Frame,
    MessageType,
    Order,
    Status,
    Task,
)
from crawler_app.run.processes.sharding import part_config
from crawler_app.run.processes.worker_connection import (
    ConnectedWorker,
    obey,
    run_connected,
    status_of,
    until_free,
)

__all__ = ["main"]

# Polling interval of an orphaned process that may have to wait for the server.
LOOK_EVERY_S = 0.5


def main() -> None:
    """Run a worker; standard input is its connection to the main process."""
    run_connected(_PostgresWorker)


class _PostgresWorker(ConnectedWorker):
    """The process of one worker."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel)
        self._shared: WorkerCrawl | None = None

    def _crawl(self, task: Task) -> Generator[Any, Any, None]:
        whole = CrawlDirectory.open(task.directory)
        own = whole.part(task.part)
        yield from until_free(own)
        config = part_config(whole.config(), task.part)
        try:
            yield CrawlWorker(config, own, watch=self._watched).run()
        except ServerError as exc:
            if self._shared is not None:
                raise
            raise ServerAwayError(str(exc)) from None  # it was lost at the start

    @contextlib.contextmanager
    def _watched(self, crawl: Watched) -> Iterator[None]:
        assert isinstance(crawl, WorkerCrawl)
        self._shared = crawl
        with self._reporting():
            self._report_soon()
            yield

    def _status(self) -> Status | None:
        return None if self._shared is None else status_of(self._shared, time.time())

    def _obey(self, frame: Frame) -> None:
        assert self._shared is not None and frame.kind is MessageType.ORDER
        obey(self._shared, Order(**frame.value()))

    def _end_alone(self) -> None:
        super()._end_alone()
        self._exit_if_away()

    def _exit_if_away(self) -> None:
        """Exit if the server is unreachable: the leases expire anyway."""
        if self._shared is not None and self._shared.frontier.is_away:
            # Not `sys.exit`: the crawl would first wait for the server, to put its claims back.
            os._exit(1)
        asyncio.get_running_loop().call_later(LOOK_EVERY_S, self._exit_if_away)
