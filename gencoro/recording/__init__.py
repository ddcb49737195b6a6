"""Records how a running program uses its coroutines: ``python -m gencoro run --record``.

Rule: the program runs as it does without, and pays nothing when it is not recorded: what
records replaces functions of the running process, and nothing else knows of it.

`gencoro.evidence` describes the file, and what "awaited at once" means.  What becomes
of a Future is told when the coroutine is called, from the frames of the callers and the
bytecode that follows their calls.  So each line can be written at once, and a program that
crashes loses nothing.

Inside::

    recorder   wraps the decorator, and notes calls and yields
    after      what follows a call, by the bytecode of the caller
    places     source files and places in them
    appending  appends to the file

`gencoro.compat.startup` records in child processes.
"""

import os
import sys

from gencoro.compat import install
from gencoro.compat.startup import run_children_alike
from gencoro.evidence import EvidenceError
from gencoro.recording.appending import Recording
from gencoro.recording.recorder import Recorder

__all__ = ["start", "try_start"]


def start(path: str) -> None:
    """Record this process and all Python processes that it starts, in a file.

    What the file has already stays.  Child processes that ignore the environment (``python
    -E``), or that run another Python than this one, are not recorded.

    Raises:
        EvidenceError: the file exists, and is something else.
        OSError: it cannot be read or written.
    """
    global _recorder
    path = os.path.abspath(path)
    recording = Recording(path)
    # Also in child processes, which are to run as this one does.
    install()
    if _recorder is None:
        _recorder = Recorder()
        _recorder.begin()
    # A child process that is given another file writes to that one only.
    _recorder.record_in(recording)
    run_children_alike(path)


def try_start(path: str) -> bool:
    """Record this process; if that is not possible, say so and return False."""
    try:
        start(path)
    except (EvidenceError, OSError) as exc:
        print(f"gencoro run: --record: {exc}", file=sys.stderr)
        return False
    return True


_recorder: Recorder | None = None
