"""gencoro on systems and in interpreters that lack something."""

import sys

import pytest

from tests.helpers.scripts import printed_by

# What Windows lacks of what Linux has.  The standard library and Tornado keep what they have
# imported.
WITHOUT = """
import asyncio.subprocess, os, select, selectors, signal, subprocess, sys
import multiprocessing.spawn, multiprocessing.util, tempfile, tornado.testing, tornado.websocket
import pytest, sysconfig, tornado.autoreload, tornado.wsgi
sysconfig.get_paths()
asyncio.new_event_loop().close()
asyncio.windows_events = asyncio.unix_events
sys.platform = "win32"
selectors.DefaultSelector = selectors.SelectSelector
for module, names in {
    os: "fork forkpty register_at_fork geteuid getuid memfd_create killpg set_blocking waitid",
    select: "epoll poll",
    signal: "SIGALRM SIGCHLD SIGHUP SIGQUIT SIGUSR1 SIGUSR2 setitimer pthread_kill",
}.items():
    for name in names.split():
        vars(module).pop(name, None)
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
"""

EVERY_MODULE = """
import importlib, pkgutil
import gencoro
names = [m.name for m in pkgutil.walk_packages(gencoro.__path__, "gencoro.")]
apart = (".twisted", ".startup", ".spawned", "hook-", ".__main__")
for name in names:
    if not any(part in name for part in apart):
        importlib.import_module(name)
import gencoro.compat.names
assert len(names) > 150, names
"""

USES = """
import asyncio
from gencoro import gen, introspect
from gencoro.ioloop import IOLoop
from gencoro.testing import VirtualClock

@gen.coroutine
def main():
    yield [gen.sleep(0.001), asyncio.sleep(0.001)]
    assert "main()" in introspect.format_tree()
    return 42

loop = IOLoop.current()
assert loop.run_sync(main) == 42
try:
    loop.set_blocking_log_threshold(1)
except RuntimeError as exc:
    assert "setitimer" in str(exc)
loop.close()
clock = VirtualClock()
with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
    runner.run(asyncio.sleep(3600))
assert clock.time() == 3600
import gencoro.compat
gencoro.compat.install()
from tornado import gen, httpclient, ioloop, testing, web
class Page(web.RequestHandler):
    @web.asynchronous
    @gen.engine
    def get(self):
        yield gen.Task(ioloop.IOLoop.instance().add_callback)
        self.finish("page")
asyncio.set_event_loop(asyncio.new_event_loop())
sock, port = testing.bind_unused_port()
ioloop.IOLoop.current().add_callback(web.Application([("/", Page)]).listen, port, "127.0.0.1")
sock.close()
def done(response):
    print(response.body.decode())
    ioloop.IOLoop.instance().stop()
ioloop.IOLoop.current().add_callback(
    lambda: httpclient.AsyncHTTPClient().fetch(f"http://127.0.0.1:{port}/", done)
)
ioloop.IOLoop.current().start()
"""


def run(source):
    return printed_by(source, "-W", "ignore")


def test_every_module_can_be_imported_without_what_windows_lacks():
    assert run(WITHOUT + EVERY_MODULE) == ""


def test_gencoro_works_without_what_windows_lacks():
    assert run(WITHOUT + USES) == "page\n"


@pytest.mark.skipif(sys.version_info < (3, 13), reason="Python has no module for it")
@pytest.mark.parametrize("kind", ["legacy", "isolated"])
def test_coroutine_runs_in_a_subinterpreter(kind):
    inside = f"""
import sys
sys.path[:0] = {sys.path!r}
from gencoro import gen
from gencoro.ioloop import IOLoop
@gen.coroutine
def main():
    yield gen.sleep(0.001)
    return "inside"
print(IOLoop.current().run_sync(main))
IOLoop.current().close()
"""
    outside = f"""
import _interpreters
number = _interpreters.create({kind!r})
error = _interpreters.exec(number, {inside!r})
_interpreters.destroy(number)
assert error is None, error
"""
    assert run(outside) == "inside\n"
