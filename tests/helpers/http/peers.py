"""Servers on loopback that record which request came on which connection.

A server sends the bytes of a script, because no HTTP server can be made to violate HTTP.
"""

import os
import socket
from typing import NamedTuple

from tornado.httputil import HTTPHeaders
from tornado.iostream import StreamClosedError
from tornado.locks import Condition, Event
from tornado.netutil import Resolver, bind_sockets
from tornado.tcpserver import TCPServer

from gencoro import gen

__all__ = [
    "Addresses",
    "RawServer",
    "Request",
    "answer",
    "black_hole",
    "client_sockets",
    "listening",
    "redirecting",
    "refusing_port",
    "tcp_sockets",
]


class Request(NamedTuple):
    """A request as received by a server.

    Attributes:
        connection: The number of its connection, from 0.
        stream: That connection.
    """

    connection: int
    method: str
    target: str
    headers: HTTPHeaders
    body: bytes | None
    head: bytes
    stream: object


def answer(body=b"", status="200 OK", version="1.1", **headers):
    """Return the bytes of a response; ``_`` in a header's name is a hyphen.

    >>> answer(b"hi", Content_Type="a/b")
    b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nContent-Type: a/b\\r\\n\\r\\nhi'
    """
    headers = {"Content_Length": len(body), **headers}
    lines = [
        f"{name.replace('_', '-')}: {value}"
        for name, value in headers.items()
        if value is not None
    ]
    head = "\r\n".join([f"HTTP/{version} {status}", *lines, "", ""])
    return head.encode("latin-1") + body


def redirecting(to, status=302, body=b"", **headers):
    """Return a script that redirects every path except /target, which returns hello."""
    said = answer(body, f"{status} Moved", Location=to, **headers)
    return lambda request: answer(b"hello") if request.target == "/target" else said


class RawServer(TCPServer):
    """Answers every request with the response of a script.

    Args:
        script: The bytes of every response; or a function of the `Request` that returns the
            bytes, or a coroutine that writes to the request's stream itself.
        reads_bodies: Whether the body of a request is read before the script is called.

    Attributes:
        address: Host and port.
        pages: Scripts of single paths, which precede the general one.
        requests: Every `Request`, in order.
        streams: Every connection, in order.
        ended: A Future for each connection, done when its script has ended.
    """

    def __init__(self, script, *, reads_bodies=True, host="127.0.0.1", **options):
        super().__init__(**options)
        self.script = script
        self.reads_bodies = reads_bodies
        (sock,) = bind_sockets(0, host)
        self.add_socket(sock)
        self.port = sock.getsockname()[1]
        scheme = "https" if options.get("ssl_options") else "http"
        self.url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"
        self.address = (host, self.port)
        self.pages = {}
        self.requests = []
        self.streams = []
        self.ended = []
        self._gates = []
        self._closed = []
        self._arrival = Condition()

    @property
    def used(self):
        """Return the number of the connection of every request."""
        return [request.connection for request in self.requests]

    @gen.coroutine
    def came(self, count):
        """Wait for this number of requests; return them."""
        while len(self.requests) < count:
            yield self._arrival.wait()
        return self.requests

    @gen.coroutine
    def connected(self, count):
        """Wait for this number of connections; return them."""
        while len(self.streams) < count:
            yield self._arrival.wait()
        return self.streams

    @gen.coroutine
    def gone(self, number):
        """Wait until the client has closed a connection."""
        yield self.connected(number + 1)
        yield self._closed[number].wait()

    def hold(self, path):
        """Hold requests for a path; return the Event that releases them."""
        gate = Event()
        self._gates.append(gate)

        @gen.coroutine
        def page(request):
            yield gate.wait()
            yield request.stream.write(answer(path.encode()))

        self.pages[path] = page
        return gate

    def redirect(self, path, to):
        """Redirect from a path."""
        self.pages[path] = answer(status="302 Found", Location=to)

    def close_connections(self):
        for gate in self._gates:
            gate.set()
        for stream in self.streams:
            stream.close()

    def handle_stream(self, stream, address):
        # Otherwise the second of two writes might arrive after virtual time has jumped.
        stream.set_nodelay(True)
        self.streams.append(stream)
        self._arrival.notify_all()
        self._closed.append(Event())
        stream.set_close_callback(self._closed[-1].set)
        self.ended.append(self._serve(stream, len(self.streams) - 1))
        return self.ended[-1]

    @gen.coroutine
    def _serve(self, stream, number):
        try:
            while True:
                yield self._answer(stream, number)
        except StreamClosedError:
            pass  # the client has gone, or the test is over

    @gen.coroutine
    def _answer(self, stream, number):
        head = yield stream.read_until(b"\r\n\r\n")
        first, _, rest = head.decode("latin-1").partition("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = HTTPHeaders.parse(rest)
        body = None
        if self.reads_bodies:
            body = yield read_body(stream, headers)
        request = Request(number, method, target, headers, body, head, stream)
        self.requests.append(request)
        self._arrival.notify_all()
        said = self.pages.get(target, self.script)
        if callable(said):
            said = said(request)
        if isinstance(said, bytes):
            yield stream.write(said)
        elif said is not None:
            yield said


@gen.coroutine
def read_body(stream, headers):
    """Return the body of a request, which has a length or comes in chunks."""
    if headers.get("Expect") == "100-continue":
        yield stream.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if headers.get("Transfer-Encoding") != "chunked":
        return (yield stream.read_bytes(int(headers.get("Content-Length", 0))))
    chunks = []
    while True:
        size = int((yield stream.read_until(b"\r\n")), 16)
        chunk = yield stream.read_bytes(size + 2)
        if not size:
            return b"".join(chunks)
        chunks.append(chunk[:-2])


class Addresses(Resolver):
    """Resolves every name to the same addresses, and records the names."""

    def initialize(self, *addresses):
        self.asked = []
        self._addresses = [
            (socket.AF_INET6 if ":" in address[0] else socket.AF_INET, address)
            for address in addresses
        ]

    async def resolve(self, host, port, family=socket.AF_UNSPEC):
        self.asked.append((host, port))
        return [
            found for found in self._addresses if family in (socket.AF_UNSPEC, found[0])
        ]


def listening():
    """Return the ports on which this process listens."""
    return {
        sock.getsockname()[1]
        for sock in tcp_sockets()
        if sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    }


def client_sockets():
    """Return the connections that this process has opened: remote port by local port."""
    ports = listening()
    found = {}
    for sock in tcp_sockets():
        try:
            there = sock.getpeername()[1]
        except OSError:
            continue
        if sock.getsockname()[1] not in ports:
            found[sock.getsockname()[1]] = there
    return found


def tcp_sockets():
    """Yield the TCP sockets of this process; each is closed after its iteration."""
    for name in os.listdir("/proc/self/fd"):
        try:
            duplicate = os.dup(int(name))
        except OSError:
            continue  # the listing itself
        try:
            sock = socket.socket(fileno=duplicate)
        except OSError:
            os.close(duplicate)
            continue
        with sock:
            if sock.family in (socket.AF_INET, socket.AF_INET6):
                yield sock


def refusing_port(host="127.0.0.1"):
    """Return a port that refuses connections, and the socket that reserves it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family)
    sock.bind((host, 0))
    return sock.getsockname()[1], sock


def black_hole():
    """Return a port that ignores connection attempts, and the sockets that keep it so.

    Its backlog is full, and then Linux drops connection requests.
    """
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    callers = []
    for _ in range(3):
        caller = socket.socket()
        caller.setblocking(False)
        caller.connect_ex(listener.getsockname())
        callers.append(caller)
    return listener.getsockname()[1], [listener, *callers]
