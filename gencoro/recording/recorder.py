"""Notes what becomes of the Future of each call of a coroutine, and what each ``yield`` gets.

Rule: nothing of the program is kept alive, changed or looked into: what is noted are places in
the source and words.
"""

import asyncio
import concurrent.futures
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, GeneratorType
from typing import Any, NamedTuple

from gencoro import coroutines
from gencoro.evidence import AT_ONCE
from gencoro.futures import OUR_FUTURES
from gencoro.legacy.legacy_runner import LegacyRunner
from gencoro.legacy.yieldpoints import YieldPoint
from gencoro.recording.after import (
    Next,
    after_call,
    is_delegating,
    position_of_yield,
)
from gencoro.recording.appending import Recording
from gencoro.recording.places import Position, SourceFile, file_of, position_of
from gencoro.runner import ENTERED, Runner
from gencoro.tornado_interop import is_tornado_moment
from gencoro.yieldables import Moment

__all__ = ["WAITING", "Recorder"]

# Functions that call what belongs to the program, and wait for the Future that it returns, be
# it that of a coroutine or of an `async def`: by module and qualified name.  Tornado 6.5 has no
# `_deliver_body`, and waits in the three `_read_` functions.
WAITING = {
    ("gencoro.ioloop.callbacks", "CallbackLoop._run_callback"),
    ("gencoro.ioloop.periodic", "PeriodicCallback._run"),
    ("gencoro.ioloop.run_sync", "MainCall.start"),
    ("gencoro.testrun", "_Test.start"),
    ("tornado.http1connection", "HTTP1Connection._deliver_body"),
    ("tornado.http1connection", "HTTP1Connection._read_body_until_close"),
    ("tornado.http1connection", "HTTP1Connection._read_chunked_body"),
    ("tornado.http1connection", "HTTP1Connection._read_fixed_body"),
    ("tornado.http1connection", "_GzipMessageDelegate.data_received"),
    ("tornado.ioloop", "IOLoop._run_callback"),
    ("tornado.ioloop", "IOLoop.run_sync.<locals>.run"),
    ("tornado.ioloop", "PeriodicCallback._run"),
    ("tornado.simple_httpclient", "_HTTPConnection._write_body"),
    ("tornado.tcpserver", "TCPServer._handle_connection"),
    ("tornado.web", "RequestHandler._execute"),
    ("tornado.websocket", "WebSocketProtocol._run_callback"),
    ("tornado.websocket", "WebSocketProtocol13._accept_connection"),
}

# The modules whose functions resume a coroutine's generator.
_RUNNING = {"gencoro.coroutines", "gencoro.runner"}

# Methods of a Future that a native coroutine does not have.
_METHODS = ("add_done_callback", "done", "exception", "remove_done_callback", "result")

# The methods that pass on what the generator has yielded.
_YIELDING = {
    method.__code__ for method in (Runner.__init__, Runner._begin_by_hand, Runner.run)
}


class _Coroutine(NamedTuple):
    """A function with the decorator; the line is that of the first decorator."""

    file: SourceFile
    line: int
    qualname: str


class Recorder:
    """Writes down what happens to coroutines from now on."""

    _recording: Recording

    def __init__(self) -> None:
        # What has been noted; most calls and yields bring nothing new.
        self._noted: set[tuple[Any, ...]] = set()
        self._noting_classes: dict[type, type] = {}

    def record_in(self, recording: Recording) -> None:
        """Write to a file from now on."""
        self._recording = recording
        self._noted.clear()

    def begin(self) -> None:
        """Replace the decorator, and the method of Runners that gets what is yielded."""
        coroutines.returning = self._recorded_calls(coroutines.returning)
        # Or Runners would enter some native coroutines without that method.
        ENTERED.clear()
        for runner_class in (Runner, LegacyRunner):
            plain = runner_class.handle_yield
            setattr(runner_class, "handle_yield", self._recorded_yields(plain))  # noqa: B010

    def _recorded_calls(self, returning: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap the function that makes a coroutine of a function."""

        @functools.wraps(returning)
        def recorded(new_future: Any, func: Any, takes_callback: bool = True) -> Any:
            call = returning(new_future, func, takes_callback)
            coroutine = _coroutine_of(func)
            # A `gen.engine` takes its callback itself.
            if coroutine is None or not takes_callback:
                return call

            @functools.wraps(call)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                future = call(*args, **kwargs)
                try:
                    self._note_call(coroutine, future, sys._getframe().f_back)
                    return future
                finally:
                    del future  # Rule 3 of `gencoro.runner`.

            wrapper.__wrapped__ = func
            return wrapper

        return recorded

    def _recorded_yields(self, plain: Callable[..., bool]) -> Callable[..., bool]:
        """Wrap the method of a Runner that gets each yielded value."""

        @functools.wraps(plain)
        def handle_yield(runner: Runner[Any], yielded: Any) -> bool:
            # It also calls itself, with what it waits for in place of the value.
            if sys._getframe(1).f_code in _YIELDING:
                self._note_yield(runner.gen, yielded)
            return plain(runner, yielded)

        return handle_yield

    def _note_call(
        self, coroutine: _Coroutine, future: Any, caller: FrameType | None
    ) -> None:
        future._recorded_as = coroutine
        use, at = _use_of(caller)
        self._note_use(coroutine, use, at)
        if use not in AT_ONCE:
            future.__class__ = self._noting_class(type(future))

    def _noting_class(self, cls: Any) -> Any:
        """Return a subclass whose methods note that the program calls them.

        Other Futures keep their class: no frame of ours is in the traceback of an error
        that a Runner takes from them.
        """
        if cls not in self._noting_classes:
            names = {"cancel": "cancelled"} | dict.fromkeys(_METHODS, "inspected")
            methods = {
                name: self._noting(getattr(cls, name), use)
                for name, use in names.items()
            }
            likeness = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
            noting = type(cls)(
                cls.__name__, (cls,), methods | likeness | {"__slots__": ()}
            )
            OUR_FUTURES.add(noting)
            self._noting_classes[cls] = noting
        return self._noting_classes[cls]

    def _noting(self, plain: Callable[..., Any], use: str) -> Callable[..., Any]:
        @functools.wraps(plain)
        def method(future: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                at = position_of(sys._getframe(1))
                if at is not None:  # not called by a Runner or the loop
                    self._note_use(future._recorded_as, use, at)
                return plain(future, *args, **kwargs)
            finally:
                del future  # An error's traceback holds this frame.

        return method

    def _note_use(self, coroutine: _Coroutine, use: str, at: Position | None) -> None:
        if (coroutine, use, at) not in self._noted:
            self._noted.add((coroutine, use, at))
            self._add(call=coroutine, use=use, at=at)

    def _note_yield(self, gen: Any, yielded: Any) -> None:
        frame = _suspended(gen)
        file = None if frame is None else file_of(frame.f_code.co_filename)
        if frame is None or file is None:
            return
        line, column = position_of_yield(frame.f_code, frame.f_lasti)
        if line is None:
            return
        at = Position(file, line, column)
        for kind in _kinds_of(yielded):
            if (at, kind) not in self._noted:
                self._noted.add((at, kind))
                self._add(**{"yield": at}, kind=kind)
        for future in _recorded_in(yielded):
            if hasattr(future, "_is_waited_for"):
                self._note_use(future._recorded_as, "reused", at)
            future._is_waited_for = True

    def _add(self, **record: Any) -> None:
        """Append a line, in which a file is its id, after the lines of the files."""
        for value in record.values():
            if isinstance(value, tuple):
                self._recording.add(_line_of(value[0]))
        self._recording.add(
            {
                name: (value[0].id, *value[1:]) if isinstance(value, tuple) else value
                for name, value in record.items()
            }
        )


def _line_of(file: SourceFile) -> dict[str, str]:
    return {"file": file.id, "path": file.path, "sha256": file.sha256}


def _coroutine_of(func: Any) -> _Coroutine | None:
    """Return what is noted of a function; None if it has no source in the program."""
    func = inspect.unwrap(func)
    while isinstance(func, functools.partial):
        func = inspect.unwrap(func.func)
    code: CodeType | None = getattr(func, "__code__", None)
    file = None if code is None else file_of(code.co_filename)
    if code is None or file is None:
        return None
    return _Coroutine(file, code.co_firstlineno, code.co_qualname)


def _use_of(frame: FrameType | None) -> tuple[str, Position | None]:
    """Return what becomes of the Future that a call in a frame is about to return.

    Returns the use and its place; that of the call if it is waited for at once.
    """
    call = last = None
    as_element = False
    while frame is not None:
        if _waits(frame):
            return "kept" if as_element else "dispatched", call
        last = position_of(frame) or last
        call = call or last
        after = after_call(frame.f_code, frame.f_lasti)
        as_element = as_element or after.as_element
        if after.next is not Next.RETURNED:
            break
        frame = frame.f_back
    if frame is None:
        return "kept", last
    if after.next is Next.YIELDED and _is_of_coroutine(frame):
        return "together" if as_element else "awaited", call
    if after.next is Next.AWAITED and not as_element:
        return "awaited", call
    return {Next.DROPPED: "dropped", Next.PASSED: "passed"}.get(
        after.next, "kept"
    ), last


def _waits(frame: FrameType) -> bool:
    return (_module_of(frame), frame.f_code.co_qualname) in WAITING


def _is_of_coroutine(frame: FrameType) -> bool:
    """Return whether a Runner gets what a generator yields, perhaps through others."""
    back = frame.f_back
    while back is not None and _module_of(back) not in _RUNNING:
        if not is_delegating(back.f_code, back.f_lasti):
            return False
        back = back.f_back
    return back is not None


def _module_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def _suspended(gen: Any) -> FrameType | None:
    """Return the frame of the ``yield`` at which a generator is suspended, if any."""
    while isinstance(gen, GeneratorType) and gen.gi_yieldfrom is not None:
        gen = gen.gi_yieldfrom
    return gen.gi_frame if isinstance(gen, GeneratorType) else None


def _recorded_in(yielded: Any) -> Iterator[Any]:
    """Yield the Futures of coroutines in a yielded value."""
    if isinstance(yielded, (list, dict)):
        for child in yielded.values() if isinstance(yielded, dict) else yielded:
            yield from _recorded_in(child)
    elif _is_recorded(yielded):
        yield yielded


def _is_recorded(value: Any) -> bool:
    return isinstance(value, asyncio.Future) and hasattr(value, "_recorded_as")


def _kinds_of(yielded: Any) -> set[str]:
    kind = _kind_of(yielded)
    if kind not in ("list", "dict"):
        return {kind}
    children = yielded.values() if kind == "dict" else yielded
    return {kind, *(f"{kind} of {_kind_of(child)}" for child in children)}


def _kind_of(value: Any) -> str:
    if _is_recorded(value):
        return "coroutine"
    if isinstance(value, Moment) or is_tornado_moment(value):
        return "moment"
    for kind, cls in _KINDS.items():
        if isinstance(value, cls):
            return kind
    if asyncio.isfuture(value):
        return "future"
    return "awaitable" if inspect.isawaitable(value) else "other"


_KINDS: dict[str, type] = {
    "none": type(None),
    "list": list,
    "dict": dict,
    "concurrent": concurrent.futures.Future,
    "legacy": YieldPoint,
}
