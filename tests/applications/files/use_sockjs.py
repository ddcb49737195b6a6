"""sockjs-tornado echoes messages over WebSockets and by XHR polling."""

import json

import sockjs.tornado
from tornado import gen, httpclient, httpserver, ioloop, testing, web, websocket

clients = set()


class Echo(sockjs.tornado.SockJSConnection):
    def on_open(self, info):
        assert info.ip == "127.0.0.1"
        clients.add(self)

    def on_message(self, message):
        self.broadcast(clients, "echo " + message)

    def on_close(self):
        clients.remove(self)


def step(name):
    print("step: " + name, flush=True)


@gen.coroutine
def main():
    sock, port = testing.bind_unused_port()
    router = sockjs.tornado.SockJSRouter(Echo, "/echo")
    server = httpserver.HTTPServer(web.Application(router.urls))
    server.add_sockets([sock])
    url = f"http://127.0.0.1:{port}/echo"
    client = httpclient.AsyncHTTPClient()
    step("it says what it can do")
    info = yield client.fetch(url + "/info")
    assert json.loads(info.body.decode())["websocket"]
    step("a WebSocket echoes")
    socket = yield websocket.websocket_connect(
        url.replace("http", "ws") + "/000/abc/websocket"
    )
    assert (yield socket.read_message()) == "o"
    socket.write_message(json.dumps(["hello"]))
    assert (yield socket.read_message()) == 'a["echo hello"]'
    step("XHR polling echoes")
    polling = url + "/000/xyz/xhr"
    opened = yield client.fetch(polling, method="POST", body="")
    assert opened.body == b"o\n"
    sent = json.dumps(["by xhr"])
    yield client.fetch(polling + "_send", method="POST", body=sent)
    polled = yield client.fetch(polling, method="POST", body="")
    assert polled.body == b'a["echo by xhr"]\n'
    step("a message is broadcast")
    assert (yield socket.read_message()) == 'a["echo by xhr"]'
    step("a raw WebSocket echoes")
    raw = yield websocket.websocket_connect(url.replace("http", "ws") + "/websocket")
    raw.write_message("raw")
    assert (yield raw.read_message()) == "echo raw"


ioloop.IOLoop.instance().run_sync(main)
