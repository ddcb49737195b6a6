"""A server that receives what a watch tells: webhooks, and issues as GitHub and GitLab have them."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from tests.helpers.http.threaded import EndsConnections

__all__ = ["Receiver"]

ISSUES = re.compile(
    r"/(?P<forge>repos/[^/]+/[^/]+|projects/[^/]+)/issues"
    r"(?:/(?P<number>\d+)(?:/(?P<comments>comments|notes))?)?"
)


class Receiver:
    """The server.

    Attributes:
        hooks: The bodies that were posted to ``/hook``, each after its headers.
        issues: By their numbers; each has its comments.
        tokens: Those of the requests for issues.
        failures: The number of changes that are answered with 503 from now on.
        lost: The number of changes that are made, and then answered with 503.
    """

    def __init__(self):
        self.hooks, self.issues, self.tokens = [], {}, set()
        self.failures = self.lost = 0
        server = type("Server", (EndsConnections, ThreadingHTTPServer), {})
        handler = type("Handler", (_Handler,), {"receiver": self})
        self._server = server(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()

    def stop(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def ask(self, method, path, values, headers):
        """Return the status and the document of an answer."""
        address = urlsplit(path)
        if method != "GET" and self.failures:
            self.failures -= 1
            return 503, {}
        if address.path == "/hook":
            self.hooks.append((headers, values))
            answer = {}
        else:
            found = ISSUES.fullmatch(address.path)
            token = headers.get("Private-Token") or headers.get("Authorization")
            self.tokens.add(token)
            answer = self._issue(
                method, parse_qs(address.query), values, **found.groupdict()
            )
        if method != "GET" and self.lost:
            self.lost -= 1
            return 503, {}
        return (404, {}) if answer is None else (200, answer)

    def _issue(self, method, query, values, forge, number, comments):
        text, name = (
            ("body", "number") if forge.startswith("repos") else ("description", "iid")
        )
        issue = self.issues.get(int(number)) if number else None
        if number and issue is None:
            return None
        items = issue["comments"] if comments else list(self.issues.values())
        if method == "GET":
            size, page = (
                int(query.get("per_page", ["30"])[0]),
                int(query.get("page", "1")[0]),
            )
            return (
                items[size * (page - 1) : size * page]
                if comments or not number
                else issue
            )
        if comments:
            items.append(values | {"id": len(items) + 1})
        elif method == "POST":
            made = len(self.issues) + 1
            issue = {"id": made, name: made, text: "", "state": "open", "comments": []}
            issue |= values
            self.issues[made] = issue
        else:
            change = values.pop("state_event", None)
            issue |= values | (
                {"state": f"{change}ed".replace("ee", "e")} if change else {}
            )
        return issue or values


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        self.receiver.last_body = body
        status, document = self.receiver.ask(
            self.command, self.path, json.loads(body or "{}"), dict(self.headers)
        )
        octets = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(octets)))
        self.end_headers()
        self.wfile.write(octets)

    do_POST = do_PATCH = do_PUT = do_GET

    def log_message(self, *arguments):
        pass
