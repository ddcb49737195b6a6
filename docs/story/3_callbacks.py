"""Stage 3: one thread, sockets that never wait, and callbacks.

python docs/story/3_callbacks.py URL [--connections N] [--timeout S]
"""

import socket
from collections.abc import Callable
from selectors import EVENT_READ, EVENT_WRITE

from loop import Loop
from web import RECEIVE_BYTES, Job, Site, address_of, main, request_for

__all__ = ["Crawl", "Fetch", "crawl"]

OnEnd = Callable[[Job, bytes, OSError | None], None]


class Fetch:
    """One fetch.  How far it has come is in its attributes and not on the stack.

    Args:
        on_end: Called with the job, what was received, and the error if there was one.
    """

    def __init__(self, loop: Loop, job: Job, timeout: float, on_end: OnEnd) -> None:
        self.loop, self.job, self.on_end = loop, job, on_end
        self.chunks: list[bytes] = []
        self.unsent = request_for(job.url)
        self.sock = socket.socket()
        self.sock.setblocking(False)
        self.timer = loop.call_later(timeout, self.run_out_of_time)
        self.connect()

    def connect(self) -> None:
        try:
            self.sock.connect(address_of(self.job.url))
        except BlockingIOError:
            pass  # not connected yet; if that fails, the first `send` raises the error
        except OSError as error:
            self.timer.cancel()
            self.sock.close()
            # Soon, and not now: the caller is still creating this fetch.
            self.loop.call_soon(self.on_end, self.job, b"", error)
            return
        self.loop.when_ready(self.sock, EVENT_WRITE, self.writable)

    def writable(self) -> None:
        """Send as much of the request as the system takes."""
        try:
            sent = self.sock.send(self.unsent)
        except OSError as error:
            self.end(error)
            return
        self.unsent = self.unsent[sent:]
        if not self.unsent:
            self.loop.forget(self.sock)
            self.loop.when_ready(self.sock, EVENT_READ, self.readable)

    def readable(self) -> None:
        try:
            chunk = self.sock.recv(RECEIVE_BYTES)
        except OSError as error:
            self.end(error)
            return
        self.chunks.append(chunk)
        if not chunk:
            self.end()

    def run_out_of_time(self) -> None:
        self.end(TimeoutError("the answer is not complete"))

    def end(self, error: OSError | None = None) -> None:
        """Undo by hand what `finally` would undo, and pass on what `return` would."""
        self.timer.cancel()
        self.loop.forget(self.sock)
        self.sock.close()
        self.on_end(self.job, b"".join(self.chunks), error)


class Crawl:
    """All fetches of a site, a limited number at a time."""

    def __init__(self, site: Site, connections: int, timeout: float) -> None:
        self.site, self.connections, self.timeout = site, connections, timeout
        self.loop = Loop()
        self.todo = [site.start]
        self.under_way = 0

    def run(self) -> None:
        self.start_more()
        self.loop.run()

    def start_more(self) -> None:
        while self.todo and self.under_way < self.connections:
            self.under_way += 1
            Fetch(self.loop, self.todo.pop(), self.timeout, self.finish)
        if not self.under_way:
            self.loop.stop()

    def finish(self, job: Job, received: bytes, error: OSError | None) -> None:
        self.under_way -= 1
        if error is None:
            try:
                self.todo += self.site.read(job, received)
            except OSError as failure:
                error = failure
        if error is not None:
            self.site.fail(job, error)
        self.start_more()


def crawl(site: Site, connections: int, timeout: float) -> None:
    """Fetch all pages in this thread, with several connections at a time."""
    Crawl(site, connections, timeout).run()


if __name__ == "__main__":
    main(crawl)
