"""The tests that Jupyter notebook brings with it, run by pytest."""

import re

from tests.applications.application import Application
from tests.applications.processes import Running
from tests.applications.results import OWN_TESTS

__all__ = ["tests_of"]

# Of all tests; each has a limit of its own.
TIMEOUT_S = 540.0

# Where the server does not start, each test waits for it.
OPTIONS = (
    "-q",
    "--continue-on-collection-errors",
    "-p",
    "no:cacheprovider",
    "-W",
    "ignore",
    "--timeout=30",
    "--maxfail=10",
)

# The last line that pytest prints.
SUMMARY = re.compile(r"(=+ )?(\d+ (passed|failed|errors?)\b.*) in [\d.]+s")

NEW_PYTEST = """
    nose-py3==1.9.1
    pytest==7.4.4
    pytest-timeout==2.2.0
    requests==2.31.0
"""

OLD_PYTEST = """
    certifi==2021.10.8
    charset-normalizer==2.0.12
    idna==3.4
    iniconfig==1.1.1
    nose==1.3.7
    pluggy==1.0.0
    py==1.11.0
    pytest==6.2.5
    pytest-timeout==1.4.2
    requests==2.27.1
    toml==0.10.2
    urllib3==1.26.15
"""


def tests_of(server: Application) -> Application:
    """Return the tests that a server brings with it, as an application."""
    new, old = server.new, server.old
    return server._replace(
        name=f"The tests of {server.name}",
        job=run_tests,
        command="-m pytest --pyargs notebook",
        options=OPTIONS,
        new=new._replace(requirements=new.requirements + NEW_PYTEST),
        old=old._replace(requirements=old.requirements + OLD_PYTEST),
    )


async def run_tests(program: Running) -> None:
    """Run all tests; what came of them is the one step."""
    summary = ""
    async with program.step(OWN_TESTS.rstrip(": "), timeout_s=TIMEOUT_S):
        while (line := await program.next_line()) is not None:
            if found := SUMMARY.match(line):
                summary = found[2]
        if not summary:
            await program.check_exit()
    program.steps[:] = [OWN_TESTS + summary]
