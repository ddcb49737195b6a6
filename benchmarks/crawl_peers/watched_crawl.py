"""Crawl a site with archive and index, as the command does, and be looked at or not.

    python watched_crawl.py URL CONCURRENCY [--viewers N] [--dead N] [--dashboard]

Prints the seconds of time and of CPU that the crawl took.  A dead viewer asks for the events and never reads
them; the others read them in a process of their own, which does not count.
"""

import argparse
import contextlib
import json
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from crawler_app.base.config import CrawlConfig
from crawler_app.run.crawl.monitor import Monitor
from crawler_app.run.crawler import Crawler
from crawler_app.show.dashboard import Dashboard
from gencoro.ioloop import IOLoop

# Reads what comes, as a browser does, and throws it away.
READER = """
import socket, sys
host, port, request = sys.argv[1:]
with socket.create_connection((host, int(port))) as stream:
    stream.sendall(request.encode())
    while stream.recv(65536):
        pass
"""


class Watch:
    """Makes what watches a crawl, and takes the time."""

    def __init__(self, arguments, into):
        self._arguments = arguments
        self._index_path = Path(into, "crawl.sqlite")
        self.report = {}

    @contextlib.contextmanager
    def __call__(self, crawl):
        began, cpu_began = time.monotonic(), time.process_time()
        monitor = Monitor(crawl)
        with contextlib.ExitStack() as cleanup:
            if self._arguments.dashboard:
                self._show(monitor, cleanup)
            cleanup.enter_context(monitor)
            yield
        self.report["took_s"] = time.monotonic() - began
        self.report["cpu_s"] = time.process_time() - cpu_began

    def _show(self, monitor, cleanup):
        dashboard = Dashboard(monitor, index_paths=[self._index_path])
        cleanup.enter_context(dashboard)
        place, _, query = dashboard.url.removeprefix("http://").partition("/?")
        host, port = place.split(":")
        request = f"GET /events?{query} HTTP/1.1\r\nHost: {host}\r\n\r\n"
        for _ in range(self._arguments.viewers):
            command = [sys.executable, "-c", READER, host, port, request]
            subprocess.Popen(command)  # not waited for: its CPU is not ours
        for _ in range(self._arguments.dead):
            dead = socket.create_connection((host, int(port)))
            cleanup.enter_context(dead)
            dead.sendall(request.encode())


def main(arguments):
    with tempfile.TemporaryDirectory() as directory:
        into = Path(directory, "crawl")
        config = CrawlConfig(
            (arguments.url,),
            into=str(into),
            concurrency=arguments.concurrency,
            robots=False,
        )
        watch = Watch(arguments, into)
        IOLoop.current().run_sync(Crawler(config, watch=watch).run)
    print(json.dumps(watch.report))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("concurrency", type=int)
    parser.add_argument("--dashboard", action="store_true")
    parser.add_argument("--viewers", type=int, default=0)
    parser.add_argument("--dead", type=int, default=0)
    main(parser.parse_args())
