"""Records what a program does: which line runs when, and what is in the queue of its loop.

A `Recorder` follows the functions that it is told to show, by `sys.settrace`, which every
Python has.  The time and the queue it takes from a loop of `loops`.  Nothing in a trace
depends on the speed of the machine: the same program gives the same trace.
"""

import dis
import inspect
import linecache
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Protocol

from labels import name_of_frame, owner_of, owner_of_locals

__all__ = ["Event", "RecordedLoop", "Recorder", "Step", "Trace"]


# Where a generator is when it has yielded: Python 3.13 gives the operation after that.
AT_YIELD = {"YIELD_VALUE", "RESUME"}


class RecordedLoop(Protocol):
    """What a Recorder asks a loop."""

    def now(self) -> float:
        """Return the seconds since the start."""

    def queue(self) -> list[str]:
        """Return the callbacks that are ready, in their order."""

    def waiting(self) -> list[str]:
        """Return what else the loop will call: timers, in their order, and sockets."""

    def callback_of(self, frame: FrameType) -> str | None:
        """Return what the loop calls, if this frame is such a call."""


@dataclass(frozen=True)
class Step:
    """A line that is about to run, or something that the loop does.

    Attributes:
        stack: The functions that run, the innermost last: its key, and the line within
            it, from 1.
        note: What happens here, if it is not the line itself.
        states: What each coroutine does, in the order in which they began.
    """

    turn: int
    at_s: float
    stack: list[tuple[str, int]]
    note: str
    queue: list[str]
    waiting: list[str]
    states: list[tuple[str, str]]


@dataclass(frozen=True)
class Event:
    """A coroutine or the loop begins something, or ends it.

    Attributes:
        kind: "calls" of the loop; "starts", "goes on", "error", "waits" and "ends" of a
            coroutine; "enters" and "leaves" of a method; "passes" of time.
        who: The coroutine, or the object that the function is a method of.
        text: The callback, the error, the name of the method, or what it returns.
    """

    turn: int
    at_s: float
    kind: str
    who: str
    text: str


@dataclass
class Trace:
    """A recorded program.

    Attributes:
        sources: The lines of each function, by its key.
    """

    steps: list[Step] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    sources: dict[str, list[str]] = field(default_factory=dict)


def _is_suspended(frame: FrameType) -> bool:
    """Return whether a frame that is being left is a generator at its ``yield``."""
    if not frame.f_code.co_flags & inspect.CO_GENERATOR or frame.f_lasti < 0:
        return False
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] in AT_YIELD


def _line_of(frame: FrameType) -> str:
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return line.partition("  #")[0].strip()


def _source_of(code: CodeType) -> list[str]:
    lines, _ = inspect.getsourcelines(code)
    return [line.rstrip() for line in lines]


class Recorder:
    """Follows the functions of some files.

    Args:
        loop: The loop on which they run.
        functions: Of each file, the names of its functions to show; none for all.
        coroutines: Names of the generator functions whose state is shown.
    """

    def __init__(
        self,
        loop: RecordedLoop,
        functions: dict[Path, set[str]],
        coroutines: set[str],
    ) -> None:
        self.trace = Trace()
        self._loop = loop
        self._functions = {str(path): names for path, names in functions.items()}
        self._coroutines = coroutines
        self._turn = 0
        # The frame in which an error has been raised and no line has run since.
        self._raising: FrameType | None = None
        self._states: dict[int, tuple[str, str]] = {}
        # Frames are kept alive, or another could get the same id.
        self._frames: list[FrameType] = []

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record what runs inside, in this thread."""
        before = sys.gettrace()
        sys.settrace(self._on_call)
        try:
            yield
        finally:
            sys.settrace(before)

    def begin_turn(self) -> None:
        """Called by the loop when it knows what is ready."""
        self._turn += 1
        stack = self._stack(sys._getframe())
        self._add_step(stack, f"Turn {self._turn} of the loop begins.")

    def pass_time(self, text: str) -> None:
        """Called by the loop when it has waited."""
        self._add_event("passes", "loop", text)
        self._add_step(self._stack(sys._getframe()), text)

    def _on_call(
        self, frame: FrameType, event: str, arg: Any
    ) -> Callable[..., Any] | None:
        callback = self._loop.callback_of(frame)
        if callback is not None:
            self._add_event("calls", "loop", callback)
            self._add_step(self._stack(frame), f"The loop calls {callback}.")
        if not self._is_shown(frame.f_code):
            return None
        self._enter(frame)
        return self._on_event

    def _on_event(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
        if event == "line":
            self._raising = None
            self._add_step(self._stack(frame), "")
        # Not the end of a generator that another one has entered with `yield from`.
        elif event == "exception" and arg[0] is not StopIteration:
            self._raise(frame, arg[0].__name__)
        elif event == "return":
            self._leave(frame, arg)
        return self._on_event

    def _enter(self, frame: FrameType) -> None:
        if frame.f_code.co_name not in self._coroutines:
            self._add_method_event("enters", frame, frame.f_code.co_name)
            return
        is_new = id(frame) not in self._states
        if is_new:
            self._frames.append(frame)
        name = name_of_frame(frame)
        self._states[id(frame)] = name, "running"
        self._add_event("starts" if is_new else "goes on", name)
        if not is_new:
            self._add_step(self._stack(frame), f"{name} goes on at its yield.")

    def _raise(self, frame: FrameType, error: str) -> None:
        self._raising = frame
        if frame.f_code.co_name in self._coroutines:
            name = name_of_frame(frame)
            self._add_event("error", name, error)
            self._add_step(self._stack(frame), f"{error} is raised in {name}.")

    def _leave(self, frame: FrameType, value: Any) -> None:
        is_suspended = _is_suspended(frame) and self._raising is not frame
        if frame.f_code.co_name not in self._coroutines:
            self._add_method_event("leaves", frame, f"{value!r:.20}")
            return
        name = name_of_frame(frame)
        state = f"waits: {_line_of(frame)}" if is_suspended else "has ended"
        self._states[id(frame)] = name, state
        kind = "waits" if is_suspended else "ends"
        self._add_event(kind, name)
        self._add_step(self._stack(frame), f"{name} {kind}.")

    def _is_shown(self, code: CodeType) -> bool:
        names = self._functions.get(code.co_filename)
        return names is not None and (not names or code.co_qualname in names)

    def _stack(self, frame: FrameType | None) -> list[tuple[str, int]]:
        stack = []
        while frame is not None:
            if self._is_shown(frame.f_code):
                code = frame.f_code
                # Not the line of the file: that changes with other functions.
                line = frame.f_lineno - code.co_firstlineno + 1
                stack.append((self._key(code), line))
            frame = frame.f_back
        return stack[::-1]

    def _key(self, code: CodeType) -> str:
        key = code.co_qualname.replace("<locals>.", "")
        if key not in self.trace.sources:
            self.trace.sources[key] = _source_of(code)
        return key

    def _add_step(self, stack: list[tuple[str, int]], note: str) -> None:
        self.trace.steps.append(
            Step(
                self._turn,
                self._loop.now(),
                stack,
                note,
                self._loop.queue(),
                self._loop.waiting(),
                list(self._states.values()),
            )
        )

    def _add_method_event(self, kind: str, frame: FrameType, text: str) -> None:
        subject = frame.f_locals.get("self")
        # In __init__ the attribute may not be set yet.
        owner = owner_of(subject) or owner_of_locals(frame)
        if owner and subject is not None:
            who = f"{type(subject).__name__} of {owner}"
            self._add_event(kind, who, text)

    def _add_event(self, kind: str, who: str, text: str = "") -> None:
        event = Event(self._turn, self._loop.now(), kind, who, text)
        self.trace.events.append(event)
