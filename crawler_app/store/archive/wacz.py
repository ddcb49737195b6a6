"""WACZ: an archive, its index and its list of pages as one file that can be shared.

The index is the compressed kind, ``index.cdx.gz`` with ``index.idx``: replayweb.page
reads a plain index completely before it shows anything, but of this one only the blocks
it needs, also over the network; and py-wacz accepts no other kind.

Source: https://specs.webrecorder.net/wacz/1.1.1/
"""

import contextlib
import gzip
import hashlib
import itertools
import json
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from crawler_app.base.http_headers import UNKNOWN_TYPES, extracted_type, is_html
from crawler_app.base.progress import OnStep, megabytes, no_step
from crawler_app.store.archive.captures import (
    Capture,
    Captures,
    table_errors,
)
from crawler_app.store.archive.cdxj import merged_lines
from crawler_app.store.archive.record import format_date
from crawler_app.store.archive.recovery import whole_bytes
from crawler_app.store.archive.secrets import SECRET_HEADERS, SharedFile
from crawler_app.store.archive.warc_files import (
    bytes_by_file,
    file_name,
    file_path,
    labelled,
    pieces_of,
    uploaded,
)

__all__ = ["ArchivePiece", "write_wacz"]

WACZ_VERSION = "1.1.1"

# Lines of the index per compressed block, as in cdxj-indexer.
BLOCK_LINES = 300


class ArchivePiece(bytes):
    """Bytes of a file of the archive, which know where they are.

    A reader on this machine need not copy them (`crawler_app.show.browse.sparse_file`).
    """

    path: Path
    offset: int

    @classmethod
    def placed(cls, pieces: Iterable[bytes], path: Path) -> Iterator[bytes]:
        """Yield the pieces of a file, from its start."""
        offset = 0
        for piece in pieces:
            placed = cls(piece)
            placed.path, placed.offset = path, offset
            offset += len(piece)
            yield placed


def write_wacz(
    directory: Path | str,
    file: IO[bytes],
    *,
    software: str,
    title_of: Callable[[str], str | None] = lambda url: None,
    now: float | None = None,
    on_step: OnStep = no_step,
    parts: Sequence[Path] = (),
    secret_headers: Collection[str] = SECRET_HEADERS,
    requires: str = "",
) -> Counter[str]:
    """Write an archive as one WACZ file, also while a crawl writes to the archive.

    Returns how many headers with secrets were left out, by name.

    If it is interrupted, what has been written is not a valid zip file.

    Args:
        file: Binary; may be a pipe.
        software: Name and version of the program that made it.
        title_of: Returns the title of the page at a URL, which may be empty; None if no
            page is known there.
        now: Time of creation, seconds since the epoch.
        on_step: Progress callback: the step's name, how much is done, and the total.
        parts: The directories of the archives that make up this one, if it has parts.
        secret_headers: The names of headers to leave out; if there are none, the files are
            copied as they are.
        requires: The name of another archive, which is named in this one if revisits refer
            to it.

    Raises:
        ArchiveError: there is no archive, or its table cannot be read.
        ConfigError: its table is of another version, or of another program.
        OSError: a file of the archive cannot be read, or the new file not written.
    """
    directory = Path(directory)
    removed: Counter[str] = Counter()
    at = int(time.time() if now is None else now)
    with contextlib.ExitStack() as cleanup:
        sources = [
            _opened(path, f"{label}-" if label else "", cleanup)
            for label, path in labelled(parts) or [("", directory)]
        ]
        for source in sources if secret_headers else ():
            numbers = bytes_by_file(source.directory)
            source.shared.update(
                (number, SharedFile(secret_headers, removed)) for number in numbers
            )
        cleanup.enter_context(table_errors(directory))
        writer = _Package(cleanup.enter_context(_whole_or_broken(file)), at)
        _add_archive(writer, sources, on_step)
        _add_index(writer, sources, on_step)
        writer.add("pages/pages.jsonl", _page_lines(sources, title_of, on_step))
        if requires and not any(each.captures.has_elsewhere() for each in sources):
            requires = ""
        writer.describe(software, requires)
    return removed


class _Source(NamedTuple):
    """An archive, or a part of it.

    Attributes:
        prefix: Precedes the names of its files, which those of another part have too.
        shared: The files from which secrets are left out, by their numbers.
    """

    directory: Path
    prefix: str
    captures: Captures
    shared: dict[int, SharedFile]

    def pieces(self, number: int, size_bytes: int) -> Iterator[bytes]:
        """Yield a file as it is to be exported."""
        pieces = pieces_of(self.directory, number, size_bytes)
        path = file_path(self.directory, number)
        if number in self.shared:
            return self.shared[number].pieces(pieces)
        # Others were uploaded.
        return ArchivePiece.placed(pieces, path) if path.exists() else pieces

    def moved(self, capture: Capture) -> Capture:
        """Return a capture with its place in the export."""
        shared = self.shared.get(capture.file)
        return capture if shared is None else shared.moved(capture)

    @property
    def total(self) -> int:
        """The number of captures."""
        return self.captures.counts()[0]


def _opened(directory: Path, prefix: str, cleanup: contextlib.ExitStack) -> _Source:
    with table_errors(directory):
        captures = Captures(directory, read_only=True)
        cleanup.callback(captures.close)
        captures.hold()
    return _Source(directory, prefix, captures, {})


@contextlib.contextmanager
def _whole_or_broken(file: IO[bytes]) -> Iterator[zipfile.ZipFile]:
    """Open a zip file; after an error it lacks its end, so no program takes it for valid.

    `zipfile` itself would write the end in any case.
    """
    output = _Output(file)
    with zipfile.ZipFile(cast(IO[bytes], output), "w") as package:
        try:
            yield package
        except BaseException:
            output.is_discarding = True
            raise


class _Output:
    """A file wrapper that can discard all further writes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.is_discarding = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, data: bytes) -> int:
        return len(data) if self.is_discarding else self._file.write(data)


class _Package:
    """A zip file that lists its parts, each with its digest."""

    def __init__(self, package: zipfile.ZipFile, at: int) -> None:
        self._package = package
        self._at = at
        self._resources: list[dict[str, Any]] = []

    def add(
        self,
        path: str,
        pieces: Iterable[bytes],
        *,
        size_bytes: int = 0,
        is_stored: bool = False,
    ) -> None:
        """Add a part.

        Args:
            size_bytes: Approximate size, for a part that may be large.
            is_stored: Do not compress, so that a reader can seek in it.
        """
        part = zipfile.ZipInfo(path, time.gmtime(self._at)[:6])
        part.file_size = size_bytes
        part.compress_type = zipfile.ZIP_STORED if is_stored else zipfile.ZIP_DEFLATED
        part.external_attr = 0o644 << 16
        digest = hashlib.sha256()
        size_bytes = 0
        with self._package.open(part, "w") as file:
            for piece in pieces:
                file.write(piece)
                digest.update(piece)
                size_bytes += len(piece)
        self._resources.append(
            {
                "name": path.rpartition("/")[2],
                "path": path,
                "hash": f"sha256:{digest.hexdigest()}",
                "bytes": size_bytes,
            }
        )

    def describe(self, software: str, requires: str) -> None:
        """Add the list of the other parts, and its digest.

        Args:
            requires: The name of an archive that this one refers to; empty for none.
        """
        about: dict[str, Any] = {
            "profile": "data-package",
            "wacz_version": WACZ_VERSION,
            "created": format_date(self._at),
            "software": software,
            "resources": self._resources[:],
        }
        if requires:  # as Browsertrix writes it
            about["relation"] = {"requires": [{"filename": requires}]}
        data = json.dumps(about, indent=2).encode()
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        about_it = {"path": "datapackage.json", "hash": digest}
        self.add("datapackage.json", [data])
        self.add("datapackage-digest.json", [json.dumps(about_it, indent=2).encode()])


def _add_archive(writer: _Package, sources: Sequence[_Source], on_step: OnStep) -> None:
    files = [file for source in sources for file in _files_of(source)]
    total_bytes = sum(size_bytes for *_, size_bytes in files)
    done_bytes = 0

    def with_progress(pieces: Iterable[bytes]) -> Iterator[bytes]:
        nonlocal done_bytes
        for piece in pieces:
            yield piece
            done_bytes += len(piece)
            on_step("copying megabytes", megabytes(done_bytes), megabytes(total_bytes))

    for source, number, size_bytes in files:
        writer.add(
            f"archive/{source.prefix}{file_name(number)}",
            with_progress(source.pieces(number, size_bytes)),
            size_bytes=size_bytes,
            is_stored=True,
        )


def _files_of(source: _Source) -> Iterator[tuple[_Source, int, int]]:
    """Return the number of each file, and its size in bytes."""
    known_bytes_by_file = source.captures.end_by_file()
    is_uploaded = uploaded(source.directory)
    for number, size_bytes in bytes_by_file(source.directory).items():
        if number not in is_uploaded:
            # Another process may be writing to the last file: leave out an incomplete record.
            known_bytes = known_bytes_by_file.get(number, 0)
            size_bytes = whole_bytes(file_path(source.directory, number), known_bytes)
        yield source, number, size_bytes


def _add_index(writer: _Package, sources: Sequence[_Source], on_step: OnStep) -> None:
    name = "index.cdx.gz"
    about = json.dumps({"format": "cdxj-gzip-1.0", "filename": name})
    lines = merged_lines(
        [(source.captures, source.prefix, source.moved) for source in sources], on_step
    )
    blocks = [f"!meta 0 {about}\n".encode()]

    def compressed() -> Iterator[bytes]:
        offset = 0
        while block_lines := list(itertools.islice(lines, BLOCK_LINES)):
            block = gzip.compress("".join(block_lines).encode(), mtime=0)
            blocks.append(_block_line(block_lines[0], offset, block))
            offset += len(block)
            yield block

    writer.add(f"indexes/{name}", compressed(), is_stored=True)
    writer.add("indexes/index.idx", blocks)


def _block_line(first_line: str, offset: int, block: bytes) -> bytes:
    """Return the line of ``index.idx`` for a block: its first key, and where it is."""
    key, digits, _ = first_line.split(" ", 2)
    digest = f"sha256:{hashlib.sha256(block).hexdigest()}"
    place = json.dumps({"offset": offset, "length": len(block), "digest": digest})
    return f"{key} {digits} {place}\n".encode()


def _page_lines(
    sources: Sequence[_Source], title_of: Callable[[str], str | None], on_step: OnStep
) -> Iterator[bytes]:
    yield _json_line({"format": "json-pages-1.0", "id": "pages", "title": "Pages"})
    total = sum(source.total for source in sources)
    captures = itertools.chain.from_iterable(s.captures.in_order() for s in sources)
    for done, capture in enumerate(captures):
        on_step("listing pages of captures", done, total)
        if capture.status != 200:
            continue
        # Without a type, the crawl has judged by the body.
        is_typed = extracted_type(capture.mime) not in UNKNOWN_TYPES
        if is_typed and not is_html(capture.mime):
            continue
        title = title_of(capture.url)
        if title is None and not is_typed:
            continue
        page = {
            "id": capture.record_id.hex(),
            "url": capture.url,
            "ts": format_date(capture.at),
        }
        if title:
            page["title"] = title
        yield _json_line(page)


def _json_line(value: dict[str, str]) -> bytes:
    return f"{json.dumps(value)}\n".encode()
