"""Collects a response from a client that does not decode bodies.

Pure.  Rule: the body is limited both before and after decoding, and exceeding the limit is
reported as such, not as an error of the server.
"""

from tornado.httputil import HTTPHeaders

from crawler_app.base.errors import FetchError
from crawler_app.base.reasons import Reason
from crawler_app.web.httpclient.codings import decoder_of

__all__ = ["ResponseCollector", "decoded", "too_large"]

# RFC 9110, 15.3.5 and 15.4.5: there is no body, even with a Content-Length.
WITHOUT_BODY = ("204", "304")


class ResponseCollector:
    r"""Collects the head and the body of one response.

    Attributes:
        is_too_large: Whether its body exceeds the limit.

    >>> response = ResponseCollector(max_bytes=100)
    >>> for line in ["HTTP/1.1 200 OK\r\n", "Content-Length: 101\r\n", "\r\n"]:
    ...     response.take_line(line)
    >>> response.is_too_large
    True
    """

    def __init__(self, max_bytes: int) -> None:
        self.is_too_large = False
        self._max_bytes = max_bytes
        self._seen_bytes = 0
        self._lines: list[str] = []
        # Not a list: a chunk of two bytes would take 67 times its size.
        self._body = bytearray()

    @property
    def raw_head(self) -> bytes:
        """The status line and the header block, including the blank line."""
        return "".join(self._lines).encode("latin-1", "replace")

    @property
    def body(self) -> bytes:
        """The body received so far."""
        return bytes(self._body)

    def take_line(self, line: str) -> None:
        """Take a line of the head, including its line ending.

        A status line discards the lines before it: interim responses, or a proxy's response.
        """
        if self._seen_bytes:
            return  # the trailers of the body
        if line.startswith("HTTP/"):
            self._lines.clear()
            self.is_too_large = False
        elif self._lines and not self._lines[-1].strip():
            return  # trailers of an empty body
        self._lines.append(line)
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            self._take_length(value)

    def take_chunk(self, chunk: bytes) -> None:
        """Take a part of the body, still encoded."""
        self._seen_bytes += len(chunk)
        self.is_too_large |= self._seen_bytes > self._max_bytes
        if self.is_too_large:
            self._body.clear()
        else:
            self._body += chunk

    def refuse_too_large(self) -> None:
        """Raise FetchError if the body is too large."""
        if self.is_too_large:
            raise too_large(self._max_bytes) from None

    def _take_length(self, value: str) -> None:
        status = self._lines[0].split(" ")[1:2]
        digits = value.strip()[:20]
        is_number = digits.isascii() and digits.isdecimal()
        if is_number and not set(status) & set(WITHOUT_BODY):
            self.is_too_large |= int(digits) > self._max_bytes


def decoded(
    encoded: bytes, headers: HTTPHeaders, max_bytes: int
) -> tuple[bytes, tuple[str, ...]]:
    """Return the decoded body, or the body unchanged if its content coding is unknown.

    The headers are updated as Tornado's clients do.  The second value says what was missing
    from the data and accepted.

    Raises:
        BadResponseError: the encoded body is invalid.
        ResponseTooLargeError: the decoded body has more than ``max_bytes``.

    >>> import gzip
    >>> headers = HTTPHeaders({"Content-Encoding": "gzip"})
    >>> decoded(gzip.compress(b"a page"), headers, 100), dict(headers)
    ((b'a page', ()), {'X-Consumed-Content-Encoding': 'gzip'})
    """
    encoding = headers.get("Content-Encoding", "")
    decoder = decoder_of(encoding, max_bytes, is_lenient=True) if encoding else None
    if decoder is None:
        return encoded, ()
    headers.add("X-Consumed-Content-Encoding", encoding)
    del headers["Content-Encoding"]
    body = b"".join(decoder.pieces(encoded))
    decoder.end()
    return body, decoder.notes


def too_large(max_bytes: int) -> FetchError:
    """Return the error for a body over the limit."""
    return FetchError(Reason.TOO_LARGE, f"the body has more than {max_bytes} bytes")
