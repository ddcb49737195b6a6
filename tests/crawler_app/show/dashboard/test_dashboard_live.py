"""The events that a browser receives during a crawl, and its control of it."""

import gc

import pytest
from tornado.iostream import StreamClosedError

from crawler_app.base.errors import StorageError
from crawler_app.show.dashboard import feed
from crawler_app.show.dashboard.events import Ending
from crawler_app.show.dashboard.handlers import EventsHandler
from gencoro import gen

pytestmark = pytest.mark.usefixtures("no_socket_is_left")


@gen.coroutine
def test_page_receives_the_history_and_then_new_samples(watched):
    run = yield watched.run_to(2)
    watched.monitor.look()

    events = yield watched.follow()
    assert b"Content-Type: text/event-stream\r\n" in events.head
    assert b"Cache-Control: no-store\r\n" in events.head
    name, begin = yield events.next()
    assert name == "begin"
    assert begin["seeds"] == [f"{watched.site.url}0"]
    assert len(begin["rates"]) == 1
    assert begin["can_search"]
    sample = begin["sample"]
    assert sample["phase"] == "running"
    assert sample["fetched"] == 2
    assert sample["count_by_state"]["done"] == 2
    assert sample["count_by_state"]["under_way"] == 1
    assert sample["under_way_by_host"] == [[watched.site.url[7:-1], 1]]

    watched.site.let_go("/2")
    yield run
    watched.monitor.look()
    name, sample = yield events.next()
    assert name == "sample"
    assert sample["count_by_state"]["done"] == 40


@gen.coroutine
def test_latest_failures_come_first(watch):
    with watch(seed="nothing") as watched:
        yield watched.crawl.run()
        watched.monitor.look()

        _, sample = yield watched.json("/state")

    (failure,) = sample["failures"]
    assert failure["reason"] == "http_404"
    assert failure["url"] == f"{watched.site.url}nothing"


@gen.coroutine
def test_crawl_is_paused_unpaused_and_stopped(watched):
    events = yield watched.follow()
    run = yield watched.run_to(2)

    for action, phase in (
        ("pause", "paused"),
        ("unpause", "running"),
        ("stop", "stopping"),
    ):
        answer = yield watched.act(action)
        assert answer.code == 204
        while (yield events.next())[1].get("phase") != phase:
            pass

    watched.site.let_go("/2")
    yield run
    assert watched.site.paths == ["/0", "/1", "/2"]


@gen.coroutine
def test_last_event_is_the_end_of_the_crawl(watch):
    with watch() as watched:
        events = yield watched.follow()
        yield watched.crawl.run()

    told = []
    while (event := (yield events.next())) is not None:
        told.append(event)
    assert [name for name, _ in told] == ["begin", "sample", "end"]
    assert told[-1][1]["sample"]["count_by_state"]["done"] == 40
    assert (yield events.is_closed())


@gen.coroutine
def test_failed_crawl_is_not_sampled_again(watch):
    with pytest.raises(StorageError), watch() as watched:
        events = yield watched.follow()
        raise StorageError("the disk is full")

    names = [(yield events.next())[0], (yield events.next())[0]]
    assert names == ["begin", "end"]


@gen.coroutine
def test_disconnected_browser_leaves_nothing(watched, monkeypatch):
    gone = gen.Future()
    monkeypatch.setattr(EventsHandler, "on_finish", lambda _: gone.set_result(None))
    events = yield watched.follow()
    yield events.next()

    events.close()
    yield gone

    gc.collect()
    assert not any(type(thing) is EventsHandler for thing in gc.get_objects())


@gen.coroutine
def test_surplus_browser_is_refused(watched, monkeypatch):
    monkeypatch.setattr(feed, "MAX_VIEWERS", 2)
    first = yield watched.follow()
    second = yield watched.follow()
    answer = yield watched.ask("/events")

    assert answer.code == 503
    assert b"Too many pages" in answer.body
    first.close()
    second.close()


class Reader:
    """A viewer that has received the last event, or has not."""

    def __init__(self, *, takes=True):
        self.events = []
        self.fate = ""
        self.takes = takes

    def send(self, event):
        self.events.append(event)
        self.taken = gen.Future()
        if self.takes:
            self.taken.set_result(None)
        return self.taken

    def end(self):
        self.fate = "ended"

    def drop(self):
        self.fate = "dropped"


def make_feed(watched, clock):
    return feed.Feed(watched.monitor, can_search=False, clock=clock)


@gen.coroutine
def test_slow_browser_is_skipped_and_then_disconnected(watched, clock):
    sent = make_feed(watched, clock)
    slow, quick = Reader(takes=False), Reader()
    with sent.joined(slow), sent.joined(quick):
        clock.now = 30.0
        watched.monitor.look()
        assert (len(slow.events), len(quick.events)) == (1, 2)
        assert slow.fate == ""

        clock.now = 30.1
        watched.monitor.look()
        assert (len(slow.events), len(quick.events)) == (1, 3)
        assert (slow.fate, quick.fate) == ("dropped", "")


@gen.coroutine
def test_browser_that_caught_up_receives_the_next_sample(watched, clock):
    sent = make_feed(watched, clock)
    slow = Reader(takes=False)
    with sent.joined(slow):
        watched.monitor.look()
        clock.now = 29.0
        slow.taken.set_result(None)
        watched.monitor.look()
        clock.now = 31.0
        watched.monitor.look()

        assert len(slow.events) == 2
        assert slow.fate == ""


@gen.coroutine
def test_sample_is_serialized_once_for_all_browsers(watched, clock, monkeypatch):
    written = []
    write = feed.sample_event

    def sample_event(sample):
        written.append(sample)
        return write(sample)

    monkeypatch.setattr(feed, "sample_event", sample_event)
    sent = make_feed(watched, clock)
    watched.monitor.look()
    assert written == []

    first, second = Reader(), Reader()
    with sent.joined(first), sent.joined(second):
        sample = watched.monitor.look()
    assert written == [sample]
    assert first.events[-1] is second.events[-1]


@gen.coroutine
def test_end_is_sent_to_connected_browsers(watch, clock):
    with watch() as watched:
        sent = make_feed(watched, clock)
        slow, quick = Reader(takes=False), Reader()
        with sent.joined(slow), sent.joined(quick):
            sent.end(Ending())

    assert (slow.fate, quick.fate) == ("dropped", "ended")
    assert quick.events[-1].startswith(b"event: end\n")
    assert len(slow.events) == 1


@gen.coroutine
def test_browser_that_never_reads_is_disconnected(watched, monkeypatch):
    monkeypatch.setattr(feed, "PATIENCE_S", -1.0)
    events = yield watched.follow()
    yield events.next()

    # More than the socket buffers of both sides.
    long = "x" * 100_000
    monkeypatch.setattr(
        feed, "sample_event", lambda sample: b"data: %s\n\n" % long.encode()
    )
    for _ in range(200):
        watched.monitor.look()
    with pytest.raises(StreamClosedError):
        while True:
            yield events._stream.read_bytes(65_536, partial=True)
