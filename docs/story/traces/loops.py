"""The loops on which programs are recorded: that of asyncio, and that of stages 3 to 5.

Rule: the order of what happens is the same in each run.  asyncio's loop has virtual time.
The other one has real sockets, whose peer acts only while the loop waits.
"""

import asyncio
import contextlib
import selectors
import socket
from types import FrameType
from typing import Any

from labels import label_of, plain, with_owner
from loop import Loop
from recorder import Recorder

from gencoro.testing import VirtualClock
from gencoro.virtual_clock import VirtualLoop

__all__ = ["Peer", "SocketLoop", "TimedLoop"]

# What the loop calls in these is not a callback.
LOOP_FILES = {__file__, selectors.__file__, Loop.run.__code__.co_filename}

HANDLE_RUNS = asyncio.Handle._run.__code__


class TimedLoop(VirtualLoop):
    """asyncio's loop, in virtual time."""

    recorder: Recorder | None = None

    def __init__(self) -> None:
        super().__init__(VirtualClock())

    def now(self) -> float:
        return self.time()

    def queue(self) -> list[str]:
        due = [timer for timer in self._timers() if timer.when() <= self.time()]
        return [_label_of(handle) for handle in [*self._ready, *due]]

    def waiting(self) -> list[str]:
        return [
            f"{_label_of(timer)}, at {timer.when():g} s"
            for timer in self._timers()
            if timer.when() > self.time()
        ]

    def callback_of(self, frame: FrameType) -> str | None:
        if frame.f_code is not HANDLE_RUNS:
            return None
        return _label_of(frame.f_locals["self"])

    def _timers(self) -> list[Any]:
        return sorted(timer for timer in self._scheduled if not timer.cancelled())

    def _jump(self) -> None:
        before = self.time()
        super()._jump()
        if self.recorder and self.time() > before:
            self.recorder.pass_time(
                f"Nothing is ready: {self.time() - before:g} s pass."
            )

    def _process_events(self, events: Any) -> None:
        super()._process_events(events)
        # Called once a turn, when the events are known and before the callbacks.
        if self.recorder and self.queue():
            self.recorder.begin_turn()


def _label_of(handle: Any) -> str:
    return label_of(handle._callback, handle._args)


class SocketLoop(Loop):
    """The loop of stages 3 to 5, with a peer that answers in a fixed order."""

    recorder: Recorder | None = None

    def __init__(self, peer: "Peer") -> None:
        super().__init__()
        self._selector.close()
        self._selector = SteppedSelector(self, peer)

    def now(self) -> float:
        return 0.0

    def queue(self) -> list[str]:
        events = [f"socket: {label_of(key.data)}" for key in self._selector.events]
        return events + [label_of(callback, args) for callback, args in self._ready]

    def waiting(self) -> list[str]:
        return [
            f"{label_of(key.data)}, when {_state(key)}"
            for key in self._selector.get_map().values()
        ]

    def callback_of(self, frame: FrameType) -> str | None:
        caller, code = frame.f_back, frame.f_code
        if caller is None or caller.f_code is not Loop.run.__code__:
            return None
        if code.co_filename in LOOP_FILES:
            return None
        label = with_owner(plain(code.co_qualname), frame.f_locals.get("self"))
        if self._selector.events:
            self._selector.events.pop(0)
            return f"socket: {label}"
        return label


def _state(key: selectors.SelectorKey) -> str:
    is_read = key.events & selectors.EVENT_READ
    return "its socket can be read" if is_read else "its socket can be written to"


class SteppedSelector(selectors.DefaultSelector):
    """A selector that lets the peer act before it looks.

    Attributes:
        events: The sockets that are ready and whose callbacks have not run yet.
    """

    def __init__(self, loop: SocketLoop, peer: "Peer") -> None:
        super().__init__()
        self._loop = loop
        self._peer = peer
        self.events: list[selectors.SelectorKey] = []

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        has_waited = False
        while not ready and timeout is None:
            self._peer.act()
            ready = super().select(0.01)
            has_waited = True
        ready.sort(key=lambda pair: pair[0].fd)
        self.events = [key for key, _ in ready]
        if self._loop.recorder:
            if has_waited:
                self._loop.recorder.pass_time("Nothing is ready: the loop waits.")
            self._loop.recorder.begin_turn()
        return ready


class Peer:
    """A server for one thread: it does a little each time that `act` is called.

    Args:
        rounds_by_path: How often `act` is called before a path has its answer.
    """

    def __init__(self, rounds_by_path: dict[str, int]) -> None:
        self._rounds_by_path = dict(rounds_by_path)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.setblocking(False)
        self._path_by_connection: dict[socket.socket, str] = {}
        self.site = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def act(self) -> None:
        """Accept connections, read requests, and answer those whose time has come."""
        with contextlib.suppress(BlockingIOError):
            while True:
                connection, _ = self._listening.accept()
                self._path_by_connection[connection] = ""
        for connection, path in list(self._path_by_connection.items()):
            if not path:
                request = connection.recv(4096).decode("ascii")
                self._path_by_connection[connection] = request.split()[1]
                continue
            self._rounds_by_path[path] -= 1
            if not self._rounds_by_path[path]:
                del self._path_by_connection[connection]
                self._answer(connection)

    def close(self) -> None:
        """Stop listening."""
        self._listening.close()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            connection.sendall(b"HTTP/1.0 200 OK\r\n\r\nHello")
