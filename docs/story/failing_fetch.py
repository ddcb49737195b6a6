"""Prints the traceback of a fetch that fails, as one of the stages sees it.

    python docs/story/failing_fetch.py 3_callbacks

A server on loopback resets the connection in the middle of a page.
"""

import socket
import struct
import sys
import threading
import traceback
from collections.abc import Callable
from importlib import import_module

from web import Job, Site

__all__ = ["crawl_resetting_site"]


def crawl_resetting_site(
    crawl: Callable[[Site, int, float], None], on_error: Callable[[OSError], None]
) -> None:
    """Crawl the site with the function of a stage; pass on the error that it notes."""

    class TellingSite(Site):
        def fail(self, job: Job, error: OSError) -> None:
            on_error(error)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=reset_connection, args=(server,)).start()
        site = TellingSite(f"http://127.0.0.1:{server.getsockname()[1]}/")
        crawl(site, 1, 10.0)


def reset_connection(server: socket.socket) -> None:
    connection, _address = server.accept()
    with connection:
        connection.recv(1000)
        connection.send(b"HTTP/1.1 200 OK\r\n")
        # With this option, closing sends a reset.
        linger = struct.pack("ii", 1, 0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


if __name__ == "__main__":
    stage = import_module(sys.argv[1])
    crawl_resetting_site(stage.crawl, traceback.print_exception)
