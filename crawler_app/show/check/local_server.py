"""Serves files and folders of this machine on loopback, so that a check reads them as a site."""

import asyncio
import contextlib
import mimetypes
import os
import re
import shlex
import socket
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote, unquote

from tornado.httpserver import HTTPServer
from tornado.iostream import StreamClosedError
from tornado.web import Application, RequestHandler

from crawler_app.base.errors import ConfigError
from crawler_app.base.http_headers import is_html
from crawler_app.base.safe_files import open_regular
from crawler_app.base.urls import canonicalize, origin_of, target_of
from gencoro import gen

__all__ = ["LocalFolder", "is_local"]

INDEX = "index.html"
CLEAN = ".html"
UNKNOWN = "application/octet-stream"
# What is read of a file at a time.  A file that is larger gets no ETag.
CHUNK_BYTES = 1024 * 1024

PAGES = (".htm", ".html", ".xhtml")

# Style sheets, sitemaps and drawings.
WITH_REFERENCES = ("text/css", "text/xml", "application/xml", "image/svg+xml")


def is_local(argument: str) -> bool:
    """Return whether an argument names a file or a folder, and not a URL.

    >>> is_local("."), is_local("https://a.test/")
    (True, False)
    """
    return "://" not in argument and Path(argument).exists()


class LocalFolder:
    """A folder, served with its files.

    Args:
        path: A folder, or one page in it, where the check begins.
        base_url: Where it will be published.  It is served at the same path, so that
            references without a host lead to the same files; empty for the root.

    Attributes:
        name: Its absolute path.
        url: Its URL while it is served.
        port: The port of that URL; 0 before.

    Raises:
        ConfigError: there are no pages, or the file is none.
    """

    def __init__(self, path: Path, base_url: str = "") -> None:
        if not path.is_dir() and not path.is_file():
            raise ConfigError(f"{path} is neither a file nor a folder")
        self._shown = path if path.is_dir() else path.parent
        self._root = self._shown.resolve()
        self._files = [_page(path)] if path.is_file() else _pages_in(self._root)
        if not self._files:
            raise ConfigError(f"there are no HTML files in {path}")
        self.name = str(self._root)
        self._base_url = canonicalize(base_url).rstrip("/") + "/" if base_url else ""
        self._base_path = target_of(self._base_url) if base_url else "/"
        self.url = ""
        self.port = 0

    @contextlib.contextmanager
    def served(self, port: int = 0) -> Iterator[None]:
        """Serve it while the context lasts; the event loop must be running.

        Args:
            port: Where to serve it; 0 is any free port.

        Raises:
            ConfigError: the port is in use.
        """
        files = {"root": self._root, "base_path": self._base_path}
        application = Application(
            [(re.escape(self._base_path) + ".*", _Handler, files)],
            log_function=lambda handler: None,
        )
        server = HTTPServer(application)
        try:
            bound = socket.create_server(("127.0.0.1", port))
        except OSError as exc:
            raise ConfigError(
                f"port {port}, at which {self._shown} was served before, cannot be used: "
                f"{exc.strerror}; try again later, or choose another directory"
            ) from None
        bound.setblocking(False)
        server.add_socket(bound)
        self.port = bound.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}{self._base_path}"
        try:
            yield
        finally:
            server.stop()

    def seeds(self) -> list[str]:
        """Return the URLs of the pages."""
        return [self._url_of(path) for path in self._files]

    def _url_of(self, path: Path) -> str:
        relative = path.relative_to(self._root).as_posix()
        if path.name == INDEX:
            relative = relative.removesuffix(INDEX)
        return self.url + quote(relative)

    def served_at(self, url: str) -> str:
        """Return where a URL of the published site is served; another is left alone.

        A page has one URL, even if links name its ``index.html``, or leave out its ``.html`` as
        many hosts of static sites allow.  URLs beside the folder are requested from the
        published site.
        """
        url = self._moved(url) if self._base_url else url
        if not url.startswith(self.url):
            return url
        if url.endswith(f"/{INDEX}"):
            return url.removesuffix(INDEX) if self._file_of(url).is_file() else url
        path, mark, query = url.partition("?")
        return f"{path}{CLEAN}{mark}{query}" if self._is_clean(path) else url

    def _is_clean(self, url: str) -> bool:
        """Return whether a URL is that of a page without its suffix."""
        if url.endswith(("/", CLEAN)):
            return False
        file = self._file_of(url)
        is_there = file.is_file() or (file / INDEX).is_file()
        return not is_there and file.with_name(file.name + CLEAN).is_file()

    def _moved(self, url: str) -> str:
        if url.startswith(self.url):
            return url
        here, there = origin_of(self.url), origin_of(self._base_url)
        origin, target = origin_of(url), target_of(url)
        if origin in (here, there) and target == self._base_path.rstrip("/"):
            return self.url
        if origin == there and target.startswith(self._base_path):
            return here + target
        return there + target if origin == here else url

    def _file_of(self, url: str) -> Path:
        return self._root / unquote(url.removeprefix(self.url))

    def name_of(self, url: str) -> str:
        """Return the name of a file for its URL; the URL itself if it is elsewhere."""
        return self._name(url, self._shown)

    def own_name_of(self, url: str) -> str:
        """Do the same, with a name in the folder, which may be moved and renamed."""
        return self._name(url, Path())

    def _name(self, url: str, folder: Path) -> str:
        if not self.url or not url.startswith(self.url):
            return url
        path, mark, query = url.removeprefix(self.url).partition("?")
        name = unquote(path)
        if (self._root / name).is_dir():
            name = f"{name.rstrip('/')}/{INDEX}".removeprefix("/")
        slash = "/" if name.endswith("/") else ""
        return os.path.normpath(folder / name) + slash + mark + query


class _Handler(RequestHandler):
    """Serves files as most servers do.

    The folder may come from another person, or be built from what such a person wrote.  So a
    link that leads out of it is refused, and what is no regular file is not found.
    """

    def initialize(self, root: Path, base_path: str) -> None:
        """Take the folder, and the path that it is served at."""
        self._root = root
        self._base_path = base_path

    @gen.coroutine
    def get(self) -> Generator[Any, Any, None]:
        """Send a file, or the index of a folder."""
        names = unquote(self.request.path.removeprefix(self._base_path)).split("/")
        path = self._root.joinpath(*names)
        if ".." in names or "\0" in self.request.path + "".join(names):
            self.set_status(404)
        elif path.is_dir() and names[-1]:
            self.redirect(f"{self.request.path}/", permanent=True)
        else:
            yield self._send(path / INDEX if path.is_dir() else path)

    head = get

    @gen.coroutine
    def _send(self, path: Path) -> Generator[Any, Any, None]:
        run = asyncio.get_running_loop().run_in_executor
        try:
            file: BinaryIO = yield run(None, self._opened, path)
        except OSError as exc:
            is_secret = isinstance(exc, PermissionError)
            self.set_status(403 if is_secret else 404)
            return
        kind, coding = mimetypes.guess_type(path.name)
        # The charset is that of the page itself, as it is for a file in a browser.
        self.set_header("Content-Type", kind if kind and not coding else UNKNOWN)
        with file:
            size = os.fstat(file.fileno()).st_size
            if size <= CHUNK_BYTES:
                self.write((yield run(None, file.read, CHUNK_BYTES)))
                return
            self.set_header("Content-Length", size)
            if self.request.method == "HEAD":
                return
            try:
                while chunk := (yield run(None, file.read, CHUNK_BYTES)):
                    self.write(chunk)
                    yield self.flush()
            except StreamClosedError:  # it is larger than a body may be
                self.detach()

    def _opened(self, path: Path) -> BinaryIO:
        real = Path(os.path.realpath(path, strict=True))
        if not real.is_relative_to(self._root):
            raise PermissionError(f"{path} leads out of the folder")
        return open(open_regular(real, os.O_RDONLY), "rb")


def _page(path: Path) -> Path:
    """Return a file that has references.

    Raises:
        ConfigError: it has none.
    """
    kind = mimetypes.guess_type(path.name)[0] or ""
    if not (is_html(kind) or kind in WITH_REFERENCES):
        raise ConfigError(
            f"{path} is not an HTML file; to check a list of URLs, use "
            f"`gencrawl check - < {shlex.quote(str(path))}`"
        )
    return path.resolve()


def _pages_in(root: Path) -> list[Path]:
    """Return the pages in a folder and below, except in hidden folders."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        found += [Path(folder, n) for n in sorted(names) if n.lower().endswith(PAGES)]
    return found
