"""Starts the process of a part, and keeps the batches that it has not acknowledged.

Like those of `crawler_app.web.sandbox`, a process is a new interpreter, so nothing is forked while
threads run, and the main script of a program is not imported again.
"""

import collections
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from crawler_app.run.processes.channel import Channel
from crawler_app.run.processes.process_messages import Frame, MessageType, Order, Task
from gencoro import gen

__all__ = ["PartProcess", "words_of"]

# The process imports what this one would, whatever its current directory is.
_BOOT = (
    "import sys; from importlib import import_module; sys.path[:] = sys.argv[2:]; "
    "import_module(sys.argv[1]).main()"
)

# Polling interval; a process takes milliseconds to exit.
LOOK_EVERY_S = 0.02


@dataclass(slots=True, frozen=True)
class _Sent:
    """A batch that was sent to a process, and the process that it comes from.

    Attributes:
        start: How often the sender had been started; a later process sends it again, and
            must not get the acknowledgement.
    """

    frame: Frame
    sender: "PartProcess"
    start: int


class PartProcess:
    """The process of one part, which may be started again.

    Args:
        module: The module whose ``main`` it runs.

    Attributes:
        part: The number of the part.
        starts: How often it was started.
        is_ready: Whether it has opened its files, and takes links and orders.
        was_ready: Whether it was in this run, if only before it died.
    """

    def __init__(self, part: int, module: str) -> None:
        self.part = part
        self._module = module
        self.starts = 0
        self.is_ready = self.was_ready = False
        self._channel: Channel | None = None
        self._popen: subprocess.Popen[bytes] | None = None
        self._unacknowledged: collections.deque[_Sent] = collections.deque()

    def start(self, task: Task) -> Channel:
        """Start the process; return the connection to it."""
        ours, theirs = socket.socketpair()
        with theirs:
            # In a session of its own, so that Ctrl-C does not reach it.  However this
            # process ends, the socket is closed then, and so the other one ends too.
            self._popen = subprocess.Popen(
                [sys.executable, "-I", "-c", _BOOT, self._module, *sys.path],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.starts += 1
        self._channel = Channel(ours)
        self._channel.send(Frame.of(MessageType.BEGIN, task))
        return self._channel

    def note_ready(self) -> int:
        """Send what the last process had not committed; return how many batches."""
        self.is_ready = self.was_ready = True
        for sent in self._unacknowledged:
            self._send(sent.frame)
        return len(self._unacknowledged)

    def order(self, order: Order) -> None:
        """Send an order to a process that is ready."""
        self._send(Frame.of(MessageType.ORDER, order))

    def pass_links(self, links: bytes, sender: "PartProcess") -> bool:
        """Keep a batch of links until it is committed; return whether it was sent."""
        frame = Frame(MessageType.LINKS, links, sender.part)
        self._unacknowledged.append(_Sent(frame, sender, sender.starts))
        if self.is_ready:
            self._send(frame)
        return self.is_ready

    def note_taken(self) -> None:
        """Tell the sender of the oldest batch that it is committed."""
        sent = self._unacknowledged.popleft()
        if sent.start == sent.sender.starts:
            sent.sender._send(Frame(MessageType.TAKEN, part=self.part))

    def _send(self, frame: Frame) -> None:
        if self._channel is not None:
            self._channel.send(frame)

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._popen is not None and self._popen.poll() is None

    @gen.coroutine
    def ended(self) -> Generator[Any, Any, int]:
        """Return the exit status, once the process has ended."""
        assert self._popen is not None
        while self._popen.poll() is None:
            yield gen.sleep(LOOK_EVERY_S)
        self.close()
        return int(self._popen.returncode)

    def close(self) -> None:
        """Close the connection, so that the process ends."""
        self.is_ready = False
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def kill(self) -> None:
        """End the process now, if it runs."""
        self.close()
        if self._popen is not None and self.is_running:
            self._popen.kill()
            self._popen.wait()


def words_of(status: int) -> str:
    """Return an exit status in words.

    >>> words_of(-9), words_of(1)
    ('signal SIGKILL', 'exit status 1')
    """
    if status >= 0:
        return f"exit status {status}"
    return f"signal {signal.Signals(-status).name}"
