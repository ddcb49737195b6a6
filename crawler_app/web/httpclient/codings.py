"""Content decoders: gzip and deflate, and br and zstd if their packages are installed.

Pure.  Rule: a decoder yields small pieces and counts them, so that the size of a body is
limited *after* decoding too, which stops decompression bombs.
"""

import importlib
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, TypeAlias

from crawler_app.web.httpclient.errors import BadResponseError, ResponseTooLargeError

__all__ = ["ACCEPTED", "AnyDecoder", "Decoder", "DecoderChain", "decoder_of"]

# Small enough to stop a bomb soon after the limit, large enough to cost little per byte.
PIECE_BYTES = 64 * 1024

# Some servers compress twice by mistake; more than that is abuse.
MAX_CODINGS = 2

# A body may consist of several streams, one after the other: each needs a decoder, although
# it may be empty.
MAX_STREAMS = 1000

# RFC 1952: the checksum and the size at the end of gzip data; that of zlib data is shorter.
CHECK_BYTES = 8

# Of a header without optional fields: the size, and how it begins (RFC 1952, 2.3).
GZIP_HEADER_BYTES = 10
PLAIN_GZIP = b"\x1f\x8b\x08\x00"

# RFC 9659: the window size that a decoder of zstd content must support, 8 MiB, and no more.
ZSTD_WINDOW_LOG = 23


class _Stream(Protocol):
    """One compressed stream of one coding."""

    @property
    def is_ended(self) -> bool: ...

    @property
    def rest(self) -> bytes:
        """The data after the end of the stream."""
        ...

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode up to the end of the data or of the stream."""
        ...


class _Zlib:
    """Raw deflate, zlib or gzip, depending on zlib's parameter wbits."""

    def __init__(self, wbits: int) -> None:
        self._decompressor = zlib.decompressobj(wbits)

    @property
    def is_ended(self) -> bool:
        return self._decompressor.eof

    @property
    def rest(self) -> bytes:
        return self._decompressor.unused_data

    def pieces(self, data: bytes) -> Iterator[bytes]:
        return _inflated(self._decompressor, data)

    def lacks_only_check(self) -> bool:
        """Return whether nothing but the checksum at the end, or a part of it, is missing.

        zlib does not report that; but then it takes any further data for the checksum, and
        rejects it.  Zeros alone prove nothing, because they may also be the last code of the
        data; if so, ones are another code.
        """
        return all(self._is_taken_for_check(byte) for byte in (b"\x00", b"\xff"))

    def _is_taken_for_check(self, byte: bytes) -> bool:
        trial = self._decompressor.copy()
        try:
            for _ in range(CHECK_BYTES):
                if trial.decompress(byte):
                    return False
        except zlib.error as exc:
            return "incorrect data check" in str(exc) or "length check" in str(exc)
        return trial.eof


class _PlainGzip:
    """A gzip stream whose header has no optional fields, as most servers send it.

    isal takes half the time of zlib, but its state cannot be copied, so that it could not
    tell whether only the checksum is missing.  Therefore it gets the deflate data alone.
    """

    def __init__(self) -> None:
        self._decompressor = isal_zlib.decompressobj(-zlib.MAX_WBITS)
        self._header_bytes = GZIP_HEADER_BYTES
        self._checksum = self._size_bytes = 0
        self._check = b""
        self.rest = b""

    @property
    def is_ended(self) -> bool:
        return len(self._check) == CHECK_BYTES

    def pieces(self, data: bytes) -> Iterator[bytes]:
        data, self._header_bytes = data[self._header_bytes :], 0
        if not self._decompressor.eof:
            for piece in _inflated(self._decompressor, data):
                self._checksum = isal_zlib.crc32(piece, self._checksum)
                self._size_bytes += len(piece)
                yield piece
            data = self._decompressor.unused_data
        needed_bytes = CHECK_BYTES - len(self._check)
        self._check += data[:needed_bytes]
        if self.is_ended:
            self.rest = data[needed_bytes:]
            expected = struct.pack("<LL", self._checksum, self._size_bytes % 2**32)
            if self._check != expected:
                raise zlib.error("incorrect data check")

    def lacks_only_check(self) -> bool:
        return bool(self._decompressor.eof)


def _inflated(decompressor: Any, data: bytes) -> Iterator[bytes]:
    """Decompress up to the end of the data or of the stream, in small pieces."""
    is_more = True
    while is_more:
        piece = decompressor.decompress(data, PIECE_BYTES)
        data = decompressor.unconsumed_tail
        # After a full piece, output may be pending although all input is consumed.
        is_more = not decompressor.eof and (bool(data) or len(piece) == PIECE_BYTES)
        if piece:
            yield piece


class _Brotli:
    def __init__(self) -> None:
        self._decompressor = _brotli.Decompressor()
        self.rest = b""

    @property
    def is_ended(self) -> bool:
        return bool(self._decompressor.is_finished())

    def pieces(self, data: bytes) -> Iterator[bytes]:
        # The limit is a soft one, and `can_accept_more_data` is true even while output is
        # pending.
        while out := self._decompressor.process(data, output_buffer_limit=PIECE_BYTES):
            data = b""
            for start in range(0, len(out), PIECE_BYTES):
                yield out[start : start + PIECE_BYTES]
            if self.is_ended:
                return


class _Zstd:
    def __init__(self) -> None:
        limit = {_zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG}
        self._decompressor = _zstd.ZstdDecompressor(options=limit)

    @property
    def is_ended(self) -> bool:
        return bool(self._decompressor.eof)

    @property
    def rest(self) -> bytes:
        return bytes(self._decompressor.unused_data)

    def pieces(self, data: bytes) -> Iterator[bytes]:
        is_more = True
        while is_more:
            piece = self._decompressor.decompress(data, PIECE_BYTES)
            data = b""
            is_more = not (self.is_ended or self._decompressor.needs_input)
            if piece:
                yield piece


def _optional(*names: str) -> Any:
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


isal_zlib = _optional("isal.isal_zlib")  # it is not made for every kind of processor
_brotli = _optional("brotli", "brotlicffi")
_zstd = _optional("compression.zstd", "backports.zstd")

_ERRORS = tuple(
    error
    for error in (
        zlib.error,
        getattr(isal_zlib, "error", None),
        getattr(_brotli, "error", None),
        getattr(_zstd, "ZstdError", None),
    )
    if error is not None
)


def _deflate(start: bytes) -> _Stream:
    """Open zlib data or raw deflate, which some servers send although it is wrong."""
    is_zlib = start[0] & 0x0F == 8 and int.from_bytes(start[:2]) % 31 == 0
    return _Zlib(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)


def _gzip(start: bytes) -> _Stream:
    is_plain = len(start) >= GZIP_HEADER_BYTES and start.startswith(PLAIN_GZIP)
    if is_plain and isal_zlib is not None:
        return _PlainGzip()
    return _Zlib(16 + zlib.MAX_WBITS)


class _Coding(NamedTuple):
    """How a coding is decoded.

    Attributes:
        open: Opens a stream, given its first bytes.
        magic: Two bytes that distinguish a further stream from garbage; empty if there can
            be only one stream.
        needed_bytes: The number of bytes needed to open a stream.
    """

    open: Callable[[bytes], _Stream]
    magic: bytes = b""
    needed_bytes: int = 1


_CODING_BY_NAME = {
    "gzip": _Coding(_gzip, magic=b"\x1f\x8b"),
    "deflate": _Coding(_deflate, needed_bytes=2),
}
if _brotli is not None:
    _CODING_BY_NAME["br"] = _Coding(lambda start: _Brotli())
if _zstd is not None:
    _CODING_BY_NAME["zstd"] = _Coding(lambda start: _Zstd(), magic=b"\x28\xb5")

# For the header Accept-Encoding.
ACCEPTED = ", ".join(_CODING_BY_NAME)

_CODING_BY_NAME["x-gzip"] = _CODING_BY_NAME["gzip"]


class Decoder:
    """Decodes one coding.

    Args:
        name: A coding that `decoder_of` supports.
        max_bytes: Maximum size of the decoded data.
        is_lenient: Whether the data may lack the checksum at its end, as in browsers.

    Attributes:
        notes: What was missing and accepted.
    """

    def __init__(self, name: str, max_bytes: int, *, is_lenient: bool = False) -> None:
        self.notes: tuple[str, ...] = ()
        self._is_lenient = is_lenient
        self._name = name
        self._coding = _CODING_BY_NAME[name]
        self._max_bytes = max_bytes
        self._seen_bytes = 0
        self._stream: _Stream | None = None
        self._streams = 0
        # The first bytes of the next stream, while there are too few to open it.
        self._start = b""
        self._is_over = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode, piece by piece.

        Raises:
            BadResponseError: the data is invalid.
            ResponseTooLargeError: the decoded data exceeds the limit.
        """
        while data and not self._is_over:
            if self._stream is None:
                data = self._open(self._start + data)
                continue
            try:
                for piece in self._stream.pieces(data):
                    self._count(piece)
                    yield piece
            except _ERRORS as exc:
                raise BadResponseError(f"invalid {self._name} data: {exc}") from None
            data = b""
            if self._stream.is_ended:
                data = self._stream.rest
                self._stream = None

    def _open(self, data: bytes) -> bytes:
        """Open a stream if the data begins one; return the data for it."""
        self._start = data
        if self._streams:
            # Browsers ignore any other data after a stream.
            magic = self._coding.magic
            self._is_over = not magic or not magic.startswith(data[:2])
            needed_bytes = len(magic)
        else:
            needed_bytes = self._coding.needed_bytes
        if self._is_over or len(data) < needed_bytes:
            return b""
        if self._streams == MAX_STREAMS:
            raise BadResponseError(f"more than {MAX_STREAMS} streams of {self._name}")
        self._stream, self._start = self._coding.open(data), b""
        self._streams += 1
        return data

    def _count(self, piece: bytes) -> None:
        self._seen_bytes += len(piece)
        if self._seen_bytes > self._max_bytes:
            raise ResponseTooLargeError(
                f"decompressed body too large: more than {self._max_bytes} bytes"
            )

    def end(self) -> None:
        """Raise BadResponseError if a stream is truncated; an empty body is allowed."""
        stream = self._stream
        if stream is None and (self._streams or not self._start):
            return
        is_whole = isinstance(stream, (_PlainGzip, _Zlib)) and stream.lacks_only_check()
        if not (self._is_lenient and is_whole):
            raise BadResponseError(f"invalid {self._name} data: it is truncated")
        self.notes = (f"{self._name} data without its checksum",)


class DecoderChain:
    """Decodes several codings, the last one first."""

    def __init__(self, decoders: list[Decoder]) -> None:
        self._decoders = decoders

    @property
    def notes(self) -> tuple[str, ...]:
        """What was missing and accepted."""
        return tuple(note for decoder in self._decoders for note in decoder.notes)

    def pieces(self, data: bytes) -> Iterator[bytes]:
        return self._pieces(data, self._decoders)

    def _pieces(self, data: bytes, decoders: list[Decoder]) -> Iterator[bytes]:
        first, *others = decoders
        for piece in first.pieces(data):
            if others:
                yield from self._pieces(piece, others)
            else:
                yield piece

    def end(self) -> None:
        for decoder in self._decoders:
            decoder.end()


AnyDecoder: TypeAlias = Decoder | DecoderChain


def decoder_of(
    content_encoding: str, max_bytes: int, *, is_lenient: bool = False
) -> AnyDecoder | None:
    """Return a decoder for a Content-Encoding; None if it is not supported.

    Args:
        content_encoding: The header's value.
        max_bytes: Maximum size of the decoded data.
        is_lenient: Whether the data may lack the checksum at its end, as in browsers.

    Raises:
        BadResponseError: it names too many codings.

    >>> import gzip
    >>> b"".join(decoder_of("gzip", 100).pieces(gzip.compress(b"a page")))
    b'a page'
    """
    names = [name.strip().lower() for name in content_encoding.split(",")]
    names = [name for name in names if name and name != "identity"]
    if not names or not _CODING_BY_NAME.keys() >= set(names):
        return None
    if len(names) > MAX_CODINGS:
        raise BadResponseError(f"encoded {len(names)} times: {content_encoding!r}")
    decoders = [
        Decoder(name, max_bytes, is_lenient=is_lenient) for name in reversed(names)
    ]
    return decoders[0] if len(decoders) == 1 else DecoderChain(decoders)
