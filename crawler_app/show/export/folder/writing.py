"""Writes a crawl as a folder: ``gencrawl export DIR --format folder --output FOLDER``.

A page that the archive does not have is left out, and counted in a warning.
"""

import codecs
import contextlib
import functools
import html
import logging
import re
from functools import partial
from pathlib import Path

import webencodings

from crawler_app.base.errors import ArchiveError, ConfigError
from crawler_app.base.http_headers import is_html
from crawler_app.base.models import Fetched
from crawler_app.base.progress import OnStep, in_steps
from crawler_app.base.urls import join_or_nothing
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.show.export.file_names import href_between
from crawler_app.show.export.folder.files import Archives, FolderFiles
from crawler_app.show.export.folder.rewriting import (
    Refer,
    rewritten_css,
    rewritten_page,
)
from crawler_app.show.export.replacing import replaced_folder, warn_of_unread
from crawler_app.web.documents.charset import as_sent, charset_of, decode_html
from crawler_app.web.documents.css import decode_css
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
        start = files.start.path if files.start else None
        about = {"software": config.user_agent, "files": len(files), "start": start}
        with replaced_folder(output, about) as folder:
            unread = _write_files(folder, files, archives, on_step)
    warn_of_unread(files.unread + unread, "file", config)


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
