"""Print the public attributes that instances of Tornado's classes have of their own.

It runs on Python 3.6 too: the files beside it have what it prints with Tornado 4.5.3 and
5.1.1.  The output is JSON: the names by class and stage.
"""

import collections
import contextlib
import json
import logging
import os
import unittest

from tornado import (
    gen,
    http1connection,
    httpclient,
    httpserver,
    httputil,
    ioloop,
    locale,
    locks,
    log,
    netutil,
    options,
    process,
    queues,
    routing,
    stack_context,
    tcpclient,
    tcpserver,
    template,
    testing,
    web,
    websocket,
    wsgi,
)

SEEN = collections.defaultdict(set)


def see(stage, *instances):
    for instance in instances:
        cls = type(instance)
        if cls.__module__ == __name__:
            cls = cls.__base__
        see_as(cls.__name__, stage, instance)


def see_as(name, stage, instance):
    own = getattr(instance, "__dict__", ())
    SEEN[name + " " + stage].update(n for n in own if not n.startswith("_"))


class Page(web.RequestHandler):
    def initialize(self):
        see("initialize", self)

    def prepare(self):
        see("prepare", self, self.request, self.request.connection)

    @gen.coroutine
    def get(self):
        see("get", self, self.request, self.request.connection)
        self.write("hello")
        self.ui["modules"].Module()
        yield gen.moment
        self.flush()
        see("flushed", self, self.request, self.request.connection)

    def on_finish(self):
        see("finished", self, self.request)


class Module(web.UIModule):
    def render(self):
        see("rendered", self)
        return ""


class File(web.StaticFileHandler):
    def on_finish(self):
        see("finished", self)


class Missing(web.ErrorHandler):
    def on_finish(self):
        see("finished", self)


class Elsewhere(web.RedirectHandler):
    def on_finish(self):
        see("finished", self)


class Socket(websocket.WebSocketHandler):
    def initialize(self):
        see("initialize", self)

    def prepare(self):
        see("prepare", self, self.request)

    def open(self):
        see("open", self, self.ws_connection)

    def on_message(self, message):
        see("message", self, self.ws_connection)
        self.write_message(message)

    def on_close(self):
        see("closed", self)


class Echo(tcpserver.TCPServer):
    @gen.coroutine
    def handle_stream(self, stream, address):
        see("accepted", stream)
        yield stream.write((yield stream.read_bytes(3)))
        stream.close()
        see("closed", stream)


@contextlib.contextmanager
def serving(server):
    see("made", server)
    sock, port = testing.bind_unused_port()
    server.add_sockets([sock])
    see("started", server)
    yield port
    server.stop()
    see("stopped", server)


@gen.coroutine
def see_http():
    handlers = [
        ("/", Page),
        ("/socket", Socket),
        ("/file/(.*)", File, {"path": os.path.dirname(__file__)}),
        ("/missing", Missing, {"status_code": 404}),
        ("/elsewhere", Elsewhere, {"url": "/"}),
    ]
    modules = {"Module": Module}
    application = web.Application(handlers, ui_modules=modules, cookie_secret="secret")
    with serving(httpserver.HTTPServer(application)) as port:
        client = httpclient.AsyncHTTPClient()
        response = yield client.fetch(f"http://127.0.0.1:{port}/")
        see("fetched", client, response, response.request)
        for path in ("file/program.py", "missing", "elsewhere"):
            url = f"http://127.0.0.1:{port}/{path}"
            try:
                yield client.fetch(url, follow_redirects=False)
            except httpclient.HTTPError as error:
                see_as("HTTPError of clients", "raised", error)
        connection = yield websocket.websocket_connect(f"ws://127.0.0.1:{port}/socket")
        see("open", connection, connection.protocol)
        connection.write_message("hello")
        yield connection.read_message()
        connection.close()
        while (yield connection.read_message()) is not None:
            pass
        see("closed", connection)
    see(
        "made",
        application,
        web.URLSpec("/(.*)", Page, name="page"),
        web.HTTPError(404),
        web.MissingArgumentError("name"),
        httpclient.HTTPRequest("http://127.0.0.1/"),
        httputil.HTTPHeaders({"A": "b"}),
        httputil.HTTPServerRequest("GET", "/", "HTTP/1.0"),
        http1connection.HTTP1ConnectionParameters(),
        wsgi.WSGIContainer(print),
        wsgi.WSGIAdapter(application),
        routing.RuleRouter([]),
        routing.Rule(routing.AnyMatches(), None),
        routing.PathMatches("/(.*)"),
        routing.HostMatches("host"),
    )


@gen.coroutine
def see_streams():
    with serving(Echo()) as port:
        client = tcpclient.TCPClient()
        stream = yield client.connect("127.0.0.1", port)
        see("connected", client, stream)
        yield stream.write(b"abc")
        yield stream.read_bytes(3)
        see("read", stream)
        stream.close()
        see("closed", stream)
    see(
        "made",
        netutil.BlockingResolver(),
        netutil.ThreadedResolver(),
        netutil.ExecutorResolver(),
        netutil.OverrideResolver(netutil.BlockingResolver(), {}),
    )


@gen.coroutine
def see_processes():
    process.Subprocess.initialize()
    child = process.Subprocess(["true"], stdout=process.Subprocess.STREAM)
    see("made", child, child.stdout)
    yield child.wait_for_exit()
    see("ended", child)
    process.Subprocess.uninitialize()


@gen.coroutine
def see_loops():
    periodic = ioloop.PeriodicCallback(print, 1000)
    see("made", periodic)
    periodic.start()
    see("started", periodic)
    periodic.stop()
    queue = queues.Queue(3)
    yield queue.put(1)
    see("filled", queue)
    see("made", queues.PriorityQueue(), queues.LifoQueue(), locks.Event())
    see("made", locks.Lock(), locks.Semaphore(), locks.Condition())
    see("made", gen.WaitIterator(gen.moment), gen.Return(1))


def see_texts():
    parser = options.OptionParser()
    parser.define("name", default=1)
    see("made", parser, log.LogFormatter(), locale.get("en_US"))
    page = template.Template("{{ name }}")
    page.generate(name="hello")
    see("generated", page)
    see("made", template.Loader("/"), template.DictLoader({}))


@gen.engine
def see_legacy(callback):
    see("made", gen.YieldPoint(), gen.Callback("a"), gen.Wait("a"), gen.WaitAll(["a"]))
    see("made", stack_context.NullContext())
    see("made", stack_context.ExceptionStackContext(print))
    key, context = object(), stack_context.StackContext(contextlib.contextmanager(iter))
    see("made", context, gen.Callback(key))
    with stack_context.NullContext():
        see("made", gen.Arguments((), {}))
    callback((yield gen.Task(lambda callback: callback(None))))


class Case(testing.AsyncHTTPTestCase):
    def get_app(self):
        return web.Application([("/", Page)], ui_modules={"Module": Module})

    def test_page(self):
        self.fetch("/")
        see("fetched", self)


@gen.coroutine
def main():
    yield [see_http(), see_streams(), see_processes(), see_loops()]
    yield gen.Task(see_legacy)
    see_texts()


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    ioloop.IOLoop.current().run_sync(main)
    with contextlib.closing(httpclient.HTTPClient()) as client:
        see("made", client)
    test = Case("test_page")
    see("made", test)
    result = unittest.TestResult()
    test.run(result)
    if not result.wasSuccessful():
        raise RuntimeError(result)
    names = {name: sorted(own) for name, own in sorted(SEEN.items())}
    print(json.dumps(names, indent=1))
