"""The cost of a whole Tornado application: its requests with gencoro, tornado.gen and async def.

Each application runs in a process of its own and answers the same requests.  They come from this
process over keep-alive connections, in rounds that alternate between the applications.  What is
measured is the CPU time of the application for each request.

    python benchmarks/bench_application.py [--rounds 9] [--requests 2000]
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time

import tornado.gen
import tornado.httpserver
import tornado.netutil
import tornado.web

import gencoro.gen
from gencoro.ioloop import IOLoop

CONNECTIONS = 20
STORE = {number: "x" * 200 for number in range(100)}


def generator_handler(gen):
    @gen.coroutine
    def look_up(number):
        return STORE[number]

    @gen.coroutine
    def query(number):
        yield gen.moment
        return {"number": number, "value": STORE[number]}

    class Handler(tornado.web.RequestHandler):
        @gen.coroutine
        def get(self, number):
            number = int(number)
            first = yield look_up(number)
            second = yield query(number)
            third, fourth = yield [query(number), query((number + 1) % 100)]
            self.write({"first": first, "others": [second, third, fourth]})

    return Handler


def native_handler():
    async def look_up(number):
        return STORE[number]

    async def query(number):
        await asyncio.sleep(0)
        return {"number": number, "value": STORE[number]}

    class Handler(tornado.web.RequestHandler):
        async def get(self, number):
            number = int(number)
            first = await look_up(number)
            second = await query(number)
            third, fourth = await asyncio.gather(
                query(number), query((number + 1) % 100)
            )
            self.write({"first": first, "others": [second, third, fourth]})

    return Handler


APPLICATIONS = {
    "gencoro": lambda: generator_handler(gencoro.gen),
    "tornado.gen": lambda: generator_handler(tornado.gen),
    "async def": native_handler,
}


class CpuHandler(tornado.web.RequestHandler):
    def get(self):
        self.write(json.dumps(time.process_time()))


def serve(name):
    """Run an application, and print its port."""

    async def main():
        handlers = [(r"/(\d+)", APPLICATIONS[name]()), ("/cpu", CpuHandler)]
        app = tornado.web.Application(handlers, log_function=lambda _handler: None)
        sockets = tornado.netutil.bind_sockets(0, "127.0.0.1")
        tornado.httpserver.HTTPServer(app).add_sockets(sockets)
        print(sockets[0].getsockname()[1], flush=True)
        # Until this end of its standard input is closed.
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)

    IOLoop.current().run_sync(main)


class Connection:
    """A keep-alive connection to an application."""

    async def open(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        return self

    async def get(self, path):
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await self.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        (size,) = [
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        ]
        return await self.reader.readexactly(size)


async def cost_us(connections, requests):
    """Return the CPU time of an application for one request, in microseconds."""

    async def ask_repeatedly(connection):
        for number in range(requests // CONNECTIONS):
            await connection.get(f"/{number % 100}")

    before = json.loads(await connections[0].get("/cpu"))
    await asyncio.gather(*map(ask_repeatedly, connections))
    after = json.loads(await connections[0].get("/cpu"))
    return (after - before) / (requests // CONNECTIONS * CONNECTIONS) * 1e6


async def measure(ports, rounds, requests):
    connections = {
        name: [await Connection().open(port) for _ in range(CONNECTIONS)]
        for name, port in ports.items()
    }
    figures = {name: [] for name in ports}
    for number in range(rounds + 1):  # the first warms up
        for name in ports if number % 2 else reversed(ports):
            figures[name].append(await cost_us(connections[name], requests))
    return {name: values[1:] for name, values in figures.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--requests", type=int, default=2000, help="in each round")
    parser.add_argument("--serve", choices=APPLICATIONS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return
    servers = {
        name: subprocess.Popen(
            [sys.executable, __file__, "--serve", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for name in APPLICATIONS
    }
    try:
        ports = {name: int(one.stdout.readline()) for name, one in servers.items()}
        figures = asyncio.run(measure(ports, arguments.rounds, arguments.requests))
    finally:
        for one in servers.values():
            one.communicate()
    for name, values in figures.items():
        pairs = zip(values, figures["gencoro"], strict=True)
        ratio = statistics.median(theirs / ours for theirs, ours in pairs)
        cost = statistics.median(values)
        print(f"{name:12} {cost:6.0f} us of CPU a request, {ratio:.2f}x gencoro")


if __name__ == "__main__":
    main()
