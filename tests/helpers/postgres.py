"""A PostgreSQL server of the tests' own, and a frontier on it that waits for each step.

The server is Debian's, in a temporary directory, and listens on a socket there only.  It is
run by an unprivileged user, because it refuses root.
"""

import contextlib
import math
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest

from crawler_app.errors import ConfigError
from crawler_app.frontier.postgres.install import install, uninstall
from crawler_app.frontier.postgres.place import Place
from crawler_app.frontier.postgres.worker import PostgresFrontier
from crawler_app.reasons import PROVISIONAL
from gencoro import gen
from gencoro.ioloop import IOLoop

__all__ = [
    "USER",
    "Proxy",
    "SteppedFrontier",
    "kill_server",
    "make_crawl",
    "newest_binaries",
    "postgres",
    "postgres_url",
    "running",
    "start",
    "url_of",
]

USER = "nobody"
SOCKET = ".s.PGSQL.5432"


@pytest.fixture(scope="session")
def postgres():
    """Return the directory of a server that runs, which is where its socket is."""
    binaries = newest_binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed")
    directory = Path(tempfile.mkdtemp(prefix="gencrawl-postgres-"))
    try:
        with running(binaries, directory):
            yield directory
    finally:
        shutil.rmtree(directory)


@pytest.fixture
def postgres_url(postgres):
    """Return the URL of its database."""
    return url_of(postgres)


def newest_binaries():
    """Return the directory of Debian's newest server; None if there is none."""
    found = Path("/usr/lib/postgresql").glob("*/bin")
    return max(found, key=lambda path: int(path.parent.name), default=None)


@contextlib.contextmanager
def running(binaries, directory):
    """Run a server in a directory, which is made one if it is empty."""
    process = start(binaries, directory)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)  # ends sessions, and stops
        process.wait()


def url_of(directory):
    """Return the URL of a server's database."""
    return f"postgresql://{USER}@/postgres?host={directory}"


def kill_server(process):
    """Kill a server, with the sessions that it has, and wait until they are gone."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    process.kill()
    for child in map(int, children.split()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    process.wait()


def start(binaries, directory):
    """Start a server in a directory, which is made one if it is empty."""
    data = directory / "data"
    identity = {}
    if os.geteuid() == 0:
        account = pwd.getpwnam(USER)
        identity = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        os.chown(directory, account.pw_uid, account.pw_gid)
    if not data.exists():
        subprocess.run(
            [binaries / "initdb", "-D", data, "-U", USER, "-A", "trust", "-N", "-E"]
            + ["UTF8", "--locale=C", "--no-instructions"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=directory,
            **identity,
        )
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": directory,
        "fsync": "off",
        "shared_buffers": "32MB",
        "max_connections": 50,
    }
    options = [
        text for item in settings.items() for text in ("-c", "=".join(map(str, item)))
    ]
    with (directory / "log").open("ab") as log:
        process = subprocess.Popen(
            [binaries / "postgres", "-D", data, *options],
            stdout=log,
            stderr=log,
            cwd=directory,
            **identity,
        )
    ready = [binaries / "pg_isready", "-q", "-h", directory, "-U", USER]
    while subprocess.run(ready, check=False).returncode:
        assert process.poll() is None, (directory / "log").read_text()
    return process


def make_crawl(url, crawl="test", **options):
    """Make a crawl, which replaces one of the same name; return its place."""
    place = Place(url, crawl)
    loop = IOLoop(make_current=False)
    with contextlib.suppress(ConfigError):
        loop.run_sync(lambda: uninstall(place))
    loop.run_sync(lambda: install(place, partitions=2, **options))
    loop.close()
    return place


class SteppedFrontier(PostgresFrontier):
    """A worker's frontier whose pump comes to rest around each call.

    So what it says is what the server knows.  The time of both is that of the last call,
    which may be ahead of the server by ``skew_s``.
    """

    skew_s = 0.0

    def __init__(self, url, crawl="test", **options):
        self.now = 0.0
        self._loop = IOLoop(make_current=False)
        self.place = Place(url, crawl)
        super().__init__(
            self.place,
            buffered=0,
            clock=lambda: self.now,
            server_clock=lambda: self.now - self.skew_s,
            **options,
        )
        self._loop.run_sync(self.open)
        self.settle()

    @classmethod
    def of_new_crawl(cls, url, crawl="test", **options):
        """Return the first worker of a crawl, which replaces one of the same name."""
        make_crawl(url, crawl, **options)
        return cls(url, crawl)

    def another(self):
        """Return another worker of the same crawl."""
        return SteppedFrontier(self.place.url, self.place.crawl)

    def settle(self):
        """Let the pump come to rest."""
        self.flush()
        self._asks_books_at = -math.inf
        self._loop.run_sync(self.exchange)

    def add(self, candidates, via=None):
        super().add(candidates, via)
        self.settle()
        return self.last_queued

    def claim(self, now, lease_s, max_depth=None):
        self.now = now
        super().claim(now, lease_s, max_depth)  # there is none: it asks for one
        self.settle()
        claim = super().claim(now, lease_s, max_depth)
        self._starved = 0
        return claim

    def finish(self, claim, outcome, now, outlinks=(), again=None):
        self.now = now
        super().finish(claim, outcome, now, outlinks, again)
        self.settle()
        return self.last_queued

    def retry(self, claim, due_at):
        super().retry(claim, due_at)
        self.settle()

    def release(self, claim):
        super().release(claim)
        self.settle()

    def respell(self, claim, url):
        super().respell(claim, url)
        self.settle()

    def hold_host(self, host, free_at):
        super().hold_host(host, free_at)
        self.settle()

    def note_response(self, origin, url):
        super().note_response(origin, url)
        self.settle()

    def requeue_failed(self, reasons):
        requeued = super().requeue_failed(reasons)
        self.settle()
        return requeued

    def requeue_urls(self, urls):
        requeued = super().requeue_urls(urls)
        self.settle()
        return requeued

    def next_at(self, now):
        self.now = now
        self.settle()
        return super().next_at(now)

    def depth_in_work(self, now):
        self.now = now
        self.settle()
        return super().depth_in_work(now)

    def knows(self, key):
        """Return whether any worker knows a URL; the worker itself asks only its memory."""
        if super().knows(key):
            return True
        record = self.find(key)
        reason = record and record.outcome and record.outcome.reason
        return record is not None and reason not in PROVISIONAL

    def known_url(self, origin):
        return super().known_url(origin) or self._reader.known_url(origin)

    def close(self):
        self.leave()
        self.settle()
        self._loop.run_sync(self._pump.close)
        self.die()

    def die(self):
        """End without a word to the server."""
        super().close()
        self._loop.run_sync(lambda: gen.sleep(0))  # in which the transport closes
        self._loop.close()


class Proxy:
    """Stands between workers and the server, and loses a message when it is told to.

    Attributes:
        loses: What is lost next, with its connection: "request", "answer" or "".
        lost: How many messages were.
    """

    def __init__(self, server):
        self.loses = ""
        self.lost = 0
        self._server = str(server / SOCKET)
        self._directory = tempfile.mkdtemp(prefix="gencrawl-proxy-")
        self.url = f"postgresql://{USER}@/postgres?host={self._directory}"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(f"{self._directory}/{SOCKET}")
        self._listener.listen()
        self._sockets = [self._listener]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._sockets += [client, server]
                for ends in [(client, server, "request"), (server, client, "answer")]:
                    self._threads.append(threading.Thread(target=self._copy, args=ends))
                    self._threads[-1].start()

    def _copy(self, source, target, kind):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if self.loses == kind:
                    self.loses = ""
                    self.lost += 1
                    break
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for each in self._sockets:
            each.close()
        shutil.rmtree(self._directory)
