"""A crawl directory that another person has prepared: no command follows its links."""

import contextlib
import io
import json
import os
import shutil
import signal
import socket
import sqlite3

import pytest
import trustme

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ArchiveError, ConfigError
from crawler_app.run.crawler import Crawler
from crawler_app.run.directory import OWN_NAMES
from crawler_app.store.archive.wacz import write_wacz
from gencoro.ioloop import IOLoop
from tests.helpers.site import Site

DATABASES = [name for name in OWN_NAMES if "sqlite" in name]

# Every name that a command opens in the directory, also for a moment.
NAMES = [
    *OWN_NAMES,
    *(f"{name}{suffix}" for name in DATABASES for suffix in ("-wal", "-shm")),
    *("crawl.json", "report.html"),
    *("archive-00001.warc.gz", "archive-00002.warc.gz"),
    *("uploads.json", "storage.url"),
]


@pytest.fixture(scope="module")
def foreign_site():
    site = Site()
    site.page("/", "a", "b")
    site.pages("/a", "/b")
    yield site
    site.stop()


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory, foreign_site):
    """A directory with every file of a crawl, its second one stopped at a limit."""
    directory = tmp_path_factory.mktemp("unfinished") / "crawl"
    for max_pages in (None, 2):
        config = CrawlConfig(
            (foreign_site.url,),
            into=str(directory),
            max_pages=max_pages,
            max_archive_file_bytes=1000,
        )
        with contextlib.closing(IOLoop(make_current=False)) as loop:
            loop.run_sync(Crawler(config).run)
    names = {path.name for path in directory.iterdir()}
    assert set(OWN_NAMES) - {"postgres"} <= names  # which several processes have
    assert {name for name in names if not name.startswith("archive-")} <= set(NAMES)
    return directory


@contextlib.contextmanager
def ended_within(seconds):
    """Raise an error if something waits forever."""

    def give_up(*_):
        raise TimeoutError("a command waits")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run_all(gencrawl, directory, url):
    """Run every command; none may end with an unexpected error."""
    for command in (
        ("status", directory),
        ("search", directory, "x"),
        ("report", directory),
        ("resume", directory, "--max-pages", 4, "--quiet"),
        ("crawl", url, "--into", directory, "--quiet"),
    ):
        with ended_within(30):
            ended = gencrawl(*command)
        assert ended.status in (0, 1, 2)
        assert "Traceback" not in ended.err
    with contextlib.suppress(ConfigError, ArchiveError, OSError), ended_within(30):
        write_wacz(directory, io.BytesIO(), software="x")


@pytest.mark.parametrize("kind", ["link", "pipe"])
@pytest.mark.parametrize("name", NAMES)
def test_link_in_place_of_a_file_is_not_followed(
    unfinished, tmp_path, foreign_site, gencrawl, name, kind
):
    directory = shutil.copytree(unfinished, tmp_path / "crawl")
    victim = tmp_path / "victim"
    planted = directory / name
    if kind == "link" and planted.exists():
        planted.rename(victim)  # so that it would be taken for our own
    elif kind == "link":
        victim.write_text("precious")
    planted.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(planted)
    else:
        planted.symlink_to(victim)
    before = victim.read_bytes() if victim.exists() else None

    run_all(gencrawl, directory, foreign_site.url)

    assert (victim.read_bytes() if victim.exists() else None) == before


@pytest.mark.parametrize("name", DATABASES)
def test_database_with_foreign_sql_is_refused(unfinished, tmp_path, gencrawl, name):
    directory = shutil.copytree(unfinished, tmp_path / "crawl")
    with contextlib.closing(sqlite3.connect(directory / name)) as db:
        (table,) = db.execute(
            "SELECT name FROM sqlite_master WHERE name IN ('url', 'page', 'capture')"
        ).fetchone()
        db.execute(
            f"CREATE TRIGGER forget AFTER UPDATE ON {table} BEGIN DELETE FROM {table}; END"
        )

    ended = gencrawl("resume", directory)

    assert ended.status != 0
    assert "holds the trigger forget" in ended.err


def prepared(unfinished, path, **settings):
    """Return a copy of the directory whose configuration has further settings."""
    directory = shutil.copytree(unfinished, path)
    config = json.loads((directory / "crawl.json").read_text())
    (directory / "crawl.json").write_text(json.dumps(config | settings))
    return directory


@pytest.mark.parametrize(
    ("setting", "flag"),
    [("proxy", "--proxy"), ("cookie_file", "--cookies"), ("ca_file", "--ca")],
)
def test_setting_of_another_person_has_to_be_given_again(
    unfinished, tmp_path, foreign_site, gencrawl, setting, flag
):
    (tmp_path / "cookies.txt").write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tb\n")
    value = foreign_site.url.strip("/").removeprefix("http://")  # passes for a proxy
    if setting != "proxy":
        value = str(tmp_path / "cookies.txt")
    if setting == "ca_file":
        trustme.CA().cert_pem.write_to_path(value)
    directory = prepared(unfinished, tmp_path / "crawl", **{setting: value})
    before = len(foreign_site.paths)

    for _ in range(2):
        refused = gencrawl("resume", directory, "--max-pages", 3, "--quiet")
        assert refused.status == 2
        assert f"not made by you on this machine, and its crawl.json has {flag}" in (
            refused.err
        )
    assert len(foreign_site.paths) == before
    assert gencrawl("status", directory).status == 0

    for given in ((flag, value), ()):  # it is the user's own from then on
        ended = gencrawl("resume", directory, "--max-pages", 3, "--quiet", *given)
        assert ended.status == 0, ended.err


@pytest.mark.parametrize(
    "command", [("status",), ("search", "x"), ("export",), ("report",), ("resume",)]
)
def test_server_that_another_person_names_gets_no_password(
    unfinished, tmp_path, gencrawl, command, monkeypatch
):
    monkeypatch.setenv("PGPASSWORD", "secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        url = f"postgresql://me@127.0.0.1:{server.getsockname()[1]}/x"
        directory = prepared(unfinished, tmp_path / "crawl", frontier=url)

        name, *words = command
        refused = gencrawl(name, directory, *words)

        assert refused.status == 2
        assert "--frontier; give what you trust" in refused.err
        with pytest.raises(BlockingIOError):
            server.accept()
