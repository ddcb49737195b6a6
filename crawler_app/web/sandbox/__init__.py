"""Calls functions in other processes that may use only so much CPU time and memory.

A parser in C cannot be interrupted, and a hostile page of 30 KB can make it take all
memory.  So it runs in a process that is killed at a limit and replaced, and the event loop
never waits for it::

    worker    the process: receives calls, returns results

Not `concurrent.futures`: a process that dies breaks its pool, and starting one imports the
main script of the program, which would need ``if __name__ == "__main__"``.
"""

import asyncio
import contextlib
import io
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

from crawler_app.base.subgenerator import Subgenerator
from crawler_app.web.sandbox import worker
from crawler_app.web.sandbox.worker import LENGTH, STATUS_OVER_LIMIT, LimitExceeded
from gencoro.concurrent import future_set_result_unless_cancelled
from gencoro.locks import Condition

__all__ = ["LimitExceeded", "Sandbox"]

T = TypeVar("T")

# One core is left to the crawl itself.
MAX_PROCESSES = max(1, min(4, (os.cpu_count() or 1) - 1))

RECEIVED_BYTES = 256 * 1024


class Sandbox:
    """Processes that are started when they are needed, and replaced when they die."""

    def __init__(self) -> None:
        self._idle: list[_Process] = []
        self._working: set[_Process] = set()
        self._changed = Condition()

    def call(self, function: Callable[..., T], *args: Any) -> Subgenerator[T]:
        """Return the result of a function, which is called in another process.

        Args:
            function: Like its arguments, it must be picklable.  Its result may consist of
                built-in types only.

        Raises:
            LimitExceeded: it took too much CPU time or memory, or crashed.
            RuntimeError: it raised another exception, or no process can be started.
        """
        while not self._idle and len(self._working) >= MAX_PROCESSES:
            yield self._changed.wait()
        with self._process() as process:
            reply = yield from process.exchange(pickle.dumps((function, args)))
        result: T = _result(reply)
        return result

    def close(self) -> None:
        """End the processes, even one that is in a call."""
        for process in (*self._idle, *self._working):
            process.kill()
        self._idle.clear()

    @contextlib.contextmanager
    def _process(self) -> "Iterator[_Process]":
        """Take a process for a call; it is idle afterwards, unless the call failed."""
        while self._idle and self._idle[-1].has_ended():
            self._idle.pop().kill()
        process = self._idle.pop() if self._idle else _Process()
        self._working.add(process)
        try:
            yield process
            self._idle.append(process)
        except BaseException:
            process.kill()
            raise
        finally:
            self._working.discard(process)
            self._changed.notify_all()


class _Process:
    """A process, and our end of the socket that connects it.

    It belongs to the event loop in which `exchange` was called first, if to any.
    """

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._received = bytearray()
        self._reply: asyncio.Future[bytes] | None = None
        with theirs:
            # In a session of its own, so that Ctrl-C does not reach it.  However this
            # process ends, the socket is closed then, and so the other one ends too.
            self._popen = subprocess.Popen(
                # As a file, not as a module: importing this package would import asyncio
                # and Tornado, which takes ten times as long as all the rest.
                [sys.executable, "-I", worker.__file__, *sys.path],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )

    def exchange(self, request: bytes) -> Subgenerator[bytes]:
        """Send a request and return the reply."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._socket.setblocking(False)
            self._loop.add_reader(self._socket, self._receive)
        self._reply = self._loop.create_future()
        try:
            head = LENGTH.pack(len(request))
            # Mostly all is sent at once, because the process has read the last request.
            sent = self._socket.sendmsg((head, request)) - len(head)
            if sent < len(request):
                yield self._loop.sock_sendall(self._socket, memoryview(request)[sent:])
            reply: bytes = yield self._reply
        except ConnectionError:
            raise self._error() from None
        return reply

    def has_ended(self) -> bool:
        return self._popen.poll() is not None

    def kill(self) -> None:
        self._popen.kill()
        self._popen.wait()
        if self._loop is not None:
            self._loop.remove_reader(self._socket)
        self._socket.close()

    def _receive(self) -> None:
        """Read what has arrived; complete the reply if that was the rest of it."""
        assert self._loop is not None and self._reply is not None
        try:
            data = self._socket.recv(RECEIVED_BYTES)
        except ConnectionError:
            data = b""
        self._received += data
        if not data:
            self._loop.remove_reader(self._socket)
            if not self._reply.done():
                self._reply.set_exception(ConnectionError("the process has ended"))
        elif len(self._received) >= LENGTH.size:
            end = LENGTH.size + LENGTH.unpack_from(self._received)[0]
            if len(self._received) == end:
                reply = bytes(memoryview(self._received)[LENGTH.size :])
                self._received = bytearray()
                future_set_result_unless_cancelled(self._reply, reply)

    def _error(self) -> Exception:
        """Return the error for a process that has closed its socket: it has ended."""
        status = self._popen.wait()
        if status < 0 or status == STATUS_OVER_LIMIT:
            return LimitExceeded(f"the process ended with exit status {status}")
        return RuntimeError(f"no process for parsing: exit status {status}")


class _BuiltInUnpickler(pickle.Unpickler):
    """Loads built-in types only.

    Any class or function in a pickle is one that its sender may call here, with arguments
    of its choice, and the sender may have been taken over by a hostile page.  A list of
    allowed ones would have to be right for each Python: some pickle a member of an enum as
    a call of `getattr`, and a name may have dots, as in ``documents.reader.os.system``.
    """

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"a result may not contain {module}.{name}")


def _result(reply: bytes) -> Any:
    result, error = _BuiltInUnpickler(io.BytesIO(reply)).load()
    if error:
        raise RuntimeError(f"a call failed in another process:\n{error}")
    return result
