"""A server of 2015, whole: Centrifuge, with a subscriber and a publisher for clients.

Started with ``--config=FILE --port=PORT --address=127.0.0.1``, as Centrifuge is.
"""

import hashlib
import hmac
import json
import urllib.parse

from centrifuge import auth, node
from tornado import gen, ioloop
from tornado.httpclient import AsyncHTTPClient
from tornado.options import options
from tornado.websocket import websocket_connect

io_loop = ioloop.IOLoop.instance()
seen = {}


@gen.coroutine
def read(connection):
    message = yield connection.read_message()
    raise gen.Return(json.loads(message))


@gen.coroutine
def call(connection, method, **params):
    connection.write_message(json.dumps({"method": method, "params": params}))
    [answer] = yield read(connection)
    assert answer["error"] is None, answer
    raise gen.Return(answer["body"])


def publish(url, message, callback):
    params = {"channel": "sport", "data": message}
    text = json.dumps({"method": "publish", "params": params})
    sign = hmac.new(b"secret", b"news" + text.encode(), hashlib.sha256).hexdigest()
    body = urllib.parse.urlencode({"data": text, "sign": sign})
    AsyncHTTPClient(io_loop).fetch(url, callback, method="POST", body=body)


@gen.coroutine
def main(address):
    connection = yield websocket_connect(
        "ws://" + address + "/connection/websocket", io_loop=io_loop
    )
    token = auth.get_client_token("secret", "news", "ada", "1400000000")
    body = yield call(
        connection,
        "connect",
        project="news",
        user="ada",
        timestamp="1400000000",
        info="",
        token=token,
    )
    seen["expired"] = body["expired"]
    yield call(connection, "subscribe", channel="sport")

    response = yield gen.Task(publish, "http://" + address + "/api/news", {"goals": 2})
    seen["published"] = response.code
    message = yield read(connection)
    seen["received"] = message["body"]["data"]

    body = yield call(connection, "presence", channel="sport")
    seen["present"] = [who["user"] for who in body["data"].values()]
    body = yield call(connection, "history", channel="sport")
    seen["history"] = [message["data"] for message in body["data"]]
    connection.close()


node.create_centrifuge_application()
io_loop.run_sync(lambda: main(f"127.0.0.1:{options.port}"))
print(json.dumps(seen))
