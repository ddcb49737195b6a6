"""Runs the processes of all workers: starts, watches, restarts and stops them."""

import asyncio
import collections
import heapq
import logging
import math
import os
import time
from collections.abc import Callable, Generator
from typing import Any

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import CrawlerError, ServerAwayError
from crawler_app.base.models import State
from crawler_app.run.crawl import KEPT_FAILURES, Failure
from crawler_app.run.crawl.pace import Pace, pace_of, with_pace
from crawler_app.run.processes.fork_server import ForkServer
from crawler_app.run.processes.process_messages import (
    Ended,
    Failed,
    LogLine,
    Order,
    Status,
    Task,
)
from crawler_app.run.processes.worker_process import (
    WorkerProcess,
    config_of_worker,
    words_of,
)
from gencoro import gen

__all__ = ["WorkersRun"]

logger = logging.getLogger(__name__)

# A process that dies is restarted with exponential backoff, a limited number of times: a page
# may crash every process that parses it.
MAX_DEATHS = 5
DEATHS_WITHIN_S = 120.0
FIRST_PAUSE_S = 0.1

# Between attempts to start one whose server is away, which take half a second of CPU.
AWAY_PAUSE_S = 2.0

# A process that is started at the last moment ends at once.
MIN_TIME_S = 0.001

# How often to look whether a server of the crawl's own was killed.
LOOK_EVERY_S = 0.5


class WorkersRun:
    """Runs the processes of a crawl; like a `Crawl`, it can be watched and stopped.

    Args:
        config: The configuration, which is saved in its directory.
        keep_server: Starts the server of the crawl if it was killed; it is called in another
            thread.  None for a server of others, which also has the limit of bytes.

    Attributes:
        limit_reached: The name of the option whose limit ended the crawl; empty if none.
        is_paused: Whether no fetch is started until `unpause` is called.
        is_stopping: Whether no further fetch is started.
        last_failures: The most recent failures, the latest last.
    """

    def __init__(
        self, config: CrawlConfig, keep_server: Callable[[], None] | None = None
    ) -> None:
        self.config = self._first_config = config
        self.limit_reached = ""
        self.is_paused = self.is_stopping = False
        self.last_failures = collections.deque[Failure](maxlen=KEPT_FAILURES)
        self._keep_server = keep_server
        self._server = ForkServer()
        self._processes = [
            WorkerProcess(n, self._server) for n in range(config.processes)
        ]
        self._statuses = [Status() for _ in self._processes]
        # What processes that have ended have counted.
        self._earlier = collections.Counter[str]()
        self._deaths: list[collections.deque[float]] = [
            collections.deque(maxlen=MAX_DEATHS) for _ in self._processes
        ]
        # On the clock of `time.monotonic`.
        self._ends_at = math.inf
        # The workers whose processes cannot reach the server.
        self._away: set[int] = set()

    @property
    def stats(self) -> collections.Counter[str]:
        """The counters of all processes together."""
        total = self._earlier.copy()
        for status in self._statuses:
            total.update(status.count_by_stat)
        return total

    def count(self, state: State) -> int:
        """Return how many URLs of the whole crawl are in a state.

        All processes have these numbers from the server.
        """
        latest = max(self._statuses, key=lambda status: status.counted_at)
        return latest.count_by_state.get(state, 0)

    def under_way_by_host(self) -> collections.Counter[str]:
        """Return how many URLs of each host are under way."""
        total = collections.Counter[str]()
        for status in self._statuses:
            total.update(status.under_way_by_host)
        return total

    def oldest_under_way(self, now: float, most: int) -> list[tuple[str, float]]:
        """Return the URLs that have been under way longest, and for how many seconds."""
        found = [each for status in self._statuses for each in status.under_way]
        return heapq.nlargest(most, found, key=lambda url_and_age: url_and_age[1])

    def next_at(self, now: float) -> float | None:
        """Return when the next URL may become due; None if that is unknown."""
        times = [status.next_at for status in self._statuses]
        return min((at for at in times if at is not None and at > now), default=None)

    def closed_hosts(self) -> list[str]:
        """Return nothing: each process has logged those that have closed to it."""
        return []

    def waiting_for(self, now: float) -> str:
        """Return what is waited for, which only the processes know."""
        return ""

    def pause(self) -> None:
        """Start no fetch until `unpause` is called; those under way are completed."""
        self.is_paused = True
        self._order_all(Order(is_paused=True))

    def unpause(self) -> None:
        """Continue after `pause`."""
        self.is_paused = False
        self._order_all(Order(is_paused=False))

    def change_pace(self, pace: Pace) -> None:
        """Crawl faster or slower from now on, in all processes; see `Crawl.change_pace`."""
        self.config = with_pace(self.config, pace, self._first_config)
        for process in self._processes:
            if process.is_ready:
                process.order(Order(pace=self._pace_of(process)))

    def _pace_of(self, process: WorkerProcess) -> Pace:
        return pace_of(config_of_worker(self.config, process.number))

    def stop(self) -> None:
        """Start no further fetch; those under way are completed."""
        self.is_stopping = True
        self._order_all(Order(ends=True))

    @gen.coroutine
    def run(self) -> Generator[Any, Any, None]:
        """Crawl to the end.  If cancelled, all processes put their URLs back first.

        Raises:
            ConfigError: a process cannot use its directory, or the server.
            StorageError: the disk has failed, or the server refuses a step.
            CrawlerError: a process has died again and again.
        """
        if self.config.max_time_s is not None:
            self._ends_at = time.monotonic() + self.config.max_time_s
        keeping = self._keep_the_server()
        # If several fail for one reason, one error is enough.
        running = gen.multi(list(map(self._keep, self._processes)), CrawlerError)
        # The crawl ends with the server, and the server is not needed after the crawl.
        keeping.add_done_callback(lambda _: running.cancel())
        try:
            yield running
        except GeneratorExit:
            raise
        except BaseException:
            yield self._end_all()
            if keeping.done() and not keeping.cancelled():
                keeping.result()  # which raises why
            raise
        finally:
            keeping.cancel()
            for process in self._processes:
                process.close()
            self._server.close()

    @gen.coroutine
    def _keep_the_server(self) -> Generator[Any, Any, None]:
        loop = asyncio.get_running_loop()
        while True:
            yield gen.sleep(LOOK_EVERY_S)
            if self._keep_server is not None:
                yield loop.run_in_executor(None, self._keep_server)

    def _close_all(self) -> None:
        """Close all connections, so that the processes save their state and end."""
        self.is_stopping = True
        for process in self._processes:
            process.close()

    @gen.coroutine
    def _end_all(self) -> Generator[Any, Any, None]:
        self._close_all()
        running = [process for process in self._processes if process.is_running]
        yield gen.multi([process.ended() for process in running])

    @gen.coroutine
    def _keep(self, process: WorkerProcess) -> Generator[Any, Any, None]:
        """Run a process, and restart it if it dies, until it ends on request."""
        while True:
            try:
                has_ended = yield from self._run_once(process)
            except Exception:  # ConfigError, StorageError or CrawlerError
                self._close_all()  # they would crawl on
                raise
            if has_ended or self._is_over():
                return
            yield gen.sleep(self._pause_s(process.number))
            if self._is_over():
                return

    def _is_over(self) -> bool:
        """Return whether no process is to be started again."""
        if time.monotonic() >= self._ends_at:
            self._stop_at("max_time")
        return self.is_stopping

    def _stop_at(self, limit: str) -> None:
        if not self.is_stopping:
            self.limit_reached = limit
            self.stop()

    def _run_once(self, process: WorkerProcess) -> Generator[Any, Any, bool]:
        number = process.number
        level = logger.getEffectiveLevel()
        left_s = max(self._ends_at - time.monotonic(), MIN_TIME_S)
        max_time_s = left_s if left_s < math.inf else None
        task = Task(os.path.abspath(self.config.into), number, max_time_s, level)
        last: object = None

        def handle(message: Status | LogLine | Failed | Ended) -> None:
            nonlocal last
            # Another thread may send a log record at the end.
            if not isinstance(message, LogLine):
                last = message
            self._handle(process, message)

        yield process.start(task).receive(handle)
        status = yield process.ended()
        self._count_as_earlier(number)
        if isinstance(last, Failed):
            self._note_failure(number, last.error)
            return False
        has_ended = isinstance(last, Ended)
        if not has_ended and not self.is_stopping:
            self._note_death(number, words_of(status))
        return has_ended

    def _count_as_earlier(self, number: int) -> None:
        """Keep the counters of a process that has ended."""
        status = self._statuses[number]
        self._earlier.update(status.count_by_stat)
        status.count_by_stat = {}
        status.under_way_by_host = {}
        status.under_way = []

    def _note_failure(self, number: int, error: CrawlerError) -> None:
        """Raise an error that ends the crawl, or note that the server is away for a while."""
        was_ready = any(process.was_ready for process in self._processes)
        if not isinstance(error, ServerAwayError) or not was_ready:
            raise error
        if number not in self._away:
            self._away.add(number)
            text = "the process of worker %d is started when the server answers: %s"
            logger.warning(text, number, error)

    def _note_death(self, number: int, how: str) -> None:
        deaths = self._deaths[number]
        deaths.append(time.monotonic())
        if len(deaths) == MAX_DEATHS and deaths[-1] - deaths[0] < DEATHS_WITHIN_S:
            raise CrawlerError(
                f"the process of worker {number} has died {MAX_DEATHS} times, the last time "
                f"with {how}; everything found so far is kept, and `resume` continues"
            )
        logger.warning(
            "the process of worker %d has died with %s; it is started again",
            *(number, how),
        )

    def _pause_s(self, number: int) -> float:
        if number in self._away:
            return AWAY_PAUSE_S
        return float(FIRST_PAUSE_S * 2 ** len(self._deaths[number]))

    def _handle(self, process: WorkerProcess, message: object) -> None:
        """Handle a message of a process."""
        if isinstance(message, Status):
            self._note_status(process, message)
        elif isinstance(message, LogLine):
            logging.getLogger(message.logger).log(message.level, "%s", message.text)

    def _note_status(self, process: WorkerProcess, status: Status) -> None:
        number = process.number
        self._statuses[number] = status
        self.limit_reached = self.limit_reached or status.limit_reached
        self.last_failures += status.failures
        if not process.is_ready:
            self._away.discard(number)
            process.note_ready()
            process.order(
                Order(self.is_stopping, self.is_paused, self._pace_of(process))
            )
        max_bytes = self.config.max_bytes
        if self._keep_server and max_bytes and self.stats["bytes"] >= max_bytes:
            self._stop_at("max_bytes")

    def _order_all(self, order: Order) -> None:
        for process in self._processes:
            if process.is_ready:
                process.order(order)
