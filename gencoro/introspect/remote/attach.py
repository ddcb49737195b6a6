"""Finds a way to examine a process, and goes it within a time limit.

A process that has called `install_signal` is asked by its signal, because that wakes it up
in most situations.  Any other one is asked by a script, if this Python and that of the
process are the same, 3.14 or newer; if its main thread does not run that either, what can be
read of its memory is shown.
"""

import contextlib
import sys
import time
from typing import NamedTuple

from gencoro.introspect.remote.by_script import ask_by_script
from gencoro.introspect.remote.by_signal import ask_by_signal
from gencoro.introspect.remote.decoding import decoded
from gencoro.introspect.remote.errors import NoAnswerError, RemoteError
from gencoro.introspect.remote.process import OWN_PYTHON, Process
from gencoro.introspect.remote.unwinding import unwound
from gencoro.introspect.snapshot import Snapshot

__all__ = ["Sight", "look_at"]

# The first Python that runs scripts of other processes.
FIRST_WITH_SCRIPTS = (3, 14)

# The parts of the time in which the process may examine itself; after which its answer is no
# longer waited for; and after which its memory is not read again.
EXAMINING, WAITING, READING = 0.5, 0.7, 0.8

ADVICE = "call gencoro.introspect.install_signal() when the program starts"


class Sight(NamedTuple):
    """What could be seen of a process.

    Attributes:
        snapshot: What it runs and waits for.
        problem: Why that is not all; empty if it is.
    """

    snapshot: Snapshot
    problem: str = ""


def look_at(pid: int, limit: int, timeout_s: float) -> Sight:
    """Examine another process.

    Args:
        limit: The maximum number of coroutines, Tasks and Futures to examine.
        timeout_s: The maximum duration in seconds.

    Raises:
        RemoteError: it cannot be examined.
    """
    started_at = time.monotonic()
    until = started_at + WAITING * timeout_s
    with contextlib.closing(Process(pid)) as process:
        try:
            answer = _ask(process, limit, until, EXAMINING * timeout_s)
            return Sight(decoded(answer))
        except NoAnswerError as exc:
            seen = unwound(process, started_at + READING * timeout_s)
            if seen is None:
                raise
            return Sight(
                seen,
                f"{exc}; read from outside, so only Tasks are known.  To see more, {ADVICE}",
            )


def _ask(process: Process, limit: int, until: float, budget_s: float) -> str:
    answer = ask_by_signal(process, limit, until, budget_s)
    if answer is not None:
        return answer
    if process.python is not None:
        theirs = tuple(map(int, process.python.split(".")))
        if theirs < FIRST_WITH_SCRIPTS:
            raise RemoteError(
                f"process {process.pid} runs Python {process.python} and has not called "
                f"install_signal(); {ADVICE} (Python 3.14 and newer need no preparation)"
            )
        if process.python != OWN_PYTHON:
            raise RemoteError(
                f"process {process.pid} runs Python {process.python}, and this is Python "
                f"{OWN_PYTHON}; run this command with Python {process.python}"
            )
    if not hasattr(sys, "remote_exec"):
        raise RemoteError(
            f"process {process.pid} has not called install_signal(), and this Python "
            f"{OWN_PYTHON} cannot do without that; {ADVICE}, or use Python 3.14"
        )
    return ask_by_script(process, limit, until, budget_s)
