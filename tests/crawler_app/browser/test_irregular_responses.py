"""What Chromium does with irregular responses is what the tables of the client's tests say."""

import contextlib
import socketserver
import threading

import pytest
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By

from tests.helpers.http.irregular import ACCEPTED, NOT_SHOWN, SHOWN
from tests.helpers.http.threaded import EndsConnections

RESPONSES = [
    *((response, True) for response, _ in ACCEPTED.values()),
    *((response, True) for response in SHOWN.values()),
    *((response, False) for response in NOT_SHOWN.values()),
]


class Handler(socketserver.StreamRequestHandler):
    """Sends the response whose number is the path of the request."""

    def handle(self):
        line = self.rfile.readline()
        if not line:  # a connection that Chromium did not use
            return
        path = line.split()[1]
        while self.rfile.readline().strip():
            pass
        if path[1:].isdigit():
            self.wfile.write(RESPONSES[int(path[1:])][0])


class Server(EndsConnections, socketserver.ThreadingTCPServer):
    """Its connections do not outlive it, although Chromium keeps them."""


@pytest.fixture
def port():
    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_chromium_shows_what_the_tables_say(chromium, port):
    differences = []

    for number, (response, is_shown) in enumerate(RESPONSES):
        with contextlib.suppress(WebDriverException):  # an error page
            chromium.get(f"http://127.0.0.1:{port}/{number}")
        body = chromium.find_element(By.TAG_NAME, "body")
        if (body.text == "ok") != is_shown:
            differences.append(response)

    assert differences == []
