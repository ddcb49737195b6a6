"""What an application is: its requirements, its command, and its job.

A job is a sequence of named steps, and ends at the first that fails.  It talks to the
program as a user does: HTTP and WebSockets on loopback, or what a script prints.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.applications.processes import Running

__all__ = ["Application", "Environment", "run_program"]


class Environment(NamedTuple):
    """Where an application is installed.

    Attributes:
        requirements: One requirement a line, pinned, as pip takes them.  With a first
            line ``--no-deps`` they must be complete, and need not agree with each other.
        python: The version of Python, such as "3.6"; empty for the one that runs this.
        npm: Packages of npm, pinned, whose commands are put on the path.
    """

    requirements: str
    python: str = ""
    npm: tuple[str, ...] = ()


class Application(NamedTuple):
    """A program that was written for an old Tornado.

    A server has ``{port}`` among its options, and a script has not.

    Attributes:
        name: Its name.
        version: The version that is installed.
        job: Uses the running program, in steps: ``async with program.step("..."):``.
        command: What follows ``python``, or ``python -m gencoro run``, to start it.  It
            may be a script of ours, at ``{here}``, which uses a library.
        options: Further arguments.  ``{port}`` is a free port, ``{folder}`` an empty
            folder that is the home of the program, ``{here}`` the folder of this file,
            and ``{launcher}`` what starts Python code in the same way.
        new: The environment for Tornado 6.
        old: The environment with the Tornado the program was written for.
        variables: Environment variables; they may have the same placeholders.
        services: Commands of what it needs, such as a broker.  One that has
            ``{service_port}``, which is a placeholder like the others, listens there.
    """

    name: str
    version: str
    job: Callable[["Running"], Awaitable[None]]
    command: str
    options: tuple[str, ...]
    new: Environment
    old: Environment
    variables: dict[str, str] = {}  # noqa: RUF012 (never changed)
    services: tuple[str, ...] = ()


async def run_program(program: "Running") -> None:
    """Do a job that is a script, such as that of a library.

    The script prints ``step: NAME`` when a step begins, and exits with 0.
    """
    name: str | None = "starts"
    while name is not None:
        async with program.step(name):
            name = await _next_step(program)


async def _next_step(program: "Running") -> str | None:
    """Return the name of the step that begins next; None after a good end."""
    while (line := await program.next_line()) is not None:
        _, is_step, name = line.partition("step: ")
        if is_step:
            return name
    await program.check_exit()
    return None
