"""Tornado 3.2's chat demo, and two browsers that talk by long polling.

Started with ``--port=PORT`` in the folder of the demo.
"""

import json
import os
import sys
from urllib.parse import urlencode

sys.path.insert(0, os.getcwd())

import chatdemo  # found where the program was started
from tornado import gen, ioloop, web
from tornado.httpclient import AsyncHTTPClient, HTTPError
from tornado.options import options

SECRET = "__TODO:_GENERATE_YOUR_OWN_RANDOM_VALUE_HERE__"

XSRF = "0123456789abcdef" * 2

io_loop = ioloop.IOLoop.instance()
client = AsyncHTTPClient()
seen = {}


class Browser:
    """A user who has logged in; Google's OpenID, which the demo used, has ended."""

    def __init__(self, name):
        user = json.dumps({"first_name": name, "name": name})
        cookie = web.create_signed_value(SECRET, "chatdemo_user", user).decode()
        self.headers = {"Cookie": f"_xsrf={XSRF}; chatdemo_user={cookie}"}

    def post(self, path, **form):
        body = urlencode(dict(form, _xsrf=XSRF))
        return fetch(path, self.headers, method="POST", body=body)


@gen.coroutine
def fetch(path, headers, **kwargs):
    url = f"http://127.0.0.1:{options.port}{path}"
    try:
        response = yield client.fetch(
            url, headers=headers, follow_redirects=False, **kwargs
        )
    except HTTPError as error:
        response = error.response
    raise gen.Return(response)


@gen.coroutine
def talk():
    ada, bob = Browser("Ada"), Browser("Bob")
    waiting = ada.post("/a/message/updates")
    while not chatdemo.global_message_buffer.waiters:
        yield gen.Task(io_loop.add_callback)
    sent = yield bob.post("/a/message/new", body="Grüße")
    seen["sent"] = json.loads(sent.body.decode())["body"]
    [message] = json.loads((yield waiting).body.decode())["messages"]
    seen["received"] = [message["from"], message["body"]]

    waiting = ada.post("/a/message/updates", cursor=message["id"])
    later = yield bob.post("/a/message/new", body="Tea?", next="/")
    seen["redirected"] = [later.code, later.headers["Location"]]
    [message] = json.loads((yield waiting).body.decode())["messages"]
    seen["later"] = message["body"]

    page = (yield fetch("/", ada.headers)).body.decode()
    seen["page"] = ["Grüße" in page, "Tea?" in page]
    stranger = yield fetch("/", {})
    seen["stranger"] = [stranger.code, stranger.headers["Location"]]


@gen.coroutine
def main():
    try:
        yield talk()
    finally:
        io_loop.stop()


io_loop.add_callback(main)
chatdemo.main()
print(json.dumps(seen))
