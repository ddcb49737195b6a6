"""flower, which shows the tasks and workers of a Celery application and controls them."""

import asyncio
import json
from typing import Any
from urllib.parse import urlencode

from tornado.httpclient import AsyncHTTPClient, HTTPClientError
from tornado.websocket import websocket_connect

from tests.applications.application import Application, Environment
from tests.applications.processes import Running
from tests.applications.tornado_redis import REDIS

__all__ = ["APPLICATION"]

REQUIREMENTS = """
    --no-deps
    flower==0.9.2
    celery==4.3.1
    amqp==2.6.1
    babel==2.9.1
    billiard==3.6.4.0
    kombu==4.6.11
    pytz==2022.1
    redis==3.5.3
    vine==1.3.0
"""

FURTHER_FOR_OLD = """
    tornado==4.5.3
    importlib_metadata==4.8.3
    typing_extensions==4.1.1
    zipp==3.6.0
"""

# GET; the worker is called tea@localhost.
PAGES = """
    /
    /dashboard
    /dashboard?json=1
    /tasks
    /task/{task}
    /worker/tea@localhost
    /broker
    /monitor
    /monitor/succeeded-tasks?lastquery=0
    /monitor/completion-time?lastquery=0
    /monitor/failed-tasks?lastquery=0
    /monitor/broker?lastquery=0
    /static/css/flower.css
    /api/tasks
    /api/task/types
    /api/task/result/{task}
    /api/task/result/{task}?timeout=5
    /api/queues/length
    /api/workers?refresh=1
"""

# POST, and the parameters.
CALLS = {
    "/api/task/rate-limit/flower_tasks.add": {
        "workername": "tea@localhost",
        "ratelimit": "10/m",
    },
    "/api/task/timeout/flower_tasks.add": {
        "workername": "tea@localhost",
        "soft": "10",
    },
    "/api/worker/queue/add-consumer/tea@localhost": {"queue": "other"},
    "/api/worker/queue/cancel-consumer/tea@localhost": {"queue": "other"},
    "/api/task/revoke/{task}": {},
    "/api/worker/shutdown/tea@localhost": {},
}


class Api:
    """The pages and calls of one flower."""

    def __init__(self, port: int) -> None:
        self._base = f"127.0.0.1:{port}"

    async def get(self, path: str) -> bytes:
        """Return a page."""
        return await self._fetch(path, method="GET")

    async def post(self, path: str, body: str) -> bytes:
        """Return the answer to a call."""
        return await self._fetch(path, method="POST", body=body)

    async def apply(self, how: str, *args: int) -> Any:
        """Let the worker add; return what flower answers."""
        path = f"/api/task/{how}/flower_tasks.add"
        return json.loads(await self.post(path, json.dumps({"args": args})))

    async def event(self) -> Any:
        """Return what the WebSocket sends when a task succeeds."""
        path = "/api/task/events/task-succeeded/"
        socket = await websocket_connect(f"ws://{self._base}{path}")
        await self.apply("send-task", 1, 2)
        message = await socket.read_message()
        socket.close()
        return json.loads(message or "null")

    async def _fetch(self, path: str, **kwargs: Any) -> bytes:
        url = f"http://{self._base}{path}"
        try:
            answer = await AsyncHTTPClient().fetch(url, request_timeout=30, **kwargs)
        except HTTPClientError as exc:
            raise ConnectionError(f"{path}: {exc}") from exc
        return answer.body


async def use_flower(program: Running) -> None:
    """Apply tasks, then open every page and make every call."""
    api = Api(program.port)
    async with program.step("the worker is shown"):
        while b"tea@localhost" not in await api.get("/api/workers?refresh=1"):
            await asyncio.sleep(0.2)
    async with program.step("a task is applied without waiting"):
        task = (await api.apply("async-apply", 40, 2))["task-id"]
        result = json.loads(await api.get(f"/api/task/result/{task}?timeout=10"))
        assert (result["state"], result["result"]) == ("SUCCESS", 42)
    async with program.step("an event comes over the WebSocket"):
        assert (await api.event())["result"] == "3"
    async with program.step("all pages open"):
        for path in PAGES.split():
            assert await api.get(path.format(task=task)), path
    async with program.step("a task is applied, and its result awaited"):
        assert (await api.apply("apply", 40, 2))["result"] == 42
    async with program.step("tasks and workers are controlled"):
        for path, parameters in CALLS.items():
            await api.post(path.format(task=task), urlencode(parameters))


APPLICATION = Application(
    name="flower",
    version="0.9.2",
    job=use_flower,
    command="-m flower",
    options=("--app=flower_tasks", "--address=127.0.0.1", "--port={port}"),
    variables={"BROKER": "redis://127.0.0.1:{service_port}/0", "C_FORCE_ROOT": "1"},
    services=(
        REDIS,
        "{launcher} -m celery worker --app=flower_tasks -E --hostname=tea@localhost",
    ),
    new=Environment(REQUIREMENTS + "tornado==6.5.6"),
    old=Environment(REQUIREMENTS + FURTHER_FOR_OLD, python="3.6"),
)
