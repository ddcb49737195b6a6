"""circus, which watches processes; its commands come over ZeroMQ."""

import asyncio
import json
import os
import signal
from typing import Any

from tests.applications.application import Application, Environment
from tests.applications.processes import Running

__all__ = ["APPLICATION"]

REQUIREMENTS = "--no-deps circus==0.15.0 iowait==0.2 psutil==5.9.8 six==1.16.0 "


async def use_circus(program: Running) -> None:
    """Control a watcher of two processes."""
    async with program.step("it watches two processes"):
        while len(first := await _pids(program)) != 2:
            await asyncio.sleep(0.1)
    async with program.step("a third process is added"):
        await _call(program, "incr", "sleeper")
        while len(first := await _pids(program)) != 3:
            await asyncio.sleep(0.1)
    async with program.step("a process that ends is replaced"):
        os.kill(first[0], signal.SIGKILL)
        while len(found := await _pids(program)) != 3 or first[0] in found:
            await asyncio.sleep(0.1)
    async with program.step("the watcher restarts"):
        await _call(program, "restart", "sleeper", "--waiting")
        assert not set(first) & set(await _pids(program))
    async with program.step("the watcher stops"):
        await _call(program, "stop", "sleeper", "--waiting")
        assert await _pids(program) == []
    async with program.step("it quits"):
        await _call(program, "quit")
        await program.check_exit()


async def _pids(program: Running) -> list[int]:
    found: list[int] = (await _call(program, "list", "sleeper"))["pids"]
    return found


async def _call(program: Running, *args: str) -> Any:
    """Return what circusctl prints."""
    endpoint = f"tcp://127.0.0.1:{program.port}"
    printed = await program.call(
        "-m", "circus.circusctl", "--json", "--endpoint", endpoint, *args
    )
    return json.loads(printed)


APPLICATION = Application(
    name="circus",
    version="0.15.0",
    job=use_circus,
    command="-m circus.circusd",
    options=("{here}/files/circus.ini",),
    variables={"PORT": "{port}"},
    new=Environment(REQUIREMENTS + "tornado==6.5.6 pyzmq==27.1.0"),
    old=Environment(REQUIREMENTS + "tornado==4.5.3 pyzmq==16.0.4", python="3.6"),
)
