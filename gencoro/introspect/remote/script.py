"""Runs in the process that is examined: takes a snapshot and leaves nothing behind.

Not imported there, but sent: `gencoro.introspect.remote.by_script` puts the text of this
file into a script, with sources of `gencoro.introspect`, which are run without being entered
in ``sys.modules``.  Where the process has loaded gencoro, its own classes are used.

Rule: opens nothing but the answer file, raises nothing, and imports only what a program with
a loop has loaded.
"""

import _thread
import builtins
import os
import signal
import sys
import time
from types import CodeType, FrameType, ModuleType

__all__ = ["PrivateModules", "answer"]

# What the sources import from gencoro, for a process that has not loaded it.
ABSENT = """
import asyncio
from asyncio import Future
ASYNCIO_FUTURES = (Future, asyncio.futures._PyFuture)
ASYNCIO_TASKS = (asyncio.Task, asyncio.tasks._PyTask)
STEP = None
class ToldFuture: pass
class Runner: pass
class WaitIterator: pass
class _TimeLimit: pass
class _Sleep: pass
class MultiFuture: pass
moment = None
def runner_of(future): return None
"""


class PrivateModules:
    """Modules that only this object knows.

    Args:
        sources: The source code of each, by its name.

    >>> modules = PrivateModules({"gencoro.introspect.tea": "import sys; cup = 1"})
    >>> modules.import_("gencoro.introspect.tea", fromlist=("cup",)).cup
    1
    >>> "gencoro.introspect.tea" in sys.modules
    False
    """

    def __init__(self, sources: dict[str, str]) -> None:
        self._sources = sources
        self._modules: dict[str, ModuleType] = {}
        self._builtins = {**vars(builtins), "__import__": self.import_}

    def import_(
        self,
        name: str,
        namespace: dict[str, object] | None = None,
        own: dict[str, object] | None = None,
        fromlist: tuple[str, ...] = (),
        level: int = 0,
    ) -> ModuleType:
        """Import a module as ``__import__`` does."""
        is_private = name.startswith("gencoro.introspect.")
        if name.startswith("gencoro.") and (is_private or name not in sys.modules):
            if name not in self._modules:
                self._load(name)
            return self._modules[name]
        return builtins.__import__(name, namespace, own, fromlist, level)

    def _load(self, name: str) -> None:
        module = self._modules[name] = ModuleType(name)
        module.__dict__["__builtins__"] = self._builtins
        code = compile(self._sources.get(name, ABSENT), f"<{name}>/", "exec")
        exec(code, module.__dict__)  # noqa: S102 - our own sources, sent with this file

    def forget(self) -> None:
        """Drop the modules, most of them without waiting for the garbage collector."""
        for module in self._modules.values():
            module.__dict__.clear()
        self._modules.clear()
        self._builtins.clear()


def answer(
    path: str, sources: dict[str, str], limit: int, budget_s: float, frame: FrameType
) -> None:
    """Write a snapshot of this process to a file.

    Args:
        path: The file.  If it is gone, the asking process has stopped waiting.
        sources: The source code of the modules that are not to be imported, by name.
        limit: The maximum number of coroutines, Tasks and Futures to examine.
        budget_s: Stop after this many seconds.
        frame: The frame that was interrupted.
    """
    try:
        file = os.open(path, os.O_WRONLY)
    except OSError:
        return
    try:
        os.write(file, b" ")  # the script has started
        text = _answer(sources, limit, budget_s, frame)
        rest = f"{text}\n".encode("utf-8", "surrogatepass")
        while rest:
            rest = rest[os.write(file, rest) :]
    except OSError:  # the disk is full
        pass
    except BaseException as exc:
        _signal_again(exc)
    finally:
        os.close(file)


def _answer(
    sources: dict[str, str], limit: int, budget_s: float, frame: FrameType
) -> str:
    if "asyncio" not in sys.modules:
        return '{"error":"the process has not imported asyncio, so it has no loop"}'
    before = set(sys.modules)
    modules = PrivateModules(sources)
    try:
        snapshot = modules.import_(
            "gencoro.introspect.snapshot", fromlist=("answer_to",)
        )
        return str(snapshot.answer_to(limit, budget_s, frame))
    finally:
        modules.forget()
        # Another thread may by now have imported the same, and may keep it.
        if len(sys._current_frames()) == 1:
            for name in sys.modules.keys() - before:
                del sys.modules[name]


def _signal_again(exc: BaseException) -> None:
    """Have a signal handled again that came while the script ran.

    What its handler raised, such as KeyboardInterrupt, would end here, because Python
    ignores the errors of such a script.
    """
    codes = set()
    traceback = exc.__traceback__
    while traceback is not None:
        codes.add(traceback.tb_frame.f_code)
        traceback = traceback.tb_next
    for signum in signal.valid_signals():
        handler = signal.getsignal(signum)
        if handler is signal.default_int_handler:
            was_raised = type(exc) is KeyboardInterrupt
        else:
            was_raised = _code_of(handler) in codes
        if was_raised:
            script = sys._getframe(1)
            _thread.start_new_thread(_send, (signum, _thread.get_ident(), script))


def _code_of(handler: object) -> CodeType | None:
    function = getattr(handler, "__func__", handler)
    code: CodeType | None = getattr(function, "__code__", None)
    return code


def _send(signum: int, thread: int, script: FrameType) -> None:
    """Send a signal to a thread when it has left the script."""
    frame: FrameType | None = script
    while frame is not None:
        time.sleep(0.001)
        frame = sys._current_frames().get(thread)
        while frame is not None and frame is not script:
            frame = frame.f_back
    signal.pthread_kill(thread, signum)
