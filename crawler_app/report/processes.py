"""One piece of work shared out among processes, and what they find as they find it.

Rule: a process never waits for another, so that none is left behind if the one that has
started it dies: the next thing it hands over is its last.
"""

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from crawler_app.errors import CrawlerError

__all__ = ["most_processes", "run_in_processes"]

T = TypeVar("T")

MAX_PROCESSES = 8


def most_processes() -> int:
    """Return how many processes are of use on this machine, and safe to start now."""
    is_forked = multiprocessing.get_context().get_start_method() == "fork"
    if is_forked and threading.active_count() > 1:
        return 1  # a lock that another thread holds would be held for ever
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return min(processors, MAX_PROCESSES)


def run_in_processes(
    work: Callable[[int, int], Iterator[T]], processes: int
) -> Iterator[T]:
    """Return what comes of all shares of some work, as it comes; in no order.

    Args:
        work: Does one share; called in each process with its number and how many there
            are.  What it finds is pickled, and never None.

    Raises:
        CrawlerError: what the work has raised, or a process was killed.
        sqlite3.Error: likewise.
    """
    context = multiprocessing.get_context()
    with contextlib.ExitStack() as cleanup:
        receivers: list[Connection] = []
        for share in range(processes):
            receiver, sender = context.Pipe(duplex=False)
            cleanup.callback(receiver.close)
            worker = context.Process(
                target=_work,
                args=(work, share, processes, receiver, sender),
                daemon=True,
            )
            worker.start()
            cleanup.callback(worker.join)
            cleanup.callback(worker.terminate)
            sender.close()
            receivers.append(receiver)
        yield from _receive(receivers)


def _receive(receivers: list[Connection]) -> Iterator[Any]:
    while receivers:
        for receiver in multiprocessing.connection.wait(receivers):
            assert isinstance(receiver, Connection)
            try:
                message = receiver.recv()
            except EOFError:
                raise CrawlerError(
                    "a process was killed before its work was done"
                ) from None
            if isinstance(message, Exception):
                raise message
            if message is None:
                receivers.remove(receiver)
            else:
                yield message


def _work(
    work: Callable[[int, int], Iterator[T]],
    share: int,
    shares: int,
    receiver: Connection,
    sender: Connection,
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # our parent ends us
    # It does so by SIGTERM: a fork has its handlers, and the pipe that wakes its loop.
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    receiver.close()  # or we would never notice that nobody listens
    with contextlib.suppress(BrokenPipeError):
        try:
            for found in work(share, shares):
                sender.send(found)
            sender.send(None)
        except (CrawlerError, sqlite3.Error) as exc:
            sender.send(exc)
