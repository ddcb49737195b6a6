"""The process of a worker: orders of the main process, status reports and shutdown."""

import asyncio
import contextlib
import dataclasses
import logging
import os
import socket
import threading
import time
import traceback
from collections.abc import Generator, Iterator
from typing import Any

from crawler_app.base.errors import CrawlerError, ServerAwayError, ServerError
from crawler_app.base.models import State
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.run.crawl.monitor import SHOWN_URLS, Watched
from crawler_app.run.crawl.worker_crawl import WorkerCrawl
from crawler_app.run.crawl_worker import CrawlWorker
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.processes.channel import Channel
from crawler_app.run.processes.process_messages import (
    REPORTED_ERRORS,
    Ended,
    Failed,
    LogLine,
    Order,
    Status,
    Task,
)
from crawler_app.run.processes.worker_process import config_of_worker
from gencoro import gen
from gencoro.ioloop import IOLoop, PeriodicCallback

__all__ = ["main"]

# Interval of status reports; changes that the main process waits for are reported at once.
STATUS_EVERY_S = 0.25

# Timeout for an orphaned process of an earlier run to release its directory.
LOCK_PATIENCE_S = 30.0

# Polling interval of an orphaned process that may have to wait for the server.
LOOK_EVERY_S = 0.5


def main() -> None:
    """Run a worker; standard input is its connection to the main process."""

    @gen.coroutine
    def work() -> Generator[Any, Any, None]:
        with contextlib.closing(Channel(socket.socket(fileno=0))) as channel:
            yield _Worker(channel).run()

    loop = IOLoop()
    with contextlib.suppress(asyncio.CancelledError):  # the main process has died
        loop.run_sync(work)
    loop.close()


class _Worker:
    """The process of one worker, made on the loop that it runs on."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._begun: asyncio.Future[Task] = asyncio.get_running_loop().create_future()
        self._working: gen.Future[None] | None = None
        self._crawl: WorkerCrawl | None = None
        # Why a message could not be handled.
        self._failure: CrawlerError | None = None
        self._is_reporting = False
        self._has_ended = False

    @gen.coroutine
    def run(self) -> Generator[Any, Any, None]:
        """Crawl, and report the end to the main process.

        It is cancelled if the main process dies.
        """
        self._working = self._work()
        receiving = self._channel.receive(self._handle)
        receiving.add_done_callback(lambda _: self._end_alone())
        try:
            yield self._working
            self._channel.send(Ended())
        except asyncio.CancelledError:
            if self._failure is None:
                raise
            self._channel.send(Failed(self._failure))
        except REPORTED_ERRORS as exc:
            self._channel.send(Failed(exc))
        yield self._channel.flush()

    def _end_alone(self) -> None:
        """Stop after the main process has died."""
        assert self._working is not None
        self._working.cancel()
        self._exit_if_away()

    def _exit_if_away(self) -> None:
        """Exit if the server is unreachable: the leases expire anyway."""
        if self._crawl is not None and self._crawl.frontier.is_away:
            # Not `sys.exit`: the crawl would first wait for the server, to put its claims back.
            os._exit(1)
        asyncio.get_running_loop().call_later(LOOK_EVERY_S, self._exit_if_away)

    @gen.coroutine
    def _work(self) -> Generator[Any, Any, None]:
        task: Task = yield self._begun
        logging.getLogger().addHandler(_LogSender(self._channel, task.log_level))
        logging.getLogger("crawler_app").setLevel(task.log_level)
        whole = CrawlDirectory.open(task.directory)
        own = whole.part(task.worker)
        yield from _until_free(own)
        config = dataclasses.replace(
            config_of_worker(whole.config(), task.worker), max_time_s=task.max_time_s
        )
        try:
            yield CrawlWorker(config, own, watch=self._watched).run()
        except ServerError as exc:
            if self._crawl is not None:
                raise
            raise ServerAwayError(str(exc)) from None  # it was lost at the start

    @contextlib.contextmanager
    def _watched(self, crawl: Watched) -> Iterator[None]:
        """Send the status periodically, and once at the end; ignore messages after that."""
        assert isinstance(crawl, WorkerCrawl)
        self._crawl = crawl
        timer = PeriodicCallback(self._report, STATUS_EVERY_S * 1000)
        timer.start()
        self._report_soon()
        try:
            yield
        finally:
            timer.stop()
            self._has_ended = True
        self._report()

    def _handle(self, message: Task | Order) -> None:
        """Handle a message of the main process."""
        if isinstance(message, Task):
            self._begun.set_result(message)
        elif not self._has_ended:
            try:
                self._obey(message)
            except REPORTED_ERRORS as exc:
                self._failure = exc
                assert self._working is not None
                self._working.cancel()

    def _obey(self, order: Order) -> None:
        crawl = self._crawl
        assert crawl is not None
        if order.is_paused is not None:
            (crawl.pause if order.is_paused else crawl.unpause)()
        if order.pace is not None:
            crawl.change_pace(order.pace)
        if order.ends:
            crawl.stop()

    def _report_soon(self) -> None:
        """Send the status when this turn of the loop is over, once."""
        if not self._is_reporting:
            self._is_reporting = True
            asyncio.get_running_loop().call_soon(self._report)

    def _report(self) -> None:
        self._is_reporting = False
        assert self._crawl is not None
        self._channel.send(_status_of(self._crawl, time.time()))


def _status_of(crawl: WorkerCrawl, now: float) -> Status:
    """Return what the main process shows of a crawl; failures are in one status only."""
    failures = list(crawl.last_failures)
    crawl.last_failures.clear()
    return Status(
        count_by_state={state: crawl.count(state) for state in State},
        counted_at=crawl.frontier.counted_at,
        count_by_stat=dict(crawl.stats),
        under_way_by_host=dict(crawl.under_way_by_host()),
        under_way=crawl.oldest_under_way(now, SHOWN_URLS),
        next_at=crawl.next_at(now),
        failures=failures,
        limit_reached=crawl.limit_reached,
    )


def _until_free(directory: CrawlDirectory) -> Subgenerator[None]:
    """Wait until an orphaned process of an earlier run has released a directory."""
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + LOCK_PATIENCE_S
    while directory.owner() is not None and loop.time() < ends_at:
        yield gen.sleep(0.05)


class _LogSender(logging.Handler):
    """Forwards log records to the main process, which has the terminal.

    Made on the loop of the channel; records may come from any thread.
    """

    def __init__(self, channel: Channel, level: int) -> None:
        super().__init__(level)
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self._thread_id = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info:
            text += (
                "\n" + "".join(traceback.format_exception(*record.exc_info)).rstrip()
            )
        line = LogLine(record.name, record.levelno, text)
        if threading.get_ident() == self._thread_id:
            self._channel.send(line)  # at once: it may be the last
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._channel.send, line)
