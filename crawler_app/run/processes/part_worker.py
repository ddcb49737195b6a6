"""Child process that crawls one part until it is stopped or the main process dies."""

import contextlib
import functools
from collections.abc import Generator
from typing import Any

from crawler_app.run.crawl.external_cache import ExternalCache
from crawler_app.run.crawl.wiring import wire
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.losses import requeue_lost
from crawler_app.run.directory.stores import open_stores
from crawler_app.run.processes.channel import Channel
from crawler_app.run.processes.part_crawl import PartCrawl
from crawler_app.run.processes.process_messages import (
    Frame,
    MessageType,
    Order,
    Status,
    Task,
)
from crawler_app.run.processes.sharding import part_config, part_function
from crawler_app.run.processes.worker_connection import (
    ConnectedWorker,
    run_connected,
    until_free,
)
from crawler_app.store.frontier.part import PartFrontier
from crawler_app.web.fetcher import make_fetcher

__all__ = ["main"]


def main() -> None:
    """Crawl a part; standard input is the connection to the main process."""
    run_connected(_PartWorker)


class _PartWorker(ConnectedWorker):
    """The process of one part."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel)
        self._part_crawl: PartCrawl | None = None
        self._frontier: PartFrontier | None = None
        self._others: list[int] = []
        # Batches received since the last commit.
        self._uncommitted = 0

    def _crawl(self, task: Task) -> Generator[Any, Any, None]:
        whole = CrawlDirectory.open(task.directory)
        config = whole.config()
        part_of = part_function(config.seeds, config.processes)
        self._others = [n for n in range(config.processes) if n != task.part]
        directory = whole.part(task.part)

        make_frontier = functools.partial(
            PartFrontier, part=task.part, part_of=part_of, on_commit=self._committed
        )
        yield from until_free(directory)
        own_config = part_config(config, task.part)
        with (
            directory,
            open_stores(directory, own_config, make_frontier) as stores,
            contextlib.closing(make_fetcher(own_config)) as fetcher,
            contextlib.closing(
                ExternalCache.of(own_config, directory.external_cache_path)
            ) as external_cache,
        ):
            assert isinstance(stores.frontier, PartFrontier)
            self._frontier = stores.frontier
            stores.frontier.requeue_failed(task.retried_reasons)
            parts = wire(
                own_config,
                stores.frontier,
                fetcher,
                archive=stores.archive,
                index=stores.index,
                is_recrawl=stores.frontier.is_recrawl,
                archived=requeue_lost(stores),
                external_cache=external_cache,
            )
            self._part_crawl = PartCrawl(
                parts,
                owns=lambda host: part_of(host) == task.part,
                on_idle=self._report_soon,
                quota=None if config.max_pages is None else 0,
            )
            with self._reporting():
                running = self._part_crawl.run()
                self._report()  # what was there before the first fetch
                self._committed()
                yield running

    def _status(self) -> Status | None:
        return None if self._part_crawl is None else self._part_crawl.status()

    def _obey(self, frame: Frame) -> None:
        assert self._part_crawl is not None and self._frontier is not None
        if frame.kind is MessageType.LINKS:
            self._uncommitted += 1
            self._part_crawl.receive(frame.payload.decode())
        elif frame.kind is MessageType.TAKEN:
            self._frontier.acknowledge(frame.part)
            self._send_links()
            self._report_soon()
        elif frame.kind is MessageType.ORDER:
            self._part_crawl.obey(Order(**frame.value()))
            self._report_soon()

    def _committed(self) -> None:
        """Acknowledge the batches that are committed, and send the links that are."""
        if self._part_crawl is None:
            return
        for _ in range(self._uncommitted):
            self._channel.send(Frame(MessageType.TAKEN))
        self._uncommitted = 0
        self._send_links()

    def _send_links(self) -> None:
        assert self._frontier is not None
        for batch in self._frontier.batches(self._others):
            self._channel.send(
                Frame(MessageType.LINKS, batch.links.encode(), batch.part)
            )
