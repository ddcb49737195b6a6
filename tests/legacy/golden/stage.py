"""Runs golden programs, on an old Tornado and on gencoro alike.

A program is a function that gets a `Stage`: the modules under test, a fresh loop, and
`note`, with which it writes its trace.  What is logged is written too.  The same file
runs on Python 3.6, where the old Tornado lives, and on today's.
"""

import asyncio
import gc
import importlib
import logging
import os
import re
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))

# Longer than any program takes that does not hang, on a busy machine too.
PATIENCE_S = 5.0

# What is ready is followed by no more turns than these, in any program.
TURNS_TO_SETTLE = 10

PROGRAMS = {}


def program(function):
    """Register a golden program under its name, which must be its own."""
    name = function.__name__
    assert name not in PROGRAMS, f"two programs are called {name}"
    PROGRAMS[name] = function
    return function


def load_programs():
    """Import every file of programs; return all programs by their names."""
    folder = os.path.join(HERE, "programs")
    for file in sorted(os.listdir(folder)):
        name, extension = os.path.splitext(file)
        if extension == ".py":
            importlib.import_module("tests.legacy.golden.programs." + name)
    return PROGRAMS


class Stage:
    """What a program sees.

    Attributes:
        gen, concurrent, stack_context, ioloop: The modules under test.
        loop: A fresh IOLoop, the current one.
        lines: The trace so far.
    """

    def __init__(self, package):
        self.gen = importlib.import_module(package + ".gen")
        self.concurrent = importlib.import_module(package + ".concurrent")
        self.stack_context = importlib.import_module(package + ".stack_context")
        self.ioloop = importlib.import_module(package + ".ioloop")
        self.loop = self.ioloop.IOLoop()
        self.loop.make_current()
        self.lines = []

    def note(self, *things):
        """Write one line of the trace: texts as they are, other things told."""
        self.lines.append(
            " ".join(x if isinstance(x, str) else told(x) for x in things)
        )

    def noting(self, *things):
        """Return a callback that notes these things and its arguments."""

        def callback(*args, **kwargs):
            self.note(*(things + args + ((kwargs,) if kwargs else ())))

        return callback

    def attempt(self, function, *args, **kwargs):
        """Call a function; note what it returns or raises, and return the former."""
        try:
            result = function(*args, **kwargs)
        except Exception as exc:
            self.note("raised", exc)
        else:
            self.note("returned", result)
            return result

    def run(self, main):
        """Run a coroutine to its end, and note how it ended.

        One that waits for ever is given up, which is noted as a time-out.
        """
        self.attempt(self.loop.run_sync, main, timeout=PATIENCE_S)

    def turn(self, turns=1):
        """Let the loop run for some turns, with what is ready in each of them."""
        for _ in range(turns):
            self.loop.add_callback(self.loop.stop)
            self.loop.start()

    def wait(self, seconds=PATIENCE_S):
        """Let the loop run until `stop` is called, or for some time.

        The time is followed by some turns: on a busy machine that is late, what was due
        before its end has not yet led to all that it leads to.
        """
        waiting = [True]

        def end(turns):
            if not waiting:
                return
            if turns:
                self.loop.add_callback(end, turns - 1)
            else:
                self.loop.stop()

        timer = self.loop.call_later(seconds, end, TURNS_TO_SETTLE)
        self.loop.start()
        self.loop.remove_timeout(timer)
        waiting.clear()

    def stop(self, *_ignored):
        """End `wait`; takes the arguments of any callback."""
        self.loop.stop()

    def close(self):
        """Leave no loop and no context behind."""
        self.ioloop.IOLoop.clear_instance()
        self.loop.close()
        self.loop.clear_current()
        asyncio.set_event_loop(None)
        if self.stack_context._state.contexts != ((), None):
            self.note("the program leaves a context")
            self.stack_context._state.contexts = ((), None)


def told(thing):
    """Return what must be the same of a thing, whoever made it."""
    if isinstance(thing, BaseException):
        return _error_told(thing)
    if hasattr(thing, "add_done_callback"):
        return f"<{_state_told(thing)}>"
    if isinstance(thing, list):
        return f"[{_items_told(thing)}]"
    if isinstance(thing, dict):
        pairs = sorted((told(key), told(value)) for key, value in thing.items())
        return "{" + ", ".join(map(": ".join, pairs)) + "}"
    if type(thing) is tuple:
        return f"({_items_told(thing)})"
    if isinstance(thing, type):
        return thing.__name__
    return _without_addresses(repr(thing))


def _error_told(error):
    name = type(error).__name__
    # What the library says is its own affair; what it raises is compared.
    is_own = type(error).__module__.partition(".")[0] in ("tornado", "gencoro")
    if is_own or name == "TimeoutError" or not str(error):
        return name
    return f"{name}: {_without_addresses(str(error))}"


def _state_told(future):
    if not future.done():
        return "pending"
    if future.cancelled():
        return "cancelled"
    error = future.exception()
    return f"failed {told(error)}" if error else f"done {told(future.result())}"


def _items_told(items):
    return ", ".join(map(told, items))


def _without_addresses(text):
    return re.sub(r" at 0x[0-9a-f]+", "", text)


class _Logged(logging.Handler):
    """Writes what is logged into the trace: where, how grave, which error."""

    def __init__(self, stage):
        super().__init__()
        self.stage = stage

    def emit(self, record):
        exc = record.exc_info and record.exc_info[1]
        if "was never retrieved" in record.getMessage():
            what = "an error was never retrieved"  # which may be in the text
        else:
            what = told(exc) if exc else str(record.msg)[:40]
        self.stage.note("log", record.levelname, record.name, what)


def play(function, package, warn=False):
    """Play a program on ``tornado`` or ``gencoro``; return its trace, a list of lines."""
    with warnings.catch_warnings():
        if not warn:
            # What is legacy says so, as it should.
            warnings.simplefilter("ignore", DeprecationWarning)
        gc.collect()
        stage = Stage(package)
        handler = _Logged(stage)
        logging.getLogger().addHandler(handler)
        try:
            function(stage)
            del function
            # What nobody looked at is logged when it is thrown away.
            gc.collect()
        except Exception as exc:
            stage.note("the program raised", exc)
        finally:
            stage.close()
            logging.getLogger().removeHandler(handler)
        return stage.lines
