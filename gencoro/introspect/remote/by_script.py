"""Asks a process by a script that Python 3.14 and newer run in it (`sys.remote_exec`).

The process needs no preparation.  It runs the script between two instructions of its main
thread, so a loop that waits for events runs it only after the next event.  The script and
the file for the answer are removed when the process has answered or the time is over.
"""

import contextlib
import inspect
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from gencoro.introspect.remote import script
from gencoro.introspect.remote.process import (
    NOT_FINISHED,
    OWN_PYTHON,
    Process,
    RemoteError,
)

__all__ = ["ask_by_script"]

# How often to look for the answer.
POLL_S = 0.01

# The maximum size of an answer: the process may be of another user, and is not trusted.
MOST_BYTES = 1 << 28

NO_ANSWER = (
    "the main thread of process {0} executed no Python code in time; it is in state {1}.  A "
    "loop that waits for events answers after the next one, and a call into C after its end: "
    "try a longer --timeout, or call gencoro.introspect.install_signal() when the program "
    "starts.  `python -m asyncio pstree {0}` shows its Tasks, `py-spy dump --pid {0}` its "
    "threads"
)


def ask_by_script(process: Process, limit: int, until: float, budget_s: float) -> str:
    """Return the encoded snapshot of a process.

    Args:
        limit: The maximum number of coroutines, Tasks and Futures to examine.
        until: When to stop waiting, on the clock of `time.monotonic`.
        budget_s: The seconds after which the process shall stop examining itself.

    Raises:
        RemoteError: the Python of the process refuses scripts, the process ended, or its
            main thread executed no Python code in time.
    """
    remote_exec: Callable[[int, str], None] = sys.remote_exec  # type: ignore[attr-defined]
    with _folder(process) as folder, _answer_file(folder, process) as (file, path):
        call = f"answer({path!r}, {limit}, {budget_s}, sys._getframe().f_back)"
        source = Path(folder, "script.py")
        source.write_text(f"{inspect.getsource(script)}\n\n{call}\n", "utf-8")
        source.chmod(0o644)
        try:
            _execute(remote_exec, process, str(source))
            return _answer(process, file, until)
        except BaseException:
            # The process would print an error if it came to a script that is gone, so give
            # it another one, which exists and does nothing.
            with contextlib.suppress(OSError, RuntimeError):
                remote_exec(process.pid, os.devnull)
            raise


@contextlib.contextmanager
def _folder(process: Process) -> Iterator[str]:
    """Create a folder that the process sees, and remove it in the end."""
    parent = next(filter(process.sees, [tempfile.gettempdir(), "/dev/shm"]), None)
    if parent is None:
        raise RemoteError(
            f"process {process.pid} sees other files than this one, as in a container; "
            "run this in the same container"
        )
    with tempfile.TemporaryDirectory(prefix="gencoro-", dir=parent) as folder:
        os.chmod(folder, 0o711)  # the process may be of another user, if we are root
        yield folder


@contextlib.contextmanager
def _answer_file(folder: str, process: Process) -> Iterator[tuple[int, str]]:
    """Create the file for the answer, which only the process may write to."""
    path = os.path.join(folder, "answer")
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        if sys.platform == "linux" and process.owner()[0] != os.geteuid():
            # Not allowed unless we are root; `_execute` reports that.
            with contextlib.suppress(PermissionError):
                os.chown(file, *process.owner())
        yield file, path
    finally:
        os.close(file)


def _execute(
    remote_exec: Callable[[int, str], None], process: Process, source: str
) -> None:
    try:
        remote_exec(process.pid, source)
    except PermissionError:
        raise process.not_permitted() from None
    except (OSError, RuntimeError) as exc:
        process.wait(0)  # if it has ended, say so
        raise RemoteError(
            f"Python {OWN_PYTHON} cannot run a script in process {process.pid}: {exc}"
        ) from exc


def _answer(process: Process, file: int, until: float) -> str:
    while time.monotonic() < until:
        process.wait(POLL_S)
        size = min(os.fstat(file).st_size, MOST_BYTES)
        if size and os.pread(file, 1, size - 1) == b"\n":
            return os.pread(file, size, 0).decode("ascii", "replace")
    if os.fstat(file).st_size:
        raise RemoteError(NOT_FINISHED.format(process.pid))
    raise RemoteError(NO_ANSWER.format(process.pid, process.state()))
