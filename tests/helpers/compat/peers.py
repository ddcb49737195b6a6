"""Small servers on 127.0.0.1 for the clients among the packages.

Each runs on threads of its own and uses only the standard library: what fails is then the
package under test, or compat.  Everything here runs on Python 3.6, too, as the programs
do: so their output could be recorded with Tornado 4.5.3.
"""

import collections
import contextlib
import http.server
import json
import socketserver
import sqlite3
import struct
import threading

__all__ = ["DocumentHandler", "PostgresHandler", "RedisHandler", "serving"]


@contextlib.contextmanager
def serving(handler):
    """Serve within a ``with`` block, each connection on a thread; give the port."""
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,)).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


# Redis's; all connections share the data.
_values = {}
_subscribers = collections.defaultdict(list)


class RedisHandler(socketserver.StreamRequestHandler):
    """What of Redis the programs need."""

    def handle(self):
        for line in self.rfile:
            words = []
            for _ in range(int(line[1:])):
                size = int(self.rfile.readline()[1:])
                words.append(self.rfile.read(size + 2)[:-2])
            command = getattr(self, "do_" + words[0].decode().lower(), None)
            if command is None:
                self.wfile.write(b"-ERR unknown command '%s'\r\n" % words[0])
            else:
                self.wfile.write(_in_redis(command(*words[1:])))

    def do_set(self, key, value):
        _values[key] = value
        return "OK"

    def do_get(self, key):
        return _values.get(key)

    def do_incr(self, key):
        _values[key] = b"%d" % (int(_values.get(key, 0)) + 1)
        return int(_values[key])

    def do_hset(self, key, field, value):
        _values.setdefault(key, {})[field] = value
        return 1

    def do_hgetall(self, key):
        return [part for item in _values.get(key, {}).items() for part in item]

    def do_subscribe(self, channel):
        _subscribers[channel].append(self)
        return [b"subscribe", channel, 1]

    def do_publish(self, channel, message):
        for subscriber in _subscribers[channel]:
            subscriber.wfile.write(_in_redis([b"message", channel, message]))
        return len(_subscribers[channel])


def _in_redis(answer):
    """Return an answer as Redis writes it."""
    if answer is None:
        return b"$-1\r\n"
    if isinstance(answer, str):
        return b"+%s\r\n" % answer.encode()
    if isinstance(answer, int):
        return b":%d\r\n" % answer
    if isinstance(answer, bytes):
        return b"$%d\r\n%s\r\n" % (len(answer), answer)
    return b"*%d\r\n%s" % (len(answer), b"".join(map(_in_redis, answer)))


# What PostgreSQL tells of itself, and its numbers for the types of columns.
_PARAMETERS = {
    "server_version": "9.4.0",
    "client_encoding": "UTF8",
    "DateStyle": "ISO, MDY",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
}
_TYPES = {int: 23, str: 25}


class PostgresHandler(socketserver.StreamRequestHandler):
    """PostgreSQL's protocol; it is an SQLite database that answers, one a connection."""

    def handle(self):
        self.database = sqlite3.connect(":memory:", isolation_level=None)
        (size,) = struct.unpack("!i", self.rfile.read(4))
        self.rfile.read(size - 4)
        self.send(b"R", struct.pack("!i", 0))  # no password
        for item in _PARAMETERS.items():
            self.send(b"S", b"%s\0%s\0" % tuple(part.encode() for part in item))
        self.send_ready()
        while True:
            kind = self.rfile.read(1)
            if kind in (b"", b"X"):
                self.database.close()
                return
            (size,) = struct.unpack("!i", self.rfile.read(4))
            self.answer(self.rfile.read(size - 4)[:-1].decode())

    def answer(self, statement):
        try:
            cursor = self.database.execute(statement)
        except sqlite3.Error as error:
            self.send(b"E", b"SERROR\0C42601\0M%s\0\0" % str(error).encode())
            self.send_ready()
            return
        rows = cursor.fetchall()
        if cursor.description:
            self.send_columns([name for name, *_ in cursor.description], rows)
        for row in rows:
            self.send_values(row)
        self.send(b"C", b"%s %d\0" % (statement.split()[0].encode(), len(rows)))
        self.send_ready()

    def send_columns(self, names, rows):
        body = struct.pack("!h", len(names))
        for name, value in zip(names, rows[0]):
            shape = (0, 0, _TYPES[type(value)], -1, -1, 0)
            body += name.encode() + b"\0" + struct.pack("!ihihih", *shape)
        self.send(b"T", body)

    def send_values(self, row):
        body = struct.pack("!h", len(row))
        for value in row:
            text = str(value).encode()
            body += struct.pack("!i", len(text)) + text
        self.send(b"D", body)

    def send_ready(self):
        self.send(b"Z", b"T" if self.database.in_transaction else b"I")

    def send(self, kind, body):
        self.wfile.write(kind + struct.pack("!i", len(body) + 4) + body)


# Elasticsearch's, by their path.
_documents = {}


class DocumentHandler(http.server.BaseHTTPRequestHandler):
    """What of Elasticsearch the programs need."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        status, answer = self.look_up(path, body)
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def look_up(self, path, body):
        if path.endswith("/_search"):
            hits = list(_documents.values())
            return 200, {"hits": {"total": len(hits), "hits": hits}}
        if self.command == "PUT":
            _documents[path] = json.loads(body.decode())
            return 201, {"created": True}
        if path not in _documents:
            return 404, {"found": False}
        if self.command == "DELETE":
            return 200, {"found": bool(_documents.pop(path))}
        return 200, {"_source": _documents[path]}

    def log_message(self, *args):
        """Say nothing."""
