"""A script of 2018: queries' TornadoSession, which makes TracebackFutures."""

import json

import queries
from tornado import gen, ioloop

from tests.helpers.compat.peers import PostgresHandler, serving

URI = "postgresql://ada@127.0.0.1:{}/shop?sslmode=disable&gssencmode=disable"
io_loop = ioloop.IOLoop.instance()
seen = {}


@gen.coroutine
def main(port):
    session = queries.TornadoSession(URI.format(port), io_loop=io_loop)
    results = yield session.query("SELECT 42 AS answer, %(who)s AS who", {"who": "Ada"})
    seen["query"] = results.as_dict()
    results.free()

    together = yield [session.query(f"SELECT {n} AS n") for n in range(3)]
    seen["together"] = [results.as_dict() for results in together]
    for results in together:
        results.free()

    try:
        yield session.query("SELEKT")
    except queries.ProgrammingError as error:
        seen["error"] = type(error).__name__


with serving(PostgresHandler) as port:
    io_loop.run_sync(lambda: main(port))
print(json.dumps(seen))
