"""tornado.iostream as code of Tornado 2 to 5 uses it."""

import asyncio
import collections
import concurrent.futures
import contextlib
import contextvars
import errno
import functools
import gc
import logging
import os
import socket
import ssl
import threading
import weakref

import pytest
import trustme
from tornado import netutil
from tornado.iostream import (
    BaseIOStream,
    IOStream,
    SSLIOStream,
    StreamBufferFullError,
    StreamClosedError,
)

import gencoro.compat
import gencoro.gen
from gencoro.ioloop import IOLoop
from gencoro.legacy.stack_context import (
    ExceptionStackContext,
    NullContext,
    StackContext,
)
from tests.helpers.compat.rows import uses

BIG = b"x" * 5_000_000


@pytest.fixture
def peer(loop):
    """The other end of the stream."""
    ours, theirs = socket.socketpair()
    with theirs:
        yield Peer(loop, ours, theirs)


@pytest.fixture
def stream(loop, peer):
    """A stream that is connected."""
    stream = IOStream(peer.ours)
    yield stream
    stream.close()
    turns(loop)


class Peer:
    """Has the loop make some turns after what it does."""

    def __init__(self, loop, ours, theirs):
        self.loop = loop
        self.ours = ours
        self.socket = theirs
        self.recv = theirs.recv

    def send(self, data):
        self.socket.send(data)
        turns(self.loop)

    def close(self, data=b""):
        """Send the last of the data, and close at once."""
        self.socket.send(data)
        self.socket.close()
        turns(self.loop)


@pytest.fixture
def listener(loop):
    """A socket that accepts connections on 127.0.0.1."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.fixture
def tls():
    """The contexts of a server, and of a client that trusts it."""
    authority = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return server, client


class Seen(list):
    """What was called back, in order."""

    def by(self, name):
        """Return a callback that notes its name, and its arguments if there are any."""
        return lambda *args: self.append((name, *args) if args else name)


@pytest.fixture
def seen():
    return Seen()


def turns(loop, count=12):
    """Let the loop make some turns; what a socket pair brings is there at once."""

    def again(left):
        if left:
            loop.add_callback(again, left - 1)
        else:
            loop.stop()

    with NullContext():
        loop.add_callback(again, count)
    loop.start()


def wait_until(loop, condition):
    """Run the loop until something is true."""

    async def wait():
        while not condition():
            await asyncio.sleep(0)

    loop.run_sync(wait, timeout=60)


@contextlib.contextmanager
def noting(seen, name):
    seen.append("+" + name)
    yield
    seen.append("-" + name)


# Which loop.


@uses("tornado.iostream.BaseIOStream.__init__")
@pytest.mark.parametrize("by_name", [True, False])
def test_stream_works_on_the_loop_that_it_is_given(loop, seen, by_name):
    ours, theirs = socket.socketpair()
    its_loop = IOLoop(make_current=False)
    stream = IOStream(ours, io_loop=its_loop) if by_name else IOStream(ours, its_loop)

    assert stream.io_loop is its_loop
    stream.read_bytes(1, seen.by("read"))
    stream.write(b"out", seen.by("written"))
    theirs.send(b"x")
    turns(its_loop)

    assert seen == ["written", ("read", b"x")]
    assert theirs.recv(9) == b"out"
    stream.close()
    theirs.close()
    its_loop.close()


def test_stream_needs_no_current_loop(compat, seen):
    def read():
        with pytest.raises(RuntimeError):
            asyncio.get_event_loop()
        stream.read_bytes(1, seen.by("read"))
        stream.write(b"x", seen.by("written"))
        turns(its_loop)

    ours, theirs = socket.socketpair()
    with theirs, concurrent.futures.ThreadPoolExecutor(1) as executor:
        its_loop = executor.submit(IOLoop, make_current=False).result()
        stream = executor.submit(IOStream, ours, its_loop).result()
        theirs.send(b"x")
        executor.submit(read).result()

    assert seen == [("read", b"x"), "written"]
    stream.close()
    its_loop.close()


@pytest.mark.parametrize("is_running", [True, False])
def test_stream_of_another_loop_leaves_ours_alone(loop, is_running):
    seen = []

    class Stream(IOStream):
        @property
        def max_buffer_size(self):
            return 1

        @max_buffer_size.setter
        def max_buffer_size(self, _):
            # No Task of this loop runs on that one, whose own may be started meanwhile.
            seen.append((IOLoop.current(), asyncio.current_task(its_loop.asyncio_loop)))

    async def make():
        task, running = asyncio.current_task(), asyncio.get_running_loop()
        stream = Stream(ours, io_loop=its_loop)
        assert stream.io_loop is its_loop
        assert asyncio.get_running_loop() is running
        assert asyncio.current_task() is task
        stream.close()

    ours, theirs = socket.socketpair()
    set_before = asyncio.get_event_loop()
    its_loop = IOLoop(make_current=False)
    thread = threading.Thread(target=its_loop.start)
    if is_running:
        started = threading.Event()
        its_loop.add_callback(started.set)
        thread.start()
        started.wait()
    try:
        loop.run_sync(lambda: asyncio.create_task(make()))
        assert asyncio.get_event_loop() is set_before
        assert seen == [(its_loop, None)]
    finally:
        its_loop.add_callback(its_loop.stop)
        if is_running:
            thread.join()
        its_loop.close()
        theirs.close()


@pytest.mark.parametrize("has_loop", [True, False])
def test_sizes_come_after_the_loop_if_there_is_one(loop, has_loop):
    ours, theirs = socket.socketpair()
    with theirs:
        before = [loop] if has_loop else []
        stream = IOStream(ours, *before, 1000, 10)

        assert (stream.max_buffer_size, stream.read_chunk_size) == (1000, 10)
        assert stream.io_loop is loop
        stream.close()


def test_stream_of_a_programs_own_returns_what_it_reads(loop, seen):
    class FileStream(BaseIOStream):
        def __init__(self, fd, **kwargs):
            self.fd = fd
            os.set_blocking(fd, False)
            super().__init__(**kwargs)

        def fileno(self):
            return self.fd

        def close_fd(self):
            os.close(self.fd)

        def read_from_fd(self):
            try:
                chunk = os.read(self.fd, self.read_chunk_size)
            except BlockingIOError:
                return None
            if not chunk:
                self.close()
                return None
            return chunk

    reading, writing = os.pipe()
    stream = FileStream(reading, io_loop=loop)
    stream.read_until(b"\n", seen.by("line"))
    os.write(writing, b"line\nand more")
    turns(loop)
    os.close(writing)
    stream.read_until_close(seen.by("rest"))
    turns(loop)

    assert seen == [("line", b"line\n"), ("rest", b"and more")]
    assert stream.closed()


# Reads.


def _reads(data, result):
    """Say that a read, of these data, calls back with this."""
    return lambda name, *args, **kwargs: (name, args, kwargs, data, result)


READS = [
    _reads(b"abcd", b"abc")("read_bytes", 3),
    _reads(b"ab", b"ab")("read_bytes", 3, partial=True),
    _reads(b"ab\nc", b"ab\n")("read_until", b"\n"),
    _reads(b"ab\nc", b"ab\n")("read_until", b"\n", max_bytes=3),
    _reads(b"ab12c", b"ab1")("read_until_regex", b"[0-9]"),
    _reads(b"ab12c", b"ab1")("read_until_regex", b"[0-9]", max_bytes=3),
    _reads(b"ab", 2)("read_into", bytearray(2)),
    _reads(b"ab", 2)("read_into", bytearray(9), partial=True),
]


@uses(
    "tornado.iostream.BaseIOStream.read_bytes",
    "tornado.iostream.BaseIOStream.read_until",
    "tornado.iostream.BaseIOStream.read_until_regex",
    "tornado.iostream.BaseIOStream.read_into",
)
@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.parametrize("is_there", [True, False])
def test_read_calls_back(loop, stream, peer, seen, read, by_name, is_there):
    name, args, kwargs, data, result = read
    if is_there:
        peer.send(data)
    if by_name:
        returned = getattr(stream, name)(*args, callback=seen.by("read"), **kwargs)
    else:
        returned = getattr(stream, name)(*args, seen.by("read"), **kwargs)

    assert returned is None
    assert seen == []
    if not is_there:
        peer.send(data)
    turns(loop)
    assert seen == [("read", result)]


@uses("tornado.iostream.BaseIOStream.write")
def test_thread_without_a_loop_may_write(stream, peer):
    thread = threading.Thread(target=stream.write, args=(b"from a thread",))
    thread.start()
    thread.join()

    assert peer.recv(100) == b"from a thread"


def test_two_callbacks_are_refused(stream, seen):
    with pytest.raises(TypeError, match="twice|multiple values"):
        stream.read_until(b"\n", seen.by("first"), callback=seen.by("second"))


def test_arguments_by_position_stand_where_they_did(stream, peer, seen):
    stream.read_bytes(9, seen.by("bytes"), None, True)
    peer.send(b"efghij")
    stream.read_bytes(2, seen.by("end"), seen.by("chunk"))
    peer.send(b"kl")

    assert seen == [("bytes", b"efghij"), ("chunk", b"kl"), ("end", b"")]


@pytest.mark.parametrize(
    ("begin", "result"),
    [
        (lambda stream: stream.read_bytes(9, True), b"ab\n"),
        (lambda stream: stream.read_bytes(9, partial=True), b"ab\n"),
        (lambda stream: stream.read_bytes(2), b"ab"),
        (lambda stream: stream.read_bytes(2, False), b"ab"),
        (lambda stream: stream.read_until(b"\n", 5), b"ab\n"),
        (lambda stream: stream.read_until(b"\n", max_bytes=5), b"ab\n"),
        (lambda stream: stream.read_until(b"\n", None, 5), b"ab\n"),
        (lambda stream: stream.read_until(b"\n", None, max_bytes=5), b"ab\n"),
        (lambda stream: stream.read_until_regex(b"\n", 5), b"ab\n"),
        (lambda stream: stream.read_into(bytearray(9), True), 3),
        (lambda stream: stream.write(b"ab"), None),
    ],
)
def test_without_a_callback_it_is_todays_call(loop, stream, peer, begin, result):
    peer.send(b"ab\n")

    async def call():
        return await begin(stream)

    assert loop.run_sync(call) == result


@pytest.mark.parametrize("name", ["read_until", "read_until_regex"])
def test_limit_by_position_closes_the_stream(loop, stream, peer, seen, name):
    stream.set_close_callback(seen.by("closed"))
    peer.send(b"abcdef")
    getattr(stream, name)(b"\n", seen.by("read"), 3)
    turns(loop)

    assert seen == ["closed"]
    assert stream.closed()


def test_read_within_a_callback_calls_back_later(loop, stream, peer, seen):
    peer.send(b"abc")

    def on_read(data):
        seen.append(data)
        if len(seen) < 5:
            stream.read_bytes(1, on_read)
            seen.append("begun")

    stream.read_bytes(1, on_read)
    turns(loop)

    assert seen == [b"a", "begun", b"b", "begun", b"c"]


def test_one_read_at_a_time(stream, peer, seen):
    stream.read_bytes(2, seen.by("first"))
    with pytest.raises(AssertionError, match="Already reading"):
        stream.read_bytes(2, seen.by("second"))
    with pytest.raises(AssertionError, match="Already reading"):
        stream.read_until_close(seen.by("end"), seen.by("chunk"))
    peer.send(b"ab")

    assert seen == [("first", b"ab")]


@uses("tornado.iostream.BaseIOStream._read_callback")
def test_program_gives_up_a_read(stream, peer, seen):
    on_read = seen.by("read")
    stream.read_bytes(3, on_read)
    assert stream._read_callback is on_read
    assert stream.reading()
    with pytest.raises(ValueError, match="call a read method"):
        stream._read_callback = print

    stream._read_callback = None
    assert stream._read_callback is None
    assert not stream.reading()
    stream._read_callback = None
    stream.read_until(b"\n", seen.by("line"))
    peer.send(b"line\n")
    assert seen == [("line", b"line\n")]


def test_read_of_today_cannot_be_given_up(stream):
    stream.read_bytes(100)
    stream._read_callback = None

    assert stream.reading()


# Chunk by chunk.


def test_chunks_are_given_away_as_they_come(loop, stream, peer, seen):
    stream.read_bytes(6, seen.by("end"), seen.by("chunk"))
    peer.send(b"abc")
    assert seen == [("chunk", b"abc")]

    peer.send(b"defgh")
    assert seen[1:] == [("chunk", b"def"), ("end", b"")]
    stream.read_bytes(2, seen.by("next"))
    turns(loop)
    assert seen[3:] == [("next", b"gh")]


def test_chunks_and_a_future(loop, stream, peer, seen):
    peer.send(b"abc")

    async def read():
        return await stream.read_bytes(3, streaming_callback=seen.by("chunk"))

    assert loop.run_sync(read) == b""
    assert seen == [("chunk", b"abc")]


@uses("tornado.iostream.BaseIOStream.read_until_close")
def test_read_until_close(stream, peer, seen):
    stream.set_close_callback(seen.by("closed"))
    assert stream.read_until_close(seen.by("all")) is None
    peer.send(b"abc")
    assert seen == []

    peer.close(b"def")
    assert seen == [("all", b"abcdef"), "closed"]


def test_read_until_close_chunk_by_chunk(stream, peer, seen):
    stream.set_close_callback(seen.by("closed"))
    stream.read_until_close(
        callback=seen.by("end"), streaming_callback=seen.by("chunk")
    )
    peer.send(b"abc")
    peer.close(b"def")

    assert seen == [("chunk", b"abc"), ("chunk", b"def"), ("end", b""), "closed"]
    assert "_find_read_pos" not in vars(stream)


def test_read_until_close_of_a_closed_stream(loop, stream, peer, seen):
    peer.send(b"a\nrest")
    stream.read_until(b"\n", seen.by("line"))
    turns(loop)
    stream.close()
    stream.read_until_close(seen.by("end"), seen.by("chunk"))
    turns(loop)

    assert seen == [("line", b"a\n"), ("chunk", b"rest"), ("end", b"")]


def test_read_until_close_has_what_came_before_an_error(loop, stream, peer, seen):
    stream.read_until_close(seen.by("all"))
    peer.send(b"abc")
    error = ValueError("on purpose")
    stream.close((ValueError, error, None))
    turns(loop)

    assert seen == [("all", b"abc")]
    assert stream.error is error


def test_chunks_stop_when_a_read_is_refused(stream, seen):
    with pytest.raises(AssertionError):
        stream.read_bytes("three", seen.by("end"), seen.by("chunk"))

    assert "_find_read_pos" not in vars(stream)


def test_chunks_stop_when_the_stream_closes(stream, peer, seen):
    stream.read_bytes(6, seen.by("end"), seen.by("chunk"))
    peer.close(b"abc")

    assert seen == [("chunk", b"abc")]
    assert stream.closed()
    assert "_find_read_pos" not in vars(stream)


# Writes.


@uses("tornado.iostream.BaseIOStream.write")
@pytest.mark.parametrize("data", [b"out", b""])
def test_write_calls_back(loop, stream, peer, seen, data):
    assert stream.write(data, seen.by("first")) is None
    assert seen == []
    turns(loop)
    stream.write(b"more", callback=seen.by("second"))
    turns(loop)

    assert seen == ["first", "second"]
    assert peer.recv(99) == data + b"more"


def test_callbacks_of_writes_that_are_done_are_all_called(loop, stream, seen):
    stream.write(b"a", seen.by("first"))
    stream.write(b"b", seen.by("second"))
    turns(loop)

    assert seen == ["first", "second"]


@pytest.mark.parametrize("data", [b"end", BIG], ids=["little", "much"])
def test_later_write_takes_the_callbacks_place(loop, stream, peer, seen, data):
    stream.write(BIG, seen.by("first"))
    stream.write(BIG, seen.by("second"))
    last = stream.write(data)  # the callback waits for this too
    last.add_done_callback(lambda done: seen.append("end"))
    _drain(loop, peer, 2 * len(BIG) + len(data))

    assert seen == ["end", "second"]


def _drain(loop, peer, size):
    left = size
    peer.socket.setblocking(False)

    def read(_fd, _events):
        nonlocal left
        left -= len(peer.recv(1 << 20))

    loop.add_handler(peer.socket, read, loop.READ)
    wait_until(loop, lambda: not left)
    loop.remove_handler(peer.socket)
    turns(loop)


def test_write_that_is_refused_leaves_the_callback_before(loop, stream, peer, seen):
    stream.write(BIG, seen.by("first"))
    stream.max_write_buffer_size = 1
    with pytest.raises(StreamBufferFullError):
        stream.write(b"more", seen.by("second"))
    _drain(loop, peer, len(BIG))

    assert seen == ["first"]


# Closing.


@uses(
    "tornado.iostream.BaseIOStream.close",
    "tornado.iostream.BaseIOStream.set_close_callback",
)
def test_close_callback_waits_for_the_others(loop, stream, peer, seen):
    peer.send(b"a\nb\nrest")

    def on_line(line):
        seen.append(line)
        if line == b"a\n":
            stream.read_until(b"\n", on_line)
        else:
            stream.read_bytes(4, seen.by("rest"))

    stream.set_close_callback(seen.by("closed"))
    stream.read_until(b"\n", on_line)
    stream.close()
    turns(loop)

    assert seen == [b"a\n", b"b\n", ("rest", b"rest"), "closed"]


def test_end_of_file_comes_after_what_arrived_before(loop, stream, peer, seen):
    peer.close(b"abc")
    stream.set_close_callback(seen.by("closed"))
    stream.read_until_close(seen.by("all"))
    assert stream.closed()
    turns(loop)

    assert seen == [("all", b"abc"), "closed"]


def test_callbacks_of_what_is_not_done_are_not_called(stream, peer, seen, caplog):
    stream.set_close_callback(seen.by("closed"))
    stream.read_until(b"\n", seen.by("read"))
    stream.write(BIG, seen.by("written"))
    peer.close(b"no line")
    gc.collect()

    assert seen == ["closed"]
    assert not stream.reading()
    assert caplog.records == []


@pytest.mark.parametrize(
    "begin",
    [
        lambda stream: stream.read_bytes(1, print),
        lambda stream: stream.read_until(b"\n", print),
        lambda stream: stream.read_until_regex(b"\n", print),
        lambda stream: stream.read_bytes(1, print, print),
        lambda stream: stream.write(b"x", print),
    ],
)
def test_closed_stream_refuses_at_once(stream, begin):
    stream.close()
    with pytest.raises(StreamClosedError):
        begin(stream)


def test_close_callback_of_a_closed_stream(loop, stream, seen):
    stream.close()
    turns(loop)
    stream.set_close_callback(seen.by("closed"))
    assert seen == []
    turns(loop)

    assert seen == ["closed"]


def test_tornado_itself_is_not_told_of_a_closed_stream(loop, stream, seen):
    stream.close()
    namespace = {"__name__": "tornado.simple_httpclient", "stream": stream}
    namespace["callback"] = seen.by("closed")
    eval("stream.set_close_callback(callback)", namespace)
    turns(loop)

    assert seen == []


def test_close_callback_can_be_taken_back(loop, stream, peer, seen):
    stream.set_close_callback(seen.by("closed"))
    stream.set_close_callback(None)
    peer.send(b"x")
    stream.read_bytes(1, seen.by("read"))
    stream.close()
    stream.set_close_callback(None)
    turns(loop)

    assert seen == [("read", b"x")]


@uses("tornado.iostream.BaseIOStream._pending_callbacks")
def test_callbacks_are_counted(loop, stream, peer, seen):
    assert stream._pending_callbacks == 0
    peer.send(b"ab")
    stream.read_bytes(1, seen.by("read"))
    stream.write(b"x", seen.by("written"))
    assert stream._pending_callbacks == 2
    turns(loop)

    assert stream._pending_callbacks == 0


# Errors.


def test_error_of_a_callback_closes_the_stream(loop, stream, peer, seen, caplog):
    error = ValueError("on purpose")

    def on_read(_data):
        raise error

    stream.set_close_callback(seen.by("closed"))
    peer.send(b"x")
    stream.read_bytes(1, on_read)
    turns(loop)

    assert seen == ["closed"]
    assert stream.error is error
    first, second = caplog.records
    assert first.getMessage() == "Uncaught exception, closing connection."
    assert second.getMessage().startswith("Exception in callback ")


def test_error_that_a_context_takes_leaves_the_stream_open(stream, peer, seen, caplog):
    def handle(_type, value, _traceback):
        seen.append(str(value))
        return True

    def on_read(_data):
        raise ValueError("on purpose")

    with ExceptionStackContext(handle):
        stream.read_bytes(1, on_read)
    peer.send(b"x")

    assert seen == ["on purpose"]
    assert not stream.closed()
    assert caplog.records == []


def test_error_that_no_context_takes_closes_the_stream(stream, peer, seen, caplog):
    def on_chunk(_data):
        raise ValueError("on purpose")

    with ExceptionStackContext(lambda *exc_info: seen.append(str(exc_info[1]))):
        stream.read_bytes(1, seen.by("end"), on_chunk)
    peer.send(b"x")

    assert seen == ["on purpose", ("end", b"")]
    assert stream.closed()
    assert "Uncaught exception, closing connection." in caplog.text


def test_coroutine_as_a_callback_fails_audibly(loop, stream, peer, caplog):
    @gencoro.gen.coroutine
    def on_read(_data):
        yield gencoro.gen.moment
        raise ValueError("on purpose")

    peer.send(b"x")
    stream.read_bytes(1, on_read)
    turns(loop)

    assert "on purpose" in caplog.text


# Contexts.


def test_callbacks_run_within_their_callers_contexts_only(loop, stream, peer, seen):
    stream.set_close_callback(seen.by("closed"))
    with StackContext(functools.partial(noting, seen, "reader")):
        stream.read_bytes(1, seen.by("read"))
    with StackContext(functools.partial(noting, seen, "writer")):
        stream.write(b"x", seen.by("written"))
    peer.socket.send(b"x")
    with StackContext(functools.partial(noting, seen, "closer")):
        seen.clear()
        turns(loop)
        stream.close()
    turns(loop)

    assert seen == [
        "+writer",
        "written",
        "-writer",
        "+reader",
        ("read", b"x"),
        "-reader",
        "-closer",
        "closed",
    ]


def test_callbacks_have_their_callers_context_variables(stream, peer, seen):
    variable = contextvars.ContextVar("variable", default="outside")
    context = contextvars.copy_context()
    context.run(variable.set, "inside")
    context.run(stream.read_bytes, 1, lambda data: seen.append(variable.get()))
    peer.send(b"x")

    assert seen == ["inside"]


# Connections.


@uses("tornado.iostream.IOStream.connect")
@pytest.mark.parametrize("by_name", [True, False])
def test_connect_calls_back(loop, listener, seen, by_name):
    stream = IOStream(socket.socket())
    on_connect = seen.by("connected")
    if by_name:
        returned = stream.connect(listener.getsockname(), callback=on_connect)
    else:
        returned = stream.connect(listener.getsockname(), on_connect)
    stream.write(b"early", seen.by("written"))

    assert returned is None
    assert seen == []
    wait_until(loop, lambda: len(seen) == 2)
    assert seen == ["connected", "written"]
    peer, _address = listener.accept()
    with peer:
        assert peer.recv(9) == b"early"
    stream.close()


def test_connection_that_is_refused(loop, listener, seen, caplog):
    address = listener.getsockname()
    listener.close()
    stream = IOStream(socket.socket())
    stream.set_close_callback(seen.by("closed"))
    stream.connect(address, seen.by("connected"))
    wait_until(loop, lambda: seen)

    assert seen == ["closed"]
    assert stream.error.errno == errno.ECONNREFUSED
    assert "Connect error on fd" in caplog.text
    assert "ECONNREFUSED" in caplog.text


def test_connection_that_is_given_up(loop, listener, seen, caplog):
    stream = IOStream(socket.socket())
    stream.set_close_callback(seen.by("closed"))
    stream.connect(listener.getsockname(), seen.by("connected"))
    stream.close()
    turns(loop)

    assert seen == ["closed"]
    assert caplog.records == []


@uses(
    "tornado.iostream.SSLIOStream.connect",
    "tornado.iostream.SSLIOStream.wait_for_handshake",
)
def test_handshakes_call_back(loop, listener, seen, tls):
    server_tls, client_tls = tls
    client = SSLIOStream(socket.socket(), io_loop=loop, ssl_options=client_tls)
    client.connect(listener.getsockname(), seen.by("client"), "localhost")
    connection, _address = listener.accept()
    wrapped = server_tls.wrap_socket(
        connection, server_side=True, do_handshake_on_connect=False
    )
    server = SSLIOStream(wrapped, io_loop=loop, ssl_options=server_tls)
    assert server.wait_for_handshake(seen.by("server")) is None
    with pytest.raises(RuntimeError, match="Already waiting"):
        server.wait_for_handshake(seen.by("server"))

    wait_until(loop, lambda: len(seen) == 2)
    assert sorted(seen) == ["client", "server"]
    server.wait_for_handshake(callback=seen.by("again"))
    turns(loop)
    assert seen[2:] == ["again"]

    server.set_close_callback(seen.by("closed"))
    server.read_until_close(seen.by("all"))
    client.write(b"secret", lambda: client.close())
    wait_until(loop, lambda: "closed" in seen)
    assert seen[3:] == [("all", b"secret"), "closed"]
    server.wait_for_handshake(seen.by("late"))


def test_handshake_that_fails(loop, listener, seen, tls, caplog):
    _server_tls, client_tls = tls
    client = SSLIOStream(socket.socket(), ssl_options=client_tls)
    client.set_close_callback(seen.by("closed"))
    client.connect(listener.getsockname(), seen.by("connected"), "localhost")
    peer, _address = listener.accept()
    with peer:
        peer.send(b"this is no TLS\r\n")
        wait_until(loop, lambda: seen)

    assert seen == ["closed"]
    assert isinstance(client.error, ssl.SSLError)
    assert "Connect error" not in caplog.text


# Names.


@uses(
    "tornado.iostream._ERRNO_INPROGRESS",
    "tornado.iostream._ERRNO_WOULDBLOCK",
    "tornado.iostream._double_prefix",
    "tornado.iostream._merge_prefix",
    "tornado.netutil._ERRNO_WOULDBLOCK",
)
def test_names_that_programs_imported(compat):
    from tornado.iostream import (
        _ERRNO_INPROGRESS,
        _ERRNO_WOULDBLOCK,
        _double_prefix,
        _merge_prefix,
    )

    assert errno.EAGAIN in _ERRNO_WOULDBLOCK
    assert errno.EAGAIN in netutil._ERRNO_WOULDBLOCK
    assert errno.EINPROGRESS in _ERRNO_INPROGRESS
    strings = collections.deque(["abc", "de", "fghi", "j"])
    _double_prefix(strings)
    assert list(strings) == ["abcdef", "ghi", "j"]
    _merge_prefix(strings, 2)
    assert list(strings) == ["ab", "cdef", "ghi", "j"]
    _merge_prefix(strings, 100)
    assert list(strings) == ["abcdefghij"]
    empty = collections.deque()
    _merge_prefix(empty, 5)
    assert list(empty) == [b""]


# What is left behind.


def test_unreferenced_stream_is_freed(loop, seen):
    ours, theirs = socket.socketpair()
    stream = IOStream(ours, io_loop=loop)
    gone = weakref.ref(stream)

    def fail():
        raise ValueError("on purpose")

    gc.disable()
    try:
        stream.set_close_callback(seen.by("closed"))
        stream.read_bytes(1, seen.by("read"))
        stream.write(b"x", seen.by("written"))
        theirs.send(b"x")
        turns(loop)
        stream.read_until_close(seen.by("end"), seen.by("chunk"))
        stream.write(b"x", fail)
        logging.disable()
        turns(loop)
        logging.disable(logging.NOTSET)
        assert stream.closed()
        stream.error = None  # its traceback leads to the stream
        del stream
        assert gone() is None
    finally:
        gc.enable()
        theirs.close()


def test_stream_outlives_compat(io_loop, seen):
    gencoro.compat.install()
    ours, theirs = socket.socketpair()
    with theirs:
        stream = IOStream(ours)
        stream.set_close_callback(seen.by("closed"))
        stream.read_bytes(1, seen.by("read"))
        gencoro.compat.uninstall()
        theirs.send(b"x")
        turns(io_loop)
        stream.close()
        turns(io_loop)

    assert seen == [("read", b"x"), "closed"]
