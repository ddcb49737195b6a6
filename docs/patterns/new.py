"""The patterns with today's generator coroutines.

``docs/patterns.rst`` shows them; ``tests/docs/test_patterns.py`` runs each one, here and
in ``old.py``.
"""

import asyncio
from contextlib import suppress
from functools import partial
from random import random

from tornado.httpserver import HTTPServer
from tornado.locks import Event
from tornado.queues import Queue
from tornado.web import Application, RequestHandler

from gencoro import concurrent, gen
from gencoro.ioloop import IOLoop, PeriodicCallback


def result_of(function, *args):
    """Return a Future; the function's callback sets it."""
    future = gen.Future()
    set_result = concurrent.future_set_result_unless_cancelled
    function(*args, callback=partial(set_result, future))
    return future


@gen.coroutine
def greet(ask, name):
    answer = yield result_of(ask, f"Is it you, {name}?")
    return f"{name}: {answer}"


@gen.coroutine
def read_all(read, names, pool):
    return (yield [pool.submit(read, n) for n in names])


@gen.coroutine
def fetch_pair(fetch):
    news, sky = yield [fetch("/news"), fetch("/sky")]
    return news, sky


@gen.coroutine
def fetch_list(fetch, urls):
    return (yield [fetch(url) for url in urls])


@gen.coroutine
def fetch_dict(fetch, urls):
    return (yield {url: fetch(url) for url in urls})


@gen.coroutine
def fetch_as_they_come(fetch, urls, show):
    pages = gen.WaitIterator(*(fetch(url) for url in urls))
    while not pages.done():
        page = yield pages.next()
        show(urls[pages.current_index], page)


@gen.coroutine
def copy(fetch_next, write):
    coming = fetch_next()
    try:
        while (chunk := (yield coming)) is not None:
            coming = fetch_next()
            yield write(chunk)
    finally:
        coming.cancel()  # no effect if it is done


@gen.coroutine
def titles(rows):
    found = []
    while (row := (yield anext(rows, None))) is not None:
        found.append(row["title"])
    return found


@gen.coroutine
def minute_loop(work):
    while True:
        minute = gen.sleep(60)  # starts the clock
        yield work()
        yield minute


def start_each_minute(work):
    def start():
        IOLoop.current().spawn_callback(work)

    periodic = PeriodicCallback(start, 60_000)
    periodic.start()
    return periodic


@gen.coroutine
def answer(query, record):
    rows = yield query()
    IOLoop.current().spawn_callback(record)
    return rows


@gen.coroutine
def fetch_in_time(fetch, url, seconds):
    try:
        page = yield asyncio.wait_for(fetch(url), seconds)
    except TimeoutError:
        return None  # the fetch was cancelled
    return page


@gen.coroutine
def download(fetch_part, count, parts):
    try:
        for number in range(count):
            parts.append((yield fetch_part(number)))
    except asyncio.CancelledError:
        parts.clear()  # where a file would be deleted
        raise


@gen.coroutine
def fetch_each(fetch, urls):
    fetching = [fetch(url) for url in urls]
    every = asyncio.gather(*fetching, return_exceptions=True)
    return (yield every)


class SharedFetch:
    def __init__(self, fetch):
        self._fetch = fetch
        self._fetching = {}

    def get(self, url):
        if url not in self._fetching:
            self._fetching[url] = future = self._fetch(url)
            on_end = partial(self._end, url)
            future.add_done_callback(on_end)
        # A waiter that is cancelled leaves it to the others.
        return asyncio.shield(self._fetching[url])

    def _end(self, url, future):
        del self._fetching[url]


class RateLimit:
    def __init__(self, gap_s):
        self._gap_s = gap_s
        self._free_at = 0.0

    def wait(self):
        now = IOLoop.current().time()
        at = max(now, self._free_at)
        self._free_at = at + self._gap_s
        return gen.sleep(at - now)


@gen.coroutine
def fetch_patiently(fetch, url, tries=4, jitter=random):
    pause_s = 1
    for _ in range(tries - 1):
        try:
            return (yield fetch(url))
        except OSError:
            yield gen.sleep(pause_s * (1 + jitter()))
            pause_s *= 2
    return (yield fetch(url))


@gen.coroutine
def process(items, handle, workers):
    queue = Queue(maxsize=workers)
    working = [work(queue, handle) for _ in range(workers)]
    running = [feed(queue, items), *working]
    try:
        # The first to end: all items are done, or an error.
        yield gen.WaitIterator(*running).next()
    finally:
        for future in running:
            future.cancel()
        yield asyncio.wait(running)


@gen.coroutine
def feed(queue, items):
    for item in items:
        yield queue.put(item)
    yield queue.join()


@gen.coroutine
def work(queue, handle):
    while True:
        item = yield queue.get()
        try:
            yield handle(item)
        finally:
            queue.task_done()


class UnderWay:
    """Counts the requests that have no answer yet."""

    def __init__(self):
        self._count = 0
        self.is_over = Event()
        self.is_over.set()

    def __enter__(self):
        self._count += 1
        self.is_over.clear()

    def __exit__(self, *exc_info):
        self._count -= 1
        if not self._count:
            self.is_over.set()


class Page(RequestHandler):
    @gen.coroutine
    def get(self):
        with self.settings["under_way"]:
            text = yield self.settings["make_page"]()
            yield self.finish(text)  # until it is sent


@gen.coroutine
def serve(make_page, sockets, stopping, grace_s=5):
    under_way = UnderWay()
    application = Application(
        [("/", Page)],
        make_page=make_page,
        under_way=under_way,
    )
    server = HTTPServer(application)
    server.add_sockets(sockets)
    try:
        yield stopping()
    finally:
        server.stop()  # accepts no more connections
        over = under_way.is_over.wait()
        with suppress(TimeoutError):
            yield asyncio.wait_for(over, grace_s)
        yield server.close_all_connections()
