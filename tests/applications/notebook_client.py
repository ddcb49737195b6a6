"""Uses a notebook server as its page does: the API, kernels and terminals."""

import asyncio
import contextlib
import json
import uuid
from collections.abc import AsyncIterator, Mapping
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.applications.processes import Running

__all__ = ["TOKEN", "Client", "Kernel", "use_notebook"]

TOKEN = "tea"


class Client:
    """Requests to one server.

    Args:
        base: The URL of the server, without a slash at its end.
        headers: Sent with each request, such as those that log in.
    """

    def __init__(self, base: str, headers: Mapping[str, str]) -> None:
        self.base = base
        self.headers = dict(headers)

    async def get(self, path: str) -> str:
        """Return the body of a page."""
        return await self._fetch(path, method="GET")

    async def post(self, path: str, **values: Any) -> Any:
        """Return the JSON with which a call of the API is answered."""
        text = await self._fetch(path, method="POST", body=json.dumps(values))
        return json.loads(text) if text else None

    async def delete(self, path: str) -> None:
        """Delete a resource of the API."""
        await self._fetch(path, method="DELETE")

    async def _fetch(self, path: str, **kwargs: Any) -> str:
        response = await AsyncHTTPClient().fetch(
            self.base + path, headers=self.headers, request_timeout=60, **kwargs
        )
        return str(response.body.decode())

    @contextlib.asynccontextmanager
    async def kernel(self, path: str) -> AsyncIterator["Kernel"]:
        """Open the channels of a kernel, and wait until it answers on all of them."""
        async with self.websocket(path + "/channels") as connection:
            kernel = Kernel(connection)
            while not await kernel.is_there():
                pass
            yield kernel

    @contextlib.asynccontextmanager
    async def websocket(self, path: str) -> AsyncIterator[WebSocketClientConnection]:
        """Open a WebSocket."""
        url = self.base.replace("http", "ws", 1) + path
        connection = await websocket_connect(HTTPRequest(url, headers=self.headers))
        try:
            yield connection
        finally:
            connection.close()


class Kernel:
    """The channels of a kernel."""

    def __init__(self, connection: WebSocketClientConnection) -> None:
        self._connection = connection
        self._session = uuid.uuid4().hex

    async def is_there(self) -> bool:
        """Return whether the kernel answers, also with what it sends to all clients.

        What is sent to all is lost until ZeroMQ has connected, so this may need some calls.
        """
        request = await self._request("kernel_info_request", {})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await self.until("status", request)
                return True
        return False

    async def begin(self, code: str) -> str:
        """Run a cell, and return the id of the request."""
        content = {"code": code, "silent": False, "allow_stdin": False}
        return await self._request("execute_request", content)

    async def _request(self, kind: str, content: dict[str, Any]) -> str:
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": kind,
            "session": self._session,
            "username": "",
            "version": "5.0",
        }
        message = {"channel": "shell", "header": header, "content": content}
        message |= {"parent_header": {}, "metadata": {}, "buffers": []}
        await self._connection.write_message(json.dumps(message))
        return header["msg_id"]

    async def until(self, kind: str, request: str) -> Any:
        """Return the content of the next message of a kind that belongs to a request.

        Raises:
            ConnectionError: the server has closed the WebSocket.
        """
        while True:
            text = await self._connection.read_message()
            if text is None:
                raise ConnectionError("the WebSocket was closed")
            message = json.loads(text)
            asked_by = message["parent_header"].get("msg_id")
            if (asked_by, message["msg_type"]) == (request, kind):
                return message["content"]

    async def printed(self, code: str) -> str:
        """Run a cell, and return the first text that it prints."""
        return str((await self.until("stream", await self.begin(code)))["text"])


async def use_notebook(program: Running) -> None:
    """Do the job of a notebook server."""
    base = f"http://127.0.0.1:{program.port}"
    client = Client(base, {"Authorization": f"token {TOKEN}"})
    async with program.step("the page opens"):
        assert "notebook_list" in await client.get("/tree")
    async with program.step("a kernel starts"):
        kernel_id = (await client.post("/api/kernels"))["id"]
    kernel_url = f"/api/kernels/{kernel_id}"
    async with contextlib.AsyncExitStack() as stack:
        async with program.step("a cell runs"):
            kernel = await stack.enter_async_context(client.kernel(kernel_url))
            assert await kernel.printed("tea = 6 * 7; print(tea)") == "42\n"
        async with program.step("a cell is interrupted"):
            await _interrupt(client, kernel, kernel_url)
    async with program.step("the kernel restarts"):
        await client.post(kernel_url + "/restart")
        async with client.kernel(kernel_url) as kernel:
            assert await kernel.printed("print('tea' in dir())") == "False\n"
    async with program.step("a terminal answers"):
        await _use_terminal(client)
    async with program.step("the kernel is shut down"):
        await client.delete(kernel_url)
        assert json.loads(await client.get("/api/kernels")) == []


async def _interrupt(client: Client, kernel: Kernel, kernel_url: str) -> None:
    request = await kernel.begin("import time; print('on', flush=True); time.sleep(60)")
    await kernel.until("stream", request)
    await client.post(kernel_url + "/interrupt")
    assert (await kernel.until("execute_reply", request))[
        "ename"
    ] == "KeyboardInterrupt"


async def _use_terminal(client: Client) -> None:
    name = (await client.post("/api/terminals"))["name"]
    async with client.websocket(f"/terminals/websocket/{name}") as connection:
        await connection.write_message(json.dumps(["stdin", "echo $((6 * 7))\r"]))
        text = ""
        while "42" not in text:
            message = await connection.read_message()
            if message is None:
                raise ConnectionError("the WebSocket was closed")
            kind, value = json.loads(message)[:2]
            text += value if kind == "stdout" else ""
