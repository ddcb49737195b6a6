"""Tornado 3.2's WebSocket chat demo, and two browsers that talk.

Started with ``--port=PORT`` in the folder of the demo.
"""

import json
import os
import sys

sys.path.insert(0, os.getcwd())

import chatdemo  # found where the program was started
from tornado import gen, ioloop
from tornado.httpclient import AsyncHTTPClient
from tornado.options import options
from tornado.websocket import websocket_connect

io_loop = ioloop.IOLoop.instance()
seen = {}


@gen.coroutine
def read(connection):
    message = yield connection.read_message()
    raise gen.Return(json.loads(message)["body"])


@gen.coroutine
def talk():
    address = f"127.0.0.1:{options.port}"
    url = f"ws://{address}/chatsocket"
    ada, bob = yield [websocket_connect(url, io_loop=io_loop) for _ in range(2)]
    while len(chatdemo.ChatSocketHandler.waiters) < 2:
        yield gen.Task(io_loop.add_callback)
    bob.write_message(json.dumps({"body": "Grüße"}))
    seen["received"] = yield [read(ada), read(bob)]
    page = yield AsyncHTTPClient().fetch(f"http://{address}/")
    seen["page"] = "Grüße" in page.body.decode()
    ada.stream.close()
    while len(chatdemo.ChatSocketHandler.waiters) > 1:
        yield gen.Task(io_loop.add_callback)
    bob.write_message(json.dumps({"body": "Tea?"}))
    seen["alone"] = yield read(bob)


@gen.coroutine
def main():
    try:
        yield talk()
    finally:
        io_loop.stop()


io_loop.add_callback(main)
chatdemo.main()
print(json.dumps(seen))
