"""The dashboard after the end of the crawl."""

import threading

import pytest

from crawler_app.base.errors import ConfigError
from gencoro import gen

pytestmark = pytest.mark.usefixtures("no_socket_is_left")


@gen.coroutine
def test_page_receives_the_summary_and_the_report(watched):
    before = yield watched.follow()
    yield watched.crawl.run()
    watched.index.close()
    watched.dashboard.take_last_sample()
    staying = watched.dashboard.stay("40 pages", lambda: "<p>The report")

    after = yield watched.follow()
    for events in (before, after):
        told = []
        while (event := (yield events.next())) is not None:
            told.append(event)
        assert told[0][0] == "begin"
        name, ending = told[-1]
        assert name == "end"
        assert ending["sample"]["count_by_state"]["done"] == 40
        assert ending["summary"] == "40 pages"
        assert ending["has_report"]
        assert ending["is_staying"]
    answer = yield watched.ask("/report")
    assert answer.body == b"<p>The report"
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("sandbox ")
    assert "allow-same-origin" not in policy
    _, found = yield watched.json("/search?q=mill")
    assert found["total"] == 40

    answer = yield watched.act("close")
    assert answer.code == 204
    yield staying


@gen.coroutine
def test_ended_crawl_cannot_be_controlled(watched):
    refused = yield watched.act("close")
    assert (refused.code, refused.body) == (409, b"The crawl is still running.\n")
    yield watched.crawl.run()
    watched.dashboard.take_last_sample()

    for action in ("pause", "stop", "pace"):
        answer = yield watched.act(action)
        assert (answer.code, answer.body) == (409, b"The crawl has ended.\n")
    assert not watched.crawl.is_paused
    answer = yield watched.ask("/report")
    assert answer.code == 404


@gen.coroutine
def test_report_is_made_once_in_a_thread(watched):
    threads = []

    def make_report():
        threads.append(threading.current_thread())
        if len(threads) == 1:
            raise ConfigError("the directory has gone")
        return "<p>The report"

    watched.dashboard.stay("", make_report)
    failed = yield watched.ask("/report")
    answers = yield [watched.ask("/report") for _ in range(3)]

    assert failed.code == 503
    assert failed.body == b"The report cannot be made: the directory has gone.\n"
    assert [answer.code for answer in answers] == [200] * 3
    assert len(threads) == 2
    assert threading.main_thread() not in threads
