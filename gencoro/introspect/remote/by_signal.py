"""Asks a process that has called `install_signal`, on any version of Python.

The signal wakes the process up even if its main thread sleeps or waits for a lock, but not
during a call into C that ignores signals.
"""

import contextlib
import os
import sys
import time
from collections.abc import Iterator

from gencoro.introspect.mailbox import ASKED, TOLD, WITHDRAWN
from gencoro.introspect.remote.process import NOT_FINISHED, Process, RemoteError

if sys.platform == "linux":
    import fcntl

__all__ = ["ask_by_signal"]

# How often the answer is looked for.
POLL_S = 0.01

# The maximum size of an answer.
MOST_BYTES = 1 << 28


def ask_by_signal(
    process: Process, limit: int, until: float, budget_s: float
) -> str | None:
    """Return the encoded snapshot of a process; None if it has no handler of ours.

    Args:
        limit: The maximum number of coroutines, Tasks and Futures to examine.
        until: When to stop waiting, on the clock of `time.monotonic`.
        budget_s: The seconds after which the process shall stop examining itself.

    Raises:
        RemoteError: the process ended, or did not answer.
    """
    found = process.mailbox()
    if found is None:
        return None
    path, signum = found
    if not process.handles(signum):
        raise RemoteError(
            f"process {process.pid} has called install_signal(), but the handler of signal "
            f"{signum} was removed since; the signal would end the process"
        )
    with _locked(path, process, until) as file:
        request = b"%s %d %d %f" % (ASKED, process.own_pid, limit, budget_s)
        os.ftruncate(file, 0)
        os.pwrite(file, request, 0)
        process.send(signum)
        try:
            while time.monotonic() < until:
                if os.pread(file, len(TOLD), 0) == TOLD:
                    return _taken(file)
                process.wait(POLL_S)
        finally:
            has_started = not _withdraw(file, process)
    if has_started:
        raise RemoteError(NOT_FINISHED.format(process.pid))
    raise RemoteError(
        f"process {process.pid} did not handle signal {signum} in time; its main thread "
        f"is in state {process.state()}"
    )


@contextlib.contextmanager
def _locked(path: str, process: Process, until: float) -> Iterator[int]:
    try:
        file = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    except PermissionError:
        raise process.not_permitted() from None
    except FileNotFoundError:
        raise RemoteError(f"process {process.pid} has ended") from None
    try:
        _check(file, process)
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise RemoteError(
                        f"process {process.pid} is being examined by another command"
                    ) from None
                process.wait(POLL_S)
        yield file
    finally:
        os.close(file)


def _check(file: int, process: Process) -> None:
    # The process chose the name.  If we are root, it must not lead us to write to a file
    # that its owner may not write to: a file in memory belongs to the process, and has no
    # place in any folder.
    status = os.fstat(file)
    if status.st_nlink or status.st_uid != process.owner()[0]:
        raise RemoteError(f"process {process.pid} has a mailbox that is not its own")


def _withdraw(file: int, process: Process) -> bool:
    """Withdraw the request, unless it was taken up."""
    if os.pread(file, len(ASKED), 0) != ASKED:
        return False
    # Otherwise the process would write its report to its stderr when it gets to it.
    os.ftruncate(file, 0)
    os.pwrite(file, b"%s %d" % (WITHDRAWN, process.own_pid), 0)
    return True


def _taken(file: int) -> str:
    size = min(os.fstat(file).st_size, MOST_BYTES)
    content = os.pread(file, size, len(TOLD))
    os.ftruncate(file, 0)
    return content.decode("ascii", "replace")
