"""A PostgreSQL server for tests, and failures of it and of the network before it.

The server is Debian's, in a temporary directory, and listens on a socket there, or on loopback.
It is run by an unprivileged user, because it refuses root.
"""

import atexit
import contextlib
import functools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from tests.helpers.scripts import is_running

__all__ = [
    "CRASH",
    "FAST",
    "IMMEDIATE",
    "SOCKET",
    "USER",
    "Proxy",
    "Server",
    "identity",
    "newest_binaries",
    "running",
    "temporary_directory",
    "url_of",
]

USER = "nobody"
SOCKET = ".s.PGSQL.5432"

SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "shared_buffers": "32MB",
    "max_connections": 50,
}

# How a server ends: with its sessions, at once with recovery later, or by a crash.
FAST, IMMEDIATE, CRASH = signal.SIGINT, signal.SIGQUIT, signal.SIGKILL


def newest_binaries():
    """Return the directory of Debian's newest server; None if there is none."""
    found = Path("/usr/lib/postgresql").glob("*/bin")
    return max(found, key=lambda path: int(path.parent.name), default=None)


def url_of(directory):
    """Return the URL of a server's database."""
    return f"postgresql://{USER}@/postgres?host={directory}"


def identity():
    """Return who runs a server, for `subprocess`: root may not."""
    if os.geteuid() != 0:
        return {}
    account = pwd.getpwnam(USER)
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def temporary_directory():
    """Make a directory for a server, in memory where the tests are (see `conftest.py`).

    Each crawl has a hundred files, which take a disk longer than the server.
    """
    root = os.environ.get("PYTEST_DEBUG_TEMPROOT")
    return Path(tempfile.mkdtemp(prefix="gencrawl-postgres-", dir=root))


def make_data(path, *options):
    """Make the data of a server."""
    subprocess.run(
        [newest_binaries() / "initdb", "-D", path, "-U", USER, "-A", "trust", "-N"]
        # The least log, which is written with the data, and copied with them.
        + [
            "-E",
            "UTF8",
            "--locale=C",
            "--no-instructions",
            "--wal-segsize=1",
            *options,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=path.parent,
        **identity(),
    )


@functools.cache
def template():
    """Return data of a new server, to be copied: that takes a tenth of the time."""
    directory = temporary_directory()
    atexit.register(shutil.rmtree, directory)
    if who := identity():
        os.chown(directory, who["user"], who["group"])
    make_data(directory / "data")
    return directory / "data"


class Server:
    """A server in a directory; its data are made if there are none.

    Args:
        initdb_options: How the data are made.
        settings: As in ``postgresql.conf``.

    Attributes:
        process: The running server.
    """

    def __init__(self, directory, *initdb_options, **settings):
        self.directory = Path(directory)
        self.url = url_of(directory)
        self._settings = SETTINGS | {"unix_socket_directories": directory} | settings
        self._binaries = newest_binaries()
        self._identity = identity()
        if self._identity:
            os.chown(directory, self._identity["user"], self._identity["group"])
        data = self.directory / "data"
        if initdb_options and not data.exists():
            make_data(data, *initdb_options)
        elif not data.exists():
            subprocess.run(["cp", "-a", template(), data], check=True)
        self.start()

    def run(self, program, *arguments):
        """Run one of PostgreSQL's programs; return its output."""
        return subprocess.run(
            [self._binaries / program, *arguments],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.directory,
            **self._identity,
        ).stdout.strip()

    def query(self, sql):
        """Return what a statement prints."""
        return self.run(
            *["psql", "-XqAt", "-h", self.directory, "-U", USER, "-d", "postgres"],
            *["-v", "ON_ERROR_STOP=1", "-c", sql],
        )

    def start(self):
        """Start the server, and wait until it answers."""
        data = self.directory / "data"
        options = [f"-c{name}={value}" for name, value in self._settings.items()]
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self._binaries / "postgres", "-D", data, *options],
                stdout=log,
                stderr=log,
                cwd=self.directory,
                **self._identity,
            )
        while not self._is_ready():
            assert self.process.poll() is None, (self.directory / "log").read_text()
            time.sleep(0.005)

    def _is_ready(self):
        """Return whether it takes connections; a standby, to read."""
        try:
            # Empty for a moment: the server makes the file and then writes into it.
            words = (self.directory / "data" / "postmaster.pid").read_text().split()
        except FileNotFoundError:
            return False
        is_own = words[:1] == [str(self.process.pid)]
        return is_own and words[-1] in ("ready", "standby")

    def stop(self, how=FAST):
        """Stop the server, with the sessions that it has."""
        task = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        children = [int(child) for child in task.read_text().split()]
        self.process.send_signal(how)
        for child in children if how == CRASH else []:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, how)
        self.process.wait()
        for child in children:
            # Until it has ended, it has the shared memory, and no other server starts.
            while is_running(child):
                time.sleep(0.01)

    def follower(self, directory, **settings):
        """Return another server that is a replica of this one."""
        os.chown(directory, self.directory.stat().st_uid, -1)
        self.run(
            *["pg_basebackup", "-h", self.directory, "-U", USER, "-c", "fast", "-R"],
            *["-D", Path(directory) / "data"],
        )
        return Server(directory, **settings)


@contextlib.contextmanager
def running(directory=None, *initdb_options, **settings):
    """Run a server; its directory is a temporary one unless it is given."""
    with contextlib.ExitStack() as stack:
        if directory is None:
            directory = temporary_directory()
            stack.callback(shutil.rmtree, directory)
        server = Server(directory, *initdb_options, **settings)
        try:
            yield server
        finally:
            if server.process.poll() is None:
                server.stop()


class Proxy:
    """A proxy between workers and the server that can fail as a network does.

    Attributes:
        loses: What is lost next, with its connection: "request", "answer" or "".
        lost: How many messages were.
        delay_s: How long each message takes.
        flows: Whether messages pass, on the connections made since it is there; an event.
    """

    def __init__(self, server):
        self.loses = ""
        self.lost = 0
        self.delay_s = 0.0
        self._events = []
        self.flow()
        self._server = str(server / SOCKET)
        self._directory = tempfile.mkdtemp(prefix="gencrawl-proxy-")
        self.url = url_of(self._directory)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(f"{self._directory}/{SOCKET}")
        self._listener.listen()
        self._sockets = [self._listener]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def flow(self):
        """Let messages pass on new connections; the others stay as they are."""
        self.flows = threading.Event()
        self.flows.set()
        self._events.append(self.flows)

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                self._sockets += [client, server]
                try:
                    server.connect(self._server)
                except OSError:  # it is away
                    client.shutdown(socket.SHUT_RDWR)
                    continue
                for ends in [(client, server, "request"), (server, client, "answer")]:
                    copying = threading.Thread(
                        target=self._copy, args=(*ends, self.flows)
                    )
                    self._threads.append(copying)
                    copying.start()

    def _copy(self, source, target, kind, flows):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if self.loses == kind:
                    self.loses = ""
                    self.lost += 1
                    break
                time.sleep(self.delay_s)
                flows.wait()
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """Cut every connection."""
        for each in self._sockets[1:]:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self):
        """Cut every connection, and take no more."""
        for event in self._events:
            event.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join()
        self.cut()
        for thread in self._threads:
            thread.join()
        for each in self._sockets:
            each.close()
        shutil.rmtree(self._directory, ignore_errors=True)  # closed before
