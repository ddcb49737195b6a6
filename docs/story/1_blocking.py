"""Stage 1: one socket, and every call waits until it is done.

    python docs/story/1_blocking.py URL [--connections N] [--timeout S]

It has one connection at a time, whatever N is.
"""

import socket
import time

from web import RECEIVE_BYTES, Job, Site, address_of, main, request_for

__all__ = ["crawl", "fetch", "visit"]


def crawl(site: Site, connections: int, timeout: float) -> None:
    """Fetch the start page and every page behind it, one after the other."""
    todo = [site.start]
    while todo:
        todo += visit(site, todo.pop(), timeout)


def visit(site: Site, job: Job, timeout: float) -> list[Job]:
    """Fetch one URL; return the jobs that it leads to."""
    try:
        return site.read(job, fetch(job.url, timeout))
    except OSError as error:
        site.fail(job, error)
        return []


def fetch(url: str, timeout: float) -> bytes:
    """Return what the server sends until it closes the connection.

    Raises:
        TimeoutError: it has not closed the connection in time.
    """
    deadline = time.monotonic() + timeout
    with socket.socket() as sock:
        sock.settimeout(timeout)
        sock.connect(address_of(url))
        sock.sendall(request_for(url))
        return read_all(sock, deadline)


def read_all(sock: socket.socket, deadline: float) -> bytes:
    chunks = []
    while chunk := read(sock, deadline):
        chunks.append(chunk)
    return b"".join(chunks)


def read(sock: socket.socket, deadline: float) -> bytes:
    """Return the bytes that arrive next; none when the server has closed."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the answer is not complete")
    # The timeout of a socket applies to each call: a server that sends a byte now and
    # then would never exceed it.
    sock.settimeout(left)
    return sock.recv(RECEIVE_BYTES)


if __name__ == "__main__":
    main(crawl)
