"""The process of a sandbox: calls functions until its other end is closed.

Run as a file, with the import path as its arguments.  Rule: only the standard library is
imported here, and as little of it as possible; a call imports the module of its function.

A frame is its length, as an unsigned integer of eight bytes, and a pickle.  A call that goes
over a limit gets no answer: the process ends.
"""

import contextlib
import gc
import os
import pickle
import resource
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import BinaryIO

__all__ = ["LENGTH", "STATUS_OVER_LIMIT", "LimitExceeded", "main"]

LENGTH = struct.Struct("!Q")

# A call may take this much CPU time.  Python code is interrupted first, so that a function
# can return what it has so far; C code is not, and then the process is killed.
PYTHON_CPU_S = 0.8
MAX_CPU_S = 0.9

MAX_MEMORY_BYTES = 200 * 1024 * 1024

# The nodes of a large tree, which are no garbage, would be looked through again and again.
COLLECTED_EVERY = 100_000

# The exit status if a call took too much; it differs from that of a traceback.
STATUS_OVER_LIMIT = 75


class LimitExceeded(Exception):
    """A call took too much CPU time or memory."""


def main() -> None:
    """Answer calls on the socket that is the standard input of this process."""
    connection = socket.socket(fileno=0)
    signal.signal(signal.SIGPROF, _raise_limit_exceeded)
    gc.set_threshold(COLLECTED_EVERY)
    is_limited = False
    # The process at the other end may be killed at any moment; then the answer is not needed.
    with connection.makefile("rb") as frames, contextlib.suppress(ConnectionError):
        for request in _requests(frames):
            # The first call imports the modules of its function.
            function, args = pickle.loads(request)
            if not is_limited:
                _limit_memory()
                is_limited = True
            reply = _reply(function, args)
            connection.sendall(LENGTH.pack(len(reply)) + reply)


def _requests(frames: BinaryIO) -> Iterator[bytes]:
    """Yield the requests that arrive whole, until the other end is closed."""
    while len(head := frames.read(LENGTH.size)) == LENGTH.size:
        (size,) = LENGTH.unpack(head)
        request = frames.read(size)
        if len(request) == size:
            yield request


def _reply(function: Callable[..., object], args: tuple[object, ...]) -> bytes:
    """Return the result of a call and an empty text, or None and a traceback."""
    try:
        with _limited_cpu_time():
            return pickle.dumps((function(*args), ""))
    except (MemoryError, LimitExceeded):
        os._exit(STATUS_OVER_LIMIT)
    except Exception:
        return pickle.dumps((None, traceback.format_exc()))


@contextlib.contextmanager
def _limited_cpu_time() -> Iterator[None]:
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_CPU_S)  # its signal kills the process
    signal.setitimer(signal.ITIMER_PROF, PYTHON_CPU_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _raise_limit_exceeded(_signal: int, _frame: FrameType | None) -> None:
    raise LimitExceeded


def _limit_memory() -> None:
    """Allow `MAX_MEMORY_BYTES` on top of the memory that this process has now.

    Elsewhere than on Linux only the CPU time limits the memory.
    """
    with contextlib.suppress(FileNotFoundError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + MAX_MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    # Import what the starting process would, whatever the current directory is.
    sys.path[:] = sys.argv[1:]
    main()
