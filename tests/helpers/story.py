"""The stages of docs/story, and sites for them to crawl."""

import contextlib
import pathlib
import re
import signal
import socket
import socketserver
import struct
import sys
import threading
from collections.abc import Iterator
from importlib import import_module

from tests.helpers.programs_in_one import run_in_one
from tests.helpers.scripts import start_python

__all__ = [
    "STAGES",
    "STORY",
    "FailingSite",
    "closed_port",
    "demo_site",
    "lines_of",
    "load",
    "printed_by_stages",
    "start_stage",
]

STORY = pathlib.Path(__file__).parents[2] / "docs" / "story"
STAGES = sorted(path.stem for path in STORY.glob("[0-9]_*.py"))


def load(name, folder=STORY):
    """Import a module as a program in its folder does."""
    with contextlib.ExitStack() as cleanup:
        for path in (str(STORY), str(folder)):
            sys.path.insert(0, path)
            cleanup.callback(sys.path.remove, path)
        return import_module(name)


def start_stage(stage, url, *options, **kwargs):
    return start_python(STORY / f"{stage}.py", url, *options, **kwargs)


def printed_by_stages(url, *options):
    """Run each stage, all in one process; return the lines of each, as `lines_of` does."""
    ended = run_in_one([STORY / f"{stage}.py", url, *options] for stage in STAGES)
    return {
        stage: lines_of(each.output, each.status, url)
        for stage, each in zip(STAGES, ended, strict=True)
    }


def lines_of(output, status, site_url):
    """Return what a stage has printed, without the address of the site, and the last line."""
    assert status == 0
    *lines, last = output.replace(site_url, "/").splitlines()
    return lines, last


@contextlib.contextmanager
def demo_site() -> Iterator[str]:
    """Serve the demo site as a reader would; yield its URL."""
    with start_python(STORY / "serve_demo.py") as process:
        url = re.findall(r"http://\S+", process.stdout.readline())[0]
        try:
            yield url
        finally:
            process.send_signal(signal.SIGINT)
    assert process.returncode == 0


def closed_port() -> int:
    """Return a port that refuses connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class FailingSite(socketserver.ThreadingTCPServer):
    """A site on loopback whose pages fail, each in the way that its path says.

    Attributes:
        paths: The paths that were asked for, in order.
        silent: Set when the path that is never answered was asked for.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"
        self.paths = []
        self.silent = threading.Event()
        self.ended = threading.Event()

    @contextlib.contextmanager
    def served(self) -> "Iterator[FailingSite]":
        thread = threading.Thread(target=self.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield self
        finally:
            self.ended.set()
            self.shutdown()
            thread.join(60)
            self.server_close()


LINKS = [
    *("fine", "missing", "reset", "garbage", "short", "cut-head", "empty"),
    *("silent", "drip", "chain/0", "self", "loop/a", "away", "no-target", "odd-target"),
    *(
        "caf\u00e9",
        "a%20b",
        "text",
        "odd-markup",
        "#top",
        "fine#top",
        "http://[",
        "mailto:a@b.test",
    ),
]

HTML = "Content-Type: text/html; charset=utf-8\r\n"


class _Handler(socketserver.BaseRequestHandler):
    def handle(self):
        request = self.request.recv(10_000).decode()
        path = request.split(" ")[1] if request else ""
        self.server.paths.append(path)
        act = getattr(self, "answer_" + path.strip("/").replace("-", "_"), None)
        with contextlib.suppress(OSError):  # the stage has closed the connection
            if act is not None:
                act()
            elif path.startswith("/chain/"):
                self.redirect(f"/chain/{int(path.rpartition('/')[2]) + 1}")
            elif path.startswith("/loop/"):
                self.redirect("/loop/b" if path.endswith("a") else "/loop/a")
            else:
                self.answer("200 OK", HTML, "Fine.")

    def answer(self, status, headers, body):
        body = body.encode()
        head = f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
        self.request.sendall(head.encode() + body)

    def redirect(self, location):
        self.answer("302 Found", f"Location: {location}\r\n", "")

    def answer_(self):
        links = "".join(f'<a href="{link}">x</a>' for link in LINKS)
        self.answer("200 OK", HTML, f"<title>x</title>{links}<a name=x>y</a>")

    def answer_missing(self):
        self.answer("404 Not Found", HTML, '<a href="/unseen">x</a>')

    def answer_text(self):
        self.answer("200 OK", "Content-Type: text/plain\r\n", '<a href="/unseen">x</a>')

    def answer_odd_markup(self):
        self.answer("200 OK", HTML, '<a href="/fine">x</a><![odd[ <a href="/unseen">')

    def answer_reset(self):
        self.request.sendall(b"HTTP/1.1 200 OK\r\n")
        linger = struct.pack("ii", 1, 0)
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.request.close()

    def answer_garbage(self):
        self.request.sendall(b"\x00\x01 no HTTP \r\n\r\n")

    def answer_short(self):
        self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort")

    def answer_cut_head(self):
        self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Le")

    def answer_empty(self):
        pass

    def answer_silent(self):
        self.server.silent.set()
        self.server.ended.wait(120)

    def answer_drip(self):
        self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not self.server.ended.wait(0.1):
            self.request.sendall(b".")

    def answer_self(self):
        self.redirect("/self")

    def answer_away(self):
        self.redirect("http://elsewhere.invalid/")

    def answer_no_target(self):
        self.answer("302 Found", "", "")

    def answer_odd_target(self):
        self.redirect("http://[")
