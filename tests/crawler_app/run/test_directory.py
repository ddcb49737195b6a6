"""The directory of a crawl: it holds one crawl, and one process at a time writes to it."""

import contextlib
import dataclasses
import os
import resource
import signal
import stat
import subprocess
import sys

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import (
    ArchiveError,
    ConfigError,
    FrontierError,
    StorageError,
)
from crawler_app.base.models import Candidate, Outcome, State
from crawler_app.run.directory import CrawlDirectory, CrawlSizes
from crawler_app.run.directory.stores import begin_recrawl, open_stores
from crawler_app.store.archive.totals import ArchiveSummary
from crawler_app.store.index.columns import columns_of

CONFIG = CrawlConfig(("http://a.test/",), concurrency=3, exclude=("/ü/",))

# Locks a directory, says so, and keeps it until its standard input ends.
LOCKER = """
import sys
from crawler_app.run.directory import CrawlDirectory
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
def locker(directory, path, start_script):
    """Start another process that holds the lock of the directory."""
    return start_script(LOCKER, path, stdin=subprocess.PIPE)


def test_directory_that_is_there_and_holds_no_crawl_is_used(path):
    path.mkdir(parents=True)
    path.joinpath("notes.txt").write_text("mine")

    CrawlDirectory.create(path, CONFIG)

    assert path.joinpath("notes.txt").read_text() == "mine"


def test_directory_that_holds_a_crawl_is_refused(path):
    CrawlDirectory.create(path, CONFIG)
    other = CrawlConfig(("http://b.test/",))

    with pytest.raises(ConfigError, match="choose another directory"):
        CrawlDirectory.create(path, other)

    assert CrawlDirectory.open(path).config() == CONFIG


@pytest.mark.parametrize(
    "name", ["lock", "archive-00001.warc.gz", "crawl.sqlite", "frontier.sqlite3"]
)
def test_file_of_another_program_is_not_overwritten(path, name):
    path.mkdir(parents=True)
    path.joinpath(name).write_text("precious")

    with pytest.raises(ConfigError, match=f"contains {name}"):
        CrawlDirectory.create(path, CONFIG)

    assert os.listdir(path) == [name]
    assert path.joinpath(name).read_text() == "precious"


def test_path_that_is_a_file_is_refused(path):
    path.parent.mkdir()
    path.write_text("mine")

    with pytest.raises(ConfigError, match=str(path)):
        CrawlDirectory.create(path, CONFIG)
    with pytest.raises(ConfigError, match=str(path)):
        CrawlDirectory.create(path / "below", CONFIG)

    assert path.read_text() == "mine"


def test_directory_without_a_crawl_cannot_be_opened(path):
    with pytest.raises(ConfigError, match=f"{path} does not exist"):
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


def test_looking_at_a_crawl_that_has_not_begun(path, directory):

    with pytest.raises(ConfigError, match="not begun"):
        directory.frontier()

    assert sorted(os.listdir(path)) == ["crawl.json"]


def test_directory_belongs_to_the_process_that_crawls(directory, locker):
    assert locker.stdout.readline() == "locked\n"

    assert directory.owner() == locker.pid
    with pytest.raises(ConfigError, match=f"crawled by process {locker.pid}$"):
        directory.__enter__()
    with open_stores(directory, CONFIG):
        pass
    with contextlib.closing(directory.frontier()) as frontier:  # others may look
        assert frontier.is_drained()


@pytest.mark.parametrize("is_killed", [True, False])
def test_directory_is_free_when_its_owner_has_gone(directory, locker, is_killed):
    assert locker.stdout.readline() == "locked\n"
    locker.kill() if is_killed else locker.stdin.close()
    assert locker.wait() == (-signal.SIGKILL if is_killed else 0)

    # What it wrote into the file is still there.
    assert directory.owner() is None
    with directory:
        pass


def test_lock_holds_within_one_process_too(path, directory):
    assert directory.owner() is None
    with directory:
        assert directory.owner() == os.getpid()
        with pytest.raises(ConfigError, match=str(os.getpid())):
            CrawlDirectory.open(path).__enter__()
    assert directory.owner() is None
    with pytest.raises(ZeroDivisionError), directory:
        raise ZeroDivisionError
    with directory:
        pass


def test_looking_up_the_owner_never_blocks_a_crawl(directory, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("the lock was tried")

    with directory:
        pass
    with monkeypatch.context() as patch:
        patch.setattr("fcntl.flock", refuse)
        assert directory.owner() is None


def test_lock_of_another_file_is_not_ours(path, directory, tmp_path):
    with directory:
        pass
    other = tmp_path / "other"
    other.mkdir()

    with CrawlDirectory(other):
        # It says that we crawl, and we do hold a lock: that of another directory.
        path.joinpath("lock").write_text(f"{os.getpid()}\n")

        assert directory.owner() is None


@pytest.mark.parametrize("is_alive", [True, False])
def test_without_a_list_of_locks_a_living_process_is_the_owner(
    path, directory, locker, tmp_path, monkeypatch, is_alive
):
    monkeypatch.setattr(
        "crawler_app.run.directory.lock.LOCKS_PATH", tmp_path / "nowhere"
    )
    assert locker.stdout.readline() == "locked\n"
    if not is_alive:
        locker.kill()
        locker.wait()

    assert directory.owner() == (locker.pid if is_alive else None)


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


# What else is kept, and another crawl.


def finish(stores, *urls):
    """Finish some URLs in the frontier."""
    stores.frontier.add(Candidate(url, "a.test") for url in urls)
    stores.frontier.flush()
    for _ in urls:
        claim = stores.frontier.claim(0.0, 60.0)
        stores.frontier.finish(claim, Outcome(State.DONE, "ok", 200), 1.0)


def crawled(directory, *urls):
    with open_stores(directory, CONFIG) as stores:
        finish(stores, *urls)


def test_archive_and_index_are_optional(path, directory):
    config = dataclasses.replace(CONFIG, archive=False, index=False)

    with open_stores(directory, config) as stores:
        assert stores.archive is None
        assert stores.index is None

    assert sorted(os.listdir(path)) == ["crawl.json", "frontier.sqlite3"]
    assert directory.kept() == CrawlSizes(ArchiveSummary(0, 0, 0, 0), None)


def test_archive_and_index_are_on_disk_before_the_frontier(path, directory):
    with open_stores(directory, CONFIG) as stores:
        stores.frontier.add([Candidate("http://a.test/", "a.test")])
        stores.index.put("http://a.test/", columns_of("Home", "", "words"), 0.0)
        claim = stores.frontier.claim(0.0, 60.0)
        stores.frontier.finish(claim, Outcome(State.DONE, "ok", 200), 1.0)
        assert directory.kept().pages == 0

        stores.frontier.flush()

        assert directory.kept().pages == 1


def test_frontier_is_not_written_if_the_archive_cannot_be(directory, monkeypatch):
    def fail():
        raise ArchiveError("the disk is full")

    with open_stores(directory, CONFIG) as stores:
        finish(stores, "http://a.test/")
        monkeypatch.setattr(stores.archive, "flush", fail)
        with pytest.raises(FrontierError, match="the disk is full"):
            stores.frontier.flush()
        assert stores.frontier.urls(State.QUEUED) == ["http://a.test/"]
        monkeypatch.undo()


def test_recrawl_keeps_the_crawl_that_a_reader_has_open(directory):
    urls = [f"http://a.test/{n}" for n in range(50)]
    with open_stores(directory, CONFIG):
        pass
    with contextlib.closing(directory.frontier()) as onlooker:
        crawled(directory, *urls)
        assert not onlooker.previous.exists

        with directory:
            begin_recrawl(directory, CONFIG)

        assert not onlooker.previous.exists
        assert onlooker.count(State.DONE) == 0
    with open_stores(directory, CONFIG) as stores:
        assert stores.frontier.previous.exists
        assert stores.frontier.urls() == []
        assert stores.frontier.previous.unmet() == urls


def test_crawl_that_was_not_begun_need_not_begin_recrawl(path, directory):
    begin_recrawl(directory, CONFIG)

    assert sorted(os.listdir(path)) == ["crawl.json"]


def test_interrupted_crawl_does_not_replace_a_whole_one(directory):
    crawled(directory, "http://a.test/", "http://a.test/x")
    begin_recrawl(directory, CONFIG)
    with open_stores(directory, CONFIG) as stores:
        stores.frontier.add([Candidate("http://a.test/", "a.test")])

    begin_recrawl(directory, CONFIG)

    with contextlib.closing(directory.frontier()) as frontier:
        assert frontier.total() == 0
        assert frontier.previous.unmet() == ["http://a.test/", "http://a.test/x"]


def test_interrupted_first_crawl_is_kept(directory):
    with open_stores(directory, CONFIG) as stores:
        stores.frontier.add([Candidate("http://a.test/", "a.test")])

    begin_recrawl(directory, CONFIG)

    with contextlib.closing(directory.frontier()) as frontier:
        assert frontier.total() == 0
        assert frontier.previous.differences().was_whole is False


@pytest.mark.parametrize(
    ("urls_left", "is_finished"), [(1, False), (0, True)], ids=["left", "none left"]
)
def test_crawl_is_unfinished_only_if_it_has_urls_left(
    directory, urls_left, is_finished
):
    with open_stores(directory, CONFIG) as stores:
        stores.frontier.add(
            Candidate(f"http://a.test/{n}", "a.test") for n in range(1 + urls_left)
        )
        claim = stores.frontier.claim(0.0, 60.0)
        stores.frontier.finish(claim, Outcome(State.FAILED, "refused"), 1.0)

    assert begin_recrawl(directory, CONFIG) == is_finished


@pytest.mark.parametrize(("auth", "mode"), [("", 0o644), ("me:secret", 0o600)])
def test_configuration_with_a_password_is_private(path, auth, mode):
    umask = os.umask(0o022)
    try:
        directory = CrawlDirectory.create(path, dataclasses.replace(CONFIG, auth=auth))
        directory.save(dataclasses.replace(CONFIG, auth=auth, concurrency=4))
    finally:
        os.umask(umask)

    assert stat.S_IMODE(path.joinpath("crawl.json").stat().st_mode) == mode
    assert directory.config().concurrency == 4
    assert stat.S_IMODE(path.stat().st_mode) == (0o700 if auth else 0o755)


def test_directory_on_a_disk_that_is_full_stays_as_it_was(path):
    config = dataclasses.replace(CONFIG, proxy="http://127.0.0.1:9")
    directory = CrawlDirectory.create(path, config)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(StorageError):
            directory.save(dataclasses.replace(config, concurrency=4))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    directory.require_own(directory.config())
    assert sorted(each.name for each in path.iterdir()) == ["crawl.json", "signature"]
