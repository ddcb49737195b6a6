"""The patterns as they were written for Tornado 2 to 4.

``docs/patterns.rst`` shows them; ``tests/docs/test_patterns.py`` runs each one, here and
in ``new.py``.  They need `gencoro.compat`.
"""

import functools
from datetime import timedelta

from tornado import gen
from tornado.concurrent import run_on_executor
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.queues import Queue
from tornado.testing import AsyncTestCase
from tornado.web import Application, RequestHandler, asynchronous


@gen.engine
def greet(ask, name, callback):
    answer = yield gen.Task(ask, "Is it you, %s?" % name)
    callback("%s: %s" % (name, answer))


class Library(object):
    def __init__(self, read, pool):
        self.read = read
        self.executor = pool
        self.io_loop = IOLoop.instance()

    @run_on_executor
    def load(self, name):
        return self.read(name)


@gen.engine
def read_all(read, names, pool, callback):
    library = Library(read, pool)
    texts = yield [gen.Task(library.load, n) for n in names]
    callback(texts)


@gen.engine
def fetch_pair(fetch, callback):
    fetch("/news", callback=(yield gen.Callback("news")))
    fetch("/sky", callback=(yield gen.Callback("sky")))
    news, sky = yield gen.WaitAll(["news", "sky"])
    callback((news, sky))


@gen.engine
def fetch_list(fetch, urls, callback):
    pages = yield [gen.Task(fetch, url) for url in urls]
    callback(pages)


@gen.engine
def fetch_dict(fetch, urls, callback):
    pages = yield [gen.Task(fetch, url) for url in urls]
    callback(dict(zip(urls, pages)))


def fetch_as_they_come(fetch, urls, show, callback):
    left = set(urls)

    def on_page(url, page):
        show(url, page)
        left.remove(url)
        if not left:
            callback(None)

    for url in urls:
        on_this = functools.partial(on_page, url)
        fetch(url, callback=on_this)


@gen.engine
def copy(fetch_next, write, callback):
    fetch_next(callback=(yield gen.Callback("next")))
    while True:
        chunk = yield gen.Wait("next")
        if chunk is None:
            break
        fetch_next(callback=(yield gen.Callback("next")))
        yield gen.Task(write, chunk)
    callback(None)


@gen.coroutine
def titles(cursor):
    found = []
    while (yield cursor.fetch_next):
        found.append(cursor.next_object()["title"])
    raise gen.Return(found)


@gen.engine
def minute_loop(work):
    loop = IOLoop.instance()
    while True:
        yield gen.Task(work)
        minute = timedelta(minutes=1)
        yield gen.Task(loop.add_timeout, minute)


def start_each_minute(work):
    def start():
        work()  # its Future is dropped: nothing waits

    periodic = PeriodicCallback(start, 60 * 1000)
    periodic.start()
    return periodic


@gen.engine
def answer(query, record, callback):
    rows = yield gen.Task(query)
    IOLoop.instance().add_callback(record)
    callback(rows)


@gen.coroutine
def fetch_in_time(fetch, url, seconds):
    limit = timedelta(seconds=seconds)
    try:
        page = yield gen.with_timeout(limit, fetch(url))
    except gen.TimeoutError:
        raise gen.Return(None)  # the fetch goes on
    raise gen.Return(page)


class Download(object):
    def __init__(self, fetch_part, count):
        self.fetch_part = fetch_part
        self.count = count
        self.parts = []
        self.stopped = False

    @gen.coroutine
    def run(self):
        for number in range(self.count):
            part = yield self.fetch_part(number)
            if self.stopped:
                break
            self.parts.append(part)

    def stop(self):
        self.stopped = True  # seen after this part


@gen.coroutine
def fetch_each(fetch, urls):
    fetching = [fetch(url) for url in urls]
    outcomes = []
    for future in fetching:
        try:
            outcomes.append((yield future))
        except IOError as exc:
            outcomes.append(exc)
    raise gen.Return(outcomes)


class SharedFetch(object):
    def __init__(self, fetch):
        self.fetch = fetch
        self.callbacks = {}

    def get(self, url, callback):
        if url in self.callbacks:
            self.callbacks[url].append(callback)
            return
        self.callbacks[url] = [callback]
        on_this = functools.partial(self.on_page, url)
        self.fetch(url, callback=on_this)

    def on_page(self, url, page):
        for callback in self.callbacks.pop(url):
            callback(page)


class RateLimit(object):
    def __init__(self, gap_s):
        self.gap_s = gap_s
        self.free_at = 0

    def wait(self, callback):
        loop = IOLoop.instance()
        at = max(loop.time(), self.free_at)
        self.free_at = at + self.gap_s
        loop.add_timeout(at, callback)


@gen.coroutine
def fetch_patiently(fetch, url, tries=4):
    loop = IOLoop.instance()
    pause_s = 1
    while True:
        tries -= 1
        try:
            page = yield fetch(url)
            raise gen.Return(page)
        except IOError:
            if not tries:
                raise
        pause = timedelta(seconds=pause_s)
        yield gen.Task(loop.add_timeout, pause)
        pause_s *= 2


@gen.coroutine
def process(items, handle, workers):
    queue = Queue(maxsize=workers)

    @gen.coroutine
    def work():
        while True:
            item = yield queue.get()
            try:
                yield handle(item)
            finally:
                queue.task_done()

    for _ in range(workers):
        IOLoop.current().spawn_callback(work)
    for item in items:
        yield queue.put(item)
    yield queue.join()


class Page(RequestHandler):
    @asynchronous
    @gen.engine
    def get(self):
        text = yield gen.Task(self.settings["make_page"])
        self.finish(text)


@gen.engine
def serve(make_page, sockets, stopping, callback):
    application = Application(
        [("/", Page)],
        make_page=make_page,
    )
    server = HTTPServer(application)
    server.add_sockets(sockets)
    yield gen.Task(stopping)
    server.stop()
    # Hope that every request has its answer by then.
    loop = IOLoop.instance()
    grace = timedelta(seconds=5)
    yield gen.Task(loop.add_timeout, grace)
    callback(None)


class GreetTest(AsyncTestCase):
    def ask(self, question, callback):
        delay = timedelta(seconds=0.1)  # of real time
        answer = functools.partial(callback, "Yes.")
        self.io_loop.add_timeout(delay, answer)

    def test_greet(self):
        greet(self.ask, "Ann", callback=self.stop)
        self.assertEqual(self.wait(), "Ann: Yes.")
