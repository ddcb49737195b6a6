"""The doctor's scan: what it reports for a source, and what it does not."""

import ast
import gc
import pathlib
import sys
import textwrap

import pytest
import tornado

import crawler_app
from gencoro.compat.doctor.rows import TODAY
from gencoro.compat.doctor.scan import scan
from gencoro.compat.names import TABLE
from tests.helpers.fuzzing import some

TORNADO = pathlib.Path(tornado.__file__).parent
CRAWLER = pathlib.Path(crawler_app.__file__).parent


def found(source):
    """Return what is found in a source: the line, the name, the argument if any."""
    uses = scan(textwrap.dedent(source))
    return [
        (use.line, use.name, *([use.argument] if use.argument else [])) for use in uses
    ]


NAMED = {
    "from a module": "from tornado.gen import Task\nTask(f)",
    "by another name": "from tornado.gen import Task as T\nT(f)",
    "of a module": "from tornado import gen\ngen.Task(f)",
    "of a module by another name": "from tornado import gen as g\ng.Task(f)",
    "by its full name": "import tornado.gen\ntornado.gen.Task(f)",
    "of a module imported as": "import tornado.gen as g\ng.Task(f)",
    "from a star": "from tornado.gen import *\nTask(f)",
    "by an alias": "import tornado.gen\nTask = tornado.gen.Task\nTask(f)",
    "by an alias of the module": "from tornado import gen\ng = gen\ng.Task(f)",
    "imported in a function": "def f():\n    from tornado import gen\n    gen.Task(f)",
    "in a function": "from tornado import gen\ndef f():\n    yield gen.Task(f)",
    "in a method": "from tornado import gen\nclass C:\n  def f(self): gen.Task(f)",
    "in a lambda": "from tornado import gen\nlambda: gen.Task(f)",
    "in a comprehension": "from tornado import gen\n[gen.Task(f) for f in fs]",
    "as a default": "from tornado import gen\ndef f(task=gen.Task): pass",
    "in an annotation": "from tornado import gen\ndef f() -> gen.Task: pass",
    "imported where it can fail": (
        "try:\n    from tornado import gen\n"
        "except ImportError:\n    gen = None\ngen.Task(f)"
    ),
    "in a coroutine": "from tornado import gen\nasync def f():\n    await gen.Task(f)",
}


@pytest.mark.parametrize("source", NAMED.values(), ids=NAMED)
def test_name_is_found_however_it_is_named(source):
    last = len(source.splitlines())

    assert (last, "tornado.gen.Task") in found(source)


LEGACY = {
    "a callback by its name alone": (
        (
            "import tornado.httpclient\n"
            "def f(client, callback):\n    client.fetch(url, callback)"
        ),
        [(3, "tornado.httpclient.AsyncHTTPClient.fetch", "callback")],
    ),
    "a callback of an attribute's method": (
        """\
        from tornado.iostream import IOStream
        class C:
            def open(self):
                self.stream = IOStream(sock)
            def go(self):
                self.stream.write(b"x", callback=f)
                self.stream.connect(address, self.open)
        """,
        [
            (6, "tornado.iostream.BaseIOStream.write", "callback"),
            (7, "tornado.iostream.IOStream.connect", "callback"),
        ],
    ),
    "a callback of what has other methods of a stream": (
        (
            "import tornado.web\ndef f(s):\n    s.write(b'x', callback=g)\n"
            "    s.read_until(b'x')"
        ),
        [(3, "tornado.iostream.BaseIOStream.write", "callback")],
    ),
    "a callback of a stream that a server hands over": (
        """\
        from tornado.tcpserver import TCPServer
        class S(TCPServer):
            def handle_stream(self, it, address):
                it.write(b"x", callback=f)
        """,
        [(4, "tornado.iostream.BaseIOStream.write", "callback")],
    ),
    "a callback of a coroutine that declares none": (
        """\
        from tornado import gen
        @gen.coroutine
        def one(): pass
        @gen.coroutine
        def two(callback): pass
        class C:
            @gen.coroutine
            def three(self): pass
            def f(self):
                self.three(callback=print)
        one(callback=print), two(callback=print)
        """,
        [
            (10, "tornado.gen.coroutine", "callback"),
            (11, "tornado.gen.coroutine", "callback"),
        ],
    ),
    "methods that Futures had": (
        (
            "import tornado.concurrent, sys\ndef f(a, b):\n"
            "    a.set_exc_info(b.exc_info())\n    sys.exc_info()"
        ),
        [
            (3, "tornado.concurrent.Future.exc_info"),
            (3, "tornado.concurrent.Future.set_exc_info"),
        ],
    ),
    "what a package re-exports": (
        (
            "from zmq.eventloop import ioloop\n"
            "from zmq.eventloop.ioloop import PeriodicCallback as P\n"
            "import zmq.eventloop.minitornado.stack_context\n"
            "ioloop.PollIOLoop(), P(f, 1, ioloop.IOLoop.instance())\n"
            "ioloop.install(), ioloop.ZMQIOLoop.instance().running()"
        ),
        [
            (3, "tornado.stack_context"),
            (4, "tornado.ioloop.PeriodicCallback", "io_loop"),
            (4, "tornado.ioloop.PollIOLoop"),
            (5, "tornado.ioloop.IOLoop.running"),
        ],
    ),
    "a module that a call imports": (
        (
            "import pytest, importlib\ngen = pytest.importorskip('tornado.gen')\n"
            "web = importlib.import_module('tornado.web')\n"
            "tornado = __import__('tornado.gen')\n"
            "gen.Task, web.asynchronous, tornado.gen.engine"
        ),
        [
            (5, "tornado.gen.Task"),
            (5, "tornado.gen.engine"),
            (5, "tornado.web.asynchronous"),
        ],
    ),
    "what Python has removed": (
        """\
        import collections, inspect, threading
        from collections import Mapping as M, OrderedDict
        import unittest
        isinstance(x, collections.Callable), inspect.getargspec(f), M()
        t = threading.Thread()
        t.isAlive(), self.thread.isAlive()
        """,
        [
            (2, "collections.Mapping"),
            (4, "collections.Callable"),
            (4, "collections.Mapping"),
            (4, "inspect.getargspec"),
            (6, "threading.Thread.isAlive"),
        ],
    ),
    "a decorator that is a keyword now": (
        (
            "from tornadorpc import private, async\nclass T:\n    @async\n"
            "    def async(self): pass\n    @rpc.async\n    def go(self): pass"
        ),
        [(1, "async"), (3, "async"), (4, "async"), (5, "async")],
    ),
    "the loop of another thread": (
        """\
        import functools, threading
        from concurrent.futures import ThreadPoolExecutor
        from multiprocessing.pool import ThreadPool
        from tornado import ioloop
        from tornado.concurrent import run_on_executor
        from tornado.ioloop import IOLoop
        def work(): helper()
        def helper(): ioloop.IOLoop.instance().add_timeout(1, print)
        threading.Thread(target=work, args=(1,)).start()
        threading.Timer(1, lambda: IOLoop.instance().stop())
        class Worker(threading.Thread):
            loop = IOLoop.current()
            def run(self):
                self.go(), self.loop.start()
            def go(self):
                IOLoop.instance().add_callback(self.done)
            def done(self):
                IOLoop.current()
        class Handler:
            executor = ThreadPoolExecutor(2)
            @run_on_executor(executor="pool")
            def a(self):
                return IOLoop.current()
            def post(self):
                self.executor.submit(self.b)
                IOLoop.current().run_in_executor(None, functools.partial(self.c, 1))
            def b(self):
                loop = IOLoop.current()
            def c(self, x):
                ioloop.IOLoop.current().add_callback(print, x)
        def done(result): IOLoop.instance().add_callback(callback, result)
        ThreadPool(10).apply_async(f, (), {}, done)
        """,
        [
            (8, "tornado.ioloop.IOLoop.instance", "on another thread"),
            (10, "tornado.ioloop.IOLoop.instance", "on another thread"),
            (16, "tornado.ioloop.IOLoop.instance", "on another thread"),
            (23, "tornado.ioloop.IOLoop.current", "on another thread"),
            (28, "tornado.ioloop.IOLoop.current", "on another thread"),
            (30, "tornado.ioloop.IOLoop.current", "on another thread"),
            (31, "tornado.ioloop.IOLoop.instance", "on another thread"),
        ],
    ),
    "names of Python 2": (
        """\
        from urlparse import urljoin
        import Queue, urllib, sys
        urllib.urlencode(unicode(x)), sys.maxint
        print(basestring if PY2 or x else str, [x for x in xrange(3)])
        d.iteritems(), d.has_key(1)
        file("a"), apply(f, []), d.viewkeys()
        """,
        [
            (1, "urlparse"),
            (2, "Queue"),
            (3, "builtins.unicode"),
            (3, "sys.maxint"),
            (3, "urllib.urlencode"),
            (4, "builtins.basestring"),
            (4, "builtins.xrange"),
            (5, "builtins.dict.has_key"),
            (5, "builtins.dict.iteritems"),
            (6, "builtins.apply"),
            (6, "builtins.dict.viewkeys"),
            (6, "builtins.file"),
        ],
    ),
    "a name that is a keyword now": (
        "import tornado.gen\nrun(async=True)\ndef await(): x.async\ntornado.gen.Task",
        [(2, "async"), (3, "async"), (4, "tornado.gen.Task")],
    ),
    "a decorator": (
        "import tornado.web\n@tornado.web.asynchronous\ndef get(self): pass",
        [(2, "tornado.web.asynchronous")],
    ),
    "a base class": (
        "from tornado import gen\nclass P(gen.YieldPoint): pass",
        [(2, "tornado.gen.YieldPoint")],
    ),
    "a module": ("import tornado.stack_context", [(1, "tornado.stack_context")]),
    "a module of a package": (
        "from tornado import stack_context\nstack_context.wrap(f)",
        [(1, "tornado.stack_context"), (2, "tornado.stack_context.wrap")],
    ),
    "all of a module": (
        "from tornado.stack_context import *\nwith NullContext(): pass",
        [(1, "tornado.stack_context"), (2, "tornado.stack_context.NullContext")],
    ),
    "a module as text": (
        "import importlib, tornado\nimportlib.import_module('tornado.stack_context')",
        [(2, "tornado.stack_context")],
    ),
    "a name as text": (
        (
            "from tornado.httpclient import AsyncHTTPClient\n"
            "patch('tornado.stack_context.wrap')"
        ),
        [(2, "tornado.stack_context.wrap")],
    ),
    "a name of another module": (
        "from tornado.web import stack_context",
        [(1, "tornado.web.stack_context")],
    ),
    "a method that is inherited": (
        """\
        import tornado.web
        class Handler(tornado.web.RequestHandler):
            def get(self):
                fetch(self.async_callback(self.on_response))
        """,
        [(4, "tornado.web.RequestHandler.async_callback")],
    ),
    "a method that is inherited through a class of the module": (
        """\
        from tornado.web import RequestHandler
        class Base(RequestHandler): pass
        class Handler(Base):
            def get(self):
                def later():
                    self._stack_context_handle_exception(1, 2, 3)
        """,
        [(6, "tornado.web.RequestHandler._stack_context_handle_exception")],
    ),
    "a method of nobody knows whom": (
        "import tornado.ioloop\nloop().set_blocking_log_threshold(1)",
        [(2, "tornado.ioloop.IOLoop.set_blocking_log_threshold")],
    ),
    "a method of what a function returns": (
        "from tornado.ioloop import IOLoop\nIOLoop.instance().running()",
        [(2, "tornado.ioloop.IOLoop.running")],
    ),
    "a method of what an alias stands for": (
        "from tornado import ioloop\nl = ioloop.IOLoop.current()\nl.running()",
        [(3, "tornado.ioloop.IOLoop.running")],
    ),
    "a method that Tornado once called": (
        (
            "from tornado.ioloop import IOLoop\n"
            "class L(IOLoop):\n    def handle_callback_exception(self, callback): pass"
        ),
        [(3, "tornado.ioloop.IOLoop.handle_callback_exception")],
    ),
    "a method that is replaced": (
        "from tornado.ioloop import IOLoop\nIOLoop.handle_callback_exception = f",
        [(2, "tornado.ioloop.IOLoop.handle_callback_exception")],
    ),
    "a callback by name": (
        (
            "from tornado.httpclient import AsyncHTTPClient\n"
            "client = AsyncHTTPClient()\nclient.fetch(url, callback=cb)"
        ),
        [(3, "tornado.httpclient.AsyncHTTPClient.fetch", "callback")],
    ),
    "a callback of nobody knows whose method": (
        "import tornado.iostream\ndef f(s):\n    s.read_bytes(4,\n        callback=cb)",
        [(4, "tornado.iostream.BaseIOStream.read_bytes", "callback")],
    ),
    "a streaming callback": (
        "import tornado.iostream\nself.s.read_until_close(streaming_callback=cb)",
        [(2, "tornado.iostream.BaseIOStream.read_until_close", "streaming_callback")],
    ),
    "a callback of an inherited method": (
        """\
        from tornado import web
        class Handler(web.RequestHandler):
            def get(self):
                self.flush(callback=self.on_flushed)
        """,
        [(4, "tornado.web.RequestHandler.flush", "callback")],
    ),
    "a method in the callback's place": (
        """\
        from tornado.httpclient import AsyncHTTPClient
        class C:
            def go(self):
                AsyncHTTPClient().fetch("http://a/", self.on_response)
            def on_response(self, response): pass
        """,
        [(4, "tornado.httpclient.AsyncHTTPClient.fetch", "callback")],
    ),
    "a method of Tornado in the callback's place": (
        """\
        from tornado.testing import AsyncTestCase
        class C(AsyncTestCase):
            def test(self):
                self.client.fetch("http://a/", self.stop)
        """,
        [(4, "tornado.httpclient.AsyncHTTPClient.fetch", "callback")],
    ),
    "a callback of a method that is async today": (
        """\
        from tornado import auth
        class Login(auth.FacebookGraphMixin):
            def get(self):
                self.get_authenticated_user("/", callback=self.on_user)
                self.facebook_request("/me", self.on_user)
            def on_user(self, user): pass
        """,
        [
            (4, "tornado.auth.FacebookGraphMixin.get_authenticated_user", "callback"),
            (5, "tornado.auth.FacebookGraphMixin.facebook_request", "callback"),
        ],
    ),
    "a lambda in the callback's place": (
        "import tornado.iostream\nstream.read_until(b'x', lambda data: None)",
        [(2, "tornado.iostream.BaseIOStream.read_until", "callback")],
    ),
    "a partial in the callback's place": (
        (
            "import tornado.iostream, functools\n"
            "stream.read_until_close(functools.partial(f, 1))"
        ),
        [(2, "tornado.iostream.BaseIOStream.read_until_close", "callback")],
    ),
    "a loop by name": (
        "from tornado.ioloop import PeriodicCallback\nPeriodicCallback(f, 1, io_loop=l)",
        [(2, "tornado.ioloop.PeriodicCallback", "io_loop")],
    ),
    "a loop by position": (
        (
            "from tornado.ioloop import IOLoop, PeriodicCallback\n"
            "PeriodicCallback(f, 1, IOLoop.instance())"
        ),
        [(2, "tornado.ioloop.PeriodicCallback", "io_loop")],
    ),
    "a loop of a function by position": (
        "from tornado import autoreload\nautoreload.start(io_loop)",
        [(2, "tornado.autoreload.start", "io_loop")],
    ),
    "a loop of a class that is inherited": (
        """\
        from tornado.tcpserver import TCPServer
        class One(TCPServer):
            def __init__(self, io_loop=None):
                super().__init__(io_loop=io_loop)
                TCPServer.__init__(self, io_loop=io_loop)
        class Two(TCPServer): pass
        One(io_loop=l), Two(io_loop=l)
        """,
        [
            (4, "tornado.tcpserver.TCPServer.__init__", "io_loop"),
            (5, "tornado.tcpserver.TCPServer.__init__", "io_loop"),
            (7, "tornado.tcpserver.TCPServer.__init__", "io_loop"),
        ],
    ),
    "a loop of a function": (
        "from tornado import gen\ngen.with_timeout(t, f, io_loop=l)",
        [(2, "tornado.gen.with_timeout", "io_loop")],
    ),
    "a name that nobody has": (
        "from tornado.gen import nonsense",
        [(1, "tornado.gen.nonsense")],
    ),
    "an attribute that nobody has": (
        "from tornado import gen\ngen.nonsense()",
        [(2, "tornado.gen.nonsense")],
    ),
    "a module that nobody has": (
        "import tornado.nonsense.more",
        [(1, "tornado.nonsense")],
    ),
    "a name that a module of once had not": (
        "from tornado.stack_context import nonsense",
        [(1, "tornado.stack_context.nonsense")],
    ),
    "an import that fails in any case": (
        """\
        try:
            from tornado.gen import Task
        except ImportError:
            from tornado.stack_context import wrap as Task
        """,
        [(2, "tornado.gen.Task"), (4, "tornado.stack_context.wrap")],
    ),
    "an import that must not fail": (
        (
            "try:\n    from tornado.gen import Task\n"
            "except ImportError:\n    print('no')\n    raise"
        ),
        [(2, "tornado.gen.Task")],
    ),
    "what is used where errors of imports are caught": (
        "from tornado import gen\ntry:\n    gen.Task(f)\nexcept ImportError:\n    pass",
        [(3, "tornado.gen.Task")],
    ),
}


@pytest.mark.parametrize(("source", "uses"), LEGACY.values(), ids=LEGACY)
def test_legacy_use_is_found(source, uses):
    assert found(source) == uses


MODERN = {
    "a thread that does not ask for the program's loop": """\
        import asyncio, threading
        from tornado.ioloop import IOLoop
        loop = IOLoop.current()
        class Loop(IOLoop): pass
        def captured(io_loop):
            loop.add_callback(lambda: IOLoop.current()), IOLoop.current(instance=False)
        def given(io_loop): io_loop.add_callback(on_loop)
        def on_loop(): IOLoop.current()
        def own():
            Loop().make_current(), IOLoop.current().add_callback(print)
        def own_of_asyncio():
            asyncio.set_event_loop(asyncio.new_event_loop()), IOLoop.current()
        def runs(): IOLoop.current().start()
        def makes():
            Loop(make_current=True)
            IOLoop.current().add_callback(print)
        [threading.Thread(target=captured), threading.Thread(target=given)]
        [threading.Thread(target=own), threading.Thread(target=own_of_asyncio)]
        [threading.Thread(target=runs), threading.Thread(target=makes)]
        threading.Thread(target=IOLoop.current().start), threading.Thread(target=f)
        executor.submit(IOLoop.current().add_callback, print), form.submit("name")
        """,
    "an argument of any object's method": (
        """\
        import tornado.web
        async def f(db, out):
            db.connect(io_loop=loop), db.connect(address, callback=f)
            out.write("x", callback=f), out.flush(callback=f), db.resolve(1, 2, 3, f)
            db.fetch("select", callback=f)
        class C:
            def fetch(self, callback): pass
            def g(self): self.fetch(callback=f)
        """
    ),
    "methods of these names elsewhere": (
        "# like tornado\nself.async_callback(f)\nfuture.set_exc_info(other.exc_info())"
    ),
    "a package's own names": (
        "from zmq.eventloop import ioloop, zmqstream\n"
        "ioloop.install(), zmqstream.ZMQStream(s)"
    ),
    "an attribute of what is served": (
        "from tornado import gen, ioloop\ndef f(l=ioloop.IOLoop.current()):\n    l.nonsense"
    ),
    "what is for Python 2": (
        """\
        import sys, six, collections, inspect
        if six.PY2:
            from tornado.gen import Task
        if sys.version_info[0] >= 3:
            from collections.abc import Mapping
        else:
            from collections import Mapping
        if sys.version_info < (3, 3) or not PY3:
            collections.Sequence
        Mapping()
        """
    ),
    "what has another place": (
        """\
        try:
            from collections import abc
        except ImportError:
            import collections as abc
        try:
            from inspect import getfullargspec as getargspec
        except ImportError:
            from inspect import getargspec
        abc.Mapping, getargspec(f)
        """
    ),
    "what another method asks for": (
        "import tornado.gen\nif hasattr(f, 'exc_info'):\n    f.exc_info()"
    ),
    "a name of Python that is there": (
        "import collections, unittest\ncollections.OrderedDict\n"
        "class T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 1)"
    ),
    "what only differs in modern code": (
        "from tornado.httpclient import AsyncHTTPClient\nfrom tornado import gen\n"
        "AsyncHTTPClient().fetch(url, raise_error=False)\ntype(x) is gen.Future"
    ),
    "names of Python 2 where it runs": (
        """\
        import six, sys
        try: from urlparse import urljoin
        except ImportError: from urllib.parse import urljoin
        try: unicode
        except NameError: unicode = str
        if six.PY2: text = basestring
        text = str if sys.version_info[0] > 2 else long
        six.PY2 and isinstance(x, xrange)
        def install():
            if six.PY3:
                return patch()
            import urlparse
            return unicode
        six.PY3 or isinstance(x, xrange)
        """
    ),
    "names of Python 2 that are something else": (
        """\
        from future.builtins import xrange
        from urllib.parse import urlparse
        import six, queue
        Queue = queue.Queue
        for k in xrange(3): six.iteritems(d), Queue()
        class Dict:
            def iteritems(self): pass
            def items(self, long): return self.iteritems(), long
        def read(buffer):
            file = open(buffer)
            return file
        """
    ),
    "names of Python 2 that a star may import": "from six.moves import *\nxrange(3)",
    "no Tornado": "import gen\ngen.Task(client.fetch(u, callback=f))",
    "a package of another name": "from tornado_celery import gen\ngen.Task()",
    "its own package": "from .tornado import gen\nfrom . import gen as g\ngen.Task()",
    "names that are there": (
        "from tornado import gen, web\n@gen.coroutine\ndef f(): yield gen.sleep(1)"
    ),
    "a parameter of that name": (
        "from tornado import gen\ndef f(gen):\n    gen.Task()\n    return lambda gen: gen.Task()"
    ),
    "a variable of a function": (
        "from tornado import gen\ndef f():\n    gen = other()\n    gen.Task()"
    ),
    "a class's own method": (
        """\
        from tornado.httpclient import AsyncHTTPClient
        class C(AsyncHTTPClient):
            def fetch(self, url, callback=None): pass
            def f(self): self.fetch(1, callback=print)
        """
    ),
    "an attribute that the class sets": (
        """\
        import tornado.ioloop
        class L(tornado.ioloop.IOLoop):
            def initialize(self): self.running = False
            def f(self): return self.running
        """
    ),
    "a callback that is still taken": (
        "from tornado.websocket import websocket_connect\n"
        "websocket_connect(url, callback=f, on_message_callback=g)\n"
        "from tornado.ioloop import IOLoop\n"
        "IOLoop.current().add_callback(callback=f)\n"
        "from tornado.httpclient import HTTPRequest\n"
        "HTTPRequest(url, streaming_callback=f)\n"
        "client.fetch(url, streaming_callback=f, header_callback=g)"
    ),
    "other arguments in the callback's place": (
        "import tornado.iostream\nimport limits\n"
        "s.read_bytes(4, True)\ns.read_until(b'x', limits.most)\nc.fetch(u, raise_error)"
    ),
    "a property in the callback's place": (
        """\
        import tornado.iostream
        class C:
            @property
            def most(self): return 7
            def f(self): self.stream.read_until(b"x", self.most)
        """
    ),
    "an import that may fail": (
        "try:\n    from tornado.stack_context import wrap\n"
        "except ImportError:\n    wrap = lambda f: f\nwrap(print)"
    ),
    "an import that may fail in any way": (
        "try:\n    import tornado.database\nexcept:\n    tornado = None"
    ),
    "an import of either": (
        """\
        try:
            from tornado.httputil import HTTPServerRequest
        except ImportError:
            from tornado.httpserver import HTTPRequest as HTTPServerRequest
            from tornado.gen import nonsense
        HTTPServerRequest()
        """
    ),
    "an attribute that may not be there": (
        "from tornado import gen\ntry:\n    gen.Task\nexcept AttributeError:\n    pass"
    ),
    "what is asked for": (
        "from tornado import gen\nif hasattr(gen, 'Task'):\n    gen.Task(f)"
    ),
    "what is for another Tornado": (
        """\
        import tornado
        from tornado import version_info as v
        if tornado.version_info < (5,):
            from tornado.stack_context import wrap
        if v[0] < 5:
            from tornado.gen import Task
        else:
            Task = None
        Task(), wrap()
        """
    ),
    "what a reader of types is told": (
        "from typing import TYPE_CHECKING\nimport tornado\n"
        "if TYPE_CHECKING:\n    from tornado.gen import Task"
    ),
    "a name of every module": "from tornado import gen\ngen.__doc__, gen.__name__",
    "a name that a module may make": (
        "from tornado.platform.asyncio import AnyThreadEventLoopPolicy\n"
        "from tornado.speedups import websocket_mask"
    ),
    "what is set": "import tornado.web\ntornado.web.mine = 1\ntornado.web.mine2: int = 2",
    "a sentence": "import tornado\nprint('tornado.gen.Task is gone')",
    "a name that is something else too": (
        "from tornado import gen\ngen.Future\nfor gen in gens:\n    gen.nonsense()"
    ),
    "a class that may be itself": (
        "from tornado import web\nclass A(B): pass\nclass B(A): pass\nB().x.y()"
    ),
    "names that lead to each other": (
        "import tornado\n"
        + "".join(f"a{n} = a{m}.b({n})\n" for n in range(20) for m in range(20))
        + "a1.c"
    ),
    "a circle of aliases": "import tornado\na = b\nb = a\na.c()\nclass A(A): pass\nA()",
}


@pytest.mark.parametrize("source", MODERN.values(), ids=MODERN)
def test_nothing_is_found(source):
    assert found(source) == []


def test_what_differs_is_told():
    source = """\
        from tornado import gen, httpclient
        @gen.coroutine
        def f(): yield gen.Task(g)
        class C:
            def start(self):
                self.f, self.c = f(), None
                self.future = f()
                self.client = httpclient.AsyncHTTPClient()
            def stop(self):
                self.future.cancel()
                self.timer.cancel()
                type(self.f) is gen.Future, gen.Future == type(1), type(1) is int
                self.client.fetch("/", raise_error=False)
                self.client.fetch("/", self.stop, raise_error=False)
        """

    notes = [(use.line, use.name) for use in scan(textwrap.dedent(source)) if use.note]

    assert notes == [
        (10, "tornado.concurrent.Future.cancel"),
        (12, "tornado.concurrent.Future"),
        (13, "tornado.httpclient.AsyncHTTPClient.fetch"),
    ]


def test_nothing_is_found_in_code_of_today():
    files = [*sorted(TORNADO.glob("*.py")), *TORNADO.glob("platform/*.py")]
    files = some(files, one_in=2) + some(sorted(CRAWLER.rglob("*.py")), one_in=16)

    uses = [(file, use) for file in files for use in scan(file.read_bytes())]

    # Tornado's own autoreload has a name that Python 3.14 has removed.
    assert [u for u in uses if u[1].name != "pkgutil.get_loader"] == []


def test_little_is_found_in_tornados_tests_of_today():
    all_files = sorted(TORNADO.glob("test/*_test.py"))
    if not all_files:
        pytest.skip("this Tornado has come without its tests")
    files = {TORNADO / "test/gen_test.py", *some(all_files, one_in=3)}

    uses = [(file.name, use.name) for file in files for use in scan(file.read_bytes())]

    # It stands after a return.
    assert uses == [("gen_test.py", "tornado.gen.Task")]


def test_use_tells_its_row():
    [use] = scan("from tornado.gen import engine")
    [unserved] = scan("import tornado.database")
    [unknown] = scan("from tornado.gen import nonsense")

    assert (use.row.first, use.row.last, use.is_served) == ("2.1", "5.1", True)
    assert (unserved.row.first, unserved.row.last) == ("2.0", "2.4")
    assert not unserved.is_served
    assert (unknown.row, unknown.is_served) == (None, False)


def test_source_that_is_too_deep_is_refused():
    with pytest.raises(SyntaxError, match="too deeply"):
        scan("import tornado\nx = " + "+".join("x" * 5000))


def test_two_uses_on_one_line_are_one():
    assert len(scan("from tornado import gen\n[gen.Task(f), gen.Task(g)]")) == 1


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("import os\nprint 'tornado'\n", 2),
        ("try:\n    pass\nexcept E, e:\n    pass\n", 3),
        ("try:\n    pass\nexcept (E, F), e:\n    pass\n", 3),
        ("import os\n\nraise E[0], 'x', tb\n", 3),
        ("x = 0777\n", 1),
        ("x = 10L\n", 1),
        ("if a <> b: pass\n", 1),
        ("def f((a, b)): pass\n", 1),
        ("x = '\0'\n", None),
        ("(" * 1000 + ")" * 1000, None),
    ],
)
def test_source_that_is_not_of_python_3_is_refused(source, line):
    with pytest.raises(SyntaxError) as error:
        scan(source)

    if line is not None:
        assert error.value.lineno == line


@pytest.mark.skipif(sys.version_info < (3, 14), reason="needs parentheses until 3.13")
@pytest.mark.parametrize("caught", ["E, F", "E, m.e", "E, f, e", "E, timeout"])
def test_classes_without_parentheses_are_python_3(caught):
    source = "from tornado.gen import engine\nfrom socket import timeout\n"

    [use] = scan(f"{source}try:\n    pass\nexcept {caught}:\n    pass\n")

    assert use.name == "tornado.gen.engine"


@pytest.mark.parametrize("caught", ["(E, e)", "(E, e,)", "e", "()", "(E, e) as e"])
def test_errors_in_parentheses_are_python_3(caught):
    assert scan(f"try:\n    pass\nexcept {caught}:\n    pass\n") == []


def test_finalizers_that_parse_do_not_disturb():
    class Finalized:
        def __init__(self):
            self.itself = self

        def __del__(self):
            ast.parse("x = 1")  # as formatting a traceback does

    source = "import tornado\nx = [" + "f(a, b.c[1:2])," * 5_000 + "]"
    thresholds = gc.get_threshold()
    gc.set_threshold(10)
    try:
        garbage = [Finalized() for _ in range(100)]
        del garbage

        assert scan(source) == []
    finally:
        gc.set_threshold(*thresholds)


def test_bytes_are_read_as_python_reads_them():
    source = "# coding: latin1\nfrom tornado import gen\nx = '\xe9', gen.Task\n"

    assert [use.line for use in scan(source.encode("latin1"))] == [3]


def test_questionable_source_is_no_warning(recwarn):
    scan("import tornado\nx = '\\d'\nassert (x, 1)\n")

    assert not recwarn.list


OF_MODULES = [
    name
    for name in TABLE
    if name.startswith("tornado.")
    and not any(part.strip("_")[:1].isupper() for part in name.split(".")[:-1])
]


def test_import_of_any_row_is_found_unless_it_is_there_today():
    missing = [name for name in OF_MODULES if not TODAY.has(name)]
    modules = [name.rpartition(".")[::2] for name in OF_MODULES]
    source = "\n".join(f"from {module} import {name}" for module, name in modules)

    assert [use.name for use in scan(source)] == missing
