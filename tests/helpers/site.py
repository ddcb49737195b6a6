"""A real web site on loopback.

It runs on a thread of its own, so that crawls in this process and in others see the same
server.
"""

import asyncio
import contextlib
import socket
import struct
import threading
import time

from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPHeaders
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

__all__ = ["Answer", "Site"]

# How long a page is held at most, so that a test in which nothing ends fails and does not hang.
MAX_HELD_S = 60.0


class Answer:
    """What the site says to one path; `times` answers, then the next in the list.

    If it needs a cookie, only to requests that have it.
    """

    def __init__(self, body=b"", status=200, headers=None, times=None, needs_cookie=""):
        self.body = body
        self.status = status
        self.headers = {"Content-Type": "text/html; charset=utf-8", **(headers or {})}
        self.times = times
        self.needs_cookie = needs_cookie


class Site:
    """The site.

    Attributes:
        resets: Whether the connection is reset after a request for a path.
        methods: The methods of the requests.
        head_status: The answer to HEAD; None for the same as to GET.
        otherwise: The answers to every other path.
    """

    def __init__(self):
        self.requests = []
        self.times = []
        self.methods = []
        self.head_status = None
        self.otherwise = []
        self.resets = lambda path: False
        self._answers = {}
        self._gates = {}
        self._most_at_once = self._at_once = 0
        self._started = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(),))
        self._thread.start()
        assert self._started.wait(60)

    async def _serve(self):
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        application = Application(
            [(".*", _Handler, {"site": self})], log_function=lambda handler: None
        )
        server = HTTPServer(application)
        sockets = bind_sockets(0, "127.0.0.1")
        server.add_sockets(sockets)
        self.url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}/"
        self._started.set()
        await self._stopped.wait()
        server.stop()
        await server.close_all_connections()

    def stop(self):
        if self._loop.is_closed():
            return
        for gate in self._gates.values():
            self._loop.call_soon_threadsafe(gate.set)
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(60)

    # -- what it says ------------------------------------------------------------------

    def page(self, path, *links, title="", **answer):
        anchors = "".join(f'<a href="{link}">x</a>' for link in links)
        body = f"<!doctype html><title>{title}</title>{anchors}".encode()
        self.answer(path, body, **answer)

    def pages(self, *paths):
        """Answer at each of the paths with a page that has no links."""
        for path in paths:
            self.page(path)

    def redirect(self, path, to, status=302):
        self.answer(path, status=status, headers={"Location": to})

    def answer(self, path, body=b"", **options):
        self._answers.setdefault(path, []).append(Answer(body, **options))

    def hold(self, path):
        """Keep requests for a path waiting until `let_go`, or for a minute."""
        self._gates[path] = asyncio.Event()

    def let_go(self, path):
        self._loop.call_soon_threadsafe(self._gates[path].set)

    def let_go_when(self, at_once):
        """Let everything go as soon as this number of requests waits; return a Future."""

        async def wait():
            while self._at_once < at_once:
                await asyncio.sleep(0.01)
            for gate in self._gates.values():
                gate.set()

        return asyncio.run_coroutine_threadsafe(wait(), self._loop)

    # -- what it saw -------------------------------------------------------------------

    @property
    def paths(self):
        return [path for path, _ in self.requests]

    @property
    def most_at_once(self):
        return self._most_at_once

    async def respond(self, handler):
        path = handler.request.uri
        self.requests.append((path, dict(handler.request.headers)))
        self.times.append(time.monotonic())
        self.methods.append(handler.request.method)
        self._at_once += 1
        self._most_at_once = max(self._most_at_once, self._at_once)
        try:
            if path in self._gates:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._gates[path].wait(), MAX_HELD_S)
            if handler.request.method == "HEAD" and self.head_status is not None:
                handler.set_status(self.head_status)
            elif self.resets(path):
                _reset(handler)
            else:
                self._write(handler, path)
        finally:
            self._at_once -= 1

    def _write(self, handler, path):
        answers = self._answers.get(path, self.otherwise)
        sent = handler.request.headers.get("Cookie", "")
        fitting = [each for each in answers if each.needs_cookie in sent]
        if not fitting:
            handler.set_status(404)
            return
        answer = fitting[0]
        if answer.times is not None:
            answer.times -= 1
            if not answer.times:
                answers.remove(answer)
        is_known = handler.request.headers.get("If-None-Match") == answer.headers.get(
            "Etag", ""
        )
        handler.set_status(304 if is_known else answer.status)
        for name, value in HTTPHeaders(answer.headers).get_all():
            handler.set_header(name, value)
        if handler.get_status() != 304:
            handler.write(answer.body)


def _reset(handler):
    handler._auto_finish = False
    stream = handler.detach()
    linger = struct.pack("ii", 1, 0)
    stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    stream.close()


class _Handler(RequestHandler):
    def initialize(self, site):
        self.site = site

    async def get(self):
        await self.site.respond(self)

    head = post = get

    def compute_etag(self):
        return None  # only what the test gives
