"""Starts the process of a worker."""

import dataclasses
import signal
import socket
from collections.abc import Generator
from typing import Any

from crawler_app.base.config import CrawlConfig
from crawler_app.run.processes.channel import Channel
from crawler_app.run.processes.fork_server import ForkedProcess, ForkServer
from crawler_app.run.processes.process_messages import Order, Task
from gencoro import gen

__all__ = ["WorkerProcess", "config_of_worker", "words_of"]

# Polling interval; a process takes milliseconds to exit.
LOOK_EVERY_S = 0.02


def config_of_worker(config: CrawlConfig, number: int) -> CrawlConfig:
    """Return the configuration of one worker; the limits are the server's and the main process's.

    >>> config = CrawlConfig(("http://a.test/",), into="x", concurrency=5, processes=2)
    >>> [config_of_worker(config, number).concurrency for number in (0, 1)]
    [3, 2]
    """
    each, rest = divmod(config.concurrency, config.processes)
    return dataclasses.replace(
        config,
        processes=1,
        concurrency=each + (number < rest),
        max_pages=None,
        max_bytes=None,
        max_time_s=None,
    )


class WorkerProcess:
    """The process of one worker, which may be started again.

    Args:
        server: Of all workers.

    Attributes:
        number: The number of the worker.
        is_ready: Whether it has opened its files, and takes orders.
        was_ready: Whether it was in this run, if only before it died.
    """

    def __init__(self, number: int, server: ForkServer) -> None:
        self.number = number
        self._server = server
        self.is_ready = self.was_ready = False
        self._channel: Channel | None = None
        self._process: ForkedProcess | None = None

    def start(self, task: Task) -> Channel:
        """Start the process; return the connection to it."""
        ours, theirs = socket.socketpair()
        # However this process ends, the socket is closed then, and so the other one ends too.
        with theirs:
            self._process = self._server.fork(theirs)
        self._channel = Channel(ours)
        self._channel.send(task)
        return self._channel

    def note_ready(self) -> None:
        """Note that it takes orders now."""
        self.is_ready = self.was_ready = True

    def order(self, order: Order) -> None:
        """Send an order to a process that is ready."""
        if self._channel is not None:
            self._channel.send(order)

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.status is None

    @gen.coroutine
    def ended(self) -> Generator[Any, Any, int]:
        """Return the exit status, once the process has ended."""
        assert self._process is not None
        while self._process.status is None:
            yield gen.sleep(LOOK_EVERY_S)
        self.close()
        return self._process.status

    def close(self) -> None:
        """Close the connection, so that the process ends."""
        self.is_ready = False
        if self._channel is not None:
            self._channel.close()
            self._channel = None


def words_of(status: int) -> str:
    """Return an exit status in words.

    >>> words_of(-9), words_of(1)
    ('signal SIGKILL', 'exit status 1')
    """
    if status >= 0:
        return f"exit status {status}"
    return f"signal {signal.Signals(-status).name}"
