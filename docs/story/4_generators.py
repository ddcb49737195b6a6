"""Stage 4: a Future, a Task, and generators that wait with ``yield from``.

python docs/story/4_generators.py URL [--connections N] [--timeout S]
"""

import contextlib
import socket
from collections.abc import Callable, Generator
from selectors import EVENT_READ, EVENT_WRITE
from typing import Any

from loop import Loop
from web import RECEIVE_BYTES, Job, Site, address_of, main, request_for

__all__ = ["Cancelled", "Future", "Task", "Waiting", "fetch", "run", "start"]

Waiting = Generator["Future", None, Any]


# Not an Exception: an `except Exception` around a wait must not stop it.
class Cancelled(BaseException):
    """The Task that waits here is to end."""


class Future:
    """A result that will be there later."""

    def __init__(self, loop: Loop) -> None:
        self.loop, self.done = loop, False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Any], Any]] = []

    def set(self, value: Any = None, error: BaseException | None = None) -> None:
        self.done, self._value, self._error = True, value, error
        for callback in self._callbacks:
            self.loop.call_soon(callback, self)

    def result(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._value

    def when_done(self, callback: Callable[[Any], Any]) -> None:
        if self.done:
            self.loop.call_soon(callback, self)
        else:
            self._callbacks.append(callback)

    def __iter__(self) -> Waiting:
        """Wait: ``yield from`` a Future runs this."""
        if not self.done:
            yield self
        return self.result()


class Task(Future):
    """Runs a generator, from one ``yield`` to the next; its result is the generator's."""

    def __init__(self, loop: Loop, generator: Waiting) -> None:
        super().__init__(loop)
        self._generator = generator
        self._waits_for: Future | None = None
        loop.call_soon(self._step, generator.send, None)

    def _step(self, resume: Callable[[Any], Future], value: Any) -> None:
        if self.done:  # cancelled in its last step, too late
            return
        self._waits_for = None
        try:
            self._waits_for = resume(value)
        except StopIteration as stop:
            self.set(stop.value)
        except (Exception, Cancelled) as error:
            self.set(error=error)
        else:
            self._waits_for.when_done(self._wake)

    def _wake(self, future: Future) -> None:
        if future is self._waits_for:  # otherwise a cancel came first
            self._step(self._generator.send, None)

    def cancel(self) -> None:
        """Raise `Cancelled` at the ``yield`` where the generator waits."""
        self._waits_for = None
        self.loop.call_soon(self._step, self._generator.throw, Cancelled())


def run(loop: Loop, generator: Waiting) -> Any:
    """Run a generator, and the Tasks that it starts; return its result."""
    task = Task(loop, generator)
    task.when_done(lambda _: loop.stop())
    loop.run()
    return task.result()


def crawl_all(loop: Loop, site: Site, connections: int, timeout: float) -> Waiting:
    """Fetch as many URLs at a time as there may be connections; then the next ones."""
    todo = [site.start]
    while todo:
        batch, todo = todo[:connections], todo[connections:]
        for task in [start(loop, timeout, visit(loop, site, job)) for job in batch]:
            todo += yield from task


def start(loop: Loop, timeout: float, generator: Waiting) -> Task:
    """Start a Task that is cancelled if it takes too long."""
    task = Task(loop, generator)
    timer = loop.call_later(timeout, task.cancel)
    task.when_done(lambda _: timer.cancel())
    return task


def visit(loop: Loop, site: Site, job: Job) -> Waiting:
    """Fetch one URL; return the jobs that it leads to."""
    try:
        return site.read(job, (yield from fetch(loop, job.url)))
    except OSError as error:
        site.fail(job, error)
    except Cancelled:
        site.fail(job, TimeoutError())
    return []


def fetch(loop: Loop, url: str) -> Waiting:
    """Return what the server sends until it closes the connection."""
    with socket.socket() as sock:
        sock.setblocking(False)
        # Not connected yet.  If that fails, the first `send` raises the error.
        with contextlib.suppress(BlockingIOError):
            sock.connect(address_of(url))
        yield from send_all(loop, sock, request_for(url))
        return (yield from read_all(loop, sock))


def send_all(loop: Loop, sock: socket.socket, unsent: bytes) -> Waiting:
    while unsent:
        yield from wait_until_ready(loop, sock, EVENT_WRITE)
        unsent = unsent[sock.send(unsent) :]


def read_all(loop: Loop, sock: socket.socket) -> Waiting:
    chunks = []
    while chunk := (yield from read(loop, sock)):
        chunks.append(chunk)
    return b"".join(chunks)


def read(loop: Loop, sock: socket.socket) -> Waiting:
    """Return the bytes that arrive next; none when the server has closed."""
    yield from wait_until_ready(loop, sock, EVENT_READ)
    return sock.recv(RECEIVE_BYTES)


def wait_until_ready(loop: Loop, sock: socket.socket, event: int) -> Waiting:
    future = Future(loop)
    loop.when_ready(sock, event, future.set)
    try:
        yield from future
    finally:
        loop.forget(sock)


def crawl(site: Site, connections: int, timeout: float) -> None:
    """Fetch all pages in this thread, with several connections at a time."""
    loop = Loop()
    run(loop, crawl_all(loop, site, connections, timeout))


if __name__ == "__main__":
    main(crawl)
