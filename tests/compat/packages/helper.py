"""What the test suite of msgpack-rpc-python imports, and its archive on PyPI leaves out."""

import socket

__all__ = ["unused_port"]


def unused_port():
    """Return a port on which nobody listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]
