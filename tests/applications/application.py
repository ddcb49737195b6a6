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
        requirements: One requirement a line, pinned, as pip takes them.
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
        command: What follows ``python``, or ``python -m gencoro run``, to start it.
        options: Further arguments.  ``{port}`` is a free port, ``{folder}`` an empty
            folder that is the home of the program, ``{here}`` the folder of this file,
            and ``{launcher}`` what starts Python code in the same way.
        new: The environment for Tornado 6.
        old: The environment with the Tornado the program was written for.
        variables: Environment variables; they may have the same placeholders.
    """

    name: str
    version: str
    job: Callable[["Running"], Awaitable[None]]
    command: str
    options: tuple[str, ...]
    new: Environment
    old: Environment
    variables: dict[str, str] = {}  # noqa: RUF012 (never changed)


async def run_program(program: "Running") -> None:
    """Do a job that is a script, such as that of a library.

    The script prints ``step: NAME`` when a step begins, and exits with 0.
    """
    line = await program.next_line()
    while line is not None:
        _, is_step, name = line.partition("step: ")
        if not is_step:
            line = await program.next_line()
            continue
        async with program.step(name):
            line = await program.next_line()
            while line is not None and not line.startswith("step: "):
                line = await program.next_line()
            if line is None:
                await program.check_exit()
