"""tornado.netutil as code of Tornado 2 to 5 uses it."""

import asyncio
import importlib
import inspect
import socket
import ssl

import pytest
from tornado import netutil
from tornado.ioloop import IOLoop

from gencoro import gen
from gencoro.legacy.contexts import ExceptionStackContext, StackContext
from tests.helpers.compat.rows import uses
from tests.helpers.compat.serving import called_back

LOCALHOST = (socket.AF_INET, ("127.0.0.1", 80))

RESOLVERS = [
    "BlockingResolver",
    "DefaultExecutorResolver",
    "DefaultLoopResolver",
    "ExecutorResolver",
    "Resolver",
    "ThreadedResolver",
]


@pytest.fixture
def configured(compat):
    """Undo what a test has configured."""
    saved = netutil.Resolver._save_configuration()
    yield netutil.Resolver.configure
    netutil.Resolver._restore_configuration(saved)


@uses(
    "tornado.netutil.ExecutorResolver.resolve",
    "tornado.netutil.DefaultExecutorResolver.resolve",
    "tornado.netutil.DefaultLoopResolver.resolve",
)
@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.parametrize("name", RESOLVERS)
def test_resolve_calls_back(loop, name, by_name):
    resolve = getattr(netutil, name)().resolve

    def start(stop):
        if by_name:
            resolve("127.0.0.1", 80, callback=stop)
        else:
            resolve("127.0.0.1", 80, socket.AF_INET, stop)

    assert called_back(loop, start) == [LOCALHOST]


@pytest.mark.parametrize("name", RESOLVERS)
def test_resolve_returns_a_future(loop, name):
    @gen.coroutine
    def main():
        # It is begun where no coroutine waits for it yet.
        assert (yield future) == future.result()
        return (yield resolver.resolve("127.0.0.1", 80, socket.AF_UNSPEC))

    resolver = getattr(netutil, name)()
    future = resolver.resolve("127.0.0.1", 80)

    assert loop.run_sync(main) == [LOCALHOST]


@pytest.mark.parametrize("name", RESOLVERS)
def test_error_of_resolve_goes_to_the_callers_context(loop, name):
    def start(stop):
        def handle(_type, error, _traceback):
            stop(error)
            return True

        with ExceptionStackContext(handle):
            resolver.resolve("no host", 80, callback=stop)

    resolver = getattr(netutil, name)()
    error = called_back(loop, start)

    assert isinstance(error, OSError)


def test_native_code_gets_the_coroutine_itself(loop):
    async def main():
        coroutine = netutil.Resolver().resolve("127.0.0.1", 80)
        assert inspect.iscoroutine(coroutine)
        return await asyncio.create_task(coroutine)

    assert loop.run_sync(main) == [LOCALHOST]


@uses("tornado.netutil.OverrideResolver.resolve")
def test_override_resolver_calls_back(loop):
    resolver = netutil.OverrideResolver(
        netutil.BlockingResolver(), {"a.test": "127.0.0.1"}
    )

    seen = called_back(loop, lambda stop: resolver.resolve("a.test", 80, callback=stop))

    assert seen == [LOCALHOST]


@uses("tornado.netutil.Resolver.resolve")
def test_abstract_resolve_takes_a_callback(loop):
    class Nothing(netutil.Resolver):
        pass

    with pytest.raises(NotImplementedError):
        Nothing().resolve("127.0.0.1", 80, callback=print)


@uses(
    "tornado.netutil.BlockingResolver.initialize",
    "tornado.netutil.ExecutorResolver.initialize",
    "tornado.netutil.Resolver.__new__",
    "tornado.netutil.Resolver.initialize",
    "tornado.netutil.Resolver.io_loop",
    "tornado.netutil.ThreadedResolver.initialize",
)
@pytest.mark.parametrize("name", RESOLVERS)
def test_resolver_is_given_a_loop(loop, other_loop, name):
    cls = getattr(netutil, name)

    assert cls(io_loop=other_loop).io_loop is other_loop
    assert cls(other_loop).io_loop is other_loop
    assert cls(io_loop=None).io_loop is loop
    assert cls().io_loop is loop


@pytest.mark.parametrize("name", RESOLVERS)
def test_resolver_calls_back_on_its_own_loop(loop, other_loop, name):
    resolver = getattr(netutil, name)(io_loop=other_loop)
    current = []

    def start(stop):
        resolver.resolve(
            "127.0.0.1", 80, callback=lambda _: stop(current.append(IOLoop.current()))
        )

    called_back(other_loop, start)

    assert current == [other_loop]
    assert IOLoop.current() is loop


def test_arguments_after_the_loop(loop):
    executor = object()

    assert netutil.ExecutorResolver(loop, executor, False).executor is executor
    assert netutil.ExecutorResolver(None, executor, False).executor is executor
    assert netutil.ExecutorResolver(executor, False).executor is executor
    assert netutil.ThreadedResolver(None, 2).executor is not None
    assert netutil.BlockingResolver(None).io_loop is loop


def test_class_of_a_program_with_a_loop(loop, configured):
    made = []

    class Legacy(netutil.BlockingResolver):
        def initialize(self, io_loop):
            made.append(io_loop)
            super().initialize(io_loop=io_loop)

    configured(Legacy)

    assert isinstance(netutil.Resolver(io_loop=loop), Legacy)
    assert netutil.Resolver().io_loop is loop
    assert made == [loop, loop]


def test_class_of_a_program_without_a_loop(loop, other_loop, configured):
    class Modern(netutil.DefaultLoopResolver):
        def initialize(self, *, size=1):
            self.size = size

    configured(Modern, size=2)
    resolver = netutil.Resolver(io_loop=other_loop)

    assert resolver.size == 2
    assert resolver.io_loop is other_loop


@uses("tornado.netutil.add_accept_handler")
@pytest.mark.parametrize("is_given", [True, False])
def test_accept_within_the_contexts_of_who_asked_for_it(loop, other_loop, is_given):
    its_loop = other_loop if is_given else loop
    (listening,) = netutil.bind_sockets(0, "127.0.0.1")
    client = socket.create_connection(listening.getsockname())
    entered = []

    class Named:
        def __enter__(self):
            entered.append("enter")

        def __exit__(self, *exc_info):
            entered.append("leave")

    def start(stop):
        with StackContext(Named):
            netutil.add_accept_handler(
                listening,
                lambda *connection: stop(connection),
                other_loop if is_given else None,
            )
        entered.clear()

    connection, address = called_back(its_loop, start)

    assert address == client.getsockname()
    assert entered == ["enter", "leave"]
    its_loop.remove_handler(listening)
    for sock in (connection, client, listening):
        sock.close()


@uses(
    "tornado.netutil._client_ssl_defaults",
    "tornado.netutil._server_ssl_defaults",
    "tornado.iostream._client_ssl_defaults",
    "tornado.iostream._server_ssl_defaults",
)
@pytest.mark.parametrize("module", ["netutil", "iostream"])
@pytest.mark.parametrize("name", ["_client_ssl_defaults", "_server_ssl_defaults"])
def test_default_context_is_one(compat, module, name):
    context = getattr(importlib.import_module(f"tornado.{module}"), name)

    assert isinstance(context, ssl.SSLContext)
    assert netutil.ssl_options_to_context(context) is context
    is_server = "server" in name
    # Python 3.14 refuses a client that checks names and is not given one.
    wrapped = context.wrap_bio(
        ssl.MemoryBIO(),
        ssl.MemoryBIO(),
        server_side=is_server,
        server_hostname=None if is_server else "a.test",
    )
    assert wrapped.context is context()
    assert type(context()) is ssl.SSLContext


@uses(
    "tornado.platform.caresresolver.CaresResolver.initialize",
    "tornado.platform.caresresolver.CaresResolver.resolve",
)
def test_cares_resolver(loop, other_loop):
    pytest.importorskip("pycares")
    from tornado.platform.caresresolver import CaresResolver

    resolver = CaresResolver(io_loop=other_loop)
    seen = called_back(
        other_loop, lambda stop: resolver.resolve("127.0.0.1", 80, callback=stop)
    )

    assert resolver.io_loop is other_loop
    assert seen == [LOCALHOST]
