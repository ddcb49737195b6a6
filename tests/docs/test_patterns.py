"""docs/patterns.rst: the old and the new version of each pattern do the same, or what the
page says is different.

Each test runs in virtual time, on the versions that it is parametrized with.
"""

import asyncio
import importlib.util
import re
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tornado.httpclient import AsyncHTTPClient
from tornado.netutil import bind_sockets

import gencoro.compat
from gencoro import gen

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "patterns.rst").read_text(encoding="utf-8")

URLS = ["/slow", "/quick", "/middling"]
SECONDS_BY_URL = {"/news": 3, "/sky": 2, "/slow": 3, "/quick": 1, "/middling": 2}


class Patterns:
    """One version of the patterns; ``call`` starts one and returns its Future."""

    def __init__(self, version):
        path = DOCS / f"patterns/{version}.py"
        spec = importlib.util.spec_from_file_location(f"patterns_{version}", path)
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        self.is_old = version == "old"

    def call(self, function, *args):
        if isinstance(function, str):
            function = getattr(self.module, function)
        if self.is_old:
            return gen.Task(function, *args)
        return asyncio.ensure_future(function(*args))


@pytest.fixture
def patterns(request):
    """Load the version that the test names; the old one with compat, which it needs."""
    if request.param != "old":
        yield Patterns(request.param)
        return
    gencoro.compat.install()
    yield Patterns("old")
    gencoro.compat.uninstall()


def versions(*names):
    return pytest.mark.parametrize("patterns", names, indirect=True)


old, new = versions("old"), versions("new")
both, three = versions("old", "new"), versions("old", "new", "native")


class Fetch:
    """A fetch that takes some time and returns the path in capitals, or fails."""

    def __init__(self, failures=0):
        self.started = []
        self.cancelled = []
        self.failures = failures

    @gen.coroutine
    def __call__(self, url):
        self.started.append(url)
        fails = len(self.started) <= self.failures
        try:
            yield gen.sleep(SECONDS_BY_URL[url])
        except asyncio.CancelledError:
            self.cancelled.append(url)
            raise
        if fails:
            raise OSError(f"no answer for {url}")
        return url.upper()


@pytest.fixture
def fetch():
    return Fetch()


class Times:
    """Work that takes some virtual time; keeps when each run began and ended."""

    def __init__(self, clock, seconds):
        self.clock = clock
        self.seconds = seconds
        self.begun = []
        self.ended = []

    @gen.coroutine
    def __call__(self, *args):
        self.begun.append(self.clock.time())
        yield gen.sleep(self.seconds)
        self.ended.append(self.clock.time())


@both
@gen.coroutine
def test_callback(patterns, virtual_clock):
    def ask(question, callback):
        gen.sleep(1).add_done_callback(lambda _: callback(f"{question} Yes."))

    answer = yield patterns.call("greet", ask, "Ann")

    assert answer == "Ann: Is it you, Ann? Yes."


@three
@gen.coroutine
def test_blocking_functions_on_a_pool(patterns, virtual_clock):
    with ThreadPoolExecutor(2) as pool:
        texts = yield patterns.call("read_all", str.upper, ["a", "b", "c"], pool)

    assert texts == ["A", "B", "C"]


@three
@gen.coroutine
def test_pair(patterns, virtual_clock, fetch):
    pages = yield patterns.call("fetch_pair", fetch)

    assert pages == ("/NEWS", "/SKY")
    assert virtual_clock.time() == 3


@both
@gen.coroutine
def test_list_and_dict(patterns, virtual_clock, fetch):
    pages = yield patterns.call("fetch_list", fetch, URLS)
    page_by_url = yield patterns.call("fetch_dict", fetch, URLS)

    assert pages == ["/SLOW", "/QUICK", "/MIDDLING"]
    assert page_by_url == dict(zip(URLS, pages, strict=True))
    assert virtual_clock.time() == 6


@three
@gen.coroutine
def test_results_as_they_come(patterns, virtual_clock, fetch):
    shown = []

    def show(url, page):
        shown.append((virtual_clock.time(), url, page))

    yield patterns.call("fetch_as_they_come", fetch, URLS, show)

    assert shown == [
        (1, "/quick", "/QUICK"),
        (2, "/middling", "/MIDDLING"),
        (3, "/slow", "/SLOW"),
    ]


@both
@gen.coroutine
def test_no_results_to_come(patterns, virtual_clock, fetch):
    ending = patterns.call("fetch_as_they_come", fetch, [], print)
    yield virtual_clock.advance(60)

    assert ending.done() is not patterns.is_old


@both
@gen.coroutine
def test_next_fetch_starts_before_this_chunk_is_written(patterns, virtual_clock):
    chunks = iter(["a", "b", "c", None])
    written = []

    @gen.coroutine
    def fetch_next():
        yield gen.sleep(2)
        return next(chunks)

    @gen.coroutine
    def write(chunk):
        yield gen.sleep(1)
        written.append((virtual_clock.time(), chunk))

    yield patterns.call("copy", fetch_next, write)

    assert written == [(3, "a"), (5, "b"), (7, "c")]
    assert virtual_clock.time() == 8


@new
@gen.coroutine
def test_fetch_under_way_ends_when_writing_fails(patterns, virtual_clock):
    cancelled = []

    @gen.coroutine
    def fetch_next():
        try:
            yield gen.sleep(2)
        except asyncio.CancelledError:
            cancelled.append(virtual_clock.time())
            raise
        return "chunk"

    @gen.coroutine
    def write(chunk):
        yield gen.sleep(1)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        yield patterns.call("copy", fetch_next, write)

    assert cancelled == [3]


class Cursor:
    """A cursor of the old kind, as Motor's was."""

    def __init__(self, rows):
        self.rows = list(rows)

    @property
    def fetch_next(self):
        future = gen.Future()
        gen.sleep(1).add_done_callback(lambda _: future.set_result(bool(self.rows)))
        return future

    def next_object(self):
        return self.rows.pop(0)


async def as_asynchronous(rows):
    for row in rows:
        await gen.sleep(1)
        yield row


@three
@gen.coroutine
def test_asynchronous_cursor(patterns, virtual_clock):
    rows = [{"title": "Vega"}, {"title": "Deneb"}]
    cursor = Cursor(rows) if patterns.is_old else as_asynchronous(rows)

    titles = yield patterns.call("titles", cursor)

    assert titles == ["Vega", "Deneb"]
    assert virtual_clock.time() >= 2


@pytest.mark.parametrize(
    "patterns, seconds, begun",
    [
        ("old", 20, [0, 80, 160]),
        ("new", 20, [0, 60, 120, 180]),
        ("old", 70, [0, 130]),
        ("new", 70, [0, 70, 140]),
    ],
    indirect=["patterns"],
)
@gen.coroutine
def test_minute_loop_never_overlaps(patterns, virtual_clock, seconds, begun):
    work = Times(virtual_clock, seconds)
    patterns.module.minute_loop(work)
    yield virtual_clock.advance(200)

    assert work.begun == begun


@both
@gen.coroutine
def test_work_started_each_minute_overlaps(patterns, virtual_clock):
    work = Times(virtual_clock, 90)
    periodic = patterns.module.start_each_minute(work)
    yield virtual_clock.advance(200)
    periodic.stop()

    assert work.begun == [60, 120, 180]
    assert work.ended == [150]


@both
@gen.coroutine
def test_answer_does_not_wait_for_what_runs_in_the_background(patterns, virtual_clock):
    record = Times(virtual_clock, 10)

    @gen.coroutine
    def query():
        yield gen.sleep(1)
        return ["row"]

    rows = yield patterns.call("answer", query, record)

    assert rows == ["row"]
    assert virtual_clock.time() == 1
    yield virtual_clock.advance(10)
    assert record.ended == [11]


@three
@gen.coroutine
def test_timeout(patterns, virtual_clock, fetch):
    quick = yield patterns.call("fetch_in_time", fetch, "/quick", 2)
    slow = yield patterns.call("fetch_in_time", fetch, "/slow", 2)

    assert (quick, slow) == ("/QUICK", None)
    assert virtual_clock.time() == 3
    assert fetch.cancelled == ([] if patterns.is_old else ["/slow"])


@old
@gen.coroutine
def test_stopping_waits_for_the_part(patterns, virtual_clock):
    download = patterns.module.Download(lambda number: gen.sleep(10), 3)
    running = download.run()
    yield virtual_clock.advance(15)
    download.stop()
    yield running

    assert virtual_clock.time() == 20
    assert download.parts == [None]


@new
@gen.coroutine
def test_cancelling_does_not_wait_for_the_part(patterns, virtual_clock):
    parts = []
    downloading = patterns.call("download", lambda number: gen.sleep(10), 3, parts)
    yield virtual_clock.advance(15)
    assert parts == [None]
    downloading.cancel()
    with pytest.raises(asyncio.CancelledError):
        yield downloading

    assert virtual_clock.time() == 15
    assert parts == []


@both
@gen.coroutine
def test_errors_of_a_list(patterns, virtual_clock):
    failed, page = yield patterns.call("fetch_each", Fetch(failures=1), URLS[:1] * 2)

    assert isinstance(failed, OSError)
    assert page == "/SLOW"


@both
@gen.coroutine
def test_one_fetch_is_shared(patterns, virtual_clock, fetch):
    shared = patterns.module.SharedFetch(fetch)
    first = patterns.call(shared.get, "/slow")
    yield virtual_clock.advance(1)
    pages = yield [first, patterns.call(shared.get, "/slow")]
    again = yield patterns.call(shared.get, "/slow")

    assert [*pages, again] == ["/SLOW"] * 3
    assert fetch.started == ["/slow"] * 2
    assert virtual_clock.time() == 6


@new
@gen.coroutine
def test_one_waiter_of_a_shared_fetch_is_cancelled_alone(
    patterns, virtual_clock, fetch
):
    shared = patterns.module.SharedFetch(fetch)
    first, second = shared.get("/slow"), shared.get("/slow")
    first.cancel()

    assert (yield second) == "/SLOW"
    assert first.cancelled()


@both
@gen.coroutine
def test_rate_limit(patterns, virtual_clock):
    limit = patterns.module.RateLimit(0.5)
    passed = []

    @gen.coroutine
    def work():
        yield patterns.call(limit.wait)
        passed.append(virtual_clock.time())

    yield [work() for _ in range(3)]
    yield gen.sleep(10)
    yield [work() for _ in range(2)]

    assert passed == [0, 0.5, 1, 11, 11.5]


@pytest.mark.parametrize(
    "patterns, jitter",
    [("old", []), ("new", [4, lambda: 0.0])],
    indirect=["patterns"],
)
@gen.coroutine
def test_retry_with_back_off(patterns, virtual_clock, jitter):
    fetch = Fetch(failures=3)
    page = yield patterns.call("fetch_patiently", fetch, "/quick", *jitter)

    assert page == "/QUICK"
    assert len(fetch.started) == 4
    assert virtual_clock.time() == 4 * 1 + (1 + 2 + 4)


@both
@gen.coroutine
def test_last_retry_raises(patterns, virtual_clock):
    fetch = Fetch(failures=9)
    with pytest.raises(OSError, match="no answer"):
        yield patterns.module.fetch_patiently(fetch, "/quick", 2)

    assert len(fetch.started) == 2


@new
@gen.coroutine
def test_jitter_lengthens_each_pause(patterns, virtual_clock):
    page = patterns.call("fetch_patiently", Fetch(failures=2), "/quick", 3, lambda: 0.5)
    yield page

    assert virtual_clock.time() == 3 * 1 + 1.5 * (1 + 2)


@three
@gen.coroutine
def test_queue_is_bounded(patterns, virtual_clock):
    made = []
    handle = Times(virtual_clock, 10)

    def items():
        for number in range(6):
            made.append((virtual_clock.time(), number))
            yield number

    processing = patterns.call("process", items(), handle, 2)
    yield virtual_clock.advance(5)
    assert len(made) <= 2 + 2 + 1  # handled, queued, and waiting to be queued
    yield processing

    assert handle.ended == [10, 10, 20, 20, 30, 30]


@gen.coroutine
def handle_in_vain(item):
    yield gen.sleep(1)
    raise OSError(f"cannot handle {item}")


@pytest.mark.parametrize(
    "patterns, errors",
    [("new", OSError), ("native", ExceptionGroup)],
    indirect=["patterns"],
)
@gen.coroutine
def test_error_of_a_consumer_ends_all(patterns, virtual_clock, errors):
    with pytest.raises(errors):
        yield patterns.call("process", range(9), handle_in_vain, 1)

    assert virtual_clock.time() == 1


@old
@gen.coroutine
def test_producer_waits_for_consumers_that_have_failed(patterns, virtual_clock, caplog):
    processing = patterns.call("process", range(9), handle_in_vain, 1)
    yield virtual_clock.advance(3600)

    assert not processing.done()
    assert [record.levelname for record in caplog.records] == ["ERROR"]


@pytest.fixture
def site():
    """Return sockets to listen on, and their URL."""
    sockets = bind_sockets(0, "127.0.0.1")
    return sockets, f"http://127.0.0.1:{sockets[0].getsockname()[1]}/"


@both
@gen.coroutine
def test_shutdown_answers_what_is_under_way(patterns, virtual_clock, site):
    sockets, url = site

    @gen.coroutine
    def make_page():
        yield gen.sleep(3)
        return "page"

    @gen.coroutine
    def stopping():
        yield gen.sleep(2)

    serving = patterns.call("serve", make_page, sockets, stopping)
    fetching = AsyncHTTPClient().fetch(url)
    yield gen.sleep(2.5)
    with pytest.raises(ConnectionRefusedError):
        yield AsyncHTTPClient().fetch(url)
    response = yield fetching
    yield serving

    assert response.body == b"page"
    # The new version waits for the answer, the old one for five seconds.
    assert virtual_clock.time() == (7 if patterns.is_old else 3)


@new
@gen.coroutine
def test_shutdown_waits_no_longer_than_its_grace(patterns, virtual_clock, site):
    sockets, url = site
    serving = patterns.module.serve(
        lambda: gen.sleep(3600), sockets, lambda: gen.sleep(2), grace_s=4
    )
    fetching = AsyncHTTPClient().fetch(url, raise_error=False, request_timeout=0)
    yield serving

    assert virtual_clock.time() == 6
    fetching.cancel()


@old
def test_test_of_old_times(patterns):
    suite = unittest.defaultTestLoader.loadTestsFromModule(patterns.module)
    result = unittest.TestResult()
    suite.run(result)

    assert (result.testsRun, result.errors, result.failures) == (1, [], [])


@pytest.mark.parametrize("version", ["old", "new", "native"])
def test_page_shows_every_function(version):
    source = (DOCS / f"patterns/{version}.py").read_text(encoding="utf-8")
    defined = set(re.findall(r"^(?:async def|def|class) (\w+)", source, re.MULTILINE))
    shown = " ".join(re.findall(r"^\.\. pattern:: (.+)", PAGE, re.MULTILINE)).split()

    assert defined <= set(shown)
