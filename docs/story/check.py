"""Checks your solution of an exercise: ``python docs/story/check.py NUMBER FILE``.

FILE is your copy of the program that the exercise changes.
"""

import asyncio
import contextlib
import socket
import socketserver
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import util
from pathlib import Path
from types import ModuleType
from typing import Any

from loop import Loop
from web import Site

__all__ = ["CHECKS", "check", "fresh", "load"]

PAGES = 12
ROBOTS = "User-agent: *\nDisallow: /private/\n"


class Server(socketserver.ThreadingTCPServer):
    """A small site on loopback.

    Attributes:
        keeps_open: Whether it leaves the connection open after an answer.
        resets: Whether it resets the first connection for each path.
        seen: The paths that were asked for.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *, keeps_open: bool = False, resets: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.keeps_open, self.resets = keeps_open, resets
        self.seen: set[str] = set()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"


class Handler(socketserver.BaseRequestHandler):
    server: Server

    def handle(self) -> None:
        with contextlib.suppress(OSError):  # the client has closed the connection
            self.answer()

    def answer(self) -> None:
        path = self.request.recv(10_000).decode().split(" ")[1]
        if self.server.resets and path not in self.server.seen:
            self.server.seen.add(path)
            linger = struct.pack("ii", 1, 0)
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.request.close()
            return
        self.request.sendall(answer_to(path))
        if self.server.keeps_open:
            self.request.recv(1)


def answer_to(path: str) -> bytes:
    links = [f"/{number}" for number in range(PAGES)] + ["/private/page"]
    body = "".join(f'<a href="{link}">x</a>' for link in links).encode()
    kind = "text/html"
    if path == "/robots.txt":
        body, kind = ROBOTS.encode(), "text/plain"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}"
    return f"{head}\r\n\r\n".encode() + body


@contextlib.contextmanager
def served(**options: bool) -> Iterator[Server]:
    with Server(**options) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def stops_at_content_length(mine: ModuleType) -> None:
    with served(keeps_open=True) as server:
        try:
            answer = mine.fetch(server.url, 3)
        except TimeoutError:
            raise AssertionError(
                "fetch waits for the server to close the connection"
            ) from None
    assert answer == answer_to("/"), f"fetch returned {answer!r}"


def ends_its_threads(mine: ModuleType) -> None:
    before = set(threading.enumerate())
    with served() as server:
        site = Site(server.url)
        mine.crawl(site, 5, 10)
    started = set(threading.enumerate()) - before
    for thread in started:
        thread.join(0.5)
    left = [thread.name for thread in started if thread.is_alive()]
    assert not left, f"still alive after the crawl: {', '.join(left)}"
    assert len(site.lines) == PAGES + 2, f"{len(site.lines)} lines"


def retries_once(mine: ModuleType) -> None:
    with served(resets=True) as server:
        site = Site(server.url)
        mine.crawl(site, 5, 10)
    failed = [line for line in site.lines if not line.startswith("200 ")]
    assert not failed, f"not fetched a second time: {failed[0]}"
    assert len(site.lines) == PAGES + 2, f"{len(site.lines)} lines"


def bounds_its_queue(mine: ModuleType) -> None:
    loop = Loop()
    try:
        queue = mine.Queue(loop, max_items=2)
    except TypeError:
        raise AssertionError("Queue takes no max_items yet") from None
    put: list[int] = []
    taken: list[int] = []
    held: list[int] = []

    def produce() -> Iterator[Any]:
        for number in range(10):
            yield from queue.put(number)
            put.append(number)

    def consume() -> Iterator[Any]:
        for _ in range(10):
            taken.append((yield from queue.get()))
            held.append(len(put) - len(taken))

    def both() -> Iterator[Any]:
        tasks = [mine.Task(loop, produce()), mine.Task(loop, consume())]
        for task in tasks:
            yield from task

    mine.stage_4.run(loop, both())
    assert taken == list(range(10)), f"taken: {taken}"
    assert max(held) <= 2, f"{max(held)} items were in the queue"


def cancels_its_task(mine: ModuleType) -> None:
    seen: list[object] = []

    async def wait(future: "asyncio.Future[None]") -> None:
        try:
            await future
        except asyncio.CancelledError:
            seen.append("told")
            raise

    async def main() -> None:
        loop = asyncio.get_running_loop()
        future, done = loop.create_future(), loop.create_future()
        task, unstarted = mine.Task(wait(future)), mine.Task(wait(future))
        assert hasattr(task, "cancel"), "Task has no method `cancel` yet"
        unstarted.cancel()
        woken = mine.Task(wait(done))
        await asyncio.sleep(0)
        done.set_result(None)
        woken.cancel()
        task.cancel()
        tasks = [task.future, unstarted.future, woken.future]
        await asyncio.wait(tasks, timeout=3)
        assert task.future.cancelled(), "the outcome of the Task is not a cancel"
        assert future.cancelled(), "what the coroutine waited for was not cancelled"
        assert unstarted.future.cancelled(), (
            "one that had not started was not cancelled"
        )
        assert woken.future.cancelled(), "one whose Future was done was not cancelled"
        assert seen == ["told", "told"], "no CancelledError was raised at the `await`"

    asyncio.run(main())


def cancels_its_coroutine(mine: ModuleType) -> None:
    seen: list[str] = []

    @mine.coroutine
    def inner(future: "asyncio.Future[None]") -> Iterator[Any]:
        try:
            yield future
        finally:
            seen.append("inner")

    @mine.coroutine
    def outer(future: "asyncio.Future[None]") -> Iterator[Any]:
        try:
            yield inner(future)
        finally:
            seen.append("outer")

    async def main() -> None:
        future = asyncio.get_running_loop().create_future()
        result = outer(future)
        result.cancel()
        await asyncio.wait([result], timeout=3)
        for _ in range(5):
            await asyncio.sleep(0)
        assert seen == ["inner", "outer"], f"`finally` was run in: {seen or 'none'}"
        assert result.cancelled() and future.cancelled(), "a Future is not cancelled"

    asyncio.run(main())


def obeys_robots_txt(mine: ModuleType) -> None:
    with served() as server:
        site = Site(server.url)
        mine.crawl(site, 5, 10)
    page = f"{server.url}private/page"
    assert f"200 {page}" not in site.lines, "a page was fetched that robots.txt forbids"
    assert f"skipped {page}" in site.lines, f"no line `skipped {page}`"
    assert len(site.lines) == PAGES + 2, f"{len(site.lines)} lines"


CHECKS: dict[str, Callable[[ModuleType], None]] = {
    "1": stops_at_content_length,
    "2": ends_its_threads,
    "3": retries_once,
    "4": retries_once,
    "5": bounds_its_queue,
    "6": cancels_its_task,
    "7": cancels_its_coroutine,
    "8": obeys_robots_txt,
}


def fresh(name: str) -> ModuleType:
    """Import a program of this folder anew, so that changing it changes nothing else."""
    return load(Path(__file__).with_name(f"{name}.py"))


def load(path: str | Path) -> ModuleType:
    """Import a file, whatever its name and its folder."""
    spec = util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is not a Python file")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(number: str, path: str) -> str:
    """Return what is still wrong with a solution; empty if nothing is."""
    try:
        CHECKS[number](load(path))
    except AssertionError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in CHECKS:
        raise SystemExit(__doc__)
    problem = check(sys.argv[1], sys.argv[2])
    print(problem or f"exercise {sys.argv[1]}: passed")
    raise SystemExit(bool(problem))
