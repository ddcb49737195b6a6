"""Real processes that are stuck, and the commands that examine them."""

import contextlib
import io
import json
import os
import subprocess
import sys
import textwrap
from typing import NamedTuple

import pytest

from gencoro.__main__ import main
from tests.helpers.scripts import start_python

HEAD = """
import asyncio, atexit, functools, os, select, signal, sys, threading, time

# Without a frame of its own, which might be found.
ready = functools.partial(print, "ready", flush=True)
"""

GENCORO = """
from gencoro import gen

@gen.coroutine
def wait_for(yielded):
    yield yielded
"""

PREPARED = """
from gencoro.introspect import install_signal
install_signal()
"""

# A signal every 10 ms, between which a waiting main thread runs a script.
BEAT = """
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)
"""

needs_scripts = pytest.mark.skipif(
    not hasattr(sys, "remote_exec"), reason="sys.remote_exec came with Python 3.14"
)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


class Target:
    """A process that runs a script until it is stuck."""

    def __init__(self, head, script, variables):
        self.script = head + textwrap.dedent(script)
        self.process = start_python(
            "-c",
            self.script,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | variables,
        )
        self.pid = self.process.pid
        assert self.read() == "ready", self.process.stderr.read()

    def at(self, code):
        """Return a line of the script as reports name it."""
        lines = [line.strip() for line in self.script.splitlines()]
        return f"at <string>:{lines.index(code) + 1}"

    def read(self):
        return self.process.stdout.readline().rstrip("\n")

    def write(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()


@pytest.fixture
def start():
    """Start a script that prints "ready" when it is about to be stuck."""
    started = []

    def start(script, *heads, base=HEAD, **variables):
        started.append(Target("".join([base, *heads]), script, variables))
        return started[-1]

    yield start
    for one in started:
        with one.process as process:
            process.kill()


@pytest.fixture(
    params=[
        pytest.param([GENCORO, PREPARED], id="by_signal"),
        pytest.param([GENCORO, BEAT], id="by_script", marks=needs_scripts),
    ]
)
def start_each_way(request, start):
    """Start a script that can be examined in one of the ways."""
    return lambda script, **variables: start(script, *request.param, **variables)


class Ended(NamedTuple):
    """What a command has left: its exit status, and what it printed."""

    status: int
    out: str
    err: str

    def json(self):
        assert self.status == 0, self.err
        return json.loads(self.out)

    def tree(self):
        assert self.status == 0, self.err
        return self.out.rstrip("\n").split("\n\n")[-1]


@pytest.fixture
def gencoro():
    """Run a command of gencoro; with an environment, in a process of its own."""

    def run(*arguments, env=None):
        if env is None:
            return _run_here(list(map(str, arguments)))
        process = start_python(
            "-m", "gencoro", *arguments, env=env, stderr=subprocess.PIPE
        )
        out, err = process.communicate()
        return Ended(process.returncode, out, err)

    return run


def _run_here(arguments):
    # The commands change how their output is encoded.
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(arguments)
        except SystemExit as ended:  # argparse ends so
            status = ended.code
    out.flush()
    return Ended(status, out.buffer.getvalue().decode(), err.getvalue())
