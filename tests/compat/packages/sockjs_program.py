"""A chat of 2016: sockjs-tornado serves, fetch with callbacks and ws4py are the clients."""

import json

from sockjs.tornado import SockJSConnection, SockJSRouter
from tornado import gen, httpserver, ioloop, netutil, web
from tornado.httpclient import AsyncHTTPClient
from ws4py.client.tornadoclient import TornadoWebSocketClient

io_loop = ioloop.IOLoop.instance()
seen = {}
participants = set()


class Chat(SockJSConnection):
    def on_open(self, info):
        self.broadcast(participants, "somebody came")
        participants.add(self)

    def on_message(self, message):
        self.broadcast(participants, message.upper())
        if message == "good night":
            for participant in list(participants):
                participant.close()

    def on_close(self):
        participants.remove(self)


class WebSocket(TornadoWebSocketClient):
    def __init__(self, url, messages):
        TornadoWebSocketClient.__init__(self, url, io_loop=io_loop)
        self.messages = messages

    def received_message(self, message):
        self.messages.append(str(message))
        if len(self.messages) == 1:
            self.send("good night")

    def closed(self, code, reason=None):
        self.on_end()


def serve():
    settings = {"heartbeat_delay": 0.05, "session_check_interval": 0.01}
    router = SockJSRouter(Chat, "/chat", settings, io_loop=io_loop)
    server = httpserver.HTTPServer(web.Application(router.urls), io_loop=io_loop)
    [socket] = netutil.bind_sockets(0, "127.0.0.1")
    server.add_sockets([socket])
    return f"127.0.0.1:{socket.getsockname()[1]}/chat"


@gen.engine
def main(address, callback):
    client = AsyncHTTPClient(io_loop)

    @gen.engine
    def post(path, body="", callback=None):
        response = yield gen.Task(
            client.fetch, "http://" + address + path, method="POST", body=body
        )
        callback((response.code, response.body.decode()))

    response = yield gen.Task(client.fetch, "http://" + address)
    seen["greeting"] = response.body.decode()

    seen["open"] = yield gen.Task(post, "/0/first/xhr")
    seen["send"] = yield gen.Task(post, "/0/first/xhr_send", '["hello"]')
    seen["poll"] = yield gen.Task(post, "/0/first/xhr")
    seen["heartbeat"] = yield gen.Task(post, "/0/first/xhr")

    chunks = []
    client.fetch(
        "http://" + address + "/0/second/eventsource",
        streaming_callback=chunks.append,
        callback=(yield gen.Callback("streamed")),
    )
    seen["websocket"] = []
    websocket = WebSocket("ws://" + address + "/websocket", seen["websocket"])
    websocket.on_end = yield gen.Callback("left")
    websocket.connect()
    yield gen.WaitAll(["left", "streamed"])
    seen["stream"] = b"".join(chunks).decode().split("\r\n\r\n")
    callback()


main(serve(), callback=io_loop.stop)
io_loop.start()
print(json.dumps(seen))
