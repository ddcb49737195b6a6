"""gencoro's coroutines inside Tornado: handlers, clients, queues, gen_test."""

import asyncio
from datetime import timedelta

import pytest
import tornado.gen
from tornado.httpclient import AsyncHTTPClient, HTTPClientError
from tornado.httpserver import HTTPServer
from tornado.locks import Event
from tornado.queues import Queue
from tornado.testing import bind_unused_port
from tornado.web import Application, HTTPError, RequestHandler

from gencoro import gen


class Sleepy(RequestHandler):
    """A handler whose methods are gencoro's coroutines."""

    @gen.coroutine
    def prepare(self):
        yield gen.sleep(0.001)
        self.prepared = True

    @gen.coroutine
    def get(self, word):
        yield [gen.sleep(0.001), gen.moment]
        if word == "teapot":
            raise HTTPError(418)
        self.write({"word": word, "prepared": self.prepared})
        yield self.flush()

    @gen.coroutine
    def post(self, word):
        yield gen.moment
        raise ZeroDivisionError(word)


@pytest.fixture
def fetch(loop):
    """Fetch from a real server on loopback."""
    socket, port = bind_unused_port()
    server = HTTPServer(Application([("/(.*)", Sleepy)]))
    server.add_socket(socket)
    client = AsyncHTTPClient(force_instance=True)

    def fetch(path, **options):
        url = f"http://127.0.0.1:{port}{path}"
        return loop.run_sync(lambda: client.fetch(url, **options), timeout=60)

    yield fetch
    client.close()
    server.stop()
    loop.run_sync(server.close_all_connections)


def test_handler_methods_are_waited_for(fetch):
    response = fetch("/word")

    assert response.body == b'{"word": "word", "prepared": true}'


def test_http_error_of_a_handler_becomes_its_status(fetch, caplog):
    with pytest.raises(HTTPClientError, match="418"):
        fetch("/teapot")


def test_error_of_a_handler_is_logged_with_its_traceback(fetch, caplog):
    response = fetch("/x", method="POST", body=b"", raise_error=False)

    [record] = [r for r in caplog.records if r.name == "tornado.application"]
    assert response.code == 500
    assert isinstance(record.exc_info[1], ZeroDivisionError)


def test_client_queue_and_event_of_tornado_can_be_yielded(loop):
    @gen.coroutine
    def producer(queue, event):
        for n in range(3):
            yield queue.put(n)
        yield queue.join()
        event.set()

    @gen.coroutine
    def main():
        queue, event, got = Queue(maxsize=1), Event(), []
        producer(queue, event)
        for _ in range(3):
            got.append((yield queue.get(timeout=timedelta(minutes=1))))
            queue.task_done()
        yield event.wait()
        return got

    assert loop.run_sync(main, timeout=60) == [0, 1, 2]


@pytest.mark.parametrize("waits", [False, True])
def test_return_of_tornado_is_a_return(loop, waits):
    @gen.coroutine
    def half_ported():
        if waits:
            yield gen.moment
        raise tornado.gen.Return(42)
        yield

    assert loop.run_sync(half_ported) == 42


# Beside coroutines of Tornado.


def test_gather_waits_for_coroutines_of_both_packages(run):
    def body(x):
        yield x.moment if x is gen else None
        return x.__name__

    async def main():
        ours, theirs = gen.coroutine(body), tornado.gen.coroutine(body)
        return await asyncio.gather(ours(gen), theirs(tornado.gen))

    assert run(main) == ["gencoro.gen", "tornado.gen"]


def test_moments_of_both_packages_can_be_yielded_in_both(loop):
    @gen.coroutine
    def ours():
        yield tornado.gen.moment
        return (yield theirs())

    @tornado.gen.coroutine
    def theirs():
        yield gen.moment
        yield tornado.gen.with_timeout(timedelta(seconds=5), gen.sleep(0.001))
        return 42

    assert loop.run_sync(ours) == 42
