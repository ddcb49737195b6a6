"""A process that has imported what the workers need, and forks them.

So each starts in milliseconds, and they share that memory.  It is a new interpreter, because the
main process may have threads when it starts workers, and cannot be forked then; nor is the main
script of a program imported again.
"""

import contextlib
import gc
import itertools
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from tornado.iostream import IOStream, StreamClosedError

from gencoro import gen

__all__ = ["ForkServer", "ForkedProcess", "serve"]

# The process imports what this one would, whatever its current directory is.
_BOOT = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from crawler_app.run.processes import fork_server, worker; "
    "fork_server.serve(); worker.main()"
)

# What the server is asked for; a descriptor comes with the first.
_FORK, _END = b"f", b"e"

# The number of a process, in the order of their starts, and its exit status.
_REPLY = struct.Struct("!ii")

# For the server to end the workers.
PATIENCE_S = 5.0


@dataclass(slots=True)
class ForkedProcess:
    """A process that was forked: its exit status, once it has ended."""

    status: int | None = None


class ForkServer:
    """Starts workers' processes; must be closed.

    One that is killed is started again, with the next process.
    """

    def __init__(self) -> None:
        self._popen: subprocess.Popen[bytes] | None = None
        self._stream: IOStream | None = None
        self._running: dict[int, ForkedProcess] = {}
        self._numbers = itertools.count()

    def fork(self, stdin: socket.socket) -> ForkedProcess:
        """Start a process with this standard input."""
        if self._stream is None:
            self._start()
        process = self._running[next(self._numbers)] = ForkedProcess()
        assert self._stream is not None
        # If the server has ended, the process has too, as `_receive` is about to notice.
        with contextlib.suppress(BrokenPipeError):
            socket.send_fds(self._stream.socket, [_FORK], [stdin.fileno()])
        return process

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            # In a session of its own, so that Ctrl-C does not reach it.  However this
            # process ends, the socket is closed then, and so the other one ends too.
            self._popen = subprocess.Popen(
                [sys.executable, "-I", "-c", _BOOT, *sys.path],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._stream = IOStream(ours)
        self._numbers = itertools.count()
        self._receive(self._popen, self._stream)

    @gen.coroutine
    def _receive(
        self, popen: subprocess.Popen[bytes], stream: IOStream
    ) -> Generator[Any, Any, None]:
        """Note the ends of processes; if the server ends, that is the end of all."""
        with contextlib.suppress(StreamClosedError):
            while True:
                number, status = _REPLY.unpack((yield stream.read_bytes(_REPLY.size)))
                self._running.pop(number).status = status
        status = popen.wait()
        self._stream = None
        for process in self._running.values():
            process.status = status
        self._running.clear()

    def close(self) -> None:
        """End the processes that still run, and the server."""
        if self._popen is None or self._stream is None:
            return
        with contextlib.suppress(BrokenPipeError):
            self._stream.socket.send(_END)
        try:
            self._popen.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        self._stream.close()


def serve() -> None:
    """Fork a process for each request on the standard input; return in those only."""
    control = socket.socket(fileno=0)
    number_by_pid: dict[int, int] = {}

    def reap(*_: object) -> None:
        while number_by_pid:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            number = number_by_pid.pop(pid)
            with contextlib.suppress(OSError):  # the main process has ended
                control.sendall(_REPLY.pack(number, os.waitstatus_to_exitcode(status)))

    # Looking through objects writes to their memory, which is copied then.
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, reap)
    for number in itertools.count():
        request, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if request != _FORK:
            break
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.detach()
            os.dup2(descriptors[0], 0)
        else:
            number_by_pid[pid] = number
        os.close(descriptors[0])
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        if pid == 0:
            return
    if request == _END:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for pid in number_by_pid:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    sys.exit()
