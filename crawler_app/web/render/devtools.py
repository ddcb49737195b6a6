r"""The DevTools protocol: JSON messages, each ended by a zero byte, over a socket.

Rule: a command gets a result or an error; if the browser ends, every waiting command fails.
"""

import asyncio
import datetime
import itertools
import json
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Any, TypeAlias

from crawler_app.base.errors import FetchError
from crawler_app.base.reasons import Reason
from gencoro import gen

__all__ = ["BrowserGoneError", "DevTools", "OnEvent", "RenderError"]

# Of a long body, that is held in memory once more; base64 takes three bytes at a time.
PIECE_BYTES = 3 * 2**17

# A command that takes longer has met a script that never ends, or a browser that is stuck.
COMMAND_TIMEOUT = datetime.timedelta(seconds=15)

# Called with the method, the parameters and the session of an event.
OnEvent: TypeAlias = Callable[[str, dict[str, Any], str], None]


class RenderError(FetchError):
    """A page could not be rendered: it crashed its tab, or did not answer."""

    def __init__(self, message: str) -> None:
        super().__init__(Reason.NOT_RENDERED, message)


class BrowserGoneError(RenderError):
    """The browser has ended or does not answer, perhaps for another page."""


class DevTools(asyncio.Protocol):
    """Our end of the connection.

    Attributes:
        is_lost: Whether the browser has ended.
    """

    def __init__(self) -> None:
        self.is_lost = False
        self._transport: asyncio.Transport
        self._numbers = itertools.count(1)
        self._answer_by_number: dict[int, gen.Future[dict[str, Any]]] = {}
        self._on_event_by_session: dict[str, OnEvent] = {}
        self._received = bytearray()
        # Messages, each in pieces.
        self._unwritten: deque[Iterator[bytes]] = deque()
        self._is_paused = False

    def listen(self, session: str, on_event: OnEvent) -> None:
        """Call a function with each event of a session until that ends."""
        self._on_event_by_session[session] = on_event

    def send(
        self, method: str, session: str = "", body: bytes = b"", **params: Any
    ) -> "gen.Future[dict[str, Any]]":
        """Send a command, and return a Future for its result, which may be dropped.

        Args:
            body: A parameter of that name, which may be long; it is sent in base64.

        Raises:
            BrowserGoneError: the browser has ended.
            RenderError: the command failed.
        """
        answer: gen.Future[dict[str, Any]] = gen.Future()
        # Its failure need not matter, such as that of a command to a closed frame.
        answer.add_done_callback(lambda _: answer.cancelled() or answer.exception())
        if self.is_lost:
            answer.set_exception(BrowserGoneError("the browser has ended"))
            return answer
        number = next(self._numbers)
        self._answer_by_number[number] = answer
        message: dict[str, Any] = {"id": number, "method": method}
        if session:
            message["sessionId"] = session
        text = json.dumps(message | {"params": params}).encode()
        self._unwritten.append(_pieces(text, body))
        self._write_on()
        return answer

    @gen.coroutine
    def ask(
        self, method: str, session: str = "", **params: Any
    ) -> Generator[Any, Any, dict[str, Any]]:
        """Send a command as `send` does, and wait for its result.

        Raises:
            BrowserGoneError: also if it takes too long.
            RenderError: the command failed.
        """
        answer = self.send(method, session, **params)
        try:
            result: dict[str, Any] = yield gen.with_timeout(
                COMMAND_TIMEOUT, answer, quiet_exceptions=FetchError
            )
        except gen.TimeoutError:
            raise BrowserGoneError("the browser does not answer") from None
        return result

    def _write_on(self) -> None:
        """Write what the browser takes; a long body is encoded as it is written."""
        while self._unwritten and not self._is_paused:
            piece = next(self._unwritten[0], None)
            if piece is None:
                self._unwritten.popleft()
            else:
                self._transport.write(piece)

    def close(self) -> None:
        """Close the connection, which also ends the browser."""
        self.is_lost = True
        self._transport.abort()

    # -- called by the event loop ---------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def pause_writing(self) -> None:
        self._is_paused = True

    def resume_writing(self) -> None:
        self._is_paused = False
        self._write_on()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        self._unwritten.clear()
        answers, self._answer_by_number = self._answer_by_number, {}
        for answer in answers.values():
            if not answer.done():
                answer.set_exception(BrowserGoneError("the browser has ended"))
        for session, on_event in list(self._on_event_by_session.items()):
            on_event("Inspector.detached", {}, session)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if b"\0" in data:
            *messages, self._received = self._received.split(b"\0")
            for message in messages:
                self._take(json.loads(message.decode("utf-8", "surrogatepass")))

    def _take(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        if number is None:
            method, params = message["method"], message["params"]
            if method == "Target.detachedFromTarget":
                self._on_event_by_session.pop(params["sessionId"], None)
            session = message.get("sessionId", "")
            if session in self._on_event_by_session:
                self._on_event_by_session[session](method, params, session)
            return
        answer = self._answer_by_number.pop(number)
        if answer.cancelled():
            return
        if "error" in message:
            answer.set_exception(RenderError(message["error"]["message"]))
        else:
            answer.set_result(message["result"])


def _pieces(message: bytes, body: bytes) -> Iterator[bytes]:
    """Return a message in pieces, with a body as its last parameter."""
    if body:
        yield message[:-2] + b', "body": "'
        for at in range(0, len(body), PIECE_BYTES):
            yield b64encode(body[at : at + PIECE_BYTES])
        message = b'"}}'
    yield message + b"\0"
