"""The server of one crawl: it runs while it is used, however its users end."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crawler_app.base.errors import ConfigError
from crawler_app.store.frontier.postgres import private_server
from crawler_app.store.frontier.postgres.blocking_reader import PostgresReader
from crawler_app.store.frontier.postgres.install import install
from crawler_app.store.frontier.postgres.private_server import PrivateLocation
from tests.helpers.postgres import prepared_servers
from tests.helpers.postgres_server import newest_binaries
from tests.helpers.scripts import wait_until

__all__ = ["prepared_servers"]

pytestmark = pytest.mark.skipif(
    newest_binaries() is None, reason="PostgreSQL is not installed"
)

OPEN_AND_DIE = """
import os, sys
from pathlib import Path
from crawler_app.store.frontier.postgres.private_server import PrivateLocation
location = PrivateLocation(Path(sys.argv[1]))
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def directory(tmp_path):
    """A directory whose path is longer than the address of a socket may be."""
    path = tmp_path / ("long" * 30)
    path.mkdir()
    return path


def server_of(directory):
    try:
        return int((directory / "postgres/postmaster.pid").read_text().split()[0])
    except FileNotFoundError:
        return None


def wait_for_end(directory):
    wait_until(lambda: server_of(directory) is None)


def test_server_runs_as_long_as_it_is_used(directory, run_sync):
    with contextlib.closing(PrivateLocation(directory)) as first:
        server = server_of(directory)
        assert run_sync(lambda: install(first))
        second = PrivateLocation(directory)
    with contextlib.closing(PostgresReader(second)) as reader:
        assert reader.total() == 0 and server_of(directory) == server
    second.close()
    wait_for_end(directory)

    with contextlib.closing(PrivateLocation(directory)) as again:
        assert not run_sync(lambda: install(again))
    wait_for_end(directory)
    assert (directory / "postgres").stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("prepared_servers")
def test_crawl_that_is_not_on_its_server_yet_has_not_begun(directory):
    location = PrivateLocation(directory)

    with contextlib.closing(location), pytest.raises(ConfigError) as refused:
        PostgresReader(location)

    assert str(refused.value) == f"the crawl in {directory} has not begun yet"


def test_server_ends_with_a_user_that_is_killed(directory, start_script):
    start_script(OPEN_AND_DIE, directory).wait()

    assert (directory / "postgres").exists()
    wait_for_end(directory)


@pytest.mark.usefixtures("prepared_servers")
@pytest.mark.parametrize("victim", ["server", "program"])
def test_server_that_was_killed_is_started_again(directory, victim, run_sync):
    with contextlib.closing(PrivateLocation(directory)) as location:
        server = server_of(directory)
        status = Path(f"/proc/{server}/status").read_text()
        program = int(status.partition("PPid:")[2].split()[0])
        os.kill(server if victim == "server" else program, signal.SIGKILL)
        wait_until(lambda: not os.path.exists(f"/proc/{server}"))

        location.keep_running()

        assert server_of(directory) not in (None, server)
        assert run_sync(lambda: install(location))
    wait_for_end(directory)


@pytest.mark.usefixtures("prepared_servers")
def test_data_of_others_are_not_started(directory, monkeypatch, tmp_path):
    PrivateLocation(directory).close()
    wait_for_end(directory)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))

    with pytest.raises(ConfigError, match="it could run any program") as refused:
        PrivateLocation(directory)

    assert server_of(directory) is None
    os.system(str(refused.value).partition("If you trust it: ")[2])
    PrivateLocation(directory).close()
    wait_for_end(directory)


@pytest.mark.usefixtures("prepared_servers")
def test_copy_is_started_whoever_owns_it(directory, tmp_path):
    PrivateLocation(directory).close()
    wait_for_end(directory)
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", directory, copy], check=True)
    (copy / "postgres").chmod(0o755)

    with contextlib.closing(PrivateLocation(copy)):
        assert server_of(copy) is not None

    wait_for_end(copy)
    assert (copy / "postgres").stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("prepared_servers")
def test_user_without_a_home_is_told_what_to_do(directory, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null")

    with pytest.raises(ConfigError, match="with XDG_STATE_HOME"):
        PrivateLocation(directory)

    assert not (directory / "postgres").exists()


def test_programs_are_those_of_the_system_or_of_a_package(
    directory, monkeypatch, tmp_path
):
    monkeypatch.setattr(private_server, "SYSTEM_BINARIES", ())
    monkeypatch.setenv("PATH", "")
    with pytest.raises(
        ConfigError, match=r"pip install 'gencoro\[processes\]'.*apt-get"
    ):
        PrivateLocation(directory)

    binaries = tmp_path / private_server.WHEEL / "pginstall18" / "bin"
    binaries.mkdir(parents=True)
    (tmp_path / private_server.WHEEL / "__init__.py").touch()
    for name in ("initdb", "postgres"):
        (binaries / name).write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 18.1'\n")
        (binaries / name).chmod(0o755)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])

    assert private_server._binaries() == binaries
    with pytest.raises(ConfigError, match="begun with PostgreSQL 16"):
        private_server._binaries(16)
