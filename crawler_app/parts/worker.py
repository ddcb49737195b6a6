"""The process of one part: crawls until it is told to end, or the main process has gone."""

import asyncio
import contextlib
import functools
import logging
import socket
import traceback
from collections.abc import Generator
from typing import Any

from crawler_app.crawl.kept_probes import KeptProbes
from crawler_app.directory import CrawlDirectory
from crawler_app.directory.losses import requeue_lost
from crawler_app.directory.stores import open_stores
from crawler_app.errors import ConfigError, StorageError
from crawler_app.fetcher import make_fetcher
from crawler_app.frontier.part import PartFrontier
from crawler_app.parts.channel import Channel
from crawler_app.parts.crawl import PartCrawl
from crawler_app.parts.dealing import dealer, part_config
from crawler_app.parts.messages import Frame, Kind, Order, Task
from gencoro import gen
from gencoro.ioloop import IOLoop, PeriodicCallback

__all__ = ["main"]

# How often the main process learns of progress; of what it waits for it learns at once.
STATUS_EVERY_S = 0.25

# How long the process of an earlier run may take to notice that its main process has gone.
LOCK_PATIENCE_S = 30.0

# Errors that would only come again.
LASTING = (ConfigError, StorageError)


def main() -> None:
    """Crawl a part; the main process is at the other end of the standard input."""
    loop = IOLoop()
    with contextlib.suppress(asyncio.CancelledError):  # the main process has gone
        loop.run_sync(_work)
    loop.close()


@gen.coroutine
def _work() -> Generator[Any, Any, None]:
    with contextlib.closing(Channel(socket.socket(fileno=0))) as channel:
        yield _Worker(channel).run()


class _Worker:
    """The process of one part, connected to the main process by a channel.

    Made on the loop that it runs on.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._begun: asyncio.Future[Task] = asyncio.get_running_loop().create_future()
        self._working: gen.Future[None] | None = None
        # Why a message could not be handled.
        self._failure: Exception | None = None
        self._crawl: PartCrawl | None = None
        self._frontier: PartFrontier | None = None
        self._others: list[int] = []
        # Batches received since the last commit.
        self._uncommitted = 0
        self._is_reporting = False
        self._has_ended = False

    @gen.coroutine
    def run(self) -> Generator[Any, Any, None]:
        """Crawl, and tell the main process how it ended.

        Cancelled if the main process goes.
        """
        working = self._working = self._work()
        receiving = self._channel.receive(self._handle)
        receiving.add_done_callback(lambda _: working.cancel())
        try:
            yield working
            self._channel.send(Frame(Kind.ENDED))
        except asyncio.CancelledError:
            if self._failure is None:
                raise
            self._send_failure(self._failure)
        except LASTING as exc:
            self._send_failure(exc)
        yield self._channel.flush()

    def _send_failure(self, exc: Exception) -> None:
        name = next(each.__name__ for each in LASTING if isinstance(exc, each))
        self._channel.send(Frame.of(Kind.FAILED, [name, str(exc)]))

    @gen.coroutine
    def _work(self) -> Generator[Any, Any, None]:
        task: Task = yield self._begun
        logging.getLogger().addHandler(_LogSender(self._channel, task.log_level))
        logging.getLogger("crawler_app").setLevel(task.log_level)
        whole = CrawlDirectory.open(task.directory)
        config = whole.config()
        part_of = dealer(config.seeds, config.processes)
        self._others = [n for n in range(config.processes) if n != task.part]
        directory = whole.part(task.part)

        make_frontier = functools.partial(
            PartFrontier, part=task.part, part_of=part_of, on_commit=self._committed
        )
        yield from _until_free(directory)
        own_config = part_config(config, task.part)
        with (
            directory,
            open_stores(directory, own_config, make_frontier) as stores,
            contextlib.closing(make_fetcher(own_config)) as fetcher,
            contextlib.closing(
                KeptProbes.of(own_config, directory.probes_path)
            ) as kept_probes,
        ):
            assert isinstance(stores.frontier, PartFrontier)
            self._frontier = stores.frontier
            stores.frontier.requeue_failed(task.retried_reasons)
            self._crawl = PartCrawl(
                own_config,
                stores.frontier,
                fetcher,
                owns=lambda host: part_of(host) == task.part,
                on_idle=self._report_soon,
                quota=None if config.max_pages is None else 0,
                archive=stores.archive,
                index=stores.index,
                is_recrawl=stores.frontier.is_recrawl,
                archived=requeue_lost(stores),
                kept_probes=kept_probes,
            )
            try:
                yield from self._run(self._crawl)
            finally:
                self._has_ended = True

    def _run(self, crawl: PartCrawl) -> Generator[Any, Any, None]:
        timer = PeriodicCallback(self._report, STATUS_EVERY_S * 1000)
        timer.start()
        try:
            running = crawl.run()
            self._report()  # what was there before the first fetch
            self._committed()
            yield running
        finally:
            timer.stop()
        self._report()

    def _handle(self, frame: Frame) -> None:
        """Handle a message of the main process."""
        if frame.kind is Kind.BEGIN:
            self._begun.set_result(Task(**frame.value()))
        elif not self._has_ended:  # otherwise other parts were slower to end
            try:
                self._obey(frame)
            except LASTING as exc:
                self._failure = exc
                assert self._working is not None
                self._working.cancel()

    def _obey(self, frame: Frame) -> None:
        assert self._crawl is not None and self._frontier is not None
        if frame.kind is Kind.LINKS:
            self._uncommitted += 1
            self._crawl.receive(frame.payload.decode())
        elif frame.kind is Kind.TAKEN:
            self._frontier.acknowledge(frame.part)
            self._send_links()
            self._report_soon()
        elif frame.kind is Kind.ORDER:
            self._crawl.obey(Order(**frame.value()))
            self._report_soon()

    def _committed(self) -> None:
        """Say which batches are committed, and send the links that are."""
        if self._crawl is None:
            return
        for _ in range(self._uncommitted):
            self._channel.send(Frame(Kind.TAKEN))
        self._uncommitted = 0
        self._send_links()

    def _send_links(self) -> None:
        assert self._frontier is not None
        for batch in self._frontier.batches(self._others):
            self._channel.send(Frame(Kind.LINKS, batch.links.encode(), batch.part))

    def _report_soon(self) -> None:
        """Send the status when this turn of the loop is over, once."""
        if not self._is_reporting:
            self._is_reporting = True
            asyncio.get_running_loop().call_soon(self._report)

    def _report(self) -> None:
        self._is_reporting = False
        if self._crawl is not None:
            self._channel.send(Frame.of(Kind.STATUS, self._crawl.status()))


def _until_free(directory: CrawlDirectory) -> Generator[Any, Any, None]:
    """Wait while the process of a run whose main process has died still ends."""
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + LOCK_PATIENCE_S
    while directory.owner() is not None and loop.time() < ends_at:
        yield gen.sleep(0.05)


class _LogSender(logging.Handler):
    """Passes log records on to the main process, which has the terminal."""

    def __init__(self, channel: Channel, level: int) -> None:
        super().__init__(level)
        self._channel = channel

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info:
            text += (
                "\n" + "".join(traceback.format_exception(*record.exc_info)).rstrip()
            )
        self._channel.send(Frame.of(Kind.LOG, [record.name, record.levelno, text]))
