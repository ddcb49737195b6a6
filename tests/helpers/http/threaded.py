"""Closes the connections of the standard library's servers, which a browser keeps open."""

import contextlib
import socket

__all__ = ["EndsConnections"]


class EndsConnections:
    """A mix-in for a threading server: closing it ends its connections and threads.

    A browser keeps connections open, and opens some that it may need later.
    """

    daemon_threads = False  # closing waits for the threads

    def __init__(self, *args):
        self._connections = []
        super().__init__(*args)

    def process_request(self, request, client_address):
        self._connections.append(request)
        super().process_request(request, client_address)

    def server_close(self):
        for connection in self._connections:
            with contextlib.suppress(OSError):  # it was closed by its handler
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()
