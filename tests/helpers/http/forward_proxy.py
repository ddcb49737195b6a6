"""A small real forward proxy on loopback: tunnels by CONNECT, and the absolute form."""

import base64
import urllib.parse

from tornado.httputil import HTTPHeaders
from tornado.iostream import StreamClosedError
from tornado.tcpclient import TCPClient
from tornado.tcpserver import TCPServer
from tornado.testing import bind_unused_port

from gencoro import gen

__all__ = ["ForwardProxy"]

ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
NEEDS_LOGIN = (
    b"HTTP/1.1 407 Proxy Authentication Required\r\n"
    b'Proxy-Authenticate: Basic realm="proxy"\r\nContent-Length: 5\r\n\r\nlogin'
)


class ForwardProxy(TCPServer):
    """Forwards what it is asked to, whatever the host is named, to 127.0.0.1.

    Attributes:
        login: User name and password that it wants, or None.
        says_to_connect: What it answers to CONNECT; the tunnel is dug if it begins with
            a 200.  None: it closes the connection.
        heads: Head of every request it was sent, in bytes.
        used: The number of the connection of each of them.
        tunneled: What clients have sent through all tunnels.
    """

    def __init__(self):
        super().__init__()
        sock, self.port = bind_unused_port()
        self.add_socket(sock)
        self.login = None
        self.says_to_connect = ESTABLISHED
        self.heads = []
        self.used = []
        self.tunneled = bytearray()
        self._streams = []
        self._ended = []
        self._dialer = TCPClient()

    @property
    def options(self):
        """Return the options of a request that goes through this proxy."""
        return {"proxy_host": "127.0.0.1", "proxy_port": self.port}

    @property
    def lines(self):
        """Return the request line of every request it was sent."""
        return [head.split(b"\r\n")[0].decode() for head in self.heads]

    @gen.coroutine
    def close(self):
        self.stop()
        for stream in self._streams:
            stream.close()
        yield self._ended
        self._dialer.close()

    def handle_stream(self, stream, address):
        self._streams.append(stream)
        self._ended.append(self._serve(stream, len(self._ended)))
        return self._ended[-1]

    @gen.coroutine
    def _serve(self, stream, number):
        try:
            while True:
                head = yield stream.read_until(b"\r\n\r\n")
                self.heads.append(head)
                self.used.append(number)
                first, _, rest = head.decode("latin-1").partition("\r\n")
                method, target, _ = first.split(" ")
                headers = HTTPHeaders.parse(rest)
                if not self._knows(headers):
                    yield stream.write(NEEDS_LOGIN)
                elif method == "CONNECT":
                    yield self._connect(stream, target)
                else:
                    yield self._forward(stream, method, target, headers)
        except StreamClosedError:
            pass  # one of both ends has gone, or the test is over
        finally:
            stream.close()

    def _knows(self, headers):
        if self.login is None:
            return True
        expected = base64.b64encode(":".join(self.login).encode()).decode()
        return headers.get("Proxy-Authorization") == f"Basic {expected}"

    @gen.coroutine
    def _dial(self, port):
        upstream = yield self._dialer.connect("127.0.0.1", port)
        self._streams.append(upstream)
        return upstream

    @gen.coroutine
    def _connect(self, stream, target):
        if self.says_to_connect is None:
            stream.close()
            return
        said = self.says_to_connect
        if not said.startswith(b"HTTP/1.1 200"):
            yield stream.write(said)
            return
        upstream = yield self._dial(int(target.rpartition(":")[2]))
        yield stream.write(said)
        yield [
            self._pump(stream, upstream, self.tunneled),
            self._pump(upstream, stream),
        ]

    @gen.coroutine
    def _pump(self, source, sink, record=None):
        try:
            while True:
                part = yield source.read_bytes(65536, partial=True)
                if record is not None:
                    record += part
                yield sink.write(part)
        except StreamClosedError:
            sink.close()

    @gen.coroutine
    def _forward(self, stream, method, target, headers):
        """Ask a server whose answer has a length, by a connection of its own."""
        url = urllib.parse.urlsplit(target)
        body = yield stream.read_bytes(int(headers.get("Content-Length", 0)))
        headers.pop("Proxy-Authorization", None)
        path = url._replace(scheme="", netloc="").geturl() or "/"
        lines = [f"{method} {path} HTTP/1.1", *map(": ".join, headers.get_all())]
        upstream = yield self._dial(url.port)
        yield upstream.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        head = yield upstream.read_until(b"\r\n\r\n")
        said = HTTPHeaders.parse(head.decode("latin-1").partition("\r\n")[2])
        body = yield upstream.read_bytes(int(said.get("Content-Length", 0)))
        upstream.close()
        yield stream.write(head + body)
