"""Killing a worker at any step of an upload loses nothing, for it or for readers.

The worker is a process that kills itself before the n-th change of a file, for each n; the
storage is a directory, so that changes there count too.
"""

from tests.helpers.scripts import start_python

SCRIPT = """
import asyncio, contextlib, operator, os, sys
from pathlib import Path

from crawler_app.store.archive.captures import Captures
from crawler_app.store.archive.replay import read_capture
from crawler_app.store.archive.store import Archive
from crawler_app.run.directory import uploading
from crawler_app.store.index import PageIndex
from crawler_app.base.storage.catalogue import ARCHIVE_TABLE, INDEX
from crawler_app.base.storage.tables import Cache, StoredTables
from tests.crawler_app.store.archive.conftest import make_exchange

top = Path(sys.argv[1])
staging, url = top / "staging", f"file://{top}/store/key"
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir"}
PAGES_A_RUN = 3
uploading.LOOK_EVERY_S = 0.001


def url_of(number):
    return f"http://a.test/{number}"


def crawl(number):
    "Write some pages, which the frontier then has as finished; upload them."
    asyncio.set_event_loop(loop := asyncio.new_event_loop())
    with uploading.Uploader(staging, url, 10**6) as uploader:
        archive = Archive(staging, max_file_bytes=2000)
        index = PageIndex(staging / INDEX)
        uploader.start()
        for page in range(number, number + PAGES_A_RUN):
            loop.run_until_complete(write(archive, page))
            index.add(url_of(page), "", "", "x", 0.0)
        archive.flush()
        index.flush()
        os.write(finished, b"x")
        archive.close()
        index.close()
        loop.run_until_complete(end(uploader))


async def write(archive, page):
    await archive.write(make_exchange(url_of(page), b"%d" % page * 400), 1e9)


async def end(uploader):
    await uploader.end(is_patient=True)


def check(flushed):
    "What was flushed can be read here; what the catalogue has, archived and indexed, anywhere."
    with contextlib.closing(Archive(staging, max_file_bytes=2000)) as archive:
        for page in range(flushed):
            capture = archive.latest(url_of(page))
            assert archive.read(capture, 10**6).body == b"%d" % page * 400
    tables = StoredTables.find(url, Cache(top / "cache"))
    if tables is None or not tables.fetch(ARCHIVE_TABLE):
        return 0, 0
    tables.fetch(INDEX)
    with contextlib.closing(Captures(tables.path, read_only=True)) as captures:
        found = list(captures.in_order())
        for each in found:
            read_capture(tables.path, captures, each, 10**6)
    with contextlib.closing(PageIndex(tables.path / INDEX, read_only=True)) as index:
        # A snapshot may fall between the two flushes, and hold no index of the last pages.
        archived = {each.url for each in found}
        return len(archived), sum(map(index.holds, archived))


def run(kill_at, number):
    "Crawl in a process that is killed at a step; return whether it was, and what it flushed."
    global finished
    reading, finished = os.pipe()
    pid = os.fork()
    if not pid:
        steps = 0

        def hook(event, arguments):
            nonlocal steps
            is_write = event == "open" and isinstance(arguments[2], int) and (
                arguments[2] & (os.O_WRONLY | os.O_RDWR)
            )
            if event in CHANGES or is_write:
                steps += 1
                if steps == kill_at:
                    os._exit(9)

        sys.addaudithook(hook)
        try:
            crawl(number)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    os.close(finished)
    has_flushed = bool(os.read(reading, 1))
    os.close(reading)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (0, 9)
    return code == 9, has_flushed


number, kill_at, seen = 0, 1, (0, 0)
staging.mkdir()
was_killed = True
while was_killed:
    was_killed, has_flushed = run(kill_at, number)
    number += PAGES_A_RUN * has_flushed
    before, seen = seen, check(number)
    assert all(map(operator.ge, seen, before)), (seen, before)
    kill_at += 1
assert seen == (number, number), (seen, number)
print(kill_at)
"""


def test_kill_before_any_change_of_a_file_loses_nothing(tmp_path):
    worker = start_python("-c", SCRIPT, tmp_path)
    out, _ = worker.communicate()

    assert worker.returncode == 0
    assert int(out) > 20  # otherwise the steps were not observed
