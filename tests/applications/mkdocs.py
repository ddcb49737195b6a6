"""MkDocs' development server, which reloads the pages in the browser."""

import asyncio
import json
from typing import Any

from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.applications.application import Application, Environment
from tests.applications.notebook_client import Client
from tests.applications.processes import Running

__all__ = ["APPLICATION"]

REQUIREMENTS = """
    --no-deps
    mkdocs==1.0.4
    click==7.1.2
    livereload==2.5.1
    markdown==3.1.1
    six==1.16.0
"""


async def use_mkdocs(program: Running) -> None:
    """Open a page, edit it, and see that the browser is told."""
    base = f"127.0.0.1:{program.port}"
    client = Client(f"http://{base}", {})
    async with program.step("a page opens"):
        assert "livereload.js" in await client.get("/")
        assert "LiveReload" in await client.get("/livereload.js")
    async with program.step("the browser connects"):
        socket = await websocket_connect(f"ws://{base}/livereload")
        protocol = "http://livereload.com/protocols/official-7"
        hello = {"command": "hello", "protocols": [protocol]}
        await socket.write_message(json.dumps(hello))
        assert (await _next(socket))["command"] == "hello"
        info = {"command": "info", "url": f"http://{base}/"}
        await socket.write_message(json.dumps(info))
    async with program.step("an edit reloads the page"):
        page = ""
        while "Cake" not in page:
            reload = asyncio.ensure_future(_next(socket))
            while not reload.done():  # an edit soon after the last one is ignored
                with (program.folder / "docs/index.md").open("a") as source:
                    source.write("# Cake\n")
                await asyncio.wait({reload}, timeout=1)
            assert (await reload)["command"] == "reload"
            page = await client.get("/")
    socket.close()


async def _next(socket: WebSocketClientConnection) -> Any:
    message = await socket.read_message()
    if message is None:
        raise ConnectionError("the WebSocket was closed")
    return json.loads(message)


APPLICATION = Application(
    name="MkDocs",
    version="1.0.4",
    job=use_mkdocs,
    command="{here}/files/mkdocs_serve.py",
    options=("--dev-addr=127.0.0.1:{port}",),
    new=Environment(
        REQUIREMENTS + "tornado==6.5.6 jinja2==3.0.3 markupsafe==2.0.1 pyyaml==6.0.1"
    ),
    old=Environment(
        REQUIREMENTS
        + "tornado==5.1.1 jinja2==2.11.3 markupsafe==1.1.1 pyyaml==5.4.1 "
        + "importlib_metadata==4.8.3 typing_extensions==4.1.1 zipp==3.6.0",
        python="3.6",
    ),
)
