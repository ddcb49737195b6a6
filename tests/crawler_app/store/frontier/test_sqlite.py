"""The frontier on disk: what survives the process, the disk and other programs."""

import contextlib
import dataclasses
import itertools
import random
import resource
import sqlite3
import stat
import threading
import tracemalloc
from pathlib import Path

import pytest

from crawler_app.base.errors import (
    ArchiveError,
    ConfigError,
    FrontierError,
    LeaseLostError,
)
from crawler_app.base.models import Candidate, Outcome, State
from crawler_app.base.reasons import Reason
from crawler_app.base.urls import dedup_key
from crawler_app.store import checkpoints
from crawler_app.store.frontier import saved_keys, sqlite
from crawler_app.store.frontier.commit_group import MAX_AGE_S, MAX_ENDS
from crawler_app.store.frontier.count_types import RANKED
from crawler_app.store.frontier.sqlite import SqliteFrontier
from tests.helpers.counting import counts_are_those_of_the_records
from tests.helpers.fuzzing import examples

LEASE_S = 60.0
PAGE = Outcome(State.DONE, "ok", 200, "text/html", 10, 0.1, title="x")

# The second where SQLite has kept the transaction, so that nothing else was lost.
DISK_FAULTS = (FrontierError, sqlite3.OperationalError)

# Crawls a site in which page n links to 2n+1 and 2n+2, without a network; tells of
# every page when it has finished it.  It never stops by itself.
SYNTHETIC_CRAWL = """
import itertools, sys
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.base.models import Candidate, Outcome, State

def page(n):
    return Candidate(f"http://{n % 3}.test/{n}", f"{n % 3}.test", n.bit_length())

frontier = SqliteFrontier(sys.argv[1])
print("open", flush=True)
frontier.add([page(0)])
held = []
for turn in itertools.count():
    now = turn / 1000
    if frontier.is_due(now):
        frontier.flush()
    while len(held) < 4 and (claim := frontier.claim(now, 10**9)):
        held.append(claim)
    claim = held.pop(0)
    n = int(claim.url.rpartition("/")[2])
    if n % 7 == 3 and not claim.tries:
        frontier.retry(claim, now)
        continue
    links = [page(2 * n + 1), page(2 * n + 2), page(n)]
    frontier.finish(claim, Outcome(State.DONE, "ok", 200), now, links)
    print(n, flush=True)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "frontier.sqlite3"


@pytest.fixture
def open_frontier(path):
    """Open frontiers that are closed at the end, by default in one file."""
    opened = []

    def open_frontier(path=path, **options):
        opened.append(SqliteFrontier(path, **options))
        return opened[-1]

    yield open_frontier
    for frontier in opened:
        with contextlib.suppress(sqlite3.ProgrammingError):  # closed by the test
            frontier.close()


@pytest.fixture
def crawl(start_script, path):
    """Start synthetic crawls in processes of their own, which are killed at the end."""
    return lambda: start_script(SYNTHETIC_CRAWL, path)


def found(path, depth=0, refusal="", host="a.test"):
    return Candidate(f"http://{host}/{path}", host, depth, 0, refusal)


def url(path):
    return f"http://a.test/{path}"


def agree(frontier):
    """The state in memory agrees with the file: the counts, and the known keys."""
    counts_are_those_of_the_records(frontier)
    records = list(frontier.records())
    for record in records:
        is_too_deep = record.outcome and record.outcome.reason == Reason.TOO_DEEP
        assert (record.url in frontier) is not bool(is_too_deep)
    assert len(frontier._keys) == len(records)


def test_keys_are_known_whether_saved_or_not(open_frontier, monkeypatch):
    monkeypatch.setattr(saved_keys, "MAX_UNSAVED", 10)
    chosen = random.Random(2)
    urls = [
        found(str(n), refusal=chosen.choice(["", "", "too_deep"])) for n in range(400)
    ]
    frontier = open_frontier()
    for _ in range(40):
        frontier.add(chosen.sample(urls, 12))
        frontier.flush()
        if chosen.random() < 0.5:
            frontier.close()
        frontier = open_frontier()
        if chosen.random() < 0.1:
            frontier.begin_anew(is_compared=False)
        agree(frontier)
        known_urls = set(frontier.urls())
        for each in urls[::7]:
            is_found = frontier.find(dedup_key(each.url)) is not None
            assert is_found == (each.url in known_urls)

    saved = frontier._db.execute("SELECT urls FROM saved").fetchone()[0]
    assert 0 < saved <= frontier.total()


def test_full_disk_does_not_matter_when_keys_are_saved(open_frontier, monkeypatch):
    def fail(db, keys):
        db.execute("INSERT INTO known VALUES (0, x'00')")
        raise sqlite3.OperationalError("database or disk is full")

    frontier = open_frontier()
    frontier.add([found("x")])
    monkeypatch.setattr(sqlite, "save_keys", fail)

    frontier.close()

    frontier = open_frontier()
    agree(frontier)
    assert frontier._db.execute("SELECT * FROM known").fetchall() == []


def test_slowest_of_many_are_kept(open_frontier):
    frontier = open_frontier()
    chosen = random.Random(1)
    frontier.add(found(str(n)) for n in range(5 * RANKED))
    for n in range(5 * RANKED):
        took_s = chosen.choice([0.25, 1.0, chosen.random(), None])
        claim = frontier.claim(0.0, LEASE_S)
        frontier.finish(claim, dataclasses.replace(PAGE, took_s=took_s), 1.0)
        if n % RANKED == 0:
            agree(frontier)
            frontier.close()
            frontier = open_frontier()
            frontier.requeue_urls([frontier.slowest()[0].url] if n else [])

    agree(frontier)


# The file.


def test_claims_are_those_of_one_process(open_frontier):
    frontier = open_frontier()
    frontier.add([found("x"), found("y")])
    frontier.flush()
    frontier.claim(0.0, LEASE_S)
    frontier.flush()

    assert frontier.urls(State.CLAIMED) == [url("x")]
    for other in (open_frontier(read_only=True), open_frontier()):
        assert other.urls(State.QUEUED) == [url("x"), url("y")]
        assert other.count(State.QUEUED) == 2


def test_reader_sees_one_moment(open_frontier):
    frontier = open_frontier()
    frontier.add([found("x")])
    frontier.flush()
    reader = open_frontier(read_only=True)

    frontier.add([found("y")])
    frontier.flush()

    assert reader.urls() == [url("x")]
    assert open_frontier(read_only=True).urls() == [url("x"), url("y")]


@pytest.mark.parametrize("read_only", [True, False])
def test_damaged_file_is_refused_and_left_alone(open_frontier, path, read_only):
    frontier = open_frontier()
    frontier.add(found(str(n)) for n in range(2_000))
    frontier.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + bytes(len(whole) - 4096))

    with pytest.raises(ConfigError, match="cannot be used as a frontier"):
        open_frontier(read_only=read_only)

    assert path.read_bytes()[:4096] == whole[:4096]


def test_path_with_special_characters(open_frontier, tmp_path):
    path = tmp_path / "a?mode=memory&b#c%20d é.sqlite3"

    frontier = open_frontier(path)
    frontier.add([found("x")])
    frontier.flush()

    assert open_frontier(path, read_only=True).urls(State.QUEUED) == [url("x")]
    assert path.exists()


def deleted_bytes():
    """Return the size of the files without a name that this process has open."""
    sizes = []
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found = link.stat()
            if stat.S_ISREG(found.st_mode) and not found.st_nlink:
                sizes.append(found.st_size)
    return sum(sizes)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only on Linux")
def test_temporary_frontier_is_a_file_without_a_name():
    before = deleted_bytes()
    frontier = SqliteFrontier()
    frontier.add(found(f"{'x' * 1_000}{n}") for n in range(5_000))
    frontier.flush()

    assert deleted_bytes() - before > 2_000_000
    frontier.close()
    assert deleted_bytes() == before


def test_claim_uses_the_indexes(open_frontier):
    frontier = open_frontier()
    statements = []
    frontier._db.set_trace_callback(statements.append)
    frontier.add([found("x"), found("y")])
    frontier.claim(0.0, LEASE_S)
    frontier.claim(LEASE_S + 1.0, LEASE_S)
    frontier.retry(frontier.claim(LEASE_S + 1.0, LEASE_S), LEASE_S + 2.0)
    frontier.claim(LEASE_S + 2.0, LEASE_S)
    frontier.next_at(0.0)
    frontier._db.set_trace_callback(None)

    asked = [s for s in statements if s.startswith(("SELECT", "UPDATE"))]
    plans = {
        row[3]
        for statement in asked
        for row in frontier._db.execute("EXPLAIN QUERY PLAN " + statement)
    }

    assert len(asked) > 5
    assert not [plan for plan in plans if "TEMP B-TREE" in plan]
    assert not [p for p in plans if p.startswith("SCAN") and "INDEX" not in p]


# Groups.


def seen_from_outside(open_frontier):
    """Return what another process would find to be done."""
    with contextlib.closing(open_frontier(read_only=True)) as reader:
        return reader.urls(State.DONE)


def finish(frontier, now=0.0, outlinks=()):
    """Claim a URL and finish it."""
    frontier.finish(frontier.claim(now, LEASE_S), PAGE, now, outlinks)


@pytest.mark.parametrize(
    "ahead_s, has_finished, due_at",
    [(3_600.0, True, 5.0), (400 * 86_400.0, False, 0.0)],
)
def test_holds_of_an_earlier_run_with_a_wrong_clock_end_at_the_right_time(
    tmp_path, ahead_s, has_finished, due_at
):
    with contextlib.closing(SqliteFrontier(tmp_path / "frontier.sqlite3")) as frontier:
        frontier.add([found("x"), found("y"), found("z")])
        if has_finished:
            finish(frontier, ahead_s)
        frontier.hold_host("a.test", ahead_s + 5.0)

    with contextlib.closing(SqliteFrontier(tmp_path / "frontier.sqlite3")) as frontier:
        assert bool(frontier.claim(0.0, LEASE_S)) is not bool(due_at)
        assert frontier.claim(due_at, LEASE_S)


def test_group_is_due_when_there_are_enough_ends(open_frontier):
    frontier = open_frontier()
    frontier.add(found(str(n)) for n in range(2 * MAX_ENDS))

    for _ in range(MAX_ENDS):
        assert not frontier.is_due(0.0)
        finish(frontier)

    assert frontier.is_due(0.0)
    assert seen_from_outside(open_frontier) == []
    frontier.flush()
    assert not frontier.is_due(0.0)
    assert seen_from_outside(open_frontier) == [url(str(n)) for n in range(MAX_ENDS)]


def test_group_is_due_when_the_first_of_its_ends_is_old_enough(open_frontier):
    frontier = open_frontier()
    frontier.add(found(str(n)) for n in range(9))
    assert not frontier.is_due(1000.0)
    finish(frontier, now=100.0)
    finish(frontier, now=100.0 + 0.9 * MAX_AGE_S)

    assert not frontier.is_due(100.0 + 0.9 * MAX_AGE_S)
    assert frontier.is_due(100.0 + MAX_AGE_S)


def test_what_changes_nothing_need_not_be_written(open_frontier):
    prepared = []
    frontier = open_frontier(before_commit=lambda: prepared.append(True))
    frontier.add([found("x")])
    assert frontier.has_changes()
    frontier.flush()

    frontier.next_at(0.0)
    frontier.depth_in_work(0.0)
    frontier.claim(0.0, LEASE_S, max_depth=-1)
    frontier.flush()

    assert not frontier.has_changes()
    assert prepared == [True]
    assert not frontier._db.in_transaction  # nor is another process kept from writing
    frontier.hold_host("a.test", 5.0)
    assert frontier.has_changes()


@pytest.mark.parametrize("how", ["flush", "close"])
def test_page_and_its_links_are_written_together(open_frontier, how):
    frontier = open_frontier()
    frontier.add([found(str(n)) for n in range(9)])
    finish(frontier, outlinks=[found("new", 1)])
    reader = open_frontier(read_only=True)
    assert (reader.urls(State.DONE), url("new") in reader.urls()) == ([], False)

    getattr(frontier, how)()

    reader = open_frontier(read_only=True)
    assert (reader.urls(State.DONE), url("new") in reader.urls()) == ([url("0")], True)


def test_claim_of_a_url_that_was_lost_with_its_group_ends(open_frontier):
    is_full = False

    def keep():
        if is_full:
            raise ArchiveError("no space left")

    frontier = open_frontier(before_commit=keep)
    frontier.add([found("x")])
    frontier.flush()
    finish(frontier, outlinks=[found("new")])
    claimed = frontier.claim(0.0, LEASE_S)
    is_full = True

    with pytest.raises(FrontierError):
        frontier.flush()

    is_full = False
    with pytest.raises(LeaseLostError):
        frontier.finish(claimed, PAGE, 0.0)
    assert frontier.urls(State.QUEUED) == frontier.urls() == [url("x")]


def test_lost_lease_leaves_the_others_of_its_group(open_frontier):
    frontier = open_frontier()
    frontier.add([found("x"), found("y")])
    lost = frontier.claim(0.0, lease_s=0.0)
    finish(frontier)

    with pytest.raises(LeaseLostError):
        frontier.finish(lost, PAGE, 0.0, [found("new")])
    frontier.close()

    assert seen_from_outside(open_frontier) == [url("x")]


def test_stores_are_flushed_before_a_group(open_frontier):
    seen = []
    frontier = open_frontier(
        before_commit=lambda: seen.append(seen_from_outside(open_frontier))
    )
    frontier.add([found("x"), found("y")])
    finish(frontier)
    seen.clear()
    frontier.flush()

    assert seen == [[]]
    assert seen_from_outside(open_frontier) == [url("x")]
    finish(frontier)
    frontier.flush(is_prepared=True)
    assert seen == [[]]
    assert seen_from_outside(open_frontier) == [url("x"), url("y")]


@pytest.mark.parametrize("fault", ["belongings", "disk"])
def test_group_that_cannot_be_written_is_queued_again_as_a_whole(open_frontier, fault):
    faults = []

    def keep():
        if faults:
            raise faults[0]

    frontier = open_frontier(before_commit=keep)
    frontier.add(found(str(n)) for n in range(4))
    frontier.flush()
    for _ in range(2):
        finish(frontier, outlinks=[found("new", 1)])
    claimed = frontier.claim(0.0, LEASE_S)
    limit = contextlib.nullcontext()
    if fault == "disk":
        limit = file_size_limit(1)
    else:
        faults.append(ArchiveError("no space left"))

    with limit, pytest.raises(FrontierError, match="will be fetched again") as raised:
        frontier.flush()

    assert ("no space left" in str(raised.value)) is (fault == "belongings")
    faults.clear()
    agree(frontier)
    assert frontier.urls(State.QUEUED) == [url("0"), url("1"), url("3")]
    assert url("new") not in frontier
    frontier.finish(claimed, PAGE, 0.0)
    finish(frontier, outlinks=[found("new", 1)])
    frontier.flush()
    assert seen_from_outside(open_frontier) == [url("0"), url("2")]


def test_log_is_copied_in_another_thread_and_restarts(open_frontier, path, monkeypatch):
    monkeypatch.setattr(checkpoints, "DUE_ROWS", 500)
    frontier = open_frontier()
    log = path.with_name(path.name + "-wal")
    sizes = []

    for n in range(60):
        frontier.add(found(f"{n}/{i}", 1) for i in range(100))
        frontier.flush()
        checkpoint = frontier.due_checkpoint()
        if checkpoint is not None:
            thread = threading.Thread(target=checkpoint)
            thread.start()
            thread.join()
        sizes.append(log.stat().st_size)

    assert sizes[-1] < 1.5 * sizes[15]
    assert path.stat().st_size > sizes[-1]
    assert len(open_frontier(read_only=True).urls()) == 6_000


# Death.


@pytest.mark.parametrize("seed", range(examples(5)))
def test_killed_crawl_has_lost_nothing_that_was_finished(
    crawl, open_frontier, path, seed
):
    rng = random.Random(seed)
    finished = []

    for _ in range(2):
        process = crawl()
        assert process.stdout.readline() == "open\n"
        finished += itertools.islice(process.stdout, rng.randrange(1, 400))
        process.kill()
        finished += process.stdout.read().split("\n")
        process.wait()
        finished = [line.strip() for line in finished if line.strip().isdecimal()]

    frontier = open_frontier()
    agree(frontier)
    done = set(frontier.urls(State.DONE))
    known = {record.url for record in frontier.records()}
    printed = {f"http://{int(n) % 3}.test/{n}" for n in finished}
    for n in (int(url.rpartition("/")[2]) for url in done):
        links = (2 * n + 1, 2 * n + 2)
        assert {f"http://{link % 3}.test/{link}" for link in links} <= known
    # What was finished and is not on disk is at most one group at each death.
    assert len(printed - done) <= 2 * MAX_ENDS
    assert len(done - printed) <= 2


def test_reader_looks_while_another_process_writes(crawl, open_frontier, path):
    process = crawl()
    printed, seen = set(), []

    for _ in range(5):
        lines = [process.stdout.readline().strip() for _ in range(100)]
        printed |= {f"http://{int(n) % 3}.test/{n}" for n in lines if n.isdecimal()}
        reader = open_frontier(read_only=True)
        records = list(reader.records())
        done = {r.url for r in records if r.state is State.DONE}
        assert len(printed - done) <= MAX_ENDS
        assert all(not r.via or r.via in done for r in records)
        assert reader.count(State.DONE) <= len(done)
        seen.append(len(done))
        reader.close()

    assert seen == sorted(seen)
    assert seen[-1] + MAX_ENDS >= len(printed) > 400
    assert process.poll() is None


# Errors in the middle.


@pytest.mark.parametrize(
    ("title", "bad"),
    [
        ("\ud800", found("x")),
        ("x", found("\ud800")),
        ("x", found("x", host="\ud800")),
        ("x", found("x", refusal="\ud800")),
    ],
)
def test_page_that_cannot_be_stored_leaves_the_others_of_its_group(
    open_frontier, title, bad
):
    frontier = open_frontier()
    frontier.add([found("start"), found("deep", 9, Reason.TOO_DEEP), found("other")])
    finish(frontier)
    claimed = frontier.claim(0.0, LEASE_S)
    links = [found("new", host="new.test"), found("deep", 1), bad, found("late")]
    before = list(frontier.records())

    with pytest.raises(UnicodeEncodeError):
        page = dataclasses.replace(PAGE, title=title)
        frontier.finish(claimed, page, 1.0, links)

    agree(frontier)
    assert list(frontier.records()) == before
    assert frontier.claim(0.0, LEASE_S) is None
    del links[2]
    assert frontier.finish(claimed, PAGE, 1.0, links) == 3
    hosts = [frontier.claim(0.0, LEASE_S).host for _ in range(3)]
    assert hosts == ["a.test", "a.test", "new.test"]
    agree(frontier)
    frontier.close()
    assert seen_from_outside(open_frontier) == [url("start"), url("other")]


# A full disk.


@contextlib.contextmanager
def file_size_limit(size_bytes):
    """Limit the size of this process's files, as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def crawl_until_full(frontier, held):
    """Crawl pages with many links forever; the claims that have not ended are held."""
    for n in itertools.count():
        now = n * MAX_AGE_S / 5
        if frontier.is_due(now):
            frontier.flush()
        while len(held) < 4 and (claim := frontier.claim(now, 1e9)):
            held.append(claim)
        links = [found(f"{n}/{i}/{'x' * 500}", 1) for i in range(20)]
        frontier.finish(held[0], PAGE, now, links)
        del held[0]


def go_on(frontier, held):
    """Finish what is held, where the claims still stand, and a few pages more."""
    for claim in held:
        try:
            frontier.finish(claim, PAGE, 1e6)
        except LeaseLostError:
            assert claim.url in frontier.urls(State.QUEUED)
    for _ in range(20):
        frontier.finish(frontier.claim(1e6, 1e9), PAGE, 1e6, [found("new", 2)])


def test_memory_and_file_agree_after_a_full_disk(open_frontier):
    frontier = open_frontier()
    frontier.add(found(f"start{n}") for n in range(10))
    frontier.flush()
    frontier._db.execute("PRAGMA max_page_count = 100")
    held = []

    with pytest.raises(DISK_FAULTS, match="full"):
        crawl_until_full(frontier, held)

    agree(frontier)
    assert frontier.count(State.DONE) > 5
    frontier._db.execute("PRAGMA max_page_count = 100000")
    go_on(frontier, held)
    agree(frontier)


def test_disk_that_is_full_at_any_moment(open_frontier, tmp_path):
    for limit in range(100_000, 200_000, 5_003):
        frontier = open_frontier(tmp_path / f"{limit}.sqlite3")
        frontier.add(found(f"start{n}") for n in range(30))
        frontier.flush()
        held = []

        with (
            file_size_limit(limit),
            pytest.raises(DISK_FAULTS, match="full|disk I/O error"),
        ):
            crawl_until_full(frontier, held)

        agree(frontier)
        reader = open_frontier(tmp_path / f"{limit}.sqlite3", read_only=True)
        assert list(reader.records()) == [
            dataclasses.replace(record, state=State.QUEUED)
            if record.state is State.CLAIMED
            else record
            for record in frontier.records()
        ]
        reader.close()
        go_on(frontier, held)
        agree(frontier)
        frontier.close()


# Memory.


def test_known_urls_take_at_most_100_bytes_each(open_frontier):
    frontier = open_frontier()
    urls = 11_000  # a set has grown just now, so that most of it is empty
    tracemalloc.start()

    before = tracemalloc.get_traced_memory()[0]
    frontier.add(
        Candidate(f"http://a.test/some/directory/page-{n}.html", "a.test")
        for n in range(urls)
    )
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()

    assert frontier.count(State.QUEUED) == urls
    assert used / urls <= 100
