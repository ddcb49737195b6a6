"""Pages read by several processes."""

import signal
import subprocess
import sys

import pytest

from crawler_app.errors import ArchiveError
from crawler_app.report.holders import BATCH_PAGES, Search

A = "http://a.test"
PAGES = 3 * BATCH_PAGES

COUNT = """
import sys
from pathlib import Path
from crawler_app.report.holders import Search

search = Search(Path(sys.argv[1]), {"http://a.test/gone": 7}, 10_000)
batches = list(search.run(0, processes=int(sys.argv[2])))
found = {link.page for batch in batches for link in batch.found}
print(sum(batch.pages for batch in batches), len(found), end="")
"""

# Ends itself as soon as the others have begun, as `kill -9` would.
DIE = """
import multiprocessing, os, signal, sys
from pathlib import Path
from crawler_app.report.holders import Search

search = Search(Path(sys.argv[1]), {"http://a.test/gone": 7}, 1_000_000)
batches = search.run(0, processes=2)
assert next(batches).found
print(*(child.pid for child in multiprocessing.active_children()), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


# A program's handler is its own; its children would wait for ever.
STOP = """
import signal, sys
from pathlib import Path
from crawler_app.report.holders import Search

signal.signal(signal.SIGTERM, lambda *_: print("ours"))
search = Search(Path(sys.argv[1]), {"http://a.test/gone": 7}, 1_000_000)
batches = search.run(0, processes=2)
assert next(batches).found
batches.close()
print("closed", end="")
"""


@pytest.fixture
def path(crawl):
    for n in range(PAGES):
        crawl.page(f"/{n}", f'{n}<a href="gone">x</a>')
    crawl.fail("/gone")
    crawl.close()
    return crawl.directory.path


@pytest.fixture
def large_path(crawl):
    """Return so much that processes wait, each with a batch that nobody takes."""
    links = "".join(f'<a href="gone#{n}">{n:x<150}</a>' for n in range(100))
    for n in range(PAGES):
        crawl.page(f"/{n}", f"{n}{links}")
    crawl.close()
    return crawl.directory.path


def run(script, *arguments):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_every_page_is_read_once_by_however_many(path, processes):
    ended = run(COUNT, path, processes)

    assert (ended.stdout, ended.stderr) == (f"{PAGES} {PAGES}", "")


def test_page_stays_in_its_share_when_others_come(crawl):
    def share():
        crawl.flush()
        search = Search(crawl.directory.path, {f"{A}/gone": 7}, 10_000)
        return {link.page for batch in search.read_share(0, 2) for link in batch.found}

    crawl.fail("/early", "timeout", None)
    for n in range(20):
        crawl.page(f"/{n}", f'{n}<a href="gone">x</a>')
    before = share()

    crawl.again("timeout")
    crawl.page("/early", '<a href="gone">x</a>')

    assert 0 < len(before) < 20
    assert share() - {f"{A}/early"} == before


def test_processes_end_when_the_one_that_began_them_is_killed(large_path):
    # Comes back when all have ended that share its output.
    ended = run(DIE, large_path)

    assert ended.returncode == -signal.SIGKILL
    assert len(ended.stdout.split()) == 2


def test_processes_that_are_no_longer_wanted_end_without_our_handler(large_path):
    ended = run(STOP, large_path)

    assert (ended.stdout, ended.stderr) == ("closed", "")


def test_error_in_another_process_is_raised_here(path):
    (path / "archive.sqlite3").write_bytes(b"no table at all" * 100)

    ended = run(COUNT, path, 2)

    assert "ArchiveError" in ended.stderr.splitlines()[-1]
    with pytest.raises(ArchiveError):
        list(Search(path, {f"{A}/gone": 0}, 10_000).run(0, processes=1))


def test_page_beyond_the_limit_is_not_read(path):
    (batch, *_) = Search(path, {f"{A}/gone": 0}, 10).run(0, processes=1)

    assert (batch.pages, batch.unread, batch.found) == (BATCH_PAGES, BATCH_PAGES, [])
