"""Responses with the body "ok", and a second response to put behind them."""

__all__ = [
    "CHUNKED",
    "CHUNKS",
    "OK",
    "POISON",
    "with_chunks",
    "with_coding",
    "with_length",
]

# Must never be the response to the next request.
POISON = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"2\r\nok\r\n0\r\n\r\n"


def with_length(line: bytes) -> bytes:
    """Return a response with this line for its Content-Length."""
    return OK + line + b"\r\n\r\nok"


def with_coding(line: bytes) -> bytes:
    """Return a response with this line for its Transfer-Encoding."""
    return OK + line + b"\r\n\r\n" + CHUNKS


def with_chunks(chunks: bytes) -> bytes:
    """Return a response with these chunks."""
    return OK + CHUNKED + b"\r\n" + chunks
