"""bokeh's server, whose pages keep a session over a WebSocket."""

import json
import re
from typing import Any

from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.applications.application import Application, Environment
from tests.applications.notebook_client import Client
from tests.applications.processes import Running

__all__ = ["APPLICATION"]

REQUIREMENTS = """
    --no-deps
    bokeh==0.12.16
    packaging==21.3
    pyparsing==3.0.9
    python_dateutil==2.8.2
    six==1.16.0
"""


class Session:
    """The session of a page; a message is a header, metadata and a content."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self._socket = socket

    async def send(self, kind: str, content: dict[str, Any]) -> None:
        """Send a message."""
        for part in ({"msgid": kind, "msgtype": kind}, {}, content):
            await self._socket.write_message(json.dumps(part))

    async def until(self, kind: str) -> Any:
        """Return the content of the next message of a kind."""
        while True:
            header, _, content = [json.loads(await self._next()) for _ in range(3)]
            if header["msgtype"] == kind:
                return content

    async def _next(self) -> str:
        text = await self._socket.read_message()
        if not isinstance(text, str):
            raise ConnectionError("the WebSocket was closed")
        return text


async def use_bokeh(program: Running) -> None:
    """Open a page, and move its slider."""
    base = f"127.0.0.1:{program.port}/bokeh_app"
    async with program.step("the page opens"):
        page = await Client(f"http://{base}", {}).get("")
        found = re.search(r'"sessionid":"(\w+)"', page)
        assert found, page
    query = f"bokeh-protocol-version=1.0&bokeh-session-id={found[1]}"
    async with program.step("its session opens over the WebSocket"):
        socket = await websocket_connect(f"ws://{base}/ws?{query}")
        session = Session(socket)
        await session.until("ACK")
    async with program.step("it gets the document"):
        await session.send("PULL-DOC-REQ", {})
        document = (await session.until("PULL-DOC-REPLY"))["doc"]
        models = document["roots"]["references"]
        [slider] = [model for model in models if model["type"] == "Slider"]
    async with program.step("the server moves the line with the slider"):
        move = {"kind": "ModelChanged", "attr": "value", "new": 7}
        move["model"] = {"type": "Slider", "id": slider["id"]}
        await session.send("PATCH-DOC", {"events": [move], "references": []})
        [event] = (await session.until("PATCH-DOC"))["events"]
        assert "7, 7, 7" in json.dumps(event)
    socket.close()


APPLICATION = Application(
    name="bokeh",
    version="0.12.16",
    job=use_bokeh,
    command="-m bokeh serve",
    options=("{here}/files/bokeh_app.py", "--port={port}", "--address=127.0.0.1"),
    new=Environment(
        REQUIREMENTS
        + "tornado==6.5.6 jinja2==3.0.3 markupsafe==2.0.1 numpy==1.23.5 pyyaml==6.0.1"
    ),
    old=Environment(
        REQUIREMENTS
        + "tornado==4.5.3 jinja2==2.11.3 markupsafe==1.1.1 numpy==1.19.5 pyyaml==5.4.1",
        python="3.6",
    ),
)
