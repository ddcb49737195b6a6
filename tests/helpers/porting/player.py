"""Plays programs, each in a process of its own that is forked: starting Python costs more.

Reads lines of JSON from stdin, ``{"folder": ..., "program": ..., "seconds": ...}``, and
answers each with a line: what the program has printed and logged, as one text.  It is run as
``python -m gencoro run`` runs programs, or with ``--plain`` as Python does.
"""

import asyncio
import gc
import json
import logging
import os
import pathlib
import re
import runpy
import select
import signal
import sys
import time
import traceback
import warnings
from typing import Any

# What most programs need is imported before they are forked.
import tornado.httpserver
import tornado.simple_httpclient
import tornado.testing
import tornado.web
import tornado.websocket  # noqa: F401

from gencoro.compat import install
from gencoro.compat.run_program import run_script
from gencoro.virtual_clock import VirtualClock

__all__ = ["HANGS", "PLAIN", "main"]

# What is said of a program that does not end in time.
HANGS = "it hangs\n"

# The option to run programs without gencoro.
PLAIN = "--plain"

# How long a request took.
TIME = re.compile(r" [0-9.]+ms$")

UNSEEN = re.compile("(Future|Task) exception was never retrieved")


def main() -> None:
    """Answer one line after the other."""
    if PLAIN not in sys.argv:
        install()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(_play(**json.loads(line))), flush=True)


def _play(folder: str, program: str, seconds: float) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _perform(folder, program, writing)
    os.close(writing)
    printed = _read(reading, time.monotonic() + seconds)
    if printed is None:
        os.kill(child, signal.SIGKILL)
    os.close(reading)
    _, status = os.waitpid(child, 0)
    return HANGS if printed is None else f"{printed}status {status}\n"


def _read(file: int, deadline: float) -> str | None:
    """Return what is written until the end; None if that does not come in time."""
    parts = []
    while select.select([file], [], [], max(0.0, deadline - time.monotonic()))[0]:
        if not (part := os.read(file, 65536)):
            return b"".join(parts).decode("utf-8", "backslashreplace")
        parts.append(part)
    return None


def _perform(folder: str, program: str, output: int) -> None:
    """Run a program in this process, and end it."""
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    sys.stdout = sys.stderr = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    # Our own input is not for the program.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    status = 0
    try:
        os.chdir(folder)
        asyncio.set_event_loop_policy(_VirtualPolicy())
        _listen()
        path = os.path.join(folder, program)
        if PLAIN in sys.argv:
            sys.path[0] = folder
            runpy.run_path(path, run_name="__main__")
        else:
            run_script(path, [])
    except SystemExit as exc:
        status = 1 if exc.code else 0
    except BaseException as exc:
        print("raised", *traceback.format_exception_only(exc))
        del exc
        status = 1
    finally:
        sys.modules.pop("__main__", None)
        gc.collect()
        sys.stdout.flush()
        os._exit(status)


class _VirtualPolicy(asyncio.DefaultEventLoopPolicy):
    """Makes loops whose timers come in order on a busy machine, too.

    Their time begins now, so that a deadline of ``time.time() + 0.01`` is as near as it says.
    """

    def __init__(self) -> None:
        super().__init__()
        self.new_event_loop = VirtualClock().new_event_loop


def _listen() -> None:
    """Write what is logged, and which coroutines were never awaited, into the trace."""
    logging.getLogger().addHandler(_Logged())
    warnings.simplefilter("ignore")
    warnings.filterwarnings("always", "coroutine .* was never awaited")
    warnings.showwarning = _show_warning


def _show_warning(message: Any, *_ignored: Any) -> None:
    print("warning", message)


class _Logged(logging.Handler):
    """Prints what is logged: where, how serious, and which error."""

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if "was destroyed but it is pending" in text:  # at the end of the program
            return
        error = record.exc_info and record.exc_info[1]
        if UNSEEN.match(text):
            what = f"never retrieved: {error!r}"
        elif error:
            what = repr(error)
        else:
            what = TIME.sub("", text)[:60]
        print("log", record.levelname, record.name, what)


if __name__ == "__main__":
    # Programs find their own modules, and not those of this folder.
    sys.path[:] = [
        path for path in sys.path if path != str(pathlib.Path(__file__).parent)
    ]
    main()
