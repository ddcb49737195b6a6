"""The site for the crawl benchmark: a tree of small pages, served by nginx.

nginx is used because many sites use it, and because its CPU time is not part of any
Python process.  Fetched pages are counted in its log, and not by the competitors.
"""

import collections
import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

__all__ = ["ALONE_PATH", "Nginx", "Site", "Visit", "path_of", "served_site"]

# With small pages, the fixed cost of a page counts for more than the parser, which is the
# same library for most competitors.
PAGE_BYTES = 2500

# The size of a chapter; links within one directory are written without a path.
PAGES_PER_DIRECTORY = 100

# The children of each page in the tree that reaches all pages: few enough that no queue is
# short for long, and enough to keep ten fetches busy from the second page on.
CHILDREN = 4

# Links to the neighbors on each side in the directory, and to the first pages of other
# directories, which are the same on all pages, like a navigation bar.
NEIGHBORS = 3
SECTIONS = 5

# A single page without links: the time for it is the start-up time.
ALONE_PATH = "/alone.html"

# No stylesheet, picture or script: wget2 would fetch them, the others would not.
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title} - The manual</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ max-width: 60em; margin: auto }} nav a {{ margin-right: 1em }}</style>
</head>
<body>
<nav class="sections">{nav}</nav>
<main id="content">
<h1>{title}</h1>
<p>What this page is about, said in a sentence with <em>an emphasis</em>.</p>
<ul class="contents">
{children}
</ul>
<p>{neighbors}</p>
{text}</main>
<footer><p>&copy; The authors. All of this was generated.</p></footer>
</body>
</html>
"""
PARAGRAPH = (
    "<p>Some <b>words</b> that are not links, so that there is a text to read.</p>\n"
)

# Debian's settings for sending files; one worker, so that it uses one core at most;
# connections stay open for as long as the client wants.
NGINX_CONFIG = """\
daemon off;
master_process off;
worker_processes 1;
pid {run}/nginx.pid;
error_log {run}/error.log;
events {{ worker_connections 512; }}
http {{
    types {{ text/html html; }}
    log_format answers "$status $request_uri";
    access_log {run}/access.log answers;
    client_body_temp_path {run}/body;
    proxy_temp_path {run}/proxy;
    fastcgi_temp_path {run}/fastcgi;
    uwsgi_temp_path {run}/uwsgi;
    scgi_temp_path {run}/scgi;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    server {{
        listen 127.0.0.1:{port};
        root {root};
    }}
}}
"""

# nginx writes its log line after the last byte is sent.
LOG_PATIENCE_S = 1.0
START_PATIENCE_S = 10.0


def path_of(page):
    """Return the path of a page, as in the links of all pages.

    >>> path_of(0), path_of(234)
    ('/', '/section-2/page-234.html')
    """
    if not page:
        return "/"
    return f"/section-{page // PAGES_PER_DIRECTORY}/page-{page}.html"


def page_html(page, pages):
    """Return a page with 12 to 15 links, a third of them on every page."""
    section = page // PAGES_PER_DIRECTORY
    firsts = (i * PAGES_PER_DIRECTORY % pages for i in range(SECTIONS))
    children = (CHILDREN * page + 1 + i for i in range(CHILDREN))
    beside = range(page - NEIGHBORS, page + NEIGHBORS + 1)
    html = PAGE.format(
        title=f"Page {page} of section {section}",
        nav="".join(f'<a href="{path_of(first)}">Part {first}</a>' for first in firsts),
        children="\n".join(
            f'<li><a href="{far_link(page, child % pages)}">Page {child % pages}</a>'
            for child in children
        ),
        neighbors=" | ".join(
            f'<a href="{near_link(page, other)}">{other}</a>'
            for other in beside
            if other != page and 0 < other < pages
        ),
        text="{text}",
    )
    room = PAGE_BYTES - len(html)
    return html.replace("{text}", PARAGRAPH * (room // len(PARAGRAPH)))


def far_link(page, target):
    """Return a relative link, as most generators write it, with a fragment."""
    up = ".." if page else "."
    return f"{up}{path_of(target)}#part-{target % 9}"


def near_link(page, target):
    same = page and page // PAGES_PER_DIRECTORY == target // PAGES_PER_DIRECTORY
    return path_of(target).rpartition("/")[2] if same else path_of(target)


def write_site(root, pages):
    """Write the pages to a directory; return their total size in bytes."""
    size = 0
    for page in range(pages):
        path = path_of(page)
        file = root / (path[1:] or "index.html")
        file.parent.mkdir(exist_ok=True)
        size += file.write_bytes(page_html(page, pages).encode("ascii"))
    (root / ALONE_PATH[1:]).write_text("<!DOCTYPE html><title>Alone</title>\n")
    return size


class Visit(NamedTuple):
    """The server's responses during one run.

    Attributes:
        pages: The number of distinct URLs with status 200.
        repeats: Further responses with 200 for the same URL.
        others: Responses with any other status.
    """

    pages: int
    repeats: int
    others: int


class Nginx:
    """nginx on a free port of loopback, as a context manager.

    Args:
        program: The path of nginx.
        root: The directory that it serves.
        run: An empty directory for its own files.
    """

    def __init__(self, program, root, run):
        self._program = program
        self._root = root
        self._run = run
        self._log = run / "access.log"
        self._log_offset = 0

    def __enter__(self):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        config = self._run / "nginx.conf"
        config.write_text(
            NGINX_CONFIG.format(run=self._run, root=self._root, port=port)
        )
        command = [self._program, "-p", self._run, "-c", config, "-e", "stderr"]
        self._process = subprocess.Popen(command)
        try:
            self._wait_until_it_answers(port)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc_info):
        self._process.terminate()
        self._process.wait()

    def _wait_until_it_answers(self, port):
        give_up_at = time.monotonic() + START_PATIENCE_S
        while time.monotonic() < give_up_at and self._process.poll() is None:
            with contextlib.suppress(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port)).close()
                return
            time.sleep(0.01)
        raise SystemExit(f"nginx ({self._program}) does not answer; see what it says")

    def take_visit(self, pages):
        """Return the responses since the last call.

        Waits shortly until there are ``pages`` of them, since some runs do not fetch all.
        """
        give_up_at = time.monotonic() + LOG_PATIENCE_S
        while True:
            with self._log.open() as log:
                log.seek(self._log_offset)
                lines = log.readlines()
                end = log.tell()
            urls = collections.Counter(
                line for line in lines if line.startswith("200 ")
            )
            if len(urls) >= pages or time.monotonic() > give_up_at:
                self._log_offset = end
                good = urls.total()
                return Visit(len(urls), good - len(urls), len(lines) - good)
            time.sleep(0.02)


def find_nginx():
    """Return the path of nginx, which on Debian is not in a user's PATH; or None."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Site(NamedTuple):
    """A served site: its server, the number of its pages, and their total size."""

    nginx: Nginx
    pages: int
    size: int

    def urls(self):
        return [self.nginx.url + path_of(page) for page in range(self.pages)]


@contextlib.contextmanager
def served_site(pages):
    """Serve a site with ``pages`` pages from a temporary directory."""
    program = find_nginx()
    if program is None:
        raise SystemExit("nginx is missing; it is Debian's package nginx-light")
    with tempfile.TemporaryDirectory() as directory:
        root, server_files = Path(directory, "site"), Path(directory, "nginx")
        root.mkdir()
        server_files.mkdir()
        size = write_site(root, pages)
        with Nginx(program, root, server_files) as nginx:
            yield Site(nginx, pages, size)
