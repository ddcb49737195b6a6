"""A script of 2013 that needs no other package: a server and its client, with callbacks."""

from tornado import gen, httpclient, ioloop, web


class Page(web.RequestHandler):
    @web.asynchronous
    @gen.engine
    def get(self):
        yield gen.Task(ioloop.IOLoop.instance().add_callback)
        self.finish("Tea?")


def done(response):
    print(response.code, response.body.decode())
    ioloop.IOLoop.instance().stop()


server = web.Application([("/", Page)]).listen(0, "127.0.0.1")
[sock] = server._sockets.values()
url = f"http://127.0.0.1:{sock.getsockname()[1]}/"
httpclient.AsyncHTTPClient().fetch(url, done)
ioloop.IOLoop.instance().start()
