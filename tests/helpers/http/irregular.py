"""Responses with the body "ok" that violate HTTP, and whether browsers accept them.

``tests/crawler_app/browser/test_same_as_chromium.py`` compares them with Chromium.
"""

from tests.helpers.http.shapes import (
    CHUNKED,
    CHUNKS,
    OK,
    with_chunks,
    with_coding,
    with_length,
)

__all__ = ["ACCEPTED", "NOT_SHOWN", "SHOWN", "with_field"]

LENGTH = b"Content-Length: 2\r\n"

FOLDED = ("folded header lines",)
LF = ("bare line feeds",)
LENGTHS = ("repeated Content-Length",)
CONTROLS = ("control characters in headers",)
STATUS = ("irregular status line",)
LINES = ("malformed header lines",)
SPACED_SIZE = ("spaces after a chunk size",)


def with_field(lines: bytes) -> bytes:
    """Return a response with these lines before its Content-Length."""
    return OK + lines + LENGTH + b"\r\nok"


# Chromium 156 and curl 7.88 accept all of these.
ACCEPTED = {
    "a fold": (with_field(b"A: b\r\n c\r\n"), FOLDED),
    "folds": (with_field(b"A:\r\n\tb\r\n \r\n c\r\n"), FOLDED),
    "a fold that looks like a length": (
        with_field(b"A: b\r\n Content-Length: 45\r\n"),
        FOLDED,
    ),
    "LF": (with_field(b"A: b\r\n").replace(b"\r\n", b"\n"), LF),
    "LF after one line": (with_field(b"A: b\n"), LF),
    "LF after the head": (OK + LENGTH + b"\nok", LF),
    "LF, and chunks": (OK + b"A: b\n" + CHUNKED + b"\r\n" + CHUNKS, LF),
    "LF and a fold": (with_field(b"A: b\n c\n"), LF + FOLDED),
    "equal lengths": (with_field(LENGTH), LENGTHS),
    "equal lengths in a list": (with_length(b"Content-Length: 2, 2"), LENGTHS),
    "ESC": (with_field(b"A: \x1b$Bb\r\n"), CONTROLS),
    "DEL": (with_field(b"A: \x7f\r\n"), CONTROLS),
    "spaces before the status": (
        with_field(b"").replace(b"1.1 ", b"1.1   "),
        STATUS,
    ),
    "spaces before the status, and no reason": (
        with_field(b"").replace(b" 200 OK", b"  200"),
        STATUS,
    ),
    "a tab after the status": (with_field(b"").replace(b"200 ", b"200\t"), STATUS),
    "a version in small letters": (with_field(b"").replace(b"HTTP", b"http"), STATUS),
    "HTTP/2 in text": (with_field(b"").replace(b"1.1", b"2"), STATUS),
    "HTTP/1.1 in small letters, and chunks": (
        with_chunks(CHUNKS).replace(b"HTTP", b"http"),
        STATUS,
    ),
    "CR CR LF after the status": (with_field(b"").replace(b"OK\r", b"OK\r\r"), STATUS),
    "CR CR LF": (with_field(b"A: b\r\r\n"), LINES),
    "a space before a colon": (with_field(b"A : b\r\n"), LINES),
    "a space in a name": (with_field(b"Power by: c\r\n"), LINES),
    "a quoted name": (with_field(b'"A": b\r\n'), LINES),
    "an odd name": (with_field(b"A[b]: c\r\n"), LINES),
    "no name": (with_field(b": c\r\n"), LINES),
    "no colon": (with_field(b"garbage\r\n"), LINES),
    "no colon, and a fold": (with_field(b"garbage\r\n b\r\n"), FOLDED + LINES),
    "a fold in an interim response": (
        b"HTTP/1.1 103 Hints\r\nA: b\r\n c\r\n\r\n" + with_field(b""),
        FOLDED,
    ),
    "a fold in each of two heads": (
        b"HTTP/1.1 103 Hints\r\nA: b\r\n c\r\n\r\n" + with_field(b"A: b\r\n c\r\n"),
        FOLDED + FOLDED,
    ),
    "spaces after a chunk size": (
        with_chunks(b"1  \r\no\r\n1 \r\nk\r\n0\r\n\r\n"),
        SPACED_SIZE,
    ),
    "spaces after the last chunk size": (
        with_chunks(b"2\r\nok\r\n0   \r\n\r\n"),
        SPACED_SIZE,
    ),
    "a fold, and spaces after a chunk size": (
        with_chunks(b"2 \r\nok\r\n0\r\n\r\n").replace(OK, OK + b"A: b\r\n c\r\n"),
        FOLDED + SPACED_SIZE,
    ),
}

# Not allowed, but Chromium shows all of them, and curl most.
SHOWN = {
    "a folded length": OK + b"Content-Length:\r\n 2\r\n\r\nok",
    "a folded coding": with_coding(b"Transfer-Encoding:\r\n chunked"),
    "a line of spaces first": with_field(b" A: b\r\n"),
    "CR": with_field(b"A: b\rC: d\r\n"),
    "CR CR LF after a length": with_length(b"Content-Length: 2\r"),
    "a space before the colon of a length": with_length(b"Content-Length : 2"),
    "a length in a line without a name": with_field(b"(Content-Length: 45\r\n"),
    "a coding in a line without a name": with_field(
        b'"Transfer-Encoding": chunked\r\n'
    ),
    "a length and chunks": with_coding(LENGTH + b"Transfer-Encoding: chunked"),
    "gzip, chunked": with_coding(b"Transfer-Encoding: gzip, chunked"),
    "identity": with_field(b"Transfer-Encoding: identity\r\n"),
    "a signed length": with_length(b"Content-Length: +2"),
    "LF in chunks": with_chunks(CHUNKS.replace(b"\r\n", b"\n")),
}

# Not allowed, and Chromium shows an error page.
NOT_SHOWN = {
    "unequal lengths": with_field(b"Content-Length: 3\r\n"),
    "lengths that agree as numbers": with_field(b"Content-Length: 02\r\n"),
    "LF that hides a length": with_field(b"A: b\nContent-Length: 45\r\n"),
    "NUL": with_field(b"A: \x00\r\n"),
}
