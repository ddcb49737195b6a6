"""Chooses how to examine a process.

A process that has called `install_signal` is asked by its signal, which wakes it up in most
situations.  Any other one is asked by a script, if this Python and that of the process are
the same, 3.14 or newer.
"""

import contextlib
import sys
import time

from gencoro.introspect.remote.by_script import ask_by_script
from gencoro.introspect.remote.by_signal import ask_by_signal
from gencoro.introspect.remote.decoding import decoded
from gencoro.introspect.remote.process import OWN_PYTHON, Process, RemoteError
from gencoro.introspect.snapshot import Snapshot

__all__ = ["look_at"]

# The first Python with `sys.remote_exec`.
FIRST_WITH_SCRIPTS = (3, 14)

# The share of the time in which the process may examine itself: sending and reading the
# answer takes about as long.
EXAMINING = 0.5

# For a process that is not prepared, and a Python that cannot do without.
ADVICE = (
    "call gencoro.introspect.install_signal() when the program starts, or use Python 3.14; "
    "`py-spy dump --pid {}` shows its threads now"
)


def look_at(pid: int, limit: int, timeout_s: float) -> Snapshot:
    """Return what another process runs and waits for.

    Args:
        limit: The maximum number of coroutines, Tasks and Futures to examine.
        timeout_s: The maximum duration in seconds.

    Raises:
        RemoteError: it cannot be examined.
    """
    until = time.monotonic() + timeout_s
    budget_s = EXAMINING * timeout_s
    with contextlib.closing(Process(pid)) as process:
        answer = ask_by_signal(process, limit, until, budget_s)
        if answer is None:
            _refuse_without_scripts(process)
            answer = ask_by_script(process, limit, until, budget_s)
    return decoded(answer)


def _refuse_without_scripts(process: Process) -> None:
    theirs = process.python or OWN_PYTHON
    if tuple(map(int, theirs.split("."))) < FIRST_WITH_SCRIPTS:
        raise RemoteError(
            f"process {process.pid} runs Python {theirs} and has not called "
            f"install_signal(); {ADVICE.format(process.pid)}"
        )
    if theirs != OWN_PYTHON:
        raise RemoteError(
            f"process {process.pid} runs Python {theirs}, and this is Python {OWN_PYTHON}; "
            f"run this command with Python {theirs}"
        )
    if not hasattr(sys, "remote_exec"):  # CPython can be built without it
        raise RemoteError(
            f"this Python {OWN_PYTHON} has no sys.remote_exec, and process {process.pid} "
            f"has not called install_signal(); {ADVICE.format(process.pid)}"
        )
