"""Instances of Tornado's classes have their former attributes of their own.

An attribute that only the class has is hidden by the same name in a program's mixin.
"""

import json
import pathlib
import subprocess
import sys

import pytest
import tornado.ioloop
import tornado.web
from tornado.locks import Condition
from tornado.netutil import BlockingResolver
from tornado.tcpclient import TCPClient
from tornado.tcpserver import TCPServer
from tornado.testing import bind_unused_port

from tests.helpers.compat.rows import uses

INSTANCES = pathlib.Path(__file__).parent / "instances"

# Attributes of the class that are computed, or None until an instance sets them.
OF_THE_CLASS = {
    ("AsyncHTTPTestCase", "test_page"),
    ("BlockingResolver", "io_loop"),
    ("Condition", "io_loop"),
    ("ExecutorResolver", "io_loop"),
    ("HTTPError", "log_message"),
    ("HTTPServer", "io_loop"),
    ("MissingArgumentError", "log_message"),
    ("RequestHandler", "path_args"),
    ("RequestHandler", "path_kwargs"),
    ("TCPClient", "io_loop"),
    ("TCPServer", "io_loop"),
    ("ThreadedResolver", "io_loop"),
    ("WebSocketHandler", "path_args"),
    ("WebSocketHandler", "path_kwargs"),
    ("WebSocketHandler", "stream"),
    ("WebSocketProtocol13", "selected_subprotocol"),
}

# Notes of Tornado's for itself, which it keeps elsewhere today or sets later.
GONE = {
    ("ExceptionStackContext", "delay_warning"),
    ("PeriodicCallback", "io_loop"),
    ("WebSocketClientConnection", "read_future"),
    ("WebSocketProtocol13", "last_ping"),
    ("WebSocketProtocol13", "last_pong"),
    ("WebSocketProtocol13", "ping_callback"),
}


@pytest.fixture(scope="module")
def seen_today():
    """Run the program with compat installed."""
    done = subprocess.run(
        [sys.executable, "-m", "gencoro", "run", INSTANCES / "program.py"],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return json.loads(done.stdout)


def test_instances_have_the_attributes_that_they_had(seen_today):
    missing = {
        (stage.split()[0], name)
        for version in ("4.5.3", "5.1.1")
        for stage, names in recorded(version).items()
        for name in set(names) - set(seen_today[stage])
    }

    assert missing == OF_THE_CLASS | GONE


def recorded(version):
    """Return what the program has printed with a version of Tornado."""
    return json.loads((INSTANCES / f"tornado-{version}.json").read_text())


class _NoLoop:
    io_loop = None


def _resolver(_cleanups):
    class Resolver(_NoLoop, BlockingResolver):
        pass

    return Resolver()


def _client(_cleanups):
    class Client(_NoLoop, TCPClient):
        pass

    return Client()


def _server(cleanups):
    class Server(_NoLoop, TCPServer):
        pass

    server = Server()
    assert server.io_loop is None
    server.add_sockets([bind_unused_port()[0]])
    cleanups.append(server.stop)
    return server


@pytest.mark.parametrize("make", [_resolver, _client, _server])
def test_none_in_a_mixin_does_not_hide_the_loop(loop, make):
    cleanups = []
    loop.add_callback(loop.stop)
    loop.start()
    instance = make(cleanups)

    assert instance.io_loop is loop
    for clean_up in cleanups:
        clean_up()


@uses("tornado.locks.Condition.io_loop")
def test_loop_is_an_attribute(loop, other_loop):
    periodic = tornado.ioloop.PeriodicCallback(print, 1000, io_loop=other_loop)

    async def within():
        assert Condition().io_loop is loop

    loop.run_sync(within)
    assert periodic.io_loop is other_loop


@uses("tornado.web.HTTPError.log_message")
def test_message_of_an_error_can_be_set(compat):
    class NotFound(tornado.web.HTTPError):
        def __init__(self, message, *args):
            super().__init__(404)
            self.args = args
            self.log_message = message

    errors = [NotFound("5%% left"), NotFound("%d left", 5), NotFound(None)]

    assert [error.get_message() for error in errors] == ["5% left", "5 left", None]
    assert errors[0].log_message == "5%% left"


@uses(
    "tornado.web.RequestHandler.path_args",
    "tornado.web.RequestHandler.path_kwargs",
)
def test_path_arguments_are_none_before_they_are_known(site):
    class Page(tornado.web.RequestHandler):
        def initialize(self):
            self.before = self.path_args, self.path_kwargs

        def get(self, name):
            self.finish(repr((self.before, self.path_args, self.path_kwargs)))

    site.serve(("/(.*)", Page))
    assert site.fetch("/a").body == b"((None, None), ['a'], {})"
