"""A legacy application behind gunicorn's Tornado worker, which is replaced after two requests.

gunicorn looks for tornado.httpserver.HTTPConnection to find out which Tornado is there.
"""

import json
import os
import signal
import threading
import urllib.request

from gunicorn.app.base import BaseApplication

seen = []


class Server(BaseApplication):
    def load_config(self):
        self.cfg.set("bind", "127.0.0.1:0")
        self.cfg.set("worker_class", "tornado")
        self.cfg.set("max_requests", 2)
        self.cfg.set("when_ready", when_ready)

    def load(self):
        from tornado import gen, ioloop, web

        class Page(web.RequestHandler):
            @web.asynchronous
            @gen.engine
            def get(self):
                yield gen.Task(ioloop.IOLoop.instance().add_callback)
                self.finish(self.get_argument("q") + " " + str(os.getpid()))

        return web.Application([("/", Page)])


def when_ready(arbiter):
    host, port = arbiter.LISTENERS[0].sock.getsockname()

    def fetch():
        workers = set()
        try:
            while len(workers) < 2:
                url = f"http://{host}:{port}/?q=Tea"
                answer, worker = urllib.request.urlopen(url, timeout=60).read().split()
                workers.add(worker)
            print(json.dumps({"answer": answer.decode(), "workers": len(workers)}))
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=fetch, daemon=True).start()


Server().run()
