"""Asks a process by a script that Python 3.14 and newer run in it (`sys.remote_exec`).

The process needs no preparation.  The script and the file for the answer exist until the
process has answered, or until the time is over: the request is withdrawn then.
"""

import contextlib
import importlib.util
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.abc import InspectLoader
from pathlib import Path
from typing import Any

from gencoro.introspect.remote import script as payload
from gencoro.introspect.remote.errors import NOT_FINISHED, NoAnswerError, RemoteError
from gencoro.introspect.remote.process import OWN_PYTHON, Process
from gencoro.introspect.remote.waking import Waker

__all__ = ["ask_by_script"]

# The modules that are sent.
SENT = [
    "gencoro.frames",
    "gencoro.introspect.drawing",
    "gencoro.introspect.graph",
    "gencoro.introspect.running",
    "gencoro.introspect.snapshot",
    "gencoro.introspect.survey",
    "gencoro.introspect.wait_graph",
]

# How often the answer is looked for, and how often a process that waits is woken up.
POLL_S = 0.01
WAKE_S = 0.1

# The maximum size of an answer.
MOST_BYTES = 1 << 28


def ask_by_script(process: Process, limit: int, until: float, budget_s: float) -> str:
    """Return the encoded snapshot of a process.

    Args:
        limit: The maximum number of coroutines, Tasks and Futures to examine.
        until: When to stop waiting, on the clock of `time.monotonic`.
        budget_s: The seconds after which the process shall stop examining itself.

    Raises:
        RemoteError: the Python of the process refuses that, or the process ended.
        NoAnswerError: its main thread executed no Python code in time.
    """
    remote_exec: Callable[[int, str], None] = sys.remote_exec  # type: ignore[attr-defined]
    with _folder(process) as folder:
        file, path = _answer_file(folder, process)
        try:
            script = _script(folder, path, limit, budget_s)
            return _answer(
                process, file, until, lambda: _execute(remote_exec, process, script)
            )
        except BaseException:
            # What the process runs instead, when it gets to it, exists and does nothing.
            with contextlib.suppress(OSError, RuntimeError):
                remote_exec(process.pid, os.devnull)
            raise
        finally:
            os.close(file)


@contextlib.contextmanager
def _folder(process: Process) -> Iterator[str]:
    """Create a folder that the process sees, and remove it in the end."""
    parents = [tempfile.gettempdir(), "/dev/shm"]
    parent = next(filter(process.sees, parents), None)
    if parent is None:
        raise RemoteError(
            f"process {process.pid} sees other files than this one, as in a container; "
            "run this in the same container"
        )
    folder = tempfile.mkdtemp(prefix="gencoro-", dir=parent)
    try:
        os.chmod(folder, 0o711)  # the process may be of another user, if we are root
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _answer_file(folder: str, process: Process) -> tuple[int, str]:
    """Create the file for the answer, which only the process may write to."""
    path = os.path.join(folder, "answer")
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    if sys.platform == "linux" and process.owner()[0] != os.geteuid():
        with contextlib.suppress(PermissionError):  # told below, when it is asked
            os.chown(file, *process.owner())
    return file, path


def _script(folder: str, answer: str, limit: int, budget_s: float) -> str:
    sources = {name: _source_of(name) for name in SENT}
    call = (
        f"answer({answer!r}, {sources!r}, {limit}, {budget_s}, sys._getframe().f_back)"
    )
    path = os.path.join(folder, "script.py")
    text = f"{_source_of(payload.__name__)}\n\n{call}\n"
    Path(path).write_text(text, "utf-8")
    os.chmod(path, 0o644)
    return path


def _source_of(module: str) -> str:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert isinstance(spec.loader, InspectLoader)
    return spec.loader.get_source(module) or ""


def _execute(remote_exec: Any, process: Process, script: str) -> None:
    try:
        remote_exec(process.pid, script)
    except PermissionError:
        raise process.not_permitted() from None
    except (OSError, RuntimeError) as exc:
        process.wait(0)  # if it has ended, say so
        raise RemoteError(
            f"Python {OWN_PYTHON} cannot run a script in process {process.pid}: {exc}"
        ) from exc


def _answer(
    process: Process, file: int, until: float, execute: Callable[[], None]
) -> str:
    execute()
    waker = Waker(process.pid)
    wake_at = time.monotonic() + WAKE_S
    while time.monotonic() < until:
        process.wait(POLL_S)
        size = min(os.fstat(file).st_size, MOST_BYTES)
        if size and os.pread(file, 1, size - 1) == b"\n":
            return os.pread(file, size, 0).decode("utf-8", "surrogatepass")
        if not size and time.monotonic() >= wake_at:
            # Again, because another command may have replaced the script by its own.
            with contextlib.suppress(RemoteError):
                execute()
            waker.wake_up()
            wake_at = time.monotonic() + WAKE_S
    if os.fstat(file).st_size:
        raise NoAnswerError(NOT_FINISHED.format(process.pid))
    raise NoAnswerError(
        f"the main thread of process {process.pid} executed no Python code in time; it is "
        f"in state {process.state()}"
    )
