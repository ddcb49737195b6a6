"""Writes a crawl as a folder: ``gencrawl export DIR --format folder --output FOLDER``.

Rule: the folder is complete, or it is as it was.  It is written beside its place and then
moved there; only a folder that this module has written is replaced.
"""

import codecs
import contextlib
import functools
import html
import json
import logging
import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import webencodings

from crawler_app.base.errors import ArchiveError, ConfigError
from crawler_app.base.http_headers import is_html
from crawler_app.base.models import Fetched
from crawler_app.base.progress import OnStep, in_steps
from crawler_app.base.text.formatting import number
from crawler_app.base.urls import join_or_nothing
from crawler_app.run.directory.lock import not_writable
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.show.export.folder.files import Archives, FolderFiles
from crawler_app.show.export.folder.names import MARKER, href_between
from crawler_app.show.export.folder.rewriting import (
    Refer,
    rewritten_css,
    rewritten_page,
)
from crawler_app.web.documents.charset import charset_of, decode_html
from crawler_app.web.documents.css import decode_css
from crawler_app.web.documents.sent_links import as_sent
from crawler_app.web.documents.xhtml import is_xml

__all__ = ["write_folder"]

logger = logging.getLogger(__name__)

INDEX = "index.html"

_SCRIPT = re.compile(r"(?:text|application)/(?:x-)?(?:java|ecma)script")
_ABSOLUTE = re.compile("https?://", re.IGNORECASE)
_XML_ENCODING = re.compile(r"""(\A<\?xml\s[^>]{0,99}?\bencoding\s*=\s*["'])[^"'>]+""")


def write_folder(
    crawl: StoredCrawl, output: Path, on_step: OnStep, *, at: float | None = None
) -> None:
    """Write the files of a crawl into a folder.

    Args:
        output: The folder; replaced if an earlier export made it, or if it is empty.
        at: As the site was at this time, in seconds since the epoch; None for the last state.

    Raises:
        ConfigError: it holds other files, cannot be written, or nothing was archived by then.
        StorageError: the disk is full, or has failed.
    """
    config = crawl.config()
    with Archives(crawl.archives(), config.max_body_bytes) as archives:
        files = FolderFiles(archives, config.seeds[0], at, on_step)
        if not len(files):
            raise ConfigError("the archive has no page of that time or before")
        with _replacing(output) as folder:
            _write_marker(folder, files, config.user_agent)
            unread = _write_files(folder, files, archives, on_step)
    if unread:
        logger.warning(
            "%s could not be read from the archive, and %s missing",
            number(unread, "file"),
            "is" if unread == 1 else "are",
        )


def _write_files(
    folder: Path, files: FolderFiles, archives: Archives, on_step: OnStep
) -> int:
    """Write the files; return how many cannot be read."""
    unread = 0
    for url, archive, capture in in_steps("writing files", files, on_step, len(files)):
        path = folder / files.path_by_url[url]
        try:
            fetched = archives.read(archive, capture)
        except ArchiveError as exc:
            logger.info("%s: %s", url, exc)
            unread += 1
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_content(fetched, files.type_by_url[url], files))
    start = files.start
    if start is not None and not (folder / INDEX).exists():
        href = html.escape(href_between(INDEX, start.path))
        (folder / INDEX).write_text(
            "<!DOCTYPE html>\n<title>Start page</title>\n"
            f'<meta http-equiv="refresh" content="0; url={href}">\n'
            f'<a href="{href}">Start page</a>\n'
        )
    return unread


def _content(fetched: Fetched, mime: str, files: FolderFiles) -> bytes:
    """Return a file as it is on the disk: with other references, and in UTF-8 if a text.

    No header says the charset there, so a byte order mark does, unless a page says so itself.
    """
    url, body = fetched.url, fetched.body
    content_type = fetched.headers.get("Content-Type", "")
    if is_html(mime) or mime == "image/svg+xml":
        markup, charset = decode_html(body, content_type)
        refer = _refer(files, url, charset)
        text = rewritten_page(markup, url, refer, is_xml=is_xml(mime))
        if is_xml(mime):
            text = _XML_ENCODING.sub(r"\1UTF-8", text)
        is_declared = charset_of(body.removeprefix(codecs.BOM_UTF8)) == "utf-8"
        return _encoded(text, is_declared=is_declared or is_xml(mime))
    if mime == "text/css":
        sheet = decode_css(body, content_type)
        replace = partial(_refer(files, url, "utf-8"), url)
        return _encoded(rewritten_css(sheet, replace) or sheet)
    if mime == "text/plain" or _SCRIPT.match(mime):
        return _encoded(_decoded(body, content_type))
    return body


def _decoded(body: bytes, content_type: str) -> str:
    """Return the text of a file without markup, whose charset only its header says."""
    charset = charset_of(b"", content_type)
    with contextlib.suppress(UnicodeDecodeError):
        if charset in ("", "utf-8"):
            return body.decode("utf-8-sig")
    return webencodings.decode(body, charset or "windows-1252")[0]


def _encoded(text: str, *, is_declared: bool = False) -> bytes:
    octets = text.encode("utf-8", "replace")
    return octets if is_declared or text.isascii() else codecs.BOM_UTF8 + octets


def _refer(files: FolderFiles, url: str, charset: str) -> Refer:
    """Return the function that says how a file refers to what it refers to on the web."""
    page = files.path_by_url[url]
    # As if the folder were a site, to see which references may stay as they are.
    here = _url_in_folder(page)

    def refer(base: str, reference: str) -> str | None:
        (sent,) = as_sent([reference.strip()], charset)
        joined = join_or_nothing(base, sent)
        if not joined:
            return None
        target = files.target(joined)
        fragment = sent.partition("#")[2]
        if target is None:
            if _ABSOLUTE.match(sent):
                return None
            return f"{joined}#{fragment}" if "#" in sent else joined
        is_right = join_or_nothing(here, sent) == _url_in_folder(target.path)
        is_relative = sent[:1] not in "/\\"  # on a disk, "/" is not the folder
        if is_right and is_relative and target.fragment in ("", fragment):
            return None
        fragment = target.fragment or fragment
        if fragment and target.path == page:
            return f"#{fragment}"
        href = href_between(page, target.path)
        return f"{href}#{fragment}" if fragment else href

    return functools.cache(refer)


def _url_in_folder(path: str) -> str:
    return join_or_nothing("http://folder.invalid/", href_between("", path))


@contextlib.contextmanager
def _replacing(output: Path) -> Iterator[Path]:
    """Yield a new folder that takes the place of another one when it is complete.

    Raises:
        ConfigError: there is something else, or it cannot be written.
        StorageError: the disk is full, or has failed.
    """
    output = output.absolute()
    _require_replaceable(output)
    new = output.with_name(f".{output.name}.new")
    old = output.with_name(f".{output.name}.old")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        _clear_beside(output, new, old)
        new.mkdir()
        try:
            yield new
            if output.exists():
                output.rename(old)
            new.rename(output)
        finally:
            _clear_beside(output, new, old)
    except OSError as exc:
        raise not_writable(output, exc) from None


def _clear_beside(output: Path, new: Path, old: Path) -> None:
    """Delete what an export, or one that was killed, has left beside the folder.

    If the folder was moved away, and no other took its place, it is moved back.
    """
    for left_over in (new, old):
        _require_replaceable(left_over)
    if old.exists() and not output.exists():
        old.rename(output)
    shutil.rmtree(new, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


def _require_replaceable(folder: Path) -> None:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ConfigError(f"{folder} is not a directory; choose another --output")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).is_file():
        raise ConfigError(
            f"{folder} has files that `gencrawl export --format folder` did not write; "
            "choose another --output"
        )


def _write_marker(folder: Path, files: FolderFiles, software: str) -> None:
    about = {
        "software": software,
        "files": len(files),
        "start": files.start.path if files.start else None,
    }
    (folder / MARKER).write_text(json.dumps(about, indent=2) + "\n")
