"""A script of 2017: tornadoes, which fetches with callbacks behind return_future."""

import json

from tornado import gen, ioloop
from tornadoes import ESConnection

from tests.helpers.compat.peers import DocumentHandler, serving

io_loop = ioloop.IOLoop.instance()
seen = {}


@gen.coroutine
def main(port):
    connection = ESConnection("127.0.0.1", port, io_loop=io_loop)
    response = yield connection.put("books", "book", "1", {"title": "Legacy"})
    seen["put"] = response.code
    seen["get"] = yield connection.get("books", "book", "1")

    connection.put(
        "books", "book", "2", {"title": "Modern"}, callback=(yield gen.Callback("put"))
    )
    response = yield gen.Wait("put")
    seen["put with callback"] = response.code

    responses = yield {
        "search": connection.search(index="books"),
        "missing": connection.get_by_path("/books/book/3"),
        "delete": connection.delete("books", "book", "3"),
    }
    seen["search"] = json.loads(responses["search"].body.decode())["hits"]["total"]
    seen["missing"] = [responses[key].error.code for key in ("missing", "delete")]
    raise gen.Return(connection)


@gen.coroutine
def after_the_server(connection):
    response = yield connection.count("books")
    seen["refused"] = response.code, type(response.error).__name__


with serving(DocumentHandler) as port:
    connection = io_loop.run_sync(lambda: main(port))
io_loop.run_sync(lambda: after_the_server(connection))
print(json.dumps(seen))
