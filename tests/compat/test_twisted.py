"""tornado.platform.twisted as code of Tornado 2 to 5 uses it."""

import socket
import subprocess
import sys
import textwrap

import pytest

from gencoro.compat.modules.twisted import TwistedResolver
from tests.helpers.compat.rows import uses

INSTALL = """
    import gencoro.compat
    gencoro.compat.install()
    from tornado.ioloop import IOLoop
    import tornado.platform.twisted
    io_loop = IOLoop.instance()
    reactor = tornado.platform.twisted.install({})
    from twisted.internet import defer, reactor as installed
    assert reactor is installed
    if {}:
        assert IOLoop.current() is io_loop
    deferred = defer.Deferred()
    reactor.callLater(0.01, deferred.callback, 42)
    deferred.addCallback(lambda result: (print(result), IOLoop.current().stop()))
    IOLoop.current().start()
"""


@uses("tornado.platform.twisted.install")
@pytest.mark.parametrize("argument", ["", "None", "io_loop", "io_loop=io_loop"])
def test_install(argument):
    pytest.importorskip("twisted")
    program = textwrap.dedent(INSTALL).format(argument, "io_loop" in argument)

    assert (
        subprocess.check_output([sys.executable, "-c", program], timeout=60) == b"42\n"
    )


@uses("tornado.platform.twisted.TwistedResolver")
def test_resolver(loop):
    resolver = TwistedResolver(io_loop=loop)
    seen = []
    resolver.resolve(
        "127.0.0.1", 80, callback=lambda found: (seen.extend(found), loop.stop())
    )
    loop.start()

    assert seen == [(socket.AF_INET, ("127.0.0.1", 80))]


def test_resolver_is_configured_by_name(compat):
    pytest.importorskip("twisted")
    from tornado.netutil import Resolver

    saved = Resolver._save_configuration()
    try:
        Resolver.configure("tornado.platform.twisted.TwistedResolver")
        assert type(Resolver()) is TwistedResolver
    finally:
        Resolver._restore_configuration(saved)
