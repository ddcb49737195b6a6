r"""The DevTools protocol: JSON messages, each ended by a zero byte, over a socket.

Rule: a command gets a result or an error; if the browser ends, every waiting command fails.
"""

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any, TypeAlias

from crawler_app.base.errors import FetchError
from crawler_app.base.reasons import Reason
from gencoro import gen
from gencoro.concurrent import future_set_result_unless_cancelled

__all__ = ["BrowserGoneError", "DevTools", "OnEvent", "RenderError"]

OnEvent: TypeAlias = Callable[[str, dict[str, Any]], None]


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
        self._transport: asyncio.Transport | None = None
        self._numbers = itertools.count(1)
        self._answer_by_number: dict[int, gen.Future[dict[str, Any]]] = {}
        self._on_event_by_session: dict[str, OnEvent] = {}
        self._received: list[bytes] = []

    def listen(self, session: str, on_event: OnEvent) -> None:
        """Call a function with each event of a session, by method and parameters."""
        self._on_event_by_session[session] = on_event

    def forget(self, session: str) -> None:
        """Ignore the events of a session from now on."""
        self._on_event_by_session.pop(session, None)

    def send(
        self, method: str, session: str = "", **params: Any
    ) -> "gen.Future[dict[str, Any]]":
        """Send a command, and return a Future for its result.

        Raises:
            BrowserGoneError: the browser has ended.
            RenderError: the command failed.
        """
        return self.send_body(b"", method, session, **params)

    def send_body(
        self, body: bytes, method: str, session: str = "", **params: Any
    ) -> "gen.Future[dict[str, Any]]":
        """Send a command with a long parameter, ``body``, as `send` does.

        Args:
            body: In base64, so nothing in it need be escaped; empty for none.
        """
        answer: gen.Future[dict[str, Any]] = gen.Future()
        if self._transport is None or self.is_lost:
            answer.set_exception(BrowserGoneError("the browser has ended"))
            return answer
        number = next(self._numbers)
        self._answer_by_number[number] = answer
        message: dict[str, Any] = {"id": number, "method": method}
        if session:
            message["sessionId"] = session
        if not body:
            self._transport.write(json.dumps(message | {"params": params}).encode())
        else:  # of megabytes, perhaps
            start = json.dumps(message).encode()[:-1] + b', "params": '
            params_start = json.dumps(params).encode()[:-1] + b', "body": "'
            self._transport.writelines((start, params_start, body, b'"}}'))
        self._transport.write(b"\0")
        return answer

    def tell(self, method: str, session: str = "", **params: Any) -> None:
        """Send a command whose failure does not matter, such as one to a closed frame."""
        self.send(method, session, **params).add_done_callback(_retrieve)

    def close(self) -> None:
        """Close the connection, which also ends the browser."""
        if self._transport is not None:
            self._transport.abort()

    # -- called by the event loop ---------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        answers, self._answer_by_number = self._answer_by_number, {}
        for answer in answers.values():
            if not answer.done():
                answer.set_exception(BrowserGoneError("the browser has ended"))
        for on_event in list(self._on_event_by_session.values()):
            on_event("Inspector.detached", {})

    def data_received(self, data: bytes) -> None:
        if b"\0" not in data:
            self._received.append(data)
            return
        *messages, rest = b"".join([*self._received, data]).split(b"\0")
        self._received = [rest]
        for message in messages:
            self._take(json.loads(message))

    def _take(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        if number is None:
            on_event = self._on_event_by_session.get(message.get("sessionId", ""))
            if on_event is not None:
                on_event(message["method"], message["params"])
            return
        answer = self._answer_by_number.pop(number)
        if answer.cancelled():
            return
        if "error" in message:
            answer.set_exception(RenderError(message["error"]["message"]))
        else:
            future_set_result_unless_cancelled(answer, message["result"])


def _retrieve(answer: "gen.Future[Any]") -> None:
    if not answer.cancelled():
        answer.exception()
