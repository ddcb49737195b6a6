"""One application while it runs, and the steps that its job has done.

Rule: whatever happens, no process is left; `end_orphans` ends those in sessions of their
own.  Linux only.
"""

import asyncio
import contextlib
import ctypes
import os
import re
import shutil
import signal
import socket
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

__all__ = ["Running", "StepError", "adopt_orphans", "end_orphans", "free_port", "run"]

# Of one step, on a busy machine.
STEP_TIMEOUT_S = 90.0

# Between the request to end and the signal that cannot be refused.
GRACE_S = 10.0

# From linux/prctl.h.
PR_SET_CHILD_SUBREAPER = 36

# The last line of a traceback, and of some programs' log, without the path that an
# ImportError ends with.
ERROR_LINE = re.compile(
    r"^\s*([\w.]*(Error|Exception|NotImplemented)\b.*?)( \(/.*\))?$"
)


class StepError(Exception):
    """A step has failed; the text is the reason in the table."""


class Running:
    """A program that has been started.

    Attributes:
        port: Where it was told to listen.
        folder: Its home and working directory.
        steps: The names of the steps that succeeded.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        port: int,
        folder: Path,
        variables: Mapping[str, str],
    ) -> None:
        self._process = process
        self._variables = variables
        self.port = port
        self.folder = folder
        self.steps: list[str] = []

    @contextlib.asynccontextmanager
    async def step(
        self, name: str, timeout_s: float = STEP_TIMEOUT_S
    ) -> AsyncIterator[None]:
        """Record that the body has succeeded, or say in which step the job has ended.

        Raises:
            StepError: the body has failed, or took too long.
        """
        try:
            async with asyncio.timeout(timeout_s):
                yield
        except Exception as exc:  # whatever a client or the job's assertions raise
            reason = f"{type(exc).__name__}: {exc}".splitlines()[0].rstrip(": ")
            if self._process.returncode not in (None, 0):
                reason = self.last_error() or reason
            raise StepError(f"{name}: {reason}") from exc
        self.steps.append(name)

    async def listens(self) -> None:
        """Wait until the program accepts connections at its port.

        Raises:
            ChildProcessError: it has ended instead.
        """
        while True:
            if self._process.returncode is not None:
                raise ChildProcessError(f"exit status {self._process.returncode}")
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                return
            await asyncio.sleep(0.1)

    async def call(self, *args: str) -> str:
        """Run Python with these arguments as the program was run; return the output.

        Raises:
            ChildProcessError: it has failed.
        """
        with (self.folder / "log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *self._variables["LAUNCHER"].split(),
                *args,
                cwd=self.folder,
                env=dict(self._variables),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )
            printed, _ = await process.communicate()
        if process.returncode:
            status = f"exit status {process.returncode}"
            raise ChildProcessError(f"{args[1]}: {self.last_error() or status}")
        return printed.decode()

    async def next_line(self) -> str | None:
        """Return the next line that the program prints; None at the end."""
        assert self._process.stdout is not None, "run() has opened it"
        line = await self._process.stdout.readline()
        return line.decode().rstrip("\n") if line else None

    async def check_exit(self) -> None:
        """Wait until the program ends.

        Raises:
            ChildProcessError: it has failed.
        """
        status = await self._process.wait()
        if status:
            raise ChildProcessError(f"exit status {status}")

    def last_error(self) -> str:
        """Return the last line of the program's log that names an error."""
        log = (self.folder / "log").read_text(errors="replace").splitlines()
        errors = [found[1] for line in log if (found := ERROR_LINE.match(line))]
        return errors[-1] if errors else ""


@contextlib.asynccontextmanager
async def run(
    command: list[str],
    variables: Mapping[str, str],
    folder: Path,
    port: int | None,
) -> AsyncIterator[Running]:
    """Start a program, and end it and its process group.

    Args:
        port: Where it is told to listen; None for a script, whose output is read.

    Raises:
        StepError: there is no such command.
    """
    if shutil.which(command[0], path=variables["PATH"]) is None:
        raise StepError(f"{command[0]} is not installed")
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            env=dict(variables),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE if port is None else log,
            stderr=log,
            start_new_session=True,
        )
        try:
            yield Running(process, port or 0, folder, variables)
        finally:
            await _end(process)


def free_port() -> int:
    """Return a port at which nothing listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def adopt_orphans() -> None:
    """Become the parent of processes whose parent ends, so that they can be ended."""
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError("prctl(PR_SET_CHILD_SUBREAPER) has failed")


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), GRACE_S)
    except TimeoutError:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def end_orphans() -> None:
    """End what programs have left, such as kernels with sessions of their own."""
    while _end_children():
        pass


def _end_children() -> bool:
    """End the children of this process; return whether there were any."""
    tasks = Path(f"/proc/{os.getpid()}/task")
    found = [file.read_text().split() for file in tasks.glob("*/children")]
    children = [int(pid) for pids in found for pid in pids]
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return bool(children)
