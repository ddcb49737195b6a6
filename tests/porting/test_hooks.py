"""What Tornado, test runners and Python call."""

import pytest

from tests.helpers.porting.converting import reasons

SOURCE = """\
import io, logging, threading
from tornado import gen, tcpserver, testing, web, websocket
import otherlib

class A({0}):
    @gen.coroutine
    def {1}(self, *args): yield None
"""


@pytest.mark.parametrize(
    ("base", "method", "reason"),
    [
        ("web.RequestHandler", "get", None),
        ("web.RequestHandler", "prepare", None),
        ("web.RequestHandler", "data_received", None),
        ("web.RequestHandler", "helper", None),
        ("web.RequestHandler", "on_finish", "called-elsewhere"),
        ("web.RequestHandler", "write_error", "called-elsewhere"),
        ("websocket.WebSocketHandler", "open", None),
        ("websocket.WebSocketHandler", "on_message", None),
        ("websocket.WebSocketHandler", "on_close", "called-elsewhere"),
        ("tcpserver.TCPServer", "handle_stream", None),
        ("testing.AsyncTestCase", "test_it", "called-elsewhere"),
        ("testing.AsyncTestCase", "setUp", "called-elsewhere"),
        ("testing.AsyncTestCase", "helper", None),
        ("threading.Thread", "run", "called-elsewhere"),
        ("logging.Handler", "emit", "called-elsewhere"),
        ("object", "__aenter__", None),
        ("object", "__exit__", "called-elsewhere"),
        ("object", "get", None),
        ("otherlib.Base", "find", None),
        ("otherlib.Base", "on_message", "called-elsewhere"),
    ],
)
def test_method(base, method, reason):
    found = reasons(SOURCE.format(base, method))

    assert found == ({f"A.{method}": reason} if reason else {})


def test_method_is_one_of_tornado_in_a_subclass():
    source = """\
from tornado import gen, web

class Mixin(object):
    @gen.coroutine
    def on_finish(self): yield None

class Page(Mixin, web.RequestHandler):
    pass
"""

    assert reasons(source) == {"Mixin.on_finish": "called-elsewhere"}
