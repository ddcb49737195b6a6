"""A small forward proxy on loopback: CONNECT tunnels, and the absolute form."""

import base64
import urllib.parse

from tornado.httputil import HTTPHeaders
from tornado.iostream import StreamClosedError
from tornado.tcpclient import TCPClient

from gencoro import gen
from tests.helpers.http.peers import RawServer, answer

__all__ = ["ForwardProxy"]

ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
NEEDS_LOGIN = answer(
    b"login",
    "407 Proxy Authentication Required",
    Proxy_Authenticate='Basic realm="proxy"',
)


class ForwardProxy(RawServer):
    """Forwards requests for any host to 127.0.0.1.

    Attributes:
        login: The user name and password that it requires, or None.
        says_to_connect: Its response to CONNECT; a 200 opens the tunnel.  None closes the
            connection.
        tunneled: The data that clients have sent through all tunnels.
    """

    def __init__(self):
        super().__init__(self._say)
        self.login = None
        self.says_to_connect = ESTABLISHED
        self.tunneled = bytearray()
        self._dialer = TCPClient()

    @property
    def options(self):
        """Return the options of a request that goes through this proxy."""
        return {"proxy_host": "127.0.0.1", "proxy_port": self.port}

    @property
    def heads(self):
        """Return the head of every request that it received, in bytes."""
        return [request.head for request in self.requests]

    @property
    def lines(self):
        """Return the request line of every request that it received."""
        return [head.split(b"\r\n")[0].decode() for head in self.heads]

    def _say(self, request):
        if not self._knows(request.headers):
            return NEEDS_LOGIN
        if request.method == "CONNECT":
            return self._connect(request.stream, request.target)
        return self._forward(request)

    def _knows(self, headers):
        if self.login is None:
            return True
        expected = base64.b64encode(":".join(self.login).encode()).decode()
        return headers.get("Proxy-Authorization") == f"Basic {expected}"

    @gen.coroutine
    def _connect(self, stream, target):
        said = self.says_to_connect
        if said is None:
            stream.close()
            return
        if not said.startswith(b"HTTP/1.1 200"):
            yield stream.write(said)
            return
        port = int(target.rpartition(":")[2])
        upstream = yield self._dialer.connect("127.0.0.1", port)
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
    def _forward(self, request):
        """Forward a request on a new connection; the response must have a length."""
        url = urllib.parse.urlsplit(request.target)
        request.headers.pop("Proxy-Authorization", None)
        path = url._replace(scheme="", netloc="").geturl() or "/"
        fields = map(": ".join, request.headers.get_all())
        head = "\r\n".join([f"{request.method} {path} HTTP/1.1", *fields, "", ""])
        upstream = yield self._dialer.connect("127.0.0.1", url.port)
        yield upstream.write(head.encode("latin-1") + request.body)
        head = yield upstream.read_until(b"\r\n\r\n")
        said = HTTPHeaders.parse(head.decode("latin-1").partition("\r\n")[2])
        body = yield upstream.read_bytes(int(said.get("Content-Length", 0)))
        upstream.close()
        yield request.stream.write(head + body)
