"""The script that writes a snapshot of the process that runs it to a file.

`gencoro.introspect.remote.by_script` sends the text of this file to another process, so it
imports gencoro only where the process has done so itself.
"""

import contextlib
import json
import os
import sys
from types import FrameType
from typing import NoReturn

__all__ = ["answer"]


def answer(path: str, limit: int, budget_s: float, frame: FrameType) -> None:
    """Write a snapshot of this process to a file.

    Args:
        path: The file.  If it is gone, the other process has stopped waiting.
        limit: The maximum number of coroutines, Tasks and Futures to examine.
        budget_s: Stop after this many seconds.
        frame: The frame that was interrupted.
    """
    try:
        with contextlib.suppress(OSError):  # the file is gone, or the disk is full
            file = os.open(path, os.O_WRONLY)  # open() would create it again
            with open(file, "w", encoding="ascii") as out:
                print(end=" ", file=out, flush=True)  # the script has started
                print(_answer(limit, budget_s, frame), file=out)
    except (KeyboardInterrupt, SystemExit) as exc:
        # A signal handler has run meanwhile.  Python only prints what a script of
        # `sys.remote_exec` raises, so raise it in the next callback of the loop.
        import asyncio  # noqa: PLC0415 - a process without gencoro may lack it

        asyncio.get_running_loop().call_soon(_raise, exc)


def _answer(limit: int, budget_s: float, frame: FrameType) -> str:
    if "gencoro" not in sys.modules:
        hint = f"`python -m asyncio pstree {os.getpid()}` shows its Tasks"
        return json.dumps({"error": f"the process has not imported gencoro; {hint}"})
    try:
        from gencoro.introspect.snapshot import answer_to  # noqa: PLC0415 - see above
    except ImportError as exc:  # such as files that were removed meanwhile
        return json.dumps({"error": f"the process cannot import its gencoro: {exc}"})
    return answer_to(limit, budget_s, frame)


def _raise(exc: BaseException) -> NoReturn:
    raise exc
