"""Runs a private PostgreSQL server as long as other processes use it.

Run as a file, which takes little time: only the standard library is imported.  It prints
``ready`` when the server is, or why it cannot be started, and stays in the background.

Rule: a process that uses the server has a shared lock on a file.  However it ends, the kernel
releases the lock.  Once no process has one, this program gets its own, and stops the server.
"""

import contextlib
import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import NamedTuple

__all__ = ["main"]

# A server that was killed may leave processes that have its shared memory for a moment.
PATIENCE_S = 20.0
STILL_THERE = (b"is still in use", b"already exists")

LOOK_EVERY_S = 0.01
SHOWN_BYTES = 1_000

# On the command line they have precedence over the files of the data.
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_directories": ".",
    "port": 5432,
    "max_connections": 200,
    "shared_buffers": "64MB",
    "max_wal_size": "256MB",
    "min_wal_size": "32MB",
    # A step that is lost in a crash is noticed, and what it had ended is fetched again.
    "synchronous_commit": "off",
    "max_parallel_workers_per_gather": 0,
    "log_checkpoints": "off",
}

PR_SET_PDEATHSIG = 1


class _Server(NamedTuple):
    """What is to be run: paths, and the ids of its user and group if they are not ours."""

    binaries: str
    data: str
    log: str
    lock: str
    user: str = ""
    group: str = ""


def main() -> None:
    """Start the server that the arguments name."""
    reader, writer = os.pipe()
    if os.fork():
        os.close(writer)
        with open(reader, "rb") as answer:
            sys.stdout.buffer.write(answer.read())
        return
    os.close(reader)
    _leave_the_terminal()
    server = _Server(*sys.argv[1:])
    process = _started(server)
    with open(writer, "wb") as answer:
        answer.write(b"ready" if process else _end_of_log(server))
    if process is not None:
        _stop_when_unused(process, server.lock)


def _leave_the_terminal() -> None:
    os.setsid()  # Ctrl-C must not reach the server before the crawl has ended
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)


def _started(server: _Server) -> subprocess.Popen[bytes] | None:
    """Start the server, and wait until it takes connections; None if it does not."""
    ends_at = time.monotonic() + PATIENCE_S
    with open(server.log, "wb") as log:
        while True:
            log.truncate(0)
            process = _start(server, log.fileno())
            if _becomes_ready(process, server.data):
                return process
            if time.monotonic() > ends_at or not any(
                each in _end_of_log(server) for each in STILL_THERE
            ):
                return None
            time.sleep(LOOK_EVERY_S)


def _start(server: _Server, log: int) -> subprocess.Popen[bytes]:
    # By a descriptor: the server's user may not go through the directories above.
    place = os.open(server.data, os.O_RDONLY | os.O_DIRECTORY)
    path = f"/proc/self/fd/{place}" if server.user else server.data
    try:
        return subprocess.Popen(
            [f"{server.binaries}/postgres", "-D", path]
            + [f"-c{name}={value}" for name, value in SETTINGS.items()],
            stdout=log,
            stderr=log,
            cwd="/",
            pass_fds=(place,),
            preexec_fn=_stop_with_parent,  # noqa: PLW1509 - there is one thread
            user=int(server.user) if server.user else None,
            group=int(server.group) if server.user else None,
            extra_groups=[] if server.user else None,
        )
    finally:
        os.close(place)


def _stop_with_parent() -> None:
    """Have this process stopped as by `_stop_when_unused` if its parent is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)


def _becomes_ready(process: subprocess.Popen[bytes], data: str) -> bool:
    while process.poll() is None:
        with contextlib.suppress(OSError):
            lines = Path(data, "postmaster.pid").read_text().split()
            if lines[:1] == [str(process.pid)] and lines[-1] == "ready":
                return True
        time.sleep(LOOK_EVERY_S)
    return False


def _end_of_log(server: _Server) -> bytes:
    return Path(server.log).read_bytes()[-SHOWN_BYTES:]


def _stop_when_unused(process: subprocess.Popen[bytes], lock: str) -> None:
    """Wait until no process uses the server, and stop it; or until it has ended by itself."""

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise SystemExit

    with open(lock) as users:
        signal.signal(signal.SIGCHLD, end)
        if process.poll() is not None:
            return
        fcntl.flock(users, fcntl.LOCK_EX)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        # With its sessions, of which there are none.
        process.send_signal(signal.SIGINT)
        process.wait()


if __name__ == "__main__":
    main()
