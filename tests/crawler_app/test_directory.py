"""The directory of a crawl: one crawl in it, one process at it."""

import os
import signal
import sqlite3
import subprocess
import sys

import pytest

from crawler_app.config import CrawlConfig
from crawler_app.directory import CrawlDirectory
from crawler_app.errors import ConfigError
from crawler_app.models import Candidate, State

CONFIG = CrawlConfig(("http://a.test/",), concurrency=3, exclude=("/ü/",))

# Locks a directory, says so, and keeps it until its standard input ends.
LOCKER = """
import sys
from crawler_app.directory import CrawlDirectory
with CrawlDirectory(sys.argv[1]):
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "crawls" / "one"


@pytest.fixture
def directory(path):
    return CrawlDirectory.create(path, CONFIG)


@pytest.fixture
def locker(directory, path):
    """Start another process that holds the lock of the directory."""
    with subprocess.Popen(
        [sys.executable, "-c", LOCKER, path],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


def test_new_directory_is_made_with_its_parents(path):
    CrawlDirectory.create(path, CONFIG)

    assert CrawlDirectory.open(path).config() == CONFIG


def test_directory_that_is_there_and_holds_no_crawl_is_used(path):
    path.mkdir(parents=True)
    path.joinpath("notes.txt").write_text("mine")

    CrawlDirectory.create(path, CONFIG)

    assert path.joinpath("notes.txt").read_text() == "mine"


def test_directory_that_holds_a_crawl_is_refused(path):
    CrawlDirectory.create(path, CONFIG)
    other = CrawlConfig(("http://b.test/",))

    with pytest.raises(ConfigError, match=f"resume {path}"):
        CrawlDirectory.create(path, other)

    assert CrawlDirectory.open(path).config() == CONFIG


def test_path_that_is_a_file_is_refused(path):
    path.parent.mkdir()
    path.write_text("mine")

    with pytest.raises(ConfigError, match=str(path)):
        CrawlDirectory.create(path, CONFIG)
    with pytest.raises(ConfigError, match=str(path)):
        CrawlDirectory.create(path / "below", CONFIG)

    assert path.read_text() == "mine"


def test_directory_without_a_crawl_cannot_be_opened(path):
    with pytest.raises(ConfigError, match=r"crawl\.json is missing"):
        CrawlDirectory.open(path)
    path.mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"crawl\.json is missing"):
        CrawlDirectory.open(path)


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe\x00", b'{"seeds": 1}'])
def test_configuration_that_cannot_be_read_is_refused(path, content):
    CrawlDirectory.create(path, CONFIG)
    path.joinpath("crawl.json").write_bytes(content)

    with pytest.raises(ConfigError, match="crawl configuration"):
        CrawlDirectory.open(path).config()


def test_frontier_is_made_once_and_kept(path, directory):
    with directory:
        frontier = directory.frontier()
        frontier.add([Candidate("http://a.test/", "a.test")])
        frontier.close()

    frontier = CrawlDirectory.open(path).frontier(read_only=True)

    assert frontier.urls(State.QUEUED) == ["http://a.test/"]
    frontier.close()


def test_looking_at_a_crawl_that_has_not_begun(path, directory):

    with pytest.raises(ConfigError, match="not begun"):
        directory.frontier(read_only=True)

    assert sorted(os.listdir(path)) == ["crawl.json"]


@pytest.mark.parametrize("read_only", [True, False])
def test_frontier_of_another_program_is_refused(path, directory, read_only):
    db = sqlite3.connect(path / "frontier.sqlite3")
    db.execute("CREATE TABLE recipe (name)")
    db.close()

    with pytest.raises(ConfigError, match="frontier.sqlite3"):
        directory.frontier(read_only=read_only)


@pytest.mark.parametrize("read_only", [True, False])
def test_frontier_of_a_newer_version_is_refused(path, directory, read_only):
    directory.frontier().close()
    db = sqlite3.connect(path / "frontier.sqlite3")
    db.execute("PRAGMA user_version = 99")
    db.close()

    with pytest.raises(ConfigError, match="version 99"):
        directory.frontier(read_only=read_only)


@pytest.mark.parametrize("read_only", [True, False])
def test_frontier_that_is_no_database_is_refused(path, directory, read_only):
    path.joinpath("frontier.sqlite3").write_bytes(b"\0garbage" * 1_000)

    with pytest.raises(ConfigError, match="frontier.sqlite3"):
        directory.frontier(read_only=read_only)


def test_directory_is_locked_against_another_process(path, directory, locker):
    assert locker.stdout.readline() == "locked\n"

    with pytest.raises(ConfigError, match=f"crawled by process {locker.pid}$"):
        directory.__enter__()

    locker.stdin.close()
    assert locker.wait() == 0
    with directory:
        pass


def test_lock_is_free_when_its_owner_is_killed(directory, locker):
    assert locker.stdout.readline() == "locked\n"

    locker.kill()
    assert locker.wait() == -signal.SIGKILL

    with directory:
        pass


def test_lock_holds_within_one_process_too(path):
    CrawlDirectory.create(path, CONFIG)

    with CrawlDirectory.open(path), pytest.raises(ConfigError, match=str(os.getpid())):
        CrawlDirectory.open(path).__enter__()


def test_lock_is_freed_by_an_error_and_can_be_taken_again(path, directory):

    with pytest.raises(ZeroDivisionError), directory:
        raise ZeroDivisionError

    with directory:
        pass
    with directory:
        pass


def test_lock_is_not_inherited_by_a_child(directory):
    with directory:
        child = subprocess.Popen(
            [sys.executable, "-c", "print(flush=True); input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            close_fds=False,
        )
        child.stdout.readline()

    with child, directory:
        assert child.poll() is None
        child.kill()


def test_lock_that_cannot_be_made_is_a_clear_error(path, directory):
    path.joinpath("lock").mkdir()

    with pytest.raises(ConfigError, match=str(path)):
        directory.__enter__()


def test_others_may_look_while_the_directory_is_locked(path, directory, locker):
    assert locker.stdout.readline() == "locked\n"
    directory.frontier().close()

    frontier = directory.frontier(read_only=True)

    assert frontier.is_drained()
    frontier.close()
