"""A script of 2015: momoko in gen.engine, with Op, WaitOp, WaitAllOps and transactions."""

import json

import momoko
from tornado import gen, ioloop

from tests.helpers.compat.peers import PostgresHandler, serving

DSN = "dbname=shop user=ada host=127.0.0.1 port={} sslmode=disable gssencmode=disable"
io_loop = ioloop.IOLoop.instance()
seen = {}


@gen.engine
def main(port, callback):
    database = momoko.Pool(
        dsn=DSN.format(port),
        size=2,
        ioloop=io_loop,
        callback=(yield gen.Callback("connected")),
    )
    yield gen.Wait("connected")

    cursor = yield momoko.Op(database.execute, "SELECT 42, %s", ("Grüße",))
    seen["op"] = cursor.fetchone()

    cursors = yield momoko.Op(
        database.transaction,
        [
            "CREATE TABLE t (n int)",
            ("INSERT INTO t VALUES (%s)", (7,)),
            "SELECT * FROM t",
        ],
    )
    seen["transaction"] = cursors[-1].fetchall()

    database.execute("SELECT 1", callback=(yield gen.Callback("one")))
    database.execute("SELECT 2", callback=(yield gen.Callback("two")))
    cursor = yield momoko.WaitOp("two")
    seen["two"] = cursor.fetchone()
    cursor = yield momoko.WaitOp("one")
    seen["one"] = cursor.fetchone()

    for key in "abc":
        database.execute("SELECT %s", (key,), callback=(yield gen.Callback(key)))
    cursors = yield momoko.WaitAllOps("abc")
    seen["all"] = [cursor.fetchone() for cursor in cursors]

    try:
        yield momoko.Op(database.execute, "SELEKT")
    except Exception as error:
        seen["error"] = type(error).__name__
    database.close()
    callback()


with serving(PostgresHandler) as port:
    main(port, callback=io_loop.stop)
    io_loop.start()
print(json.dumps(seen))
