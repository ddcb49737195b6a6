"""The parsed response head, and Tornado's HTTPResponse with the raw data."""

from dataclasses import dataclass
from typing import Any

from tornado.httpclient import HTTPResponse
from tornado.httputil import HTTPHeaders

__all__ = ["PooledHTTPResponse", "ResponseHead", "parse_fields", "parse_head"]

# Those that Tornado's clients follow; 300 and 304 have no single target.
REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(slots=True)
class ResponseHead:
    """Status line and header block.

    Attributes:
        raw: As received, including the blank line.
        version: Such as ``HTTP/1.1``.
        fields: The values by lower-case name, repeated fields joined by commas; a look-up
            takes a tenth of the time of `HTTPHeaders`.
    """

    raw: bytes
    version: str
    status: int
    reason: str
    fields: dict[str, str]
    headers: HTTPHeaders

    @property
    def keeps_alive(self) -> bool:
        """Whether the server will keep the connection open (RFC 9112, 9.3)."""
        options = self.fields.get("connection", "").lower()
        if self.version == "HTTP/1.1":
            return "close" not in options
        return "keep-alive" in options and "close" not in options

    @property
    def is_redirect(self) -> bool:
        """Whether it is a redirect with a Location."""
        return self.status in REDIRECTS and bool(self.fields.get("location"))

    def lines(self) -> list[str]:
        """Return the lines for a header_callback, including the line endings."""
        fields = [f"{name}: {value}\r\n" for name, value in self.headers.get_all()]
        return [f"{self.version} {self.status} {self.reason}\r\n", *fields, "\r\n"]


def parse_head(raw: bytes) -> ResponseHead:
    r"""Parse a head that a strict parser has accepted.

    >>> parse_head(b"HTTP/1.1 404 Not Found\r\nServer: x\r\n\r\n").fields
    {'server': 'x'}
    """
    status_line, *lines = raw.decode("latin-1").split("\r\n")
    version, _, rest = status_line.partition(" ")
    status, _, reason = rest.partition(" ")
    fields, headers = parse_fields(lines[:-2])
    return ResponseHead(raw, version, int(status), reason, fields, headers)


def parse_fields(lines: list[str]) -> tuple[dict[str, str], HTTPHeaders]:
    """Parse the lines of a header block or of trailers, known to be valid.

    `HTTPHeaders.parse` would validate them again and take six times as long.
    """
    fields: dict[str, str] = {}
    repeated: dict[str, list[str]] = {}
    headers = HTTPHeaders()
    for line in lines:
        name, _, value = line.partition(":")
        value = value.strip(" \t")
        key = name.lower()
        if key in fields:
            headers.add(name, value)
            repeated.setdefault(key, [fields[key]]).append(value)
        else:
            headers[name] = fields[key] = value
    for key, values in repeated.items():
        fields[key] = ",".join(values)
    return fields, headers


class PooledHTTPResponse(HTTPResponse):
    """Tornado's response, with the raw data that an archive needs.

    Attributes:
        raw_head: Status line and header block as received, including the blank line.
        encoded_body: The body before decompression; None if it was passed to a
            streaming_callback.
        request_head: Request line and header block as sent.
        peer_address: The address of the server or the proxy, as from `socket.getpeername`.
        trailers: The trailers of a chunked body; None if the head announced none.
        notes: What a lenient client accepted, such as ``folded header lines``.

    If redirects were followed, these belong to the last exchange.
    """

    raw_head: bytes
    encoded_body: bytes | None
    request_head: bytes
    peer_address: Any
    trailers: HTTPHeaders | None
    notes: tuple[str, ...]
