"""Starts an application and what it needs, and does its job.

Rule: a program finds nothing of this machine's user: its home is an empty folder.
"""

import asyncio
import contextlib
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from tests.applications.application import Application
from tests.applications.processes import end_orphans, free_port, run

__all__ = ["JOB_TIMEOUT_S", "Place", "do_job"]

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent

# Of one application in one way; each step has a limit of its own.
JOB_TIMEOUT_S = 600.0


class Place(NamedTuple):
    """Where and how a program runs.

    Attributes:
        folder: Its home and working directory, which is emptied.
        installed: The folder of its environment.
        launcher: What starts Python code: an interpreter and its arguments.
    """

    folder: Path
    installed: Path
    launcher: str


async def do_job(
    application: Application, place: Place, result: dict[str, Any]
) -> None:
    """Start an application and do its job.

    Args:
        result: Its item ``steps`` becomes the names of the steps that succeeded.

    Raises:
        StepError: a step has failed.
        TimeoutError: the job took too long.
    """
    shutil.rmtree(place.folder, ignore_errors=True)
    place.folder.mkdir(parents=True)
    values = _values(place)
    variables = _variables(application, place, values)
    command = _words([place.launcher, application.command], values)
    command += [option.format(**values) for option in application.options]
    settings = [*application.options, *application.variables.values()]
    is_server = any("{port}" in setting for setting in settings)
    port = values["port"] if is_server else None
    async with asyncio.timeout(JOB_TIMEOUT_S), contextlib.AsyncExitStack() as stack:
        stack.callback(end_orphans)
        for number, service in enumerate(application.services):
            folder = place.folder / f"service-{number}"
            await _serve(stack, service, values, variables, folder)
        started = run(command, variables, place.folder, port)
        program = await stack.enter_async_context(started)
        result["steps"] = program.steps
        if is_server:
            async with program.step("starts"):
                await program.listens()
        await application.job(program)


async def _serve(
    stack: contextlib.AsyncExitStack,
    service: str,
    values: dict[str, Any],
    variables: dict[str, str],
    folder: Path,
) -> None:
    """Start what an application needs, and wait until it listens, if it does."""
    folder.mkdir()
    started = run(_words([service], values), variables, folder, values["service_port"])
    program = await stack.enter_async_context(started)
    if "{service_port}" in service:
        async with program.step("its services start"):
            await program.listens()


def _words(texts: list[str], values: dict[str, Any]) -> list[str]:
    return " ".join(texts).format(**values).split()


def _values(place: Place) -> dict[str, Any]:
    """Return what the placeholders stand for."""
    return {
        "port": free_port(),
        "service_port": free_port(),
        "folder": place.folder,
        "here": HERE,
        "launcher": place.launcher,
    }


def _variables(
    application: Application, place: Place, values: dict[str, Any]
) -> dict[str, str]:
    # Only this package, not the folder with the tests.
    only_gencoro = place.folder / ".path"
    only_gencoro.mkdir()
    (only_gencoro / "gencoro").symlink_to(ROOT / "gencoro")
    bins = f"{place.installed}/bin:{place.installed}/node_modules/.bin"
    own = {key: value.format(**values) for key, value in application.variables.items()}
    return {
        "HOME": str(place.folder),
        "LANG": "C.UTF-8",
        "LAUNCHER": place.launcher,
        "PATH": f"{bins}:{os.environ['PATH']}",
        "PYTHONPATH": f"{only_gencoro}:{HERE}/files",
        "PYTHONWARNINGS": "ignore",
        "SHELL": "/bin/sh",
        "TMPDIR": "/tmp",
    } | own
