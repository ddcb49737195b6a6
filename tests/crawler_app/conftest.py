"""What tests of the crawler share: no socket is left behind, and no process."""

import contextlib
import gc
import os
from typing import NamedTuple

import pytest
from warcio.archiveiterator import ArchiveIterator

from gencoro.ioloop import IOLoop
from tests.helpers import fuzzing
from tests.helpers.command_line import CommandLine
from tests.helpers.scripts import start_python, wait_until
from tests.helpers.site import Site

fuzzing.load_profile()


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory):
    """The servers that are made by tests are not noted in the home directory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def sockets():
    """Return a function that lists the open sockets, by what the kernel calls them."""

    def look():
        targets = []
        for number in os.listdir("/proc/self/fd"):
            with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
                targets.append(os.readlink(f"/proc/self/fd/{number}"))
        return sorted(each for each in targets if each.startswith("socket:"))

    return look


@pytest.fixture
def no_socket_is_left(sockets):
    before = sockets()
    yield
    if sockets() != before:
        gc.collect()  # only what refers to itself may need it
    # A server on another thread may yet have to notice that its client has gone.
    with contextlib.suppress(AssertionError):
        wait_until(lambda: sockets() == before, seconds=10)
    assert sockets() == before


@pytest.fixture
def start_script():
    """Start scripts in processes of their own, which are killed at the end."""
    with contextlib.ExitStack() as processes:

        def start(source, *arguments, **options):
            process = processes.enter_context(
                start_python("-c", source, *arguments, **options)
            )
            processes.callback(process.kill)
            return process

        yield start


@pytest.fixture
def gencrawl(capsys):
    """Run commands in this process; each gives its status and what it printed."""
    return CommandLine(capsys)


@pytest.fixture
def run_sync():
    """Run a coroutine function to its end, on a loop of its own; return what it does."""

    def run_sync(function):
        with contextlib.closing(IOLoop(make_current=False)) as loop:
            return loop.run_sync(function, timeout=60)

    return run_sync


class Clock:
    """Virtual seconds, which a test moves on."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def site():
    site = Site()
    yield site
    site.stop()


@pytest.fixture
def other():
    """Return a second site, on another port."""
    site = Site()
    yield site
    site.stop()


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "crawl"


@pytest.fixture
def cli(gencrawl, site, directory):
    """Run a command on the one directory; return its exit status and what it printed."""

    def cli(command, *options):
        if command == "crawl":
            options = ("--into", directory, "--quiet", *options)
            return gencrawl("crawl", site.url, *options)
        return gencrawl(command, directory, *options)

    return cli


class Capture(NamedTuple):
    path: str
    status: int
    payload: bytes
    profile: str


@pytest.fixture
def captures(site, directory):
    """Read the captures in the archive; the profile is that of a revisit."""

    def read():
        found = []
        for path in sorted(directory.glob("*.warc.gz")):
            with path.open("rb") as file:
                for record in ArchiveIterator(file, check_digests="raise"):
                    payload = record.content_stream().read()
                    if record.rec_type in ("response", "revisit"):
                        found.append(capture_of(record, payload))
        return found

    def capture_of(record, payload):
        header = record.rec_headers.get_header
        path = "/" + header("WARC-Target-URI").removeprefix(site.url)
        profile = (header("WARC-Profile") or "").rpartition("/")[2]
        assert bool(profile) is (record.rec_type == "revisit")
        status = int(record.http_headers.get_statuscode())
        return Capture(path, status, payload, profile)

    return read
