"""The SQLite files of a crawl: how they are opened, and which are refused."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from functools import partial

import pytest

from crawler_app.base.errors import ConfigError
from crawler_app.base.models import Candidate
from crawler_app.store.archive.captures import Capture, Captures
from crawler_app.store.database import Schema, connect, is_created, open_database
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.store.index import PageIndex
from tests.helpers.scripts import IMPORTS

COOKBOOK = Schema(
    "a cookbook",
    3,
    frozenset({"recipe", "step"}),
    "CREATE TABLE recipe (name); CREATE TABLE step (text);",
    log_pages=50,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "book.sqlite3"


@pytest.fixture
def book(path):
    """A cookbook with one recipe, closed."""
    with contextlib.closing(open_database(path, COOKBOOK, read_only=False)) as db:
        db.execute("INSERT INTO recipe VALUES ('soup')")
    return path


@pytest.fixture
def descriptors():
    """Assert that the test leaves nothing open."""
    before = sorted(os.listdir("/proc/self/fd"))
    yield
    assert sorted(os.listdir("/proc/self/fd")) == before


def recipes(db):
    return [name for (name,) in db.execute("SELECT name FROM recipe")]


def pragma(db, name):
    return db.execute(f"PRAGMA {name}").fetchone()[0]


def execute(path, *statements):
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def test_new_file_has_the_tables_and_the_settings(path):
    with contextlib.closing(open_database(path, COOKBOOK, read_only=False)) as db:
        assert recipes(db) == []
        assert pragma(db, "user_version") == 3
        assert pragma(db, "journal_mode") == "wal"
        assert pragma(db, "synchronous") == 1
        assert pragma(db, "busy_timeout") == 30_000
        assert pragma(db, "wal_autocheckpoint") == 50


@pytest.mark.parametrize("read_only", [False, True])
def test_file_is_opened_again_with_what_is_in_it(book, read_only, descriptors):
    db = open_database(book, COOKBOOK, read_only=read_only)

    assert recipes(db) == ["soup"]
    assert pragma(db, "synchronous") == 1
    assert pragma(db, "busy_timeout") == 30_000
    if read_only:
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            db.execute("INSERT INTO recipe VALUES ('cake')")
    db.close()


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "PRAGMA user_version = 2",
            "holds a cookbook of version 2, .* version 3: use an older",
        ),
        ("PRAGMA user_version = -1", "holds a cookbook of version -1, .* version 3"),
        ("DROP TABLE step", "cannot be used as a cookbook: it holds other tables"),
        ("CREATE TABLE lost (x)", None),  # more is no harm
    ],
)
def test_file_of_another_version_or_program_is_refused(
    book, read_only, statement, message, descriptors
):
    execute(book, statement)
    before = book.read_bytes()

    if message is None:
        open_database(book, COOKBOOK, read_only=read_only).close()
    else:
        with pytest.raises(ConfigError, match=f"^{book} {message}"):
            open_database(book, COOKBOOK, read_only=read_only)

    assert book.read_bytes() == before


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("content", [b"SQLite format 3\0" + 50 * b"\xff", b"no base"])
def test_file_that_is_no_database_is_refused(path, read_only, content, descriptors):
    path.write_bytes(content * 100)

    with pytest.raises(ConfigError, match=f"^{path} cannot be used as a cookbook: "):
        open_database(path, COOKBOOK, read_only=read_only)
    with pytest.raises(sqlite3.DatabaseError):
        connect(path, COOKBOOK, read_only=read_only)


def test_missing_file_is_an_error_for_a_reader(path, tmp_path, descriptors):
    with pytest.raises(ConfigError, match="unable to open"):
        open_database(path, COOKBOOK, read_only=True)
    with pytest.raises(ConfigError, match="unable to open"):
        open_database(tmp_path / "no" / "book", COOKBOOK, read_only=False)

    assert not path.exists()


def test_empty_file_is_new_for_a_writer_and_missing_for_a_reader(path):
    path.touch()

    with pytest.raises(ConfigError, match="other tables, or none"):
        open_database(path, COOKBOOK, read_only=True)
    with contextlib.closing(open_database(path, COOKBOOK, read_only=False)) as db:
        assert recipes(db) == []


@pytest.mark.parametrize("step", range(6))
def test_reader_sees_all_of_the_tables_that_another_makes_or_none(
    path, step, monkeypatch
):
    """Another process creates the file before a reader's nth statement."""
    steps = iter(range(step, -1, -1))

    class Overtaken(sqlite3.Connection):
        def execute(self, *args):
            if next(steps, None) == 0:
                with monkeypatch.context() as own:
                    own.setattr(sqlite3, "connect", plain)
                    open_database(path, COOKBOOK, read_only=False).close()
            return super().execute(*args)

    plain = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", partial(plain, factory=Overtaken))
    path.touch()

    try:
        with contextlib.closing(open_database(path, COOKBOOK, read_only=True)) as db:
            assert recipes(db) == []
    except ConfigError as exc:
        assert "other tables, or none" in str(exc)


def test_file_is_created_once_it_has_its_tables(path):
    assert not is_created(path)
    script = f"{COOKBOOK.statements} PRAGMA user_version = 3; COMMIT"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        for statement in script.split(";"):
            assert path.exists() and not is_created(path)
            db.execute(statement)
    assert is_created(path)
    open_database(path, COOKBOOK, read_only=True).close()


def test_file_whose_tables_were_half_made_is_not_created(path, tmp_path):
    killed = tmp_path / "killed.sqlite3"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA cache_size = 1")  # pages are written before the commit
        db.execute("BEGIN IMMEDIATE")
        for number in range(20):
            db.execute(f"CREATE TABLE t{number} (value)")
        for suffix in ("", "-journal"):
            shutil.copy(f"{path}{suffix}", f"{killed}{suffix}")
    assert killed.stat().st_size

    assert not is_created(killed)

    with contextlib.closing(open_database(killed, COOKBOOK, read_only=False)) as db:
        assert recipes(db) == []
    assert is_created(killed)


def test_tables_are_made_together_or_not_at_all(path, descriptors):
    torn = Schema("a book", 3, COOKBOOK.tables, "CREATE TABLE recipe (name); CREATE;")

    with pytest.raises(ConfigError, match="cannot be used as a book: .*syntax error"):
        open_database(path, torn, read_only=False)

    with contextlib.closing(open_database(path, COOKBOOK, read_only=False)) as db:
        assert recipes(db) == []


@pytest.mark.parametrize("any_thread", [False, True])
def test_connection_is_of_one_thread_unless_it_is_asked_for(book, any_thread):
    db = connect(book, COOKBOOK, read_only=True, any_thread=any_thread)
    seen = []

    def look():
        with contextlib.suppress(sqlite3.ProgrammingError):
            seen.append(recipes(db))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    db.close()

    assert seen == ([["soup"]] if any_thread else [])


# What each of the three makes of it.


def open_captures(path, *, read_only=False):
    return Captures(path.parent, read_only=read_only)


def fill_frontier(frontier):
    frontier.add([Candidate("http://a.test/", "a.test")])


def fill_index(index):
    index.add("http://a.test/", "Home", "", "mill", 0.0)


def fill_captures(captures):
    values = "http://a.test/", 0, "response", 200, "text/html", "", "", "", 1, 0, 9
    captures.add(Capture(*values, bytes(16)), None)
    captures.commit()


STORES = {
    "frontier.sqlite3": (SqliteFrontier, fill_frontier),
    "crawl.sqlite": (PageIndex, fill_index),
    "archive.sqlite3": (open_captures, fill_captures),
}


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    """Return the path of a store with one thing in it, and what opens it."""
    path = tmp_path / request.param
    open_store, fill = STORES[request.param]
    with contextlib.closing(open_store(path)) as opened:
        fill(opened)
    return path, open_store


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("version", [0, 1, 2, 99])
def test_every_store_refuses_another_version_and_another_program(
    store, read_only, version, descriptors
):
    path, open_store = store
    message = "holds an? .* of version 99, .* use a newer one, or delete "
    if version != 99:
        path.unlink()
        execute(path, "CREATE TABLE recipe (name)")
        message = "cannot be used as .*other tables"
    execute(path, f"PRAGMA user_version = {version}")
    before = path.read_bytes()

    with pytest.raises(ConfigError, match=f"^{path} {message}"):
        open_store(path, read_only=read_only)

    assert path.read_bytes() == before


# The archive adds the same to any error of its table.
@pytest.mark.parametrize("store", ["frontier.sqlite3", "crawl.sqlite"], indirect=True)
@pytest.mark.parametrize("read_only", [False, True])
def test_store_that_is_broken_says_how_to_rebuild_it(store, read_only):
    path, open_store = store
    path.write_bytes(b"no base" * 100)

    with pytest.raises(ConfigError, match="file is not a database; delete "):
        open_store(path, read_only=read_only)


COUNT = """
import pathlib, sys
from crawler_app.store.archive.captures import Captures
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.store.index import PageIndex
from crawler_app.base.models import State

path = pathlib.Path(sys.argv[1])
if path.name == "frontier.sqlite3":
    print(SqliteFrontier(path, read_only=True).count(State.QUEUED))
elif path.name == "crawl.sqlite":
    print(PageIndex(path, read_only=True).search("mill").total)
else:
    print(Captures(path.parent, read_only=True).counts()[0])
"""


def count_in_read_only_file_system(path):
    """Run a program that sees a directory as read-only."""
    directory = path.parent
    mount = (
        f"mount --bind {directory} {directory} && mount -o remount,ro,bind {directory}"
    )
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh"]
        + [sys.executable, "-c", COUNT, path],
        check=False,
        env=os.environ | IMPORTS,
        capture_output=True,
        text=True,
        timeout=60,
    )


def may_mount():
    try:
        run = subprocess.run(
            ["unshare", "-m", "true"], check=False, capture_output=True
        )
    except FileNotFoundError:
        return False
    return run.returncode == 0


@pytest.mark.skipif(not may_mount(), reason="mounting needs rights")
def test_closed_stores_can_be_read_in_a_read_only_directory(store):
    path, _ = store

    run = count_in_read_only_file_system(path)

    assert run.stdout == "1\n", run.stderr
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.skipif(not may_mount(), reason="mounting needs rights")
def test_no_store_that_was_not_closed_is_read_in_part(store, tmp_path):
    path, open_store = store
    fill = STORES[path.name][1]
    path.unlink()
    copy = tmp_path / "copy" / path.name
    copy.parent.mkdir()
    with contextlib.closing(open_store(path)) as opened:
        fill(opened)
        getattr(opened, "flush", lambda: None)()
        for name in (path.name, f"{path.name}-wal"):  # as a killed crawl leaves them
            shutil.copy(path.parent / name, copy.parent / name)

    run = count_in_read_only_file_system(copy)

    assert "ConfigError" in run.stderr and "was not closed" in run.stderr
    assert f"{path.name}-wal" in run.stderr
    open_store(copy, read_only=True).close()
