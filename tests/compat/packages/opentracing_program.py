"""A service of 2016: opentracing_instrumentation, whose spans follow through callbacks."""

import datetime
import json

from opentracing_instrumentation.request_context import (
    get_current_span,
    span_in_stack_context,
)
from tornado import gen, httpserver, ioloop, netutil, stack_context, web
from tornado.httpclient import AsyncHTTPClient

io_loop = ioloop.IOLoop.instance()
client = AsyncHTTPClient()
both_are_here = []


class Span:
    def __init__(self, name):
        self.name = name
        self.log = []


def log(what):
    get_current_span().log.append(what)


class Traced(web.RequestHandler):
    @web.asynchronous
    def get(self, name):
        with stack_context.NullContext(), span_in_stack_context(Span(name)):
            self.trace()

    def trace(self):
        log("began")
        both_are_here.append(stack_context.wrap(self.go_on))
        if len(both_are_here) == 2:
            for go_on in both_are_here:
                go_on()

    def go_on(self):
        log("went on")
        io_loop.add_timeout(datetime.timedelta(milliseconds=1), self.fetch)

    def fetch(self):
        log("timed out")
        url = f"http://{self.request.host}/plain"
        client.fetch(url, callback=self.on_response)

    def on_response(self, response):
        log("fetched " + response.body.decode())
        self.coroutine(callback=self.on_result)

    @gen.engine
    def coroutine(self, callback):
        yield gen.Task(io_loop.add_callback)
        log("came to the engine")
        callback()

    def on_result(self):
        log("ended")
        span = get_current_span()
        self.finish({span.name: span.log})


class Plain(web.RequestHandler):
    def get(self):
        self.finish("without a span" if get_current_span() is None else "with one")


def serve():
    application = web.Application([(r"/traced/(\w+)", Traced), ("/plain", Plain)])
    [socket] = netutil.bind_sockets(0, "127.0.0.1")
    httpserver.HTTPServer(application).add_sockets([socket])
    return f"http://127.0.0.1:{socket.getsockname()[1]}/"


@gen.coroutine
def main(url):
    responses = yield [client.fetch(url + "traced/" + name) for name in ("one", "two")]
    raise gen.Return([json.loads(response.body.decode()) for response in responses])


print(json.dumps(io_loop.run_sync(lambda: main(serve()))))
